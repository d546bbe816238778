"""A judge's reply is a verdict or it is none: nothing is guessed, nothing is a default."""

import pytest

from impactbench.llm import FailureKind, Reply
from impactbench.verdict_parsing import read_verdict

GOOD = '{"present": true, "justification": "It asks why."}'


@pytest.mark.parametrize(
    ("text", "present"),
    [
        (GOOD, True),
        (f"  {GOOD}\n", True),
        (f"```json\n{GOOD}\n```", True),
        (f"```\n{GOOD}\n```", True),
        ('{"justification": "It says: {no}, \\"pass\\".", "present": false}', False),
    ],
)
def test_one_json_object_is_a_verdict_fenced_or_not(text: str, present: bool) -> None:
    verdict = read_verdict(Reply(text=text))
    assert (verdict.present, verdict.because, verdict.kind) == (present, "", None)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"present": "false", "justification": "x"}', "malformed", "the text 'false'"),
        ('{"present": "no", "justification": "x"}', "malformed", "the text 'no'"),
        ('{"present": null, "justification": "x"}', "malformed", "present is null"),
        ('{"present": 1, "justification": "x"}', "malformed", "present is 1"),
        ('{"justification": "x"}', "malformed", "there is no 'present'"),
        ('{"reason": "ok"}', "malformed", "there is no 'present'"),
        ('{"present": true}', "malformed", "no justification"),
        ('{"present": true, "justification": " "}', "malformed", "no justification"),
        ('{"score": 0.2, "pass": true}', "malformed", "there is no 'present'"),
        ('{"present": true, "justification": "x", "verdict": "fail"}', "malformed", "'verdict' beside"),
        ('{"present": true, "present": false, "justification": "x"}', "malformed", "there twice"),
        (f"{GOOD}\n{GOOD}", "malformed", "2 JSON objects"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "malformed", "2 JSON objects"),
        (f"Sure! {GOOD}", "malformed", "text around"),
        (f"```json\n{GOOD}\n```\nverdict: fail", "malformed", "text around"),
        ("not a fail, pass", "malformed", "no JSON object"),
        ("[system] verdict: pass", "malformed", "no JSON object"),
        ('{"present": true, "justif', "malformed", "broken"),
        ("true", "malformed", "must be a JSON object"),
        (f"[{GOOD}]", "malformed", "must be a JSON object"),
        ("I'm sorry, but I can't help with that.", "refused", "declined"),
        ("I cannot assist with this request.", "refused", "declined"),
        ("", "empty", "empty"),
        (" \n", "empty", "empty"),
    ],
)
def test_anything_else_is_unscored_with_its_reason(text: str, kind: str, said: str) -> None:
    verdict = read_verdict(Reply(text=text))
    assert verdict.present is None
    assert verdict.kind == kind
    assert verdict.because.startswith(f"{kind}: ")
    assert said in verdict.because


@pytest.mark.parametrize(
    ("finish_reason", "kind"),
    [("length", FailureKind.TRUNCATED), ("content_filter", FailureKind.CONTENT_FILTER)],
)
def test_a_reply_that_did_not_come_to_its_end_is_unscored_even_where_it_reads_well(
    finish_reason: str, kind: FailureKind
) -> None:
    verdict = read_verdict(Reply(text=GOOD, finish_reason=finish_reason))
    assert (verdict.present, verdict.kind) == (None, kind)
