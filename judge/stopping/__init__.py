"""When to stop asking the judge, and what to ask until then."""
