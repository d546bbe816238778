"""Agreement, and how far a judge can be trusted: statistics that know nothing of any study."""
