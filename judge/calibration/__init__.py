"""A judge's grades against people's: how far it can be trusted, and what corrects it."""
