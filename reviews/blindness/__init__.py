"""Who may see what, what would give a model away, and what was sent to whom."""
