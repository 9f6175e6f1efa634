"""Mixed FL, figure 8: the smile classifier by 2-way gradient transfer, for several sizes of central
batches."""

from fedtheory.figures import _mixed, mixed_fig7
from fedtheory.figures._record import Figure

METHOD = "2-W GT"
compute = mixed_fig7.compute_arrays


def draw_figure(figure, data):
    mixed_fig7.draw_panels(figure, data, METHOD)


def batch_spreads(data):
    """Return {method: (seeds,)}, the difference between the most and the fewest rounds over batch
    sizes."""
    both = mixed_fig7.rounds_to_gain(data, (METHOD, mixed_fig7.METHOD))
    return {method: mixed_fig7.batch_spread(values) for method, values in both.items()}


def judge_findings(data):
    cells = {("spread_over_batch", m, "smile"): values for m, values in batch_spreads(data).items()}
    return _mixed.judge_outcomes(data, "smile", {"mixed.fig8_less_sensitive": cells})


def describe_result(data):
    return (
        "How far the rounds to one loss differ between central batches, as a share of all rounds: "
        f"{_mixed.describe_values(batch_spreads(data))}."
    )


def write_caption(data):
    return _mixed.write_caption(
        data, "smile", f"Two-way gradient transfer, a line for each central batch. {_mixed.LINES}"
    )


FIGURE = Figure(
    cites="mixed FL, figure 8",
    title="2-way gradient transfer over central batches, smiles",
    compute=compute,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=mixed_fig7.table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
