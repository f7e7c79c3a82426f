"""What is sent in secret is found in whatever others say, in any form, and nothing else is."""

from __future__ import annotations

import base64
import json

import pytest
from echoes import ENCODINGS, reveals

from judge.masking import Mask, secrets_in_environment, secrets_in_headers, secrets_in_url

SECRETS = ["sk-proj-Ab3_x9Qz7", 'pa"ss/wo\\rd+1', "hunter2", "geheim\u00fc\u00df-1", "=a&b?c <d>"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_in_every_form(secret: str, encoding: str) -> None:
    said = f"The key {ENCODINGS[encoding](secret)} is not known."
    assert reveals(said.encode(), secret)
    masked = Mask.of([secret])(said)
    assert not reveals(masked.encode(), secret)
    assert masked.startswith("The key ")
    assert masked.endswith(" is not known.")


def test_one_secret_inside_another_leaves_nothing_of_it() -> None:
    mask = Mask.of(["abcdef", "abcdefgh", "none", "", None])
    assert mask("abcdefgh abcdef none") == "*** *** none"


@pytest.mark.parametrize(
    "word", ["1", "test", "none", "", "grade", "Reason", "relevance", "ollama", "lm-studio"]
)
def test_what_is_too_short_or_a_word_of_replies_is_no_secret(word: str) -> None:
    reply = f'{{"reason": "{word} test 1", "relevance": 1, "grade": 1}}'
    assert Mask.of([word])(reply) == reply


@pytest.mark.parametrize("secret", ["123456", "000000", "passed", "true, 1", "sk-1234567890"])
@pytest.mark.parametrize("grade", range(4))
def test_a_masked_reply_is_still_json_with_its_grade(secret: str, grade: int) -> None:
    said = {"reason": f'It quotes "{secret}".', "grade": grade}
    for reply in (
        json.dumps(said),
        json.dumps(said, indent=1),
        f"```json\n{json.dumps(said)}\n```",
    ):
        masked = Mask.of([secret])(reply)
        assert json.loads(masked.strip("`json\n"))["grade"] == grade
        assert secret not in masked


def test_where_secrets_stand() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-one",
        "HF_TOKEN": "hf-two",
        "AWS_ACCESS_KEY_ID": "AKIA",
        "HOME": "three rooms",
        "KEYBOARD": "de",
        "HTTPS_PROXY": "http://me:proxied@proxy:3128",
        "OPENAI_CUSTOM_HEADERS": "X-Gate: Bearer four\nX-Other: five",
    }
    assert set(secrets_in_environment(environ)) - {""} == {
        *("sk-one", "hf-two", "AKIA", "proxied", "me:proxied", "Bearer four", "four", "five")
    }
    url = "https://me:si%2Fx@host/v1?code=seven&api-version=2024-10-21"
    assert set(secrets_in_url(url)) == {"si/x", "si%2Fx", "me:si/x", "seven"}
    assert set(secrets_in_url("https://token@host/v1")) == {"token", "token:"}
    basic = base64.b64encode(b"me:eight").decode()
    headers = {"Authorization": f"Basic {basic}", "X-Api-Key": "nine", "Accept": "text/plain"}
    found = {f"Basic {basic}", basic, "me:eight", "eight", "nine"}
    assert set(secrets_in_headers(headers)) - {""} == found
