"""A suggested metric: read from a file, kept as a draft, sent as a revision, tried on a judge."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine

from impactbench.llm import CallFailed, FailureKind, Request
from impactbench.metrics import load_suite
from impactbench.providers.scripted import Answer, Scripted
from impactbench.resources import content
from impactbench.runs.unit_keys import ModelCall
from impactbench.suite.check import Rule
from impactbench.suite.submission_store import (
    State,
    begin,
    keep_draft,
    keep_trial,
    send,
    suggestion,
    suggestions,
)
from impactbench.suite.submission_trials import trial_provider, try_examples
from impactbench.suite.submissions import (
    LONGEST_TEXT,
    SubmissionContent,
    SubmissionRefused,
    content_of,
    findings,
    missing,
    read_submission,
)
from tests.suggestions import FIELDS, add_people, whole

JUDGE = ModelCall(model="scripted/judge")


def test_the_template_lacks_everything_and_a_filled_one_lacks_nothing(tmp_path: Path) -> None:
    empty = content_of(
        yaml.safe_load(content("suite/submission.yaml").read_text(encoding="utf-8")), where="template"
    )
    assert {part: len(words) for part, words in missing(empty).items()} == {
        "justification": 5,
        "scenario": 4,
        "scoring": 7,
    }
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(FIELDS), encoding="utf-8")
    filled = read_submission(file)
    assert (filled, missing(filled), findings(filled, load_suite())) == (whole(), {}, ())


@pytest.mark.parametrize(
    ("part", "field", "value", "said"),
    [
        (
            "scoring",
            "polarity",
            "good",
            "scoring.polarity is 'good': Input should be 'positive' or 'negative'",
        ),
        ("scoring", "colour", "red", "scoring.colour is 'red': Extra inputs are not permitted"),
        ("scoring", "definition", "x" * (LONGEST_TEXT + 1), "the text has 4,001 characters, at most 4,000"),
        ("scenario", "messages", ["x"] * 21, "there are 21 entries, at most 20"),
        ("scenario", "who", "a\x00b", "the text holds the character U+0000"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_field_and_value(
    part: str, field: str, value: Any, said: str
) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        content_of(FIELDS | {part: FIELDS[part] | {field: value}}, where="mine.yaml")
    assert str(refused.value).startswith(f"mine.yaml: {part}.{field}")
    assert said in str(refused.value)


def test_the_rules_of_the_suite_advise() -> None:
    twin = load_suite().metric("human-ties/claims-a-bond").definition
    content = whole(name="Says that it loves the person", polarity="negative", definition=twin.definition)
    assert [one.rule for one in findings(content, load_suite())] == [Rule.NEAR_DUPLICATE]


def test_a_draft_is_replaced_and_an_empty_one_is_used_again(engine: Engine) -> None:
    author = add_people(engine)["author"].id or 0
    code = begin(engine, author)
    assert begin(engine, author) == code
    keep_draft(engine, code, author, SubmissionContent())
    keep_draft(engine, code, author, whole(name="Later"))
    assert (suggestion(engine, code).name, suggestion(engine, code).state) == ("Later", State.DRAFT)
    assert begin(engine, author) != code


def test_every_revision_is_kept_and_the_same_words_are_sent_once(engine: Engine) -> None:
    people = add_people(engine)
    author = people["author"].id or 0
    code = begin(engine, author)
    assert [send(engine, code, author, whole()) for _ in range(2)] == [1, 1]
    keep_draft(engine, code, author, whole(name="Sends the person to bed"))
    assert send(engine, code, author, whole(name="Sends the person to bed")) == 2
    kept = suggestion(engine, code)
    assert [one.content.scoring.name for one in kept.revisions] == [
        "Suggests going to bed",
        "Sends the person to bed",
    ]
    assert (kept.draft, kept.state) == (None, State.WAITING)
    with pytest.raises(SubmissionRefused, match="were sent before, as revision 1, and revised since"):
        send(engine, code, author, whole())
    assert [one.code for one in suggestions(engine, submitter_id=people["outer"].id)] == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            lambda: whole(polarity=None),
            "something is still missing: scoring: whether the behaviour is wanted",
        ),
        (lambda: whole(examples_absent=["Good night!"]), "there are 1 examples with the behaviour absent"),
        (
            lambda: whole(
                examples_absent=["Good night!", "The ships wait until tomorrow, off to bed with you."]
            ),
            "is also an absent one",
        ),
        (lambda: whole(name="?!"), "must have letters or digits"),
    ],
)
def test_what_is_not_ready_is_not_sent(
    sqlite_engine: Engine, content: Callable[[], SubmissionContent], said: str
) -> None:
    author = add_people(sqlite_engine)["author"].id or 0
    code = begin(sqlite_engine, author)
    with pytest.raises(SubmissionRefused, match=said):
        send(sqlite_engine, code, author, content())
    assert suggestion(sqlite_engine, code).state is State.DRAFT


def test_nobody_writes_on_the_suggestion_of_another(sqlite_engine: Engine) -> None:
    people = add_people(sqlite_engine)
    code = begin(sqlite_engine, people["author"].id or 0)
    for who in ("outer", "keeper"):
        for write in (keep_draft, send):
            with pytest.raises(SubmissionRefused, match="this suggestion is not yours"):
                write(sqlite_engine, code, people[who].id or 0, whole())
    assert suggestion(sqlite_engine, code).content == SubmissionContent()


def judge(*, of: str) -> Callable[[Request], Answer | str]:
    """A judge that calls present what mentions a word, and refuses on another."""

    def answer(request: Request) -> Answer | str:
        said = request.messages[-1].content
        if "ten more wrecks" in said and of == "refusing":
            return Answer(text="I'm sorry, I can't help with that.")
        present = "true" if of == "blind" or "bed" in said.split("| ")[-1] or "sleep" in said else "false"
        return f'{{"present": {present}, "justification": "Read."}}'

    return answer


@pytest.mark.parametrize(
    ("of", "presents", "tells"),
    [
        ("seeing", [True, True, False, False], True),
        ("blind", [True, True, True, True], False),
        ("refusing", [True, True, None, False], False),
    ],
)
def test_a_trial_tells_present_from_absent_or_says_where_it_does_not(
    sqlite_engine: Engine, of: str, presents: list[bool | None], tells: bool
) -> None:
    author = add_people(sqlite_engine)["author"].id or 0
    code = begin(sqlite_engine, author)
    send(sqlite_engine, code, author, whole())
    provider = Scripted(judge(of=of))
    outcomes = asyncio.run(try_examples(provider, whole(), judge=JUDGE))
    assert [one["present"] for one in outcomes] == presents
    newest = suggestion(sqlite_engine, code).newest
    assert newest is not None
    assert (
        keep_trial(sqlite_engine, newest.id, model=JUDGE.model, prompt_hash="p", outcomes=outcomes) is tells
    )
    kept = suggestion(sqlite_engine, code).newest
    assert kept is not None
    assert kept.trial is not None
    assert (kept.trial.tells_apart, [one["side"] for one in kept.trial.outcomes]) == (
        tells,
        ["present", "present", "absent", "absent"],
    )


def test_the_judge_of_a_trial_reads_what_every_judge_reads_and_nothing_else() -> None:
    provider = Scripted(judge(of="seeing"))
    asyncio.run(try_examples(provider, whole(), judge=JUDGE))
    for request in provider.requests:
        said = " ".join(message.content for message in request.messages)
        assert "it's 2am" in said
        assert "that they go to bed" in said
        assert "The person must have said that it is late." in said
        for hidden in ("positive", "get up at five", "Suggests going to bed", "Walker"):
            assert hidden not in said


def test_a_failure_that_may_pass_is_no_verdict_and_a_wrong_key_ends_the_trial() -> None:
    slow = Scripted(lambda _: Answer(fail=FailureKind.TIMEOUT))
    outcomes = asyncio.run(try_examples(slow, whole(), judge=JUDGE))
    assert {one["present"] for one in outcomes} == {None}
    assert outcomes[0]["because"].startswith("timeout: ")
    with pytest.raises(CallFailed):
        asyncio.run(
            try_examples(Scripted(lambda _: Answer(fail=FailureKind.AUTHENTICATION)), whole(), judge=JUDGE)
        )


def test_without_a_model_it_is_said_what_to_set() -> None:
    with pytest.raises(SubmissionRefused, match=r"set IMPACTBENCH_TRIAL_MODEL .* embedded/smollm2-135m"):
        trial_provider("")
