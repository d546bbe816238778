"""Runs: plan, subtract what is done, execute, record. The only concurrency of the pipeline."""
