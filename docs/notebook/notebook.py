# %% [markdown]
# # A notebook: archived data, a figure, an experiment of your own
#
# Start it in the project's folder, in an environment with `pip install -e ".[workflow]"`: as a notebook in VS Code
# or Jupyter (with jupytext), or by `python docs/notebook/notebook.py`. It takes half a minute and writes its
# pictures next to it.

# %%
import shutil
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import yaml

from carryover import archive, diagonal_flow_limit

folder = Path("docs/notebook")

# %% [markdown]
# ## Load an archived dataset
#
# `archive.load` gives an xarray dataset of an experiment at the papers' scale. It has one entry for each trained
# network. What a network is stands in coordinates along `run`; what was measured stands in variables with a meaning
# and a unit.

# %%
data = archive.load("resources/archive/paper", "diagonal_overlap", "risk")
print(data["risk_final"].attrs["long_name"], "of", data.sizes["run"], "networks")

# %% [markdown]
# ## Redraw a figure
#
# The risk of finetuned diagonal networks over the number of samples, for several shares of common features: the
# median of six seeds.

# %%
networks = data.isel(run=(data["protocol"] == "finetuning") & (data["solver"] == "exact"))
medians = networks["risk_final"].to_dataframe().groupby(["samples", "overlap"])["risk_final"].median().unstack()
ax = medians.plot(loglog=True, marker="o", xlabel="samples", ylabel="risk", title="Finetuned diagonal networks")
ax.set_xticks(medians.index, medians.index)
ax.minorticks_off()
ax.figure.savefig(folder / "archived.png")

# %% [markdown]
# ![risk over samples](archived.png)
#
# ## Train networks of your own
#
# Gradient flow on a diagonal network, from any start, ends where `diagonal_flow_limit` says. Networks that begin at
# a scale α have balanced layers, and the product of their two paths stays α⁴. So the weights after pretraining
# follow from the coefficients. We shrink the dimension to 100 and change the scale at which the readout begins in
# finetuning. A large readout makes training lazy: the networks do not use the features that pretraining made large.


# %%
def finetuned_risk(overlap, samples, readout, seed, dimension=100, features=8, alpha=1e-3):
    """Squared error of finetuned coefficients over the squared norm of the target's."""
    rng = np.random.default_rng(seed)
    source, target = np.zeros(dimension), np.zeros(dimension)
    source[:features] = rng.choice([-1, 1], features)
    first = round((1 - overlap) * features)
    target[first : first + features] = rng.choice([-1, 1], features)
    small = np.full(dimension, alpha)
    X = rng.normal(size=(4 * dimension, dimension))
    pretrained = diagonal_flow_limit(X, X @ source, small, small, small, small)
    plus = (pretrained + np.sqrt(pretrained**2 + 4 * alpha**4)) / 2
    layers = np.sqrt(plus), np.sqrt(plus - pretrained)
    X, second = rng.normal(size=(samples, dimension)), np.full(dimension, readout)
    found = diagonal_flow_limit(X, X @ target, layers[0], second, layers[1], second)
    return np.sum((found - target) ** 2) / np.sum(target**2)


figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
for ax, readout in zip(axes, (1e-3, 1.0), strict=True):
    for overlap in (0.0, 0.5, 1.0):
        sizes = [10, 20, 40, 80]
        risks = [np.median([finetuned_risk(overlap, n, readout, seed) for seed in range(5)]) for n in sizes]
        ax.loglog(sizes, risks, marker="o", label=f"overlap {overlap:g}")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.set(xlabel="samples", title=f"readout begins at {readout:g}")
axes[0].set_ylabel("relative risk")
axes[0].legend()
figure.savefig(folder / "own.png")

# %% [markdown]
# ![risk of networks of your own](own.png)
#
# ## The same as an experiment of the workflow
#
# An experiment is an entry of the configuration. The workflow trains it with every seed, records how, and draws it.
# Change a number in `mine.yaml` and run the command again: only what depends on it runs anew.

# %%
mine = {
    "family": "diagonal",
    "seeds": 3,
    "task": {"dimension": 100, "auxiliary_features": 8},
    "pretrain": {"samples": 400},
    "finetune": {"main_features": 8, "overlap": [0.0, 0.5, 1.0], "samples": [10, 20, 40, 80]},
    "measures": {"risk": {}},
}
figures = {"mine": {"plot": "facets", "data": {"risk": "mine/risk"}, "options": {"title": "My experiment"}}}
Path("mine.yaml").write_text(yaml.safe_dump({"experiments": {"mine": mine}, "figures": figures}))
command = ["snakemake", "--quiet", "--configfile", "mine.yaml", "--", "results/figures/mine.png"]
subprocess.run(command, check=True)
shutil.copy("results/figures/mine.png", folder)

# %% [markdown]
# ![my experiment](mine.png)
