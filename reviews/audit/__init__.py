"""The audit of a study, one module a question: functions from `StudyTables` to frozen values made of `Estimate`.

Nothing here knows a database or a page: a page, a report and a command that reads files ask the same functions.

groups          which items a figure is made of
items           every item that a judge rated, with what experts say of it; the items under a figure
agreement       how far experts agree, and what a low coefficient does and does not mean
judge           the judge beside the experts: accuracy, every reading of the labels, the human ceiling
indeterminacy   what experts find defensible, and what a judge decides at each threshold
retest          the judge beside itself, and the ceilings that follow
own_family      whether a judge favours its own family, at three levels
ages            teens and adults: the judge's difference and the experts'
corrected       pass rates as experts would have given them, and what remains of the order of models
panel           several judges: which to choose, and whether the order of models depends on it
raters          severity, drift, repeats, gold items, groups of raters who agree
missing         what has no verdict or label, and what that could change at worst
"""
