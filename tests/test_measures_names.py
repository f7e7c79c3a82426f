"""Measure names: what is accepted, what it becomes, what a wrong one is told."""

from __future__ import annotations

import pytest

from judge.errors import UsageError
from judge.measures.names import Measure, parse_measure


@pytest.mark.parametrize(
    ("text", "canonical", "family"),
    [
        ("nDCG@10", "nDCG@10", "graded"),
        ("NDCG", "nDCG", "graded"),
        ("ERR@20", "ERR@20", "graded"),
        ("P(rel=2)@5", "P(rel=2)@5", "graded"),
        ("p@5", "P@5", "graded"),
        ("Judged@10", "Judged@10", "graded"),
        ("mrr", "RR", "golden"),
        # As trec_eval and pytrec_eval write them.
        ("ndcg_cut_10", "nDCG@10", "graded"),
        ("ndcg_cut.10", "nDCG@10", "graded"),
        ("recip_rank", "RR", "golden"),
        ("map_cut_100", "AP@100", "golden"),
        ("P_5", "P@5", "graded"),
        ("success_1", "Hit@1", "golden"),
        ("binary_ndcg_5", "binary_nDCG@5", "golden"),
        ("RR@10", "RR@10", "golden"),
        ("hit@3", "Hit@3", "golden"),
        ("recall@100", "R@100", "golden"),
        ("R(rel=1)@100", "R@100", "golden"),
        ("context_precision@5", "ContextPrecision@5", "golden"),
        ("AP", "AP", "golden"),
        ("binary_nDCG@10", "binary_nDCG@10", "golden"),
        (" nDCG@10 ", "nDCG@10", "graded"),
    ],
)
def test_name_is_read_and_written_canonically(text: str, canonical: str, family: str) -> None:
    measure = parse_measure(text)
    assert str(measure) == canonical
    assert measure.family == family
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bpref", "there is no measure 'bpref'; use one of nDCG[@k], ERR[@k], P@k"),
        ("", "there is no measure ''"),
        ("nDCG@0", "a cutoff is at least 1"),
        ("nDCG@-1", "there is no measure"),
        ("nDCG@١", "there is no measure"),
        ("R", "needs a cutoff, for example R@10"),
        ("nDCG(rel=2)@10", "nDCG has no threshold"),
        ("P(rel=0)@5", "rel is at least 1"),
    ],
)
def test_wrong_name_is_told_what_exists(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_measure(text)
    assert says in str(caught.value)


def test_measures_are_values() -> None:
    assert Measure("nDCG", 10) == parse_measure("ndcg@10")
    assert len({parse_measure("mrr"), parse_measure("RR")}) == 1
