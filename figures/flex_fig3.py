"""Flex, figure 3: test accuracy of schemes A, B and C on non-IID EMNIST, with 1, 3, 5 and 8 traces."""

import numpy as np

from fedtheory.experiments.records import flex_schemes
from fedtheory.figures import _flex, _flex_networks, _fsl, _style
from fedtheory.figures._record import Figure

CELL = "EMNIST", "NIID"


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(flex_schemes.EXPERIMENT.runs_of("fig3", scale), progress)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    counts = _flex_networks.client_counts(read)
    for ax, count in zip(figure.subplots(1, len(counts), sharey=True), counts):
        for scheme in flex_schemes.SCHEMES:
            curves = read.curve(*CELL, count, scheme)
            _style.draw_band(
                ax,
                data["rounds"],
                curves.mean(axis=0),
                curves.min(axis=0),
                curves.max(axis=0),
                _flex.SCHEMES[scheme],
                label=f"scheme {scheme}",
            )
        ax.set(title=rf"$|\mathcal{{T}}|={count}$", xlabel=r"round $\tau$")
    figure.axes[0].set_ylabel("test accuracy")
    figure.axes[0].legend(*figure.axes[-1].get_legend_handles_labels(), loc="lower right")


def accuracy(read, count, scheme):
    """Return the final test accuracy (seeds,) in percent."""
    return 100 * read("final_accuracy", *CELL, count, scheme)


def judge_findings(data):
    read = _fsl.Read(data)
    cells = {
        ("final_accuracy", f"scheme {scheme}", f"|T|={count}"): accuracy(read, count, scheme)
        for count in _flex_networks.client_counts(read)
        for scheme in flex_schemes.SCHEMES
    }
    return _flex_networks.judge_networks(
        data, dict.fromkeys(("flex.fig3_C_over_B", "flex.fig3_A_below"), cells)
    )


def describe_result(data):
    read = _fsl.Read(data)
    means = lambda scheme: ", ".join(
        f"{np.mean(accuracy(read, count, scheme)):.1f}"
        for count in _flex_networks.client_counts(read)
    )
    told = "; ".join(f"{scheme} {means(scheme)}" for scheme in flex_schemes.SCHEMES)
    return f"Accuracy at the end in per cent, from few traces to many: {told}."


def table_rows(data):
    return _fsl.accuracy_rows(
        _fsl.Read(data), ["data", "split", "traces", "scheme"], ("final_accuracy",)
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        "One label a device; $|\\mathcal{T}|$ is the number of traces that devices follow. A line is the mean over "
        "seeds, its band goes from the least to the most.",
        _flex_networks.STAND_IN,
    )


FIGURE = Figure(
    cites="flex, figure 3",
    title="Schemes A, B and C on non-IID EMNIST",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.0,
)
