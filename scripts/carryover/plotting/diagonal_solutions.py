"""What diagonal networks learn (Fig. 5 of the appendix): norms, auxiliary share and sparsity of their solutions."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from carryover import labels
from carryover.config.parameters import parameter
from carryover.drawing import panels

TRAINED = ("single_task", "multi_task", "finetuning")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(64, "samples of the solutions whose sparsity is shown over overlaps", minimum=1)


def draw(data, p):
    """Panels a–f. Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one."""
    norms, sparsity, rescaled = data["norms"], data["sparsity"], data["rescaled"]
    overlaps = panels.values(sparsity, "overlap")
    fig = plt.figure(figsize=(12.5, 8.4))
    top, middle, bottom = fig.subfigures(3, 1)
    single = top.subplots(1, 5)
    full = panels.where(norms, overlap=overlaps[-1])
    full = full.isel(run=np.isin(full["protocol"].values, TRAINED))
    _norm(single[0], full, "l12_norm", "a  ℓ1,2 norm")
    _norm(single[1], full, "q_norm", "a  Q penalty")
    _rescaled_share(single[2], rescaled)
    _top_k_by_samples(single[3], panels.where(sparsity, overlap=overlaps[-1]))
    _l1(single[4], full)
    _by_overlap(middle, sparsity, overlaps, lambda ax, part: _top_k(ax, panels.where(part, samples=p.samples)))
    middle.suptitle(f"e  Sparsity by overlap (n = {p.samples}): finetuning and multi-task are as sparse as STL")
    _by_overlap(bottom, sparsity, overlaps, _share)
    bottom.suptitle("f  Share of the weight norm in the auxiliary dimensions: features are shared at small n")
    panels.legend(bottom, panels.seeds_in_words(norms), panels.SPREAD)
    panels.title(fig, "What diagonal networks learn")
    return fig


def _norm(ax, norms, quantity, title):
    """A norm of the solutions relative to the teacher's own."""
    relative = norms.assign({quantity: norms[quantity] / norms[f"{quantity}_teacher"]})
    panels.curves(ax, relative, quantity, "samples", "protocol")
    ax.axhline(1, color="0.4", linewidth=0.8, linestyle=":")
    panels.log_samples(ax, panels.values(norms, "samples"))
    ax.set(title=title, xlabel=labels.label(norms, "samples"), ylabel="relative to ground truth")


def _l1(ax, norms):
    _norm(ax, panels.where(norms, protocol="single_task"), "l1_norm", "d  ℓ1 norm of STL rises with n")


def _rescaled_share(ax, sparsity):
    """Panel b: as many new features as the auxiliary task has, by rescaling."""
    most = panels.values(sparsity, "main_features")[-1]
    shown = panels.where(sparsity, protocol="finetuning", overlap=0.0, main_features=most)
    factors = {factor: f"× {factor:g}" for factor in panels.values(shown, "rescale")}
    panels.curves(ax, shown, "auxiliary_share", "samples", "rescale", factors)
    panels.log_samples(ax, panels.values(shown, "samples"))
    ax.set(title="b  PT+FT on new features, rescaled", ylabel="auxiliary share", ylim=(-0.02, 1.02))
    ax.set_xlabel(labels.label(sparsity, "samples"))
    ax.legend()


def _top_k_by_samples(ax, sparsity):
    """Panel c: variance in the top k weights, both layers trained against the readout alone."""
    for n, runs, color in panels.colored(sparsity, "samples", panels.values(sparsity, "samples")[1::2]):
        for protocol, style, label in (("single_task", "-", f"n = {n}"), ("single_task_probe", "--", None)):
            part = panels.where(runs, protocol=protocol)
            panels.profile(ax, part, "top_k_variance", "k", label, color=color, linestyle=style)
    ax.set(title="c  STL (solid), STL (LP) (dashed)", xlabel="k", ylabel="share of variance in top k", ylim=(0, 1.02))
    ax.legend()


def _top_k(ax, sparsity):
    panels.curves(ax, sparsity, "top_k_variance", "k", "protocol")
    ax.plot(sparsity["k"], sparsity["top_k_variance_teacher"].isel(run=0), color="0.4", linestyle=":", linewidth=1)
    ax.set(xlabel="k", ylim=(0, 1.02))
    ax.set_ylabel("share of variance in top k") if ax.get_subplotspec().is_first_col() else None


def _share(ax, sparsity):
    panels.curves(ax, sparsity, "auxiliary_share", "samples", "protocol")
    ax.axhline(float(sparsity["auxiliary_share_teacher"][0]), color="0.4", linewidth=1, linestyle=":")
    panels.log_samples(ax, panels.values(sparsity, "samples"))
    ax.set(xlabel=labels.label(sparsity, "samples"), ylim=(-0.02, 1.02))
    ax.set_ylabel("auxiliary share") if ax.get_subplotspec().is_first_col() else None


def _by_overlap(figure, sparsity, overlaps, panel):
    for ax, overlap in zip(figure.subplots(1, len(overlaps), sharey=True), overlaps, strict=True):
        panel(ax, panels.where(sparsity, overlap=overlap))
        ax.set_title(panels.name(sparsity, "overlap", overlap))
