"""A study with everything that makes labels hard to carry: what exports and imports are tried on."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import LabelStatus, LabelVerdict, Panel
from impactbench.store import tables as t
from impactbench.store.engine import writing
from tests.reviews.invented_study import add_raters, add_study, place_metrics

BEGAN = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
HOSTILE = (
    '=HYPERLINK("https://example.org";"x")',
    "'=1",
    '+1\r\nthen a line, "quoted"',
    "@cmd",
    "\ttab",
    "👩‍👩‍👧 وهذا نص من اليمين إلى اليسار",
    "NA",
    "'tis plain",
)


def label_everything(engine: Engine) -> None:
    """A study with emoji, text from right to left, skips, revisions, a deactivated rater, two versions of a metric, a plan."""
    add_study(engine)
    place_metrics(engine)
    add_raters(engine, "ana", panel=Panel.INTERNAL)
    add_raters(engine, "ben", "חוה", panel=Panel.EXTERNAL)
    with writing(engine) as session:
        study = session.exec(select(t.Study)).one()
        people = session.exec(select(t.Rater).order_by(col(t.Rater.id))).all()
        people[1].active, people[1].token_hash = False, "never to leave"
        review_set = t.ReviewSet(
            study_id=study.id,
            slug="=first",
            origin="design",
            design={"seed": 7},
            design_hash="d",
            rubric_hash="r1",
        )
        metric = session.exec(select(t.Metric).where(t.Metric.slug == "m01")).one()
        second = t.MetricVersion(
            metric_id=metric.id,
            version=2,
            name="m01",
            polarity="negative",
            definition="Anew. 😀",
            content_hash="v2",
        )
        plans = [
            t.Registration(
                study_id=study.id,
                revision=revision,
                plan={"hypotheses": "=1+1 חוה 😀", "margin": 0.05 * revision},
                plan_hash=f"h{revision}",
                labels_then=revision - 1,
                because="" if revision == 1 else "too strict",
            )
            for revision in (1, 2)
        ]
        session.add_all([review_set, second, *plans])
        session.flush()
        rows = session.exec(
            select(t.Conversation, t.Scenario)
            .join(t.Scenario, col(t.Scenario.id) == t.Conversation.scenario_id)
            .order_by(col(t.Conversation.content_hash))
        ).all()
        for place, (conversation, scenario) in enumerate(rows[:8]):
            anew = place % 2 and scenario.metric_version_id != second.id and scenario.slug.startswith("s001")
            for person in people:
                given = t.Assignment(
                    study_id=study.id,
                    review_set_id=review_set.id,
                    conversation_id=conversation.id,
                    metric_version_id=second.id if anew else scenario.metric_version_id,
                    rater_id=person.id,
                    code=f"code-{place}-{person.id}",
                    position=place,
                    inclusion_probability=1 / 3,
                )
                session.add(given)
                session.flush()
                session.add_all(said(given.id or 0, place, person.id or 0))
                session.add_all(
                    t.Response(
                        rater_id=person.id,
                        review_set_id=review_set.id,
                        subject=subject,
                        question=f"why-{place}",
                        revision=1,
                        value={"b": HOSTILE[place], "a": [1, None]},
                    )
                    for subject in (
                        f"item/{given.code}",
                        f"scenario/{scenario.id}",
                        f"metric/{given.metric_version_id}",
                        "set",
                    )
                )
        session.flush()
        first = rows[0][0]
        on_the_table = session.exec(select(t.Label).order_by(col(t.Label.id))).all()[:2]
        session.add(
            t.Adjudication(
                study_id=study.id,
                conversation_id=first.id,
                metric_version_id=rows[0][1].metric_version_id,
                revision=1,
                verdict=LabelVerdict.FAIL,
                because="=settled",
                rule="tie",
                inputs=[each.id for each in on_the_table],
                adjudicator_id=people[0].id,
            )
        )
        session.add_all(judged(session))
        for revision, decision in ((1, "show"), (2, "hide")):
            session.add(
                t.Mask(
                    conversation_id=first.id, message=1, start=0, end=5, found="hello", decision=decision,
                    decided_by=people[0].id, revision=revision,
                )
            )  # fmt: skip


def judged(session: Session) -> list[t.Judgment]:
    """A verdict, or none, on every item that is assigned, and on some that are not."""
    model = t.Model(slug="judge/α", family="greek")
    session.add(model)
    session.flush()
    judge = t.Judge(model_id=model.id or 0, prompt_hash="p", parameters={"t": 0}, parameters_hash="h")
    session.add(judge)
    session.flush()
    items = session.exec(
        select(t.Assignment.conversation_id, t.Assignment.metric_version_id)
        .distinct()
        .order_by(col(t.Assignment.conversation_id))
    ).all()
    unassigned = session.exec(
        select(t.Conversation.id, t.Scenario.metric_version_id)
        .join(t.Scenario, col(t.Scenario.id) == t.Conversation.scenario_id)
        .where(col(t.Conversation.id).not_in([conversation for conversation, _ in items]))
    ).all()
    return [
        t.Judgment(
            conversation_id=conversation or 0,
            metric_version_id=version,
            judge_id=judge.id or 0,
            repeat=repeat,
            present=None if place == 1 else (place + repeat) % 2 == 0,
            unscored_because="=refused" if place == 1 else "",
            justification=HOSTILE[place % len(HOSTILE)],
            raw_reply="never to leave",
            created_at=BEGAN + timedelta(seconds=place),
        )
        for place, (conversation, version) in enumerate((*items, *unassigned))
        for repeat in (0, 1)
    ]


def said(assignment_id: int, place: int, rater_id: int) -> list[t.Label]:
    """Nothing, a skip, or a verdict that is revised twice."""
    if (place + rater_id) % 5 == 0:
        return []
    skipped = (place + rater_id) % 4 == 0
    verdicts = [None] if skipped else [*LabelVerdict][: 1 + place % 3]
    return [
        t.Label(
            assignment_id=assignment_id,
            revision=revision,
            operation=f"{assignment_id}-{revision}",
            status=LabelStatus.SKIPPED if skipped else LabelStatus.SUBMITTED,
            verdict=verdict,
            no_verdict_because="rather_not" if skipped else "",
            response_set=["pass", "fail"] if verdict is LabelVerdict.BORDERLINE else None,
            forced_choice=LabelVerdict.PASS if verdict is LabelVerdict.BORDERLINE else None,
            confidence=None if skipped else 3,
            rationale=HOSTILE[place],
            turns=[1],
            active_seconds=1.1 if revision == 1 else None,
            revised_because="" if revision == 1 else "=again",
            created_at=BEGAN + timedelta(minutes=revision),
        )
        for revision, verdict in enumerate(verdicts, start=1)
    ]
