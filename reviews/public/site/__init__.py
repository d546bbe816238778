"""The public view as plain files: pages that open from disk and load nothing, and the data behind them."""
