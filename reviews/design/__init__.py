"""The design of review sets: whom to ask about what, before and while they are open."""
