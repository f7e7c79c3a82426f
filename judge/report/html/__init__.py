"""Reports as one HTML file each that needs nothing else and obeys nothing it shows."""

from judge.report.html.comparison import render_comparison
from judge.report.html.page import render_html

__all__ = ["render_comparison", "render_html"]
