"""The suite of metrics: what is checked in it, what is missing from it, and how a metric gets in."""
