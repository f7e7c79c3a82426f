"""Reports as one HTML file each that needs nothing else and obeys nothing it shows.

`page.render_html` for one run, `comparison.render_comparison` for two.
"""
