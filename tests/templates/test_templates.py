"""Templates: values are escaped, and every file of the folder is part of the code of jobs that write pages."""

import pytest
from jinja2.exceptions import UndefinedError

from carryover.config.artifacts import DATA_FILES
from carryover.provenance import code_digest, job_record
from carryover.templates import rendering


def test_the_code_of_a_page_has_every_template():
    files = code_digest.closure_files(job_record.SCRIPTS, *DATA_FILES["report"])
    there = {path.name for path in rendering.FOLDER.iterdir() if path.suffix in (".j2", ".css", ".js")}
    assert {path.removeprefix("carryover/templates/") for path in files} == there


def test_what_is_told_is_escaped_and_what_is_not_told_is_missed():
    text = rendering.render("claims.html.j2", summary='<b> & "quoted"', papers={}, note="<script>")
    assert "<p>&lt;b&gt; &amp; &#34;quoted&#34;" in text
    assert "<script>" not in text
    with pytest.raises(UndefinedError, match="'summary' is undefined"):
        rendering.render("claims.html.j2", papers={}, note="")
