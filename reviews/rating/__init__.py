"""The parts of a rater's work at the desk."""
