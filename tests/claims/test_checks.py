"""Checks become a dataset with verdicts, and the script writes it."""

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.provenance import job_record, store
from toy.made_up_runs import checks_of, dataset


def risks(finetuning):
    risk = {"single_task": 1.0, "multi_task": 0.1, "finetuning": finetuning, "finetuning_probe": 0.5}
    grid = {"protocol": list(risk), "overlap": [0.5, 1.0], "samples": [32]}
    return dataset(lambda seed, protocol, **_: {"risk_final": risk[protocol] * (1 + 0.1 * seed)}, grid)


@pytest.mark.parametrize(("finetuning", "expected"), [(0.01, "holds"), (10.0, "fails")])
def test_the_advantage_of_finetuning_is_the_ratio_of_risks(finetuning, expected, tmp_path):
    checked = checks_of("feature_reuse", {"risk": risks(finetuning)})
    row = checked.sel(claim="finetuning_shared")
    assert row["statistic"] == pytest.approx(-np.log10(finetuning))
    assert row["verdict"] == expected
    # Multi-task learning, at a risk of 0.1, is better than the one and worse than the other.
    assert checked.sel(claim="multi_task_first")["verdict"] == expected
    store.save(checked, tmp_path / "claims.nc")


def test_the_script_checks_claims_and_writes_them(tmp_path):
    import check_claims

    data = risks(0.01)
    for name in [*data.data_vars, *data.coords]:
        data[name].attrs = {"long_name": name, "units": "1"}
    told = {"rule": "collect", "modules": ["carryover.provenance.store"], "portable": "distribution"}
    with job_record.Job(outputs=[tmp_path / "risk.nc"], **told) as job:
        job.save(data)
    words = ["feature_reuse", "--roles", "risk", "--data", str(tmp_path / "risk.nc")]
    check_claims.main([*words, "--output", str(tmp_path / "feature_reuse.nc")])
    found = store.load(tmp_path / "feature_reuse.nc")
    assert found.sizes["claim"] == 4
    assert (found["data"] == f"{tmp_path.name}/risk").all()
    assert (found["portable"] == "distribution").all()
    with pytest.raises(UserError, match=r"^--roles: risk is missing\.$"):
        check_claims.main([words[0], "--roles", "risks", *words[3:], "--output", str(tmp_path / "none.nc")])
    with job_record.Job(outputs=[tmp_path / "risk.nc"], **told) as job:
        job.save(data.drop_vars("risk_final"))
    with pytest.raises(UserError, match=r"does not find what it needs in the data of .*risk\.nc: .*risk_final"):
        check_claims.main([*words, "--output", str(tmp_path / "none.nc")])
    assert not (tmp_path / "none.nc").exists()
