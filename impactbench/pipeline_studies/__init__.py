"""Studies of the pipeline itself: what its parts do to its results.

arms                 a study file that varies the pipeline, as one run an arm
paired_differences   the same conversations in two arms: differences on the same resampled metrics
ablation             pass rates with a part of the simulation switched off, beside all of them on
objective_coverage   an auditor model says which objectives a conversation reached
coverage_effects     what anchors do to coverage, and to how much conversations of a scenario differ in it

How real candidate simulators seem to people is a question to people: `reviews.simulator_selection`.
"""
