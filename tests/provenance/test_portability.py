"""What is promised elsewhere: the weakest of what something is made of."""

from carryover.provenance import job_record


def test_a_record_promises_no_more_than_its_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def record(output, portable, *inputs):
        kwargs = {"inputs": inputs, "outputs": [output], "modules": ["carryover.provenance.store"]}
        with job_record.Job(rule="r", portable=portable, **kwargs) as job:
            job.path(output).write_text("x")
        return job_record.read(f"{output}.json")["portable"]

    (tmp_path / "outside").write_text("x")
    assert record("a", "bits", "outside") == {"job": "bits", "result": "bits"}
    assert record("b", "distribution") == {"job": "distribution", "result": "distribution"}
    assert record("d", "bits", "a", "b") == {"job": "bits", "result": "distribution"}
