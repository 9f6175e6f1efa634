"""Sixty fair and unfair accusations about textbook theorems, labelled before any rule for labels:
the negative control of what a verdict says about a paper."""

from tests.checker import (
    accused_averaging,
    accused_cohorts,
    accused_descent,
    accused_inequalities,
    accused_orders,
)

PAGES = accused_inequalities, accused_cohorts, accused_descent, accused_averaging, accused_orders
ACCUSATIONS = tuple(accusation for page in PAGES for accusation in page.ACCUSATIONS)
