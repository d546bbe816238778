"""Measurements: how fast the statistics are beside the packages, and whether their intervals cover what they say."""
