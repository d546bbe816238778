"""The sections of a report about one judge."""

import re
from collections.abc import Sequence

from reviews.audit.own_family import LEVELS
from reviews.report.card_judges import own_family_sentence
from reviews.report.document import Picture, Section, Table
from reviews.report.figures import JudgeFigures
from reviews.report.pictures import curve, forest, pairs
from reviews.report.spelling import bounded, counted, no_interval, share_of, spelled
from validation.mapping import Policy
from validation.multiverse import Statistic

_RATES = {
    "accuracy": "Accuracy",
    "kappa": "Cohen’s κ",
    "mcc": "Matthews’ correlation",
    "sensitivity": "Sensitivity: of what experts pass, passed",
    "specificity": "Specificity: of what experts fail, failed",
    "false_pass_rate": "False passes: of what experts fail, passed",
    "false_fail_rate": "False fails: of what experts pass, failed",
    "ppv": "Of the judge’s passes, passed by experts",
    "npv": "Of the judge’s fails, failed by experts",
    "balanced_accuracy": "Balanced accuracy",
}
_SPREAD: tuple[tuple[Statistic, str], ...] = (("accuracy", "Accuracy"), ("kappa", "Cohen’s κ"))
_PERCENT = {"kappa": False, "mcc": False}


def judge_sections(one: JudgeFigures, place: int, policy: Policy) -> list[Section]:
    """Against the experts as `policy` reads them, its own family, itself, and what it makes of the models."""
    key = f"judge{place}"
    sections = [_against_experts(one, key, policy), _readings(one, key), _own_family(one, key)]
    if one.retest is not None:
        sections.append(_retest(one, key))
    sections.append(_corrected(one, key))
    if one.ages:
        sections.append(_ages(one, key))
    sections.append(_missing(one, key))
    return sections


def _against_experts(one: JudgeFigures, key: str, policy: Policy) -> Section:
    found, name = one.whole.found, one.judge.name
    words = ("Experts: fail", "Experts: undecided", "Experts: pass")
    matrix = tuple(
        (word, *(f"{count:.0f}" for count in row))
        for word, row in zip(words, one.whole.three_way, strict=True)
    )
    metrics = [(row.title, row.shrunken) for row in one.metrics]
    return Section(
        f"{key}-experts",
        f"{name} and the experts",
        f"On {counted(found.table.n, 'item')} {name} agrees with the experts on {spelled(found.accuracy, percent=True, n=False)};"
        f" it passes {share_of(found.false_pass_rate, 'what they fail')}, and fails"
        f" {share_of(found.false_fail_rate, 'what they pass')}.",
        (
            f"Reading of the labels: {policy.words} ({policy.name}). The first run is compared, the one that was deployed.",
            *no_interval(row.found.accuracy for row in one.groups),
            *(f"Check first: {finding.sentence}" for finding in one.alarms),
        ),
        pictures=(
            (
                forest(
                    f"{key}-metrics", metrics, title="Accuracy, drawn towards the other metrics", percent=True
                ),
            )
            if metrics
            else ()
        ),
        tables=(
            Table("Who says what", ("", "Judge: fail", "Judge: pass"), matrix),
            Table(
                "Rates",
                ("", "With 95% interval"),
                tuple(
                    (word, spelled(getattr(found, rate), percent=_PERCENT.get(rate, True)))
                    for rate, word in _RATES.items()
                ),
            ),
            Table(
                "By group",
                ("Group", "Accuracy", "False passes", "False fails"),
                tuple(
                    (
                        row.group,
                        spelled(row.found.accuracy, percent=True),
                        spelled(row.found.false_pass_rate, percent=True),
                        spelled(row.found.false_fail_rate, percent=True),
                    )
                    for row in one.groups[1:]
                ),
            ),
        ),
    )


