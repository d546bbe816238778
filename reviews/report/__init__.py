"""The report of a study: figures, judge card, documents, and the check that all of it follows from the data."""
