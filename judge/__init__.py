"""An LLM-judged context relevance grader with honest intervals."""
