"""A small invented study, written straight into a database."""

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import AgeVariant, LabelStatus, LabelVerdict, Panel, Polarity, Role
from impactbench.store import tables as t
from impactbench.store.engine import writing

POLARITIES = {"m01": Polarity.POSITIVE, "m02": Polarity.NEGATIVE}
FAMILIES = {"tansy-2": "Tansy", "corvid-7": "Corvid"}
SCENARIOS = ("s001", "s002")


def add_study(engine: Engine, slug: str = "winter", *, reverse: bool = False) -> None:
    """Two metrics x two base scenarios x teen and adult x two models: 16 complete conversations, one run a model.

    Backwards, the rows are the same and their ids are not.
    """
    order = -1 if reverse else 1
    with writing(engine) as session:
        benchmark = t.Benchmark(slug="kindness", name="Kindness")
        study = t.Study(slug=slug, title=slug)
        session.add_all([benchmark, study])
        session.flush()
        models = {
            name: t.Model(slug=name, family=family, provider=f"{family} Works")
            for name, family in list(FAMILIES.items())[::order]
        }
        runs = {name: t.Run(study_id=study.id, slug=f"run-{name}") for name in models}
        metrics = {name: t.Metric(benchmark_id=benchmark.id, slug=name) for name in list(POLARITIES)[::order]}
        session.add_all([*models.values(), *runs.values(), *metrics.values()])
        session.flush()
        versions = {
            name: t.MetricVersion(
                metric_id=metric.id,
                version=1,
                name=name,
                polarity=POLARITIES[name],
                definition="Something is done.",
                content_hash=name,
            )
            for name, metric in metrics.items()
        }
        session.add_all(versions.values())
        session.flush()
        scenarios = [
            t.Scenario(
                metric_version_id=version.id,
                slug=f"{base}_{age}",
                base_scenario=base,
                age=age,
                content_hash=f"{name}{base}{age}",
            )
            for name, version in versions.items()
            for base in SCENARIOS[::order]
            for age in list(AgeVariant)[::order]
        ]
        session.add_all(scenarios)
        session.flush()
        version_names = {version.id: name for name, version in versions.items()}
        for scenario in scenarios:
            for name, model in models.items():
                session.add(
                    t.Conversation(
                        run_id=runs[name].id,
                        key=f"{version_names[scenario.metric_version_id]}_{scenario.slug}",
                        scenario_id=scenario.id,
                        model_id=model.id,
                        turns=[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
                        content_hash=f"{scenario.content_hash}{name}",
                    )
                )


def add_raters(engine: Engine, *names: str, panel: Panel | None = None, role: Role = Role.EXPERT) -> None:
    with writing(engine) as session:
        session.add_all(t.Rater(pseudonym=name, panel=panel, role=role) for name in names)


def add_imported_labels(engine: Engine, rater: str, *, study: str = "winter", conversations: int = 3) -> None:
    """A rater known from imported labels alone, with an assignment on the first conversations."""
    add_raters(engine, rater, panel=Panel.EXTERNAL)
    with writing(engine) as session:
        person = session.exec(select(t.Rater).where(t.Rater.pseudonym == rater)).one()
        of = session.exec(select(t.Study).where(t.Study.slug == study)).one()
        imported = t.ReviewSet(study_id=of.id, slug="imported", origin="import", design_hash="none")
        session.add(imported)
        session.flush()
        rows = session.exec(
            select(t.Conversation, t.Scenario)
            .join(t.Scenario, col(t.Scenario.id) == t.Conversation.scenario_id)
            .order_by(col(t.Conversation.id))
        ).all()
        for position, (conversation, scenario) in enumerate(rows[:conversations], start=1):
            session.add(
                t.Assignment(
                    study_id=of.id,
                    review_set_id=imported.id,
                    conversation_id=conversation.id,
                    metric_version_id=scenario.metric_version_id,
                    rater_id=person.id,
                    code=f"imported-{position}",
                    position=position,
                )
            )


def add_judge(engine: Engine, *, model: str = "tansy-2", prompt: str = "p", study: str = "winter") -> None:
    """A judge's first run on every conversation: present in every other one, one of them unscored."""
    with writing(engine) as session:
        of = session.exec(select(t.Model).where(t.Model.slug == model)).one_or_none() or t.Model(
            slug=model, family=model.partition("-")[0].title()
        )
        session.add(of)
        session.flush()
        judge = t.Judge(model_id=of.id, prompt_hash=prompt, parameters_hash="p")
        session.add(judge)
        session.flush()
        rows = session.exec(
            select(t.Conversation, t.Scenario)
            .join(t.Scenario, col(t.Scenario.id) == t.Conversation.scenario_id)
            .order_by(col(t.Conversation.content_hash))
        ).all()
        for number, (conversation, scenario) in enumerate(rows):
            session.add(
                t.Judgment(
                    conversation_id=conversation.id,
                    metric_version_id=scenario.metric_version_id,
                    judge_id=judge.id,
                    present=None if number == 5 else number % 2 == 0,
                    unscored_because="refused" if number == 5 else "",
                )
            )


def place_metrics(engine: Engine) -> None:
    """m01 in the subarea sleep, m02 in grief."""
    with writing(engine) as session:
        for slug, metric in (("sleep", "m01"), ("grief", "m02")):
            subarea = t.Subarea(slug=slug, domain="mind", name=slug)
            session.add(subarea)
            session.flush()
            of = session.exec(select(t.Metric).where(t.Metric.slug == metric)).one()
            session.add(t.Placement(metric_id=of.id, subarea_id=subarea.id))


def answer(engine: Engine, assignment_id: int, verdict: LabelVerdict | None = LabelVerdict.PASS) -> None:
    """A first label; without a verdict, the item is one that the rater cannot judge."""
    with writing(engine) as session:
        session.add(
            t.Label(
                assignment_id=assignment_id,
                revision=1,
                operation=f"answer-{assignment_id}",
                status=LabelStatus.SUBMITTED if verdict else LabelStatus.CANNOT_JUDGE,
                verdict=verdict,
                no_verdict_because="" if verdict else "outside_my_field",
            )
        )
