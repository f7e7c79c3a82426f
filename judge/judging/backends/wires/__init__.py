"""The ways a request body goes to a chat-completions server and its answer comes back."""
