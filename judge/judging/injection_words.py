"""Words by what they are about, in many languages: what speech to a judge is made of.

A star ends a stem. Words are folded (`judge.judging.folding`): small letters, no accents over
Latin ones. `UNSPACED` holds what is found inside a run of letters, in languages that put no
spaces between words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SPACED: Mapping[str, str] = MappingProxyType(
    {
        # to leave unheeded
        "ignore": """
            ignore ignores ignoring disregard* forget override overrule bypass discard
            neglect ignora ignorez ignoriere ignorieren ignorier ignorar ignorad ignoren
            ignorate ignoreer negeer vergiss vergessen olvida olvide olvidar oublie
            oubliez dimentica dimenticate esqueca esqueça desconsidere desconsiderar
            missachte missachten omite ignoruj zignoruj zapomnij pomin pomijaj ignorera
            glom ignoriraj unohda jata ignorer glem agnoise игнорируй* проигнорируй*
            игнорировать забудь* ігноруй* проігноруй* забудьте yoksay unut goz-ardi
            abaikan lupakan bo bo-qua quen تجاهل تجاهلي تجاهلوا انس نادیده התעלם התעלמו
            אנא-התעלם שכח अनदेखा नज़रअंदाज़ नजरअंदाज भूल उपेक्षा 무시 무시하* 무시해* 잊*
            αγνοησε αγνοηστε puuza sahau
        """,
        # what a judge works by
        "rules": """
            instruction* prompt prompts guideline* rules directive* rubric criteria
            command* constraints orders guidance instruccion* instrucoes instrucao
            regras regla* criterios consigne* regles instructies regels anweisung*
            vorgaben regeln richtlinien kriterien istruzioni regole criteri instrukcj*
            polecen* zasad* wytyczn* instruktion* anvisning* pokyny instrukce
            instructiuni* instructiunile ohjeet ohjeita инструкци* указани* правил*
            критери* інструкці* вказівк* talimat* yonerge* kural* instruksi perintah
            aturan huong-dan chi-dan تعليمات التعليمات دستورالعمل* دستورات قواعد הוראות
            ההוראות ההנחיות הנחיות निर्देश* नियम* 지시* 지침* 명령* οδηγιες οδηγιων maagizo
            maelekezo utasitas* utasitast
        """,
        # before, or whose
        "all": """
            all any everything every these other your todos todas tous toutes alle tutte
            wszystkie все всё всех усі всі tum semua جميع كل تمام כל सभी 모든 ολες zote
            minden toate
        """,
        "before": """
            previous prior above earlier preceding foregoing original former initial
            anterior* previas previos precedent* precedentes vorherige* vorigen
            bisherige* obige* precedenti tutte tue vorige eerdere bovenstaande
            poprzedni* wszystkie powyzsz* tidigare ovan predchozi vsechny anterioare
            toate aiemmat предыдущ* все всё всех прежн* вышеуказан* попередн* усі всі
            onceki tum tüm yukaridaki sebelumnya semua tren truoc السابقة جميع كل قبلی
            تمام הקודמות כל ऊपर पिछले सभी पूर्व उपरोक्त 이전* 모든 위의 προηγουμενες ολες zote
            yaliyotangulia elozo minden
        """,
        # what a judge hands out
        "grade": """
            la-note une-note note-maximale meilleure-note haute-note
            grade grades score scores rating ratings relevance mark verdict label
            judgment judgement assessment evaluation graded scored rated rank puntuacion
            calificacion nota puntaje valoracion relevancia pertinence bewertung
            punktzahl punkte relevanz wertung punteggio voto valutazione rilevanza
            pontuacao classificacao avaliacao cijfer beoordeling relevantie ocen*
            punktacj* trafnosc betyg poang relevans hodnoceni znamka punctaj relevanta
            arvosana pistemaara оценк* балл* релевантност* рейтинг* оцінк* бал
            релевантність puan* ilgililik skor nilai peringkat relevansi diem
            diem-so danh-gia درجة الدرجة تقييم التقييم نمره امتیاز ציון הציון דירוג अंक
            स्कोर ग्रेड रेटिंग 점수* 등급* 평점* 관련성* βαθμο* βαθμολογια alama daraja pontszam*
            osztalyzat*
        """,
        # the best that can be given
        "top": """
            highest maximum maximal max top full perfect best excellent three
            outstanding greatest maxima maximo maximale hochste* hochst* volle beste
            alta massimo massima mas-alta plus-haute plus-elevee la-mas-alta mais-alta
            hoogste najwyzsz* maksymaln* hogsta nejvyssi korkein tres trois drei tre
            trzy drie tri uc tiga высш* максимальн* наивысш* три найвищ* en-yuksek
            tertinggi maksimal maksimum cao-nhat toi-da أعلى اعلى القصوى الكاملة
            بالاترین כביר הגבוה המקסימלי מלא सर्वोच्च उच्चतम पूर्ण अधिकतम तीन 최고* 최대*
            만점* 3점* υψηλοτερ* μεγιστ* ya-juu legmagasabb maximalis
        """,
        # to hand out
        "give": """
            give assign award return output respond
            reply answer set label mark rate grade score print write emit produce choose
            select report deserves deserve receive get merits treat
            consider dale dar asigna asigne otorga otorgue devuelve responde responder
            califica califique puntua puntue merece donne donnez attribue attribuez
            accorde accordez reponds repondez renvoie renvoyez merite mettez gib geben
            vergib vergebe vergeben bewerte bewerten antworte verdient setze assegna
            assegnate attribuisci rispondi restituisci merita atribua atribuir retorne
            responda conceda avalie geef ken antwoord beoordeel daj przyznaj ocen oceń
            zwroc odpowiedz ustaw ge satt svara tilldela dej prirad udel odpovez acorda
            acordati raspunde ofera anna vastaa поставь* дай дайте присвой* выставь*
            верни* ответь* оцени* постав* надай* присвій* ver verin dondur yanitla
            cevapla ata berikan beri jawab kembalikan cho gan tra-loi hay-cho أعط اعط
            أعطي امنح أعطه قيم بده بدهید اختصاص תן תני תנו ענה החזר דרג दें दीजिए दो
            लौटाएं 주세요 줘 부여* 매겨* 출력* 답하* δωσε δωστε βαλε απαντησε toa jibu mpe adjon
            valaszolj
        """,
        # who grades
        "judge": """
            judge judges grader graders evaluator* assessor* rater* annotator* reviewer
            ai llm llms chatbot assistant gpt chatgpt claude gemini language-model
            ai-model model-reading automated-system evaluador* juez
            ia asistente modelo-de-lenguaje evaluateur* juge modele-de-langage bewerter
            richter gutachter ki sprachmodell ki-modell valutatore giudice
            modello-linguistico avaliador juiz modelo-de-linguagem beoordelaar taalmodel
            oceniajac* sedzi* model-jezykowy asystent* bedomare sprakmodell hodnotitel
            evaluatorul tuomari асессор* оценщик* судь* модель ии нейросет*
            языковая-модель оцінювач* суддя ші degerlendirici yapay-zeka hakem penilai
            model-bahasa giam-khao tro-ly المقيم النموذج نموذج-اللغة ارزیاب داور שופט
            מודל-שפה המודל न्यायाधीश मॉडल एआई 평가자* 심사* 모델* 인공지능* κριτη αξιολογητη
            mwamuzi biralo*
        """,
        # what is graded
        "text": """
            passage text document chunk paragraph content snippet excerpt extract
             pasaje texto documento fragmento este esta texte extrait ce cet cette
            diese* textstelle abschnitt dokument dieser dieses brano testo questo questa
            trecho tekst fragment deze dit tekst* fragment* ten tego temu texten stycket
            denna pasaz textu tento pasaj textul acest kappale tama отрывок отрывку
            текст* документ* фрагмент* это* этот уривок уривку цей цього metin metne bu
            teks dokumen ini doan-van van-ban nay النص المقطع هذا هذه الفقرة متن این
            הקטע הטקסט הזה זה अनुच्छेद पाठ इस यह 문서* 글* 단락* 지문* 이 본문* αποσπασμα κειμενο
            αυτο kifungu hiki maandishi szoveg* ezt ennek
        """,
        "query": """
            query question search searcher request user consulta pregunta requete
            recherche anfrage frage suchanfrage domanda richiesta pergunta vraag
            zoekvraag zapytani* pytani* fraga fragan dotaz* otazk* interogar* intrebar*
            kysymy* kysely* запрос* вопрос* запит* питанн* sorgu* soru* kueri pertanyaan
            truy-van cau-hoi الاستعلام السؤال پرسش پرس‌وجو השאילתה השאלה प्रश्न क्वेरी
            질의* 질문* 쿼리* ερωτημα ερωτηση swali kerdes* lekerdez*
        """,
        "relevant": """
            relevant pertinent responsive on-topic relevante relevantes pertinente
            pertinentes rilevante relewantn* trafn* relevanta relevantni релевант*
            релевантн* ilgili alakali relevan lien-quan ذو-صلة مرتبط רלוונטי प्रासंगिक
            관련* σχετικο muhimu relevans
        """,
        "fully": """
            perfectly highly fully completely extremely exactly directly totally
            absolutely entirely maximally ideally comprehensively perfect exact complete
            ideal definitive perfectamente totalmente completamente absolutamente
            altamente extremadamente maximamente parfaitement totalement completement
            entierement hautement tout-a-fait vollstandig perfekt vollkommen hochst
            absolut genau perfettamente estremamente perfeitamente extremamente volledig
            uiterst idealnie doskonale calkowicie w-pelni helt zcela dokonale naprosto
            complet taysin полностью абсолютно идеально совершенно максимально повністю
            ідеально tamamen mukemmel son-derece sepenuhnya sangat hoan-toan tuyet-doi
            تماما تمامًا للغاية کاملا לחלוטין באופן-מושלם पूरी पूर्णतः अत्यंत 완전히 완벽하게
            매우 απολυτα πληρως kabisa teljesen tokeletesen
        """,
        "must": """
            must should shall need needs required always only just simply please ought
            mandatory debe debes debera siempre solo solamente doit devez doivent
            toujours uniquement seulement muss musst mussen immer nur bitte deve devi
            devono sempre soltanto apenas moet moeten altijd alleen musi musisz zawsze
            tylko maste alltid bara vzdy pouze trebuie doar mereu должен должны нужно
            надо всегда только обязан* повинен потрібно завжди лише gerekir zorunda
            her-zaman sadece yalnizca harus selalu hanya phai luon chi يجب دائما فقط
            باید همیشه חייב תמיד רק चाहिए हमेशा केवल 반드시 항상 오직 πρεπει παντα μονο lazima
            kell mindig csak
        """,
        "rate": """
            rate grade score mark label notez evaluez bewerte bewertet beoordeel ocen bedom
            valuta votate avalie califica califique puntua puntue оцени оцените оціни puanla nilai
            cham 평가하* दर्जा βαθμολογησε קיים דרג قيم ohodnot arvioi ertekeld
        """,
        "this": """
            this these here
        """,
        "answers": """
            answers answered satisfies resolves responde contesta repond satisfait beantwortet
            erfullt risponde soddisfa beantwoordt odpowiada besvarar odpovida raspunde vastaa
            отвечает відповідає yanitliyor cevapliyor menjawab يجيب تجيب پاسخ עונה उत्तर 답합* 답한*
            απαντα hujibu valaszol
        """,
        "you": """
            je jullie you your youre su tu usted vous votre du dein ihr ihre sie lei voi voce seu
            jij uw ty twoj* din ваш* твой твоя ты вы ти ви sen siz kamu anda ban أنت انت
            شما אתה आप 당신*
        """,
    }
)

UNSPACED: Mapping[str, str] = MappingProxyType(
    {
        "ignore": """
            忽略 无视 無視 忽视 不要理会 不理会 忘记 忘掉 忘れ 無効に 跳过
            เพิกเฉย ละเว้น ไม่ต้องสนใจ
        """,
        "rules": """
            指令 指示 规则 規則 提示词 提示 说明 要求 标准 準則 ルール 命令
            プロンプト 基準 คำสั่ง คำแนะนำ กฎ
        """,
        "before": """
            之前 上面 以前 先前 前面 上述 以上 所有 一切 原来 これまで 上記 すべて
            全て 前の 従来 ก่อนหน้า ทั้งหมด
        """,
        "grade": """
            分数 评分 評分 得分 等级 等級 打分 评级 给分 分數 スコア 評価
            点数 採点 得点 グレード คะแนน เกรด
        """,
        "top": """
            最高 满分 滿分 最大 3分 三分 完美 最高点 満点 3点 最上位
            สูงสุด เต็ม
        """,
        "give": """
            给 給 打 评为 判为 输出 輸出 返回 回答 回复 应得 つけ 付け 与え
            出力 返し 答え してください にして ให้ ตอบ
        """,
        "judge": """
            评审 评委 评估者 评分者 评判 裁判 模型 人工智能 助手 評価者 審査
            モデル 採点者 アシスタント ผู้ประเมิน โมเดล
        """,
        "text": """
            本文 这段 该段 此段 文本 段落 文档 文章 这篇 這段 この文章
            この文書 本テキスト パッセージ この段落 文書 ข้อความ
        """,
        "query": """
            查询 查詢 问题 問題 提问 搜索 クエリ 質問 検索 คำถาม
            คำค้น
        """,
        "relevant": """
            相关 相關 切题 関連 適切 เกี่ยวข้อง
        """,
        "fully": """
            完全 完美 非常 极其 高度 十分 絶対 全く 完璧 最も
            อย่างสมบูรณ์ ที่สุด
        """,
        "must": """
            必须 必須 应该 应当 请 務必 务必 只需 仅 必ず べき のみ ください
            ต้อง เท่านั้น
        """,
        "answers": """
            回答了 解答 答えて 回答して ตอบคำถาม
        """,
        "you": """
            你 您 あなた คุณ
        """,
    }
)
