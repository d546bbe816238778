"""The people of a study, and how they come in."""
