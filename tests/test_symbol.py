"""How formulas are written."""

import sympy

from fedtheory import discover
from fedtheory.symbol import plain


def test_sums_are_written_as_papers_write_them():
    """FSL (12) and lemma D.8, by eye: what is measured first, low powers first, no minus sign in
    front."""
    assert str(discover.claim("fsl.theorem1")).startswith(
        "tilde_F_next <= tilde_F_t - K_0 eta_0 h sq_tilde_grad + 5 K_0^2 L Psi eta_0^2 + 8 K_0^3 L^2 eta_0^3 ("
    )
    assert str(discover.claim("mixed.lemmaD8")) == "sq_map <= sq_xy (1 - eta mu)"
    N, S = sympy.symbols("N S", positive=True)
    assert plain((N - S) / (N - 1)) == "(N - S)/(N - 1)" and plain(-N - S) == "-N - S"
