"""`impactbench demo`: set up once, opened again without losing anything."""

import re
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from sqlalchemy import Engine
from sqlmodel import select
from typer.testing import CliRunner, Result

from app.cli.demo import PEOPLE, REVIEW_SET, STUDY, DemoRefused, demo
from impactbench.domain import LabelStatus, LabelVerdict, Panel, Role
from impactbench.store import frames
from impactbench.store.engine import connect, reading, writing
from impactbench.store.tables import Assignment, Label, Rater, Study, Table
from reviews.audit.items import judges_of
from reviews.contested.change_log import change_log
from reviews.contested.contest import metric_statuses
from reviews.contested.dispositions import dispositions
from reviews.contested.revisions import definition_of, new_version, revision_states
from reviews.evidence import read_tables
from reviews.locking import lock_set, mark_reported
from reviews.members.invitations import rater_of_token
from reviews.public.nutrition import nutrition_labels
from reviews.public.releasing import public_studies, public_study
from reviews.public.results import read_public
from validation.contested import Status

LINK = re.compile(r"^(\w+)\s+http://localhost:(\d+)/enter/(\S+)$", re.MULTILINE)


def open_demo(database: Path, *options: str) -> Result:
    command = typer.Typer()
    command.command()(demo)
    return CliRunner().invoke(command, ["--no-serve", "--database", str(database), *options])


def tokens(result: Result) -> dict[str, str]:
    """role -> the token of the link that was printed."""
    return {role: token for role, _, token in LINK.findall(result.stdout)}


def who(engine: Engine, token: str) -> Rater | None:
    return rater_of_token(engine, token, now=datetime.now(UTC))


def everything(engine: Engine, *tables: type[Table]) -> list[list[dict[str, object]]]:
    with reading(engine) as session:
        return [[row.model_dump() for row in session.exec(select(table)).all()] for table in tables]


def rate_first_item(engine: Engine) -> int:
    with writing(engine) as session:
        guest = session.exec(select(Rater).where(Rater.pseudonym == PEOPLE[Role.EXPERT])).one()
        seat = session.exec(
            select(Assignment).where(Assignment.rater_id == guest.id, Assignment.position == 1)
        ).one()
        assert seat.id is not None
        session.add(
            Label(
                assignment_id=seat.id,
                revision=1,
                operation="the guest's first",
                status=LabelStatus.SUBMITTED,
                verdict=LabelVerdict.PASS,
            )
        )
        return seat.id


def test_it_sets_up_the_study_and_a_link_for_each_role(tmp_path: Path) -> None:
    database = tmp_path / "new folder" / "demo.db"
    result = open_demo(database, "--port", "8600")
    assert result.exit_code == 0, result.output
    assert {port for _, port, _ in LINK.findall(result.stdout)} == {"8600"}
    assert "http://localhost:8600" in result.stdout
    assert "simulated" in result.stderr
    engine = connect(f"sqlite:///{database}")
    people = {role: who(engine, token) for role, token in tokens(result).items()}
    assert {role: person and person.pseudonym for role, person in people.items()} == PEOPLE
    assert [person and person.role for person in people.values()] == list(PEOPLE)
    studies = frames.studies(engine)
    assert studies["study"].tolist() == [STUDY]
    assert studies["conversations"].tolist() == [72]
    assert len(frames.judgments(engine, STUDY)) == 216 + 36, "those under the revised metric besides"
    assert "simulated" in studies["notice"][0]


def test_the_guest_has_twelve_conversations_over_all_metrics_and_is_no_simulated_rater(
    tmp_path: Path,
) -> None:
    open_demo(tmp_path / "demo.db")
    engine = connect(f"sqlite:///{tmp_path / 'demo.db'}")
    seats = frames.assignments(engine, STUDY)
    own = seats[seats["rater"] == PEOPLE[Role.EXPERT]].merge(
        frames.conversations(engine, STUDY), on="conversation_id"
    )
    assert len(own) == 12
    assert own["metric"].value_counts().to_dict() == {f"m0{number}": 2 for number in range(1, 7)}
    assert set(own.groupby("metric")["age"].nunique()) == {2}
    assert set(own["review_set"]) == {REVIEW_SET}
    versions = frames.metrics(engine).set_index("metric_version_id")["version"]
    asked = own.set_index("metric")["metric_version_id_x"].map(versions)
    assert set(asked["m04"]) == {2}, "the revision was adopted, so that is what the guest is asked"
    assert set(asked.drop("m04")) == {1}
    assert set(own["panel"]) == {Panel.EXTERNAL}
    simulated = seats[seats["rater"] != PEOPLE[Role.EXPERT]]
    assert simulated["rater"].str.startswith("sim-").all()
    assert len(simulated) == 360 + 72, "those of the second review besides"


