"""Labels by people: their store, where each rater stands, a terminal and a local page.

The page is starlette on uvicorn (2 MB with what they need): routing, middleware and a server
that are well kept, and no build step. It is an extra, `web`; the terminal needs nothing.
"""