def _readings(one: JudgeFigures, key: str) -> Section:
    curves = one.readings.curve
    spread = curves.spread("accuracy")
    verdict = {
        "robust": "holds under every reading",
        "mixed": "holds under some readings and fails under others",
        "fails": "holds under none",
        "not estimable": "cannot be checked",
    }[one.claim.verdict]
    points = (("lowest", "minimum"), ("median", "median"), ("highest", "maximum"))
    cells: dict[str, Picture] = {"curve": curve(f"{key}-readings", curves)} if spread.cells else {}
    others = tuple(
        (
            f"borderline as {row.borderline}" if row.borderline != "drop" else "borderline left out",
            spelled(row.found.human, percent=True),
            spelled(row.found.judge, percent=True),
            spelled(row.found.difference),
        )
        for row in one.ceilings
    )
    return Section(
        f"{key}-readings",
        f"What changes if the experts’ labels are read otherwise: {one.judge.name}",
        f"Over {counted(spread.cells, 'admissible reading')} accuracy runs from {spelled(spread.minimum, percent=True)} to"
        f" {spelled(spread.maximum, percent=True)}; “at least {one.claim.at_least:.0%}” {verdict}.",
        (
            f"No reading at all can put it outside {bounded(one.readings.bounds, percent=True)}.",
            f"Borderline as half: {spelled(one.readings.half, percent=True)}; left out, which always flatters:"
            f" {spelled(one.readings.dropped, percent=True)}.",
            "Readings are not independent evidence: they are neither averaged nor tested together. The name of one says whether"
            " each label is read as a pass or a fail first and the expert verdict made of these (map_then_agg) or the other way"
            " round, what a borderline label counts as (b), how several labels become one verdict, what becomes of a tie, and"
            " whether items with a single expert count (singles).",
            _may_replace(one),
        ),
        pictures=tuple(cells.values()),
        tables=(
            Table(
                "Over the admissible readings",
                ("", *(word for word, _ in points)),
                tuple(
                    (word, *(spelled(getattr(curves.spread(name), point)) for _, point in points))
                    for name, word in _SPREAD
                ),
            ),
            Table(
                "Beside an expert, both against the majority of the other experts",
                ("", "An expert", "The judge", "Judge minus expert"),
                others,
            ),
        ),
    )


def _may_replace(one: JudgeFigures) -> str:
    test = one.alternative
    if not test.applicable:
        return f"Whether it may take the place of an expert is not testable here: {test.reason}."
    shown = ", ".join(
        f"{omega.value:.0%} at {epsilon:g}"
        for epsilon, omega in test.epsilon_curve
        if omega.value is not None and epsilon in (0, 0.1, 0.2, 0.3)
    )
    tested = sum(annotator.rejected is not None for annotator in test.annotators)
    return (
        "May it take the place of an expert? That hangs on the margin that pays for its being cheaper. Share of the"
        f" {counted(tested, 'expert')} with enough items against whom it wins, by margin: {shown}."
    )


def _own_family(one: JudgeFigures, key: str) -> Section:
    levels = one.own_family.levels
    rows = tuple(
        (
            LEVELS[level],
            spelled(found.leniency),
            spelled(found.false_pass_gap),
            spelled(found.false_fail_gap),
            f"{found.n_own_fail} and {found.n_other_fail}",
            "none could be" if found.detectable is None else f"{found.detectable:.2f}",
        )
        for level, found in levels.items()
    )
    return Section(
        f"{key}-family",
        f"{one.judge.name} and its own family",
        own_family_sentence(one)[0].upper() + own_family_sentence(one)[1:],
        (
            "A judge that passes its own family more often may simply be right: what counts is judge minus experts.",
            *_left_out(one),
            *_permutation(one),
        ),
        tables=(
            Table(
                "Against models of other families",
                (
                    "",
                    "Leniency (judge − experts, own − other)",
                    "Gap of false passes",
                    "Gap of false fails",
                    "Failing items, own and other",
                    "Smallest gap that could be seen",
                ),
                rows,
            ),
        ),
    )


def _left_out(one: JudgeFigures) -> Sequence[str]:
    unknown = one.own_family.family_unknown
    said = (
        f"{counted(unknown, 'item')} left out: the family of their model, or of the judge, is not on record."
    )
    return (said,) if unknown else ()


def _permutation(one: JudgeFigures) -> Sequence[str]:
    found = one.own_family.permutation
    if found.p_family is None:
        return ()
    return (
        f"Families hold few models: choosing other models as “own” gives p = {found.p_family:.2f} for the family, and no less than"
        f" {found.smallest_p_family:.2f} were possible.",
    )


def _note(note: str) -> str:
    """A note on an estimate as a sentence."""
    few = re.fullmatch(r"few clusters \((\d+)\)", note)
    text = f"the unit is the metric, and {few[1]} are few: the intervals are rough" if few else note
    return f"{text[0].upper()}{text[1:]}."


def _retest(one: JudgeFigures, key: str) -> Section:
    if one.retest is None:
        raise ValueError("a judge that ran once has no retest")
    whole, caps = one.retest.whole, one.retest.ceilings
    cap = (
        ""
        if caps.accuracy is None
        else f" No comparison with fixed labels can be expected above {caps.accuracy:.0%}."
    )
    rows = tuple(
        (word, spelled(getattr(whole, name), percent=percent))
        for name, word, percent in (
            ("unanimous", "All runs alike", True),
            ("pairwise", "Pairs of runs alike", True),
            ("decision_flips", "Majority of the runs against the first", True),
            ("kappa", "Fleiss’ κ", False),
            ("ac1", "Gwet’s AC1", False),
        )
    )
    by = tuple(
        (name, spelled(found.unanimous, percent=True), spelled(found.kappa))
        for name, found in one.retest.by["polarity"].items()
    )
    return Section(
        f"{key}-retest",
        f"{one.judge.name} asked again",
        f"In {one.retest.runs} runs it changes its mind on {share_of(whole.flip_rate, 'items')}.{cap}",
        tuple(map(_note, whole.pairwise.notes)),
        tables=(
            Table("Against itself", ("", "With 95% interval"), rows),
            Table("By polarity", ("Polarity", "All runs alike", "Fleiss’ κ"), by),
        ),
    )


