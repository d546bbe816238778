"""Every simulation of the specification, expected beside measured: tables 0.4, 4.2, 6.5, 9, 10 (T10.3) and 11.

python -m bench.coverage [--reps 2000] [--seed 1]
"""

from bench import coverage_agreement, coverage_designs, coverage_prevalence
from bench.simulation import Sections, main

GROUPS: dict[str, Sections] = {
    "coverage_agreement": coverage_agreement.SECTIONS,
    "coverage_prevalence": coverage_prevalence.SECTIONS,
    "coverage_designs": coverage_designs.SECTIONS,
}
GROUPS["coverage"] = {title: section for group in GROUPS.values() for title, section in group.items()}

if __name__ == "__main__":
    raise SystemExit(main(GROUPS["coverage"], __doc__))
