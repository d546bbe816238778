"""What people say: review sets, assignments, labels, and the evidence they give."""
