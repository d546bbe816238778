"""The data of a release described in Croissant 1.0, the JSON-LD vocabulary for machine-learning data sets, with its RAI terms."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from reviews.report.package import DATA, FILES, TRANSCRIPTS

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_NUMBERS = {
    "n_turns": "sc:Integer",
    "metric_version": "sc:Integer",
    "repeat_no": "sc:Integer",
    "position": "sc:Integer",
    "judge_no": "sc:Integer",
    "confidence": "sc:Integer",
    "inclusion_probability": "sc:Float",
    "active_seconds": "sc:Float",
    "present": "sc:Boolean",
    "passed": "sc:Boolean",
}
_WHAT = {
    "conversations.csv": "One row a conversation of the study.",
    "metrics.csv": "One row a metric version: its definition and polarity.",
    "ratings.csv": "One row for each rater and item that was asked for, labelled or not, with the reason where not.",
    "verdicts.csv": "One row a verdict of a judge; `passed` follows from `present` and the polarity of the metric.",
    "decisions.csv": "One row an adjudicated item; adjudications overwrite no label.",
    "metric-reviews.csv": "One row an answer of a reviewer to a question about a metric as such.",
    "recognition.csv": "One row a rater who is asked at the end whether a model was recognised; empty: not answered yet.",
}


def croissant(
    card: Mapping[str, Any],
    about: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    licence: str,
    creator: str,
) -> dict[str, Any]:
    """The description of a release.

    Args:
        card: the judge card.
        about: what the package says of itself.
        files: the files of the data by name.
        licence: of the data.
        creator: who publishes them.
    """
    study, experts, design = about["study"], card["experts"], card["design"]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": study["slug"],
        "description": f"{study['title']}. Labels of {experts['n']} experts and verdicts of LLM judges on"
        f" {design['items']} items. {study['notice']}".strip(),
        "license": _licence(licence),
        "creator": {"@type": "sc:Organization", "name": creator},
        "datePublished": about["data_as_of"][:10],
        "version": "1.0.0",
        "isLiveDataset": False,
        **_responsible(card, about),
        "distribution": list(_distribution(files)),
        "recordSet": [_record_set(name) for name in FILES],
    }


def _licence(licence: str) -> str:
    return licence if "://" in licence else f"https://spdx.org/licenses/{licence}.html"


def _responsible(card: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    experts, process, purpose, design = about["experts"], about["process"], about["purpose"], card["design"]
    shared = about["shared"]
    panels = ", ".join(f"{name}: {count}" for name, count in card["experts"]["panels"].items())
    protocol = "Raters read a transcript and one question, and answer pass, borderline or fail, or why they cannot judge."
    return {
        "rai:dataCollection": purpose["subjects"]
        or "Recorded conversations of simulated users with chatbots.",
        "rai:dataAnnotationProtocol": " ".join(
            filter(None, (protocol, process["information"], process["blinding"]))
        ),
        "rai:annotationsPerItem": "; ".join(
            f"{count} items with {raters} raters" for raters, count in design["raters_per_item"].items()
        ),
        "rai:annotatorDemographics": f"Disciplines: {experts['disciplines'] or 'not stated'}. Panels: {panels}.",
        "rai:dataAnnotationPlatform": "ImpactBench workbench",
        "rai:machineAnnotationTools": [one["judge"]["name"] for one in card["judges"]],
        "rai:dataBiases": card["limits"] or ["none known"],
        "rai:dataLimitations": card["limits"] or ["none known"],
        "rai:dataUseCases": purpose["phenomenon"] or "Auditing LLM judges against experts.",
        "rai:personalSensitiveInformation": [
            f"Raters stand {shared['raters']}.",
            "Conversations are part of the data."
            if shared["transcripts"]
            else "Conversations are not part of the data.",
            "Raters’ reasons are part of the data."
            if shared["rationales"]
            else "Raters’ reasons are not part of the data.",
        ],
    }


def _distribution(files: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    kinds = {".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonlines"}
    for name, held in files.items():
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "description": _WHAT.get(
                name, "Conversations, one a line." if name == TRANSCRIPTS else "About the study."
            ),
            "contentUrl": f"{DATA}/{name}",
            "encodingFormat": kinds[PurePosixPath(name).suffix],
            "sha256": hashlib.sha256(held).hexdigest(),
        }


def _record_set(name: str) -> dict[str, Any]:
    short = name.removesuffix(".csv")
    return {
        "@type": "cr:RecordSet",
        "@id": short,
        "name": short,
        "description": _WHAT[name],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{short}/{column}",
                "name": column,
                "dataType": _NUMBERS.get(column, "sc:Text"),
                "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
            }
            for column in FILES[name]
        ],
    }
