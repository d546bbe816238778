"""KORA's taxonomy of risks to children: each risk is a candidate, a behaviour that is unwanted."""

from pathlib import Path

from impactbench.adapters.candidates import Adapted, Candidate, slug_of, with_own_slugs
from impactbench.adapters.documents import read_json_entries
from impactbench.domain import MetricDefinition, Polarity


def read_kora(path: Path) -> Adapted:
    """Read risks.json: a list of categories, each with its risks.

    Raises:
        ImportRefused: a category or a risk lacks its id, its name or its description.
    """
    candidates = []
    for category in read_json_entries(path, noun="category", key="id"):
        name, risks = category.text("name"), list(category.entries("risks"))
        if not risks:
            raise category.refuse("there are no 'risks', which must be a list of risks")
        for risk in risks:
            definition = risk.text("description")
            candidates.append(
                Candidate(
                    benchmark="kora",
                    slug=slug_of(risk.text("id")),
                    source_file=path.name,
                    source_place=f"category {name!r}, risk {risk.text('id')!r}",
                    passage=definition,
                    definition=MetricDefinition(
                        name=risk.text("name"), polarity=Polarity.NEGATIVE, definition=definition
                    ),
                    notes=(
                        f"it stands in the category {name!r}",
                        "the source says which content is in scope: name one behaviour of the chatbot, or split it",
                        *(
                            [f"not carried over: conversations of {risk.fields['conversationLength']} turns"]
                            if risk.has("conversationLength")
                            else []
                        ),
                    ),
                )
            )
    return Adapted(format="kora", source_file=path.name, title="KORA", candidates=with_own_slugs(candidates))
