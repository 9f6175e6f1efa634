"""Mixed FL, figure 8: the smile classifier by 2-way gradient transfer over central batches."""

from fedtheory.figures import _mixed, mixed_fig7
from fedtheory.figures._record import Figure

METHOD = "2-W GT"
compute = mixed_fig7.compute


def draw(figure, data):
    mixed_fig7.panels(figure, data, METHOD)


def spreads(data):
    """method -> (seeds,)."""
    both = mixed_fig7.rounds(data, (METHOD, mixed_fig7.METHOD))
    return {method: mixed_fig7.spread(values) for method, values in both.items()}


def findings(data):
    cells = {("spread_over_batch", m, "smile"): values for m, values in spreads(data).items()}
    return _mixed.outcomes(data, "smile", {"mixed.fig8_less_sensitive": cells})


def says(data):
    return (
        "How far the rounds to one loss differ between central batches, as a share of all rounds: "
        f"{_mixed.told(spreads(data))}."
    )


def caption(data):
    return _mixed.caption(
        data, "smile", f"Two-way gradient transfer, a line for each central batch. {_mixed.LINES}"
    )


FIGURE = Figure(
    cites="mixed FL, figure 8",
    title="2-way gradient transfer over central batches, smiles",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=mixed_fig7.rows,
    findings=findings,
    width="page",
    height=2.3,
)
