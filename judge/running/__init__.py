"""Ask a search system itself, query by query, and keep what it returned as a run."""
