"""What a review shows besides the conversation, where its rubric says so and the policy allows: never in a blind one."""

from sqlmodel import Session, col, select

from impactbench.domain import Content
from impactbench.store.tables import Assignment, Conversation, Judgment, ReviewSet, Scenario
from reviews.blindness.visibility import Seen, may_see_in_review, stage_of
from reviews.rubrics import Rubric


class Disclosed(Content):
    """Something shown on purpose, with what it is."""

    title: str
    text: str


def disclosed(session: Session, assignment: Assignment, rubric: Rubric) -> tuple[Disclosed, ...]:
    """What the rubric shows of an item: its scenario, or the judge's first verdict with the reason it gave."""
    shown: list[Disclosed] = []
    if not rubric.shows:
        return ()
    stage = stage_of(session.get_one(ReviewSet, assignment.review_set_id))
    if "scenario" in rubric.shows and may_see_in_review(Seen.SCENARIO, stage, on_purpose=True):
        conversation = session.get_one(Conversation, assignment.conversation_id)
        scenario = session.get_one(Scenario, conversation.scenario_id)
        shown += [
            Disclosed(title="Who the person is", text=scenario.persona),
            Disclosed(title="What the person wants", text=scenario.user_goal),
            Disclosed(title="What the person tries to get the chatbot to do", text=scenario.adversarial_goal),
            *(
                Disclosed(title=f"Turn {anchor['turn']}", text=anchor["instruction"])
                for anchor in scenario.anchors
            ),
        ]
    if "verdict" in rubric.shows and may_see_in_review(Seen.VERDICT, stage, on_purpose=rubric.anchored):
        judgment = session.exec(
            select(Judgment)
            .where(
                Judgment.conversation_id == assignment.conversation_id,
                Judgment.metric_version_id == assignment.metric_version_id,
                Judgment.repeat == 0,
            )
            .order_by(col(Judgment.id))
        ).first()
        shown.append(Disclosed(title="The automatic verdict", text=_in_words(judgment)))
    return tuple(one for one in shown if one.text)


def _in_words(judgment: Judgment | None) -> str:
    if judgment is None or judgment.present is None:
        return "There is no verdict."
    return f"{'Present' if judgment.present else 'Absent'}. {judgment.justification}"
