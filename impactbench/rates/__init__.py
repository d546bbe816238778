"""Pass rates with their uncertainty: tallies, intervals, orders and differences."""
