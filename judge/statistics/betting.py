"""Bets against a hypothesis: a test that may look after every observation.

Somebody with a capital of 1 bets again and again that payoffs exceed what the hypothesis
allows them to be in the mean. If it holds, no bet is to his advantage whatever the earlier
ones brought, and the chance that he *ever* has 1/alpha or more is at most alpha (Ville 1939,
Étude critique de la notion de collectif). So a wealth of 1/alpha speaks against the
hypothesis at level alpha over all looks, for payoffs of any distribution: only their lower
end and their mean under the hypothesis are used. Weighted draws without replacement are
bet on like this by Shekhar, Xu, Lipton, Liang and Ramdas (2023, Risk-limiting financial
audits via weighted sampling without replacement).
"""

from __future__ import annotations

STAKE = 0.9
"""The share of the wealth that is bet each time. On the TREC DL 2019 pairs .8, .85, .9 and
.95 took 48, 46, 45 and 44% of the calls (mean of four medians, scripts/bench_calls_saved.py);
at .9 a draw that pays nothing leaves a tenth of the wealth, at .95 a twentieth."""


def wealth_after(wealth: float, payoff: float, *, at_most: float) -> float:
    """Return the wealth after one bet.

    wealth: before it, > 0
    payoff: what was drawn, >= 0
    at_most: the largest mean that the hypothesis allows the payoff, > 0; known before the
        draw

    >>> round(wealth_after(1.0, 3.0, at_most=2.0), 9)
    1.45
    """
    assert payoff >= 0.0 < at_most, f"no bet on {payoff} against {at_most}"
    return wealth * (1.0 - STAKE + STAKE * payoff / at_most)
