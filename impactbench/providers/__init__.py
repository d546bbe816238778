"""Where replies of models come from: the ways in which one call, or many, reach a model."""
