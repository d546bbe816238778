"""Parts of pages that need a browser's own means: keys, focus, marks in a transcript."""
