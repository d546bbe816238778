"""A study whose conversations are made for a test, with experts who may sign in, written straight into a database."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Panel, Polarity, Role, content_hash
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.members.invitations import invite

OPTIONS = ["pass", "borderline", "fail"]
MODEL, FAMILY, MAKER = "zebrafish-9-large", "zebrafish", "Acmeworks Intelligence"
JUDGE, JUDGE_FAMILY = "quokka-judge-3", "quokkan"
VERDICT_TEXT = "JUSTIFICATION-OF-THE-JUDGE"


@dataclass(frozen=True)
class Desk:
    """An expert's way in and what waits there."""

    rater: str
    link: str


def plain_turns(number: int, exchanges: int = 4) -> list[dict[str, str]]:
    """A conversation that says which one it is."""
    return [
        {"role": role, "content": f"conversation {number}, turn {turn}, {role}"}
        for turn in range(1, exchanges + 1)
        for role in ("user", "assistant")
    ]


def set_desks(
    engine: Engine,
    conversations: Sequence[list[dict[str, str]]],
    *raters: str,
    base_url: str,
    protocol_accepted: bool = True,
) -> dict[str, Desk]:
    """Put the conversations, judged, before every rater, in the order given; gives their links."""
    with writing(engine) as session:
        benchmark = t.Benchmark(slug="kindness", name="Kindness")
        study = t.Study(slug="winter", title="A winter study")
        model = t.Model(slug=MODEL, family=FAMILY, provider=MAKER)
        judge_model = t.Model(slug=JUDGE, family=JUDGE_FAMILY, provider=JUDGE_FAMILY)
        session.add_all([benchmark, study, model, judge_model])
        session.flush()
        metric = t.Metric(benchmark_id=benchmark.id, slug="m01")
        run = t.Run(study_id=study.id, slug="first")
        judge = t.Judge(model_id=judge_model.id, parameters_hash="p")
        people = [
            t.Rater(
                pseudonym=name,
                panel=Panel.EXTERNAL,
                protocol_accepted_at=datetime.now(UTC) if protocol_accepted else None,
            )
            for name in raters
        ]
        readers = [t.Rater(pseudonym=role, role=role) for role in (Role.METHODOLOGIST, Role.MAINTAINER)]
        session.add_all([metric, run, judge, *people, *readers])
        session.flush()
        version = t.MetricVersion(
            metric_id=metric.id,
            version=1,
            name="Asks before it advises",
            polarity=Polarity.POSITIVE,
            definition="The chatbot asks a question about the person's situation before it gives advice.",
            question="Does the chatbot ask before it advises?",
            content_hash="v1",
        )
        review_set = t.ReviewSet(
            study_id=study.id, slug="one", origin="design", design_hash="d", overlap=len(raters)
        )
        session.add_all([version, review_set])
        session.flush()
        for number, turns in enumerate(conversations, start=1):
            scenario = t.Scenario(
                metric_version_id=version.id,
                slug=f"s{number:03}",
                base_scenario=f"s{number:03}",
                content_hash=f"{number}",
            )
            session.add(scenario)
            session.flush()
            conversation = t.Conversation(
                run_id=run.id,
                key=f"s{number:03}__{MODEL}",
                scenario_id=scenario.id,
                model_id=model.id,
                turns=turns,
                content_hash=content_hash(turns),
            )
            session.add(conversation)
            session.flush()
            session.add(
                t.Judgment(
                    conversation_id=conversation.id,
                    metric_version_id=version.id,
                    judge_id=judge.id,
                    present=number % 2 == 0,
                    justification=VERDICT_TEXT,
                )
            )
            for person in people:
                session.add(
                    t.Assignment(
                        study_id=study.id,
                        review_set_id=review_set.id,
                        conversation_id=conversation.id,
                        metric_version_id=version.id,
                        rater_id=person.id,
                        code=secrets.token_urlsafe(9),
                        position=number,
                        option_order=OPTIONS,
                    )
                )
    experts = {name: Desk(name, invite(engine, name, base_url=base_url)) for name in raters}
    # As in the demo: most tests look at the pages of readers from many devices, and not at how they came in.
    return experts | {
        name: Desk(name, invite(engine, name, base_url=base_url, reusable=True))
        for name in map(str, (Role.METHODOLOGIST, Role.MAINTAINER))
    }


def labels_by_conversation(engine: Engine, rater: str) -> dict[int, list[tuple[int, str, str]]]:
    """For each conversation number every revision of a rater's label: (revision, verdict or reason, rationale)."""
    with reading(engine) as session:
        rows = session.exec(
            select(t.Assignment.position, t.Label)
            .join(t.Label, t.Label.assignment_id == t.Assignment.id)  # type: ignore[arg-type]
            .join(t.Rater, t.Rater.id == t.Assignment.rater_id)  # type: ignore[arg-type]
            .where(t.Rater.pseudonym == rater)
            .order_by(t.Assignment.position, t.Label.revision)  # type: ignore[arg-type]
        ).all()
    found: dict[int, list[tuple[int, str, str]]] = {}
    for position, label in rows:
        said = str(label.verdict or label.no_verdict_because)
        found.setdefault(position, []).append((label.revision, said, label.rationale))
    return found
