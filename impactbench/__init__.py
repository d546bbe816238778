"""What models do: metrics, conversations, judgments, and where they are kept."""
