"""Two runs or more over one pool: which is better, and may a change go in?"""
