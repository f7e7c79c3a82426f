"""The report as one HTML file that needs nothing else and obeys nothing it shows."""

from judge.report.html.page import render_html

__all__ = ["render_html"]