def _corrected(one: JudgeFigures, key: str) -> Section:
    pictures, tables = [], []
    for board in one.boards:
        title = f"Pass rates, {board.polarity} metrics" if board.polarity != "None" else "Pass rates"
        rows = [(str(rate.group), rate.judge_rate, rate.rate) for rate in board.rates]
        if rows:
            words = ("judge", "corrected by the experts")
            pictures.append(pairs(f"{key}-rates-{board.polarity}", rows, words=words, title=title))
        ranks = {str(model.name): model for model in board.corrected.models}
        tables.append(
            Table(
                f"Order of models, {board.polarity} metrics"
                if board.polarity != "None"
                else "Order of models",
                (
                    "Model",
                    "Ranks that the judge’s verdicts leave open",
                    "Ranks that the corrected rates leave open",
                ),
                tuple(
                    (
                        str(model.name),
                        f"{model.lowest} to {model.highest}",
                        f"{ranks[str(model.name)].lowest} to {ranks[str(model.name)].highest}"
                        if str(model.name) in ranks
                        else "not ranked",
                    )
                    for model in board.raw.models
                ),
            )
        )
    tables += [
        Table(
            f"The judge’s order of models under other choices, {polarity} metrics",
            ("Choice", "Kendall’s τ with the judge’s order", "Same first", "Pairs turned round"),
            tuple(
                (
                    each.name,
                    spelled(each.kendall),
                    "yes" if each.keeps_first else "no",
                    str(each.discordant_pairs),
                )
                for each in held.perturbations
            ),
        )
        for polarity, held in one.order.items()
        if held is not None
    ]
    reviewed = sum(board.n_reviewed for board in one.boards)
    every = sum(board.n_metrics for board in one.boards)
    flags = dict.fromkeys(
        rate.choice.flag for board in one.boards for rate in board.rates if rate.choice.flag
    )
    return Section(
        f"{key}-corrected",
        f"Pass rates as experts would have given them: {one.judge.name}",
        f"Corrected rates speak of the {counted(reviewed, 'metric')} that experts reviewed, of {every}; boards of different"
        " polarity are never mixed.",
        tuple(f"Note: {flag}." for flag in flags),
        pictures=tuple(pictures),
        tables=tuple(tables),
    )


def _ages(one: JudgeFigures, key: str) -> Section:
    rows = tuple(
        (
            row.group,
            spelled(row.judge),
            spelled(row.experts),
            spelled(row.excess),
            f"{row.n_teen} and {row.n_adult}",
        )
        for row in one.ages
    )
    whole = one.ages[0]
    return Section(
        f"{key}-ages",
        f"Teens and adults: {one.judge.name}",
        "Teens minus adults in pass rate: the judge’s difference minus the experts’ is"
        f" {spelled(whole.excess)}; at 0 the judge errs alike for both.",
        ("Pass rates run from 0 to 1; each figure is that of teens minus that of adults.",),
        tables=(
            Table(
                "Teens minus adults",
                ("Group", "Judge", "Experts", "Judge minus experts", "Items, teens and adults"),
                rows,
            ),
        ),
    )


def _missing(one: JudgeFigures, key: str) -> Section:
    found = one.gaps.found
    rows = tuple(
        (str(model) or "not named", spelled(share, percent=True))
        for model, share in zip(one.gaps.by_model.groups, one.gaps.by_model.shares, strict=True)
    )
    blocked = (
        " The shares differ by model so much that pooled figures should not be quoted."
        if one.gaps.by_model.blocks_pooling
        else ""
    )
    return Section(
        f"{key}-missing",
        f"What {one.judge.name} left without a verdict",
        f"{counted(found.n_missing, 'verdict')} missing, {spelled(found.share, percent=True)}; at worst and at best the accuracy"
        f" would be {bounded(found.accuracy, percent=True)}.{blocked}",
        tuple(f"{reason}: {count}" for reason, count in one.gaps.reasons.items()),
        tables=(Table("Without a verdict, by model", ("Model", "Share"), rows),),
    )
