"""A small embedded search engine for demos, tests and sweeps. Not a search product.

It exists so that ranking knobs (fusion, recency decay, similarity floor, chunking) can be
turned on a corpus that fits in memory, and what they cost can be read per slice.
"""
