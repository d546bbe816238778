"""Contested metrics: the evidence, the decision, the revision, and whether it helped."""
