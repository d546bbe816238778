"""What comes in from elsewhere: one module an outside format, each read and checked whole before anything is kept."""

from impactbench.domain import ImpactBenchError


class ImportRefused(ImpactBenchError):
    """A file that is not what it should be: the text names the file, the entry, the value and what would be right."""
