"""Agreement, correlation, resampling, tests and corrections: numbers in, numbers out.

The formulas are closed forms of a few lines over numpy, held by tests to the values of scipy,
scikit-learn, krippendorff, irrCAC and ppi-python. Those would weigh more than all of judge
(scipy and scikit-learn alone 160 MB), none of them resamples whole queries or takes a stack of
resampled tables, and where both raters gave one grade they return NaN or raise.
"""
