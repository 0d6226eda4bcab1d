"""Risk claims about ReLU networks whose main task uses few of the auxiliary features (B2; claims of A and of B).

That networks select them cannot be seen from PT+FT beating fits of the pretrained features: no more samples than there
are auxiliary features determine those fits, and these then have nothing left but the error of pretraining. But such a
fit needs as many samples for one feature as for all, whereas a network that selects features needs fewer for fewer. So
the statistic is how much more it gains from the main task's having few features than the fit does.
"""

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

SAMPLES = 64


def check(data, p):
    """Role: `risk` of a nested experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=SAMPLES)
    few, many = runs.extremes("main_features")
    small, large = runs.where(protocol="finetuning").rescalings()

    def risk(protocol, rescale, count=few, trained=False):
        return runs.risk(trained, protocol=protocol, rescale=rescale, main_features=count)

    reuse = risk("single_task", 1.0, trained=True) - risk("finetuning", 1.0)
    rescaled = risk("single_task", small) - risk("finetuning", small, trained=True)
    gain = risk("finetuning", 1.0, many, trained=True) - risk("finetuning", 1.0)
    kernel, lazy = (
        risk(protocol, rescale, many) - risk(protocol, rescale, trained=True)
        for protocol, rescale in (("finetuning_kernel", 1.0), ("finetuning", large))
    )
    found = {
        "reuse": reuse,
        "no_rescaling_needed": reuse - rescaled,
        "selection_over_kernel": gain - kernel,
        "selection_over_lazy": gain - lazy,
    }
    return checks(found, few=few, many=many, small=small, large=large)
