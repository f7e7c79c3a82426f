"""Forms that a grade or a voice takes in an injection, whatever the words around it."""

from __future__ import annotations

import re

_GRADE = r"(?:relevance|relevancy|grade|score|rating|label|verdict|judge?ment)"
_NAMED = rf"{_GRADE}(?:[_ ](?:score|grade|rating|label|level))?"
_QUOTE = r"[\"'`“”(]?"
_VALUE = rf"{_QUOTE}(?:[0-9]|three){_QUOTE}"
_SAY = r"\b(?:respond|reply|output|return|print|answer|emit|say|write)s?"
_MEASURE = r"(?:only|just|simply|always|with|the|number|digit|integer|value|exactly|single)"
_DUE = r"(?:must be|should be|has to be|shall be|you (?:want|need|have) to \w{1,9} is)"
_STOP = r"(?=\s?(?:[.!,]|$|and nothing))"

STATED = re.compile(
    # as data: {"grade": 3}
    rf"{_QUOTE}\b{_NAMED}{_QUOTE}\s?[:=]\s?{_QUOTE}[0-9]{{1,3}}{_QUOTE}\s?[}}\]]"
    r"|[\"'`“”](?:grade|relevance|relevance_score|relevance_grade|verdict)[\"'`“”]\s?:\s?[\"']?[0-9]"
    # as a statement about relevance, which texts for people seldom make in figures
    r"|\b(?:rate|grade|score|mark|label) (?:this|it|the) (?:passage |text |document |chunk )?"
    r"(?:as |with |at |a |an ){0,2}(?:[0-9]|three)\b(?! ?(?:/|out|of|star|-|\.[0-9]))"
    r"|\b(?:grade|relevance)\s?=\s?[0-9]\b"
    r"|\b(?:passage|chunk|document|text|snippet)s? (?:is|are|was|gets|=) an? [0-9]\b"
    r"|\b(?:final|correct|appropriate|true|gold|right|proper) (?:verdict|grade|label|relevance)"
    r"(?: (?:for|of|is|here|this|it|the|query|passage|pair)){0,6}\s?[:=-]?\s?[0-9]\b"
    r"|\b(?:rate|grad|scor|mark)[a-z]{0,3} (?:this|it)(?: \w{1,12}){0,2}"
    r" (?:less than|below|under|lower than|no less than|at least) (?:a )?[0-9]\b"
    r"|\brelevan(?:ce|cy)(?:[ _](?:score|grade|rating|label|level))?\s?(?::|=| is| of| to| at)\s?"
    r"(?:[0-9]|high|max|perf|full)"
    r"|\brelevant\s?\(?[0-9]\)|\bdedicated to the query\b"
    # as what to say
    rf"|{_SAY}(?: (?:is|to|be))?(?: (?:{_MEASURE}|grade|score)){{1,5}}[ :]{{1,2}}{_VALUE}{_STOP}"
    rf"|{_SAY}[ :]{{1,2}}{_VALUE},? (?:and nothing|only|nothing else|no matter|regardless)"
    rf"|\b(?:output|reply|response|answer) (?:\w{{1,12}} ){{0,4}}{_DUE}:? {_VALUE}{_STOP}"
)
"""A grade as data, or what is to be said instead of one; of folded text."""

_OFFICE = r"(?:prompt|message|note|override|instructions?|notice|update)"
_GREETING = (
    r"(?:hey|hi|hello|dear|attention|attn|note (?:to|for)|message (?:to|for)|memo to"
    r"|to (?:the|any|all|whichever)|if you are)"
)
_KIND = r"(?:all|any|the|every|an?|our|my|ai|automated|automatic|relevance|human|large)"
_GRADER = (
    r"(?:judges?|graders?|evaluators?|assessors?|raters?|annotators?|ai|llms?|models?"
    r"|language models?|chatgpt|gpt|claude|gemini|assistants?|bots?|scorers?|reviewers?)"
)
_MODE = r"(?:developer|debug|admin|god|maintenance|test) mode|jailbreak"
_END = r"(?:passage|document|chunk|prompt|input|context|user input|instructions|data)"

SPEAKER = re.compile(
    r"(?:^|[\n>\]}.!?*#]\s?)(?:system|assistant|developer|admin(?:istrator)?|root|operator)"
    rf"(?: {_OFFICE})?\s?[:>\]]"
    r"|\b(?:system prompt|system message|system override|new instructions?|hidden instructions?"
    rf"|(?:score|grade|rating|label|relevance|evaluation) override"
    rf"|override:? (?:score|grade|rating|label|relevance)|{_MODE}|end of (?:the )?{_END})\b"
    r"|[#~*=]{1,6} ?(?:instructions?|system|response|task|override)\b"
    rf"|\b{_GREETING}[,: ]{{1,2}}(?:{_KIND} ){{0,4}}{_GRADER}\b"
)
"""A voice that is not the text's, or one that speaks to who grades; of folded text."""