def test_a_contested_metric_was_revised_to_its_end_and_the_other_is_left_to_the_maintainer(
    tmp_path: Path,
) -> None:
    open_demo(tmp_path / "demo.db")
    engine = connect(f"sqlite:///{tmp_path / 'demo.db'}")
    tables = read_tables(engine, STUDY)
    title = dict(zip(tables.metrics["metric_version_id"], tables.metrics["title"], strict=True))
    status = {title[one.metric]: one.status for one in metric_statuses(tables)}
    assert [name for name, one in status.items() if one is Status.CONTESTED] == [
        "Points back to people close by"
    ]
    assert status["Says that it has feelings for the person (version 2)"] is Status.NO_CONCERN_FOUND
    (state,) = revision_states(engine, STUDY, dispositions(engine, STUDY))
    assert state.sentence == "adopted; waiting for experts: 2 answers", "those of the guest"
    adopted, revised = change_log(engine, STUDY)
    assert (revised.decision, revised.status, adopted.decision) == ("revise", "contested", "adopt")
    assert adopted.figures["items"] == 12
    assert adopted.figures["alpha"]["change"]["low"] > 0, adopted.figures["sentence"]
    assert revised.dissent
    assert all("Simulated" in entry.note for entry in (adopted, revised))
    assert len(judges_of(tables)) == 1, "the judge that judged again is the same judge"
    again = tables.assignments[tables.assignments["review_set"] == "again-m04-v2"]
    assert again["rater"].str.startswith("sim-").all()


def test_the_public_reads_of_checked_contested_and_unassessed_metrics(tmp_path: Path) -> None:
    open_demo(tmp_path / "demo.db")
    engine = connect(f"sqlite:///{tmp_path / 'demo.db'}")
    (study,) = public_studies(engine)
    assert "simulated" in study.notice
    assert (study.under_review, study.transcripts) == (True, False), "the guest is at work"
    results = read_public(engine, study.slug)
    status = {one.metric: one.checked.status for one in results.metrics.values()}
    assert [name for name, one in status.items() if one is Status.CONTESTED] == ["m03"]
    assert [name for name, one in status.items() if one is Status.NOT_ASSESSED] == ["m04"]
    assert results.metrics[STUDY, "m04"].version == 2, "the second review is not reported"
    labels = nutrition_labels(results)
    assert list(labels) == ["corvid-7", "tansy-2-large", "tansy-2-mini"]
    for label in labels.values():
        lines = [line.checked for line in (*label.promotes, *label.avoids) if len(line.metrics) == 1]
        assert {line.status for line in lines if line.known} == {Status.WATCH, Status.NO_CONCERN_FOUND}
        assert all(line.n_experts == 6 for line in lines if line.known)
    lock_set(engine, STUDY, "again-m04-v2")
    lock_set(engine, STUDY, REVIEW_SET)
    mark_reported(engine, STUDY)
    assert read_public(engine, STUDY).metrics[STUDY, "m04"].checked.status is Status.NO_CONCERN_FOUND
    assert public_study(engine, STUDY).transcripts
    assert open_demo(tmp_path / "demo.db").exit_code == 0


def reword_a_metric(engine: Engine) -> None:
    """As somebody does who tries the contested metrics."""
    metrics = frames.metrics(engine)
    version = int(metrics.loc[metrics["metric"] == "m03", "metric_version_id"].iloc[0])
    wording = definition_of(engine, version).model_copy(update={"definition": "The chatbot names somebody."})
    new_version(engine, version, wording, because="Clearer.", author="demo-maintainer")


def test_opened_again_it_keeps_what_was_rated_and_prints_fresh_links(tmp_path: Path) -> None:
    database = tmp_path / "demo.db"
    first = tokens(open_demo(database))
    engine = connect(f"sqlite:///{database}")
    rated = rate_first_item(engine)
    reword_a_metric(engine)
    before = everything(engine, Study, Assignment, Label)
    again = open_demo(database)
    assert again.exit_code == 0, again.output
    assert "there already" in again.stderr
    assert everything(engine, Study, Assignment, Label) == before
    assert rated in [label["assignment_id"] for label in before[2]]
    assert all(who(engine, token) is None for token in first.values())
    assert all(who(engine, token) for token in tokens(again).values())


def test_simulated_data_never_go_into_a_database_with_another_study(tmp_path: Path) -> None:
    open_demo(tmp_path / "demo.db")
    engine = connect(f"sqlite:///{tmp_path / 'demo.db'}")
    with writing(engine) as session:
        session.add(Study(slug="a-real-one", title="A real one"))
    refused = open_demo(tmp_path / "demo.db")
    assert isinstance(refused.exception, DemoRefused)
    assert "'a-real-one'" in str(refused.exception)


def test_a_port_that_is_taken_is_named_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DemoRefused, match=f"port {port} cannot be used"):
            demo(serve=True, port=port, database=tmp_path / "demo.db")
    assert not (tmp_path / "demo.db").exists()


@pytest.mark.parametrize("name", [".", "a file/demo.db"])
def test_a_database_that_cannot_be_made_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("in the way", encoding="utf-8")
    refused = open_demo(tmp_path / name)
    assert isinstance(refused.exception, DemoRefused)
    assert "--database" in str(refused.exception)
