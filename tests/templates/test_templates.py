"""Templates: the inputs of a job are the templates of its page, and values are escaped."""

import pytest
from jinja2 import meta
from jinja2.exceptions import UndefinedError

from carryover.config.artifacts import TEMPLATES
from carryover.templates import rendering

PAGES = {"claims_table": "claims.html.j2", "report": "report.html.j2"}


def made_of(template):
    """The names of a template and of all that it names, directly or not."""
    environment, names, unseen = rendering.ENVIRONMENT, set(), [template]
    while unseen:
        names.add(name := unseen.pop())
        source = environment.loader.get_source(environment, name)[0]
        unseen += set(meta.find_referenced_templates(environment.parse(source))) - names
    return names


@pytest.mark.parametrize("rule", TEMPLATES)
def test_a_job_reads_what_its_page_is_made_of(rule):
    assert set(TEMPLATES[rule]) == made_of(PAGES[rule])
    assert len(TEMPLATES[rule]) == len(set(TEMPLATES[rule]))


def test_every_template_is_of_a_page():
    there = {path.name for path in rendering.FOLDER.iterdir() if path.suffix in (".j2", ".css", ".js")}
    assert there == set().union({"audit.html.j2"}, *TEMPLATES.values())  # an audit is no result


def test_what_is_told_is_escaped_and_what_is_not_told_is_missed():
    text = rendering.rendered("claims.html.j2", summary='<b> & "quoted"', papers={}, note="<script>")
    assert "<p>&lt;b&gt; &amp; &#34;quoted&#34;" in text
    assert "<script>" not in text
    with pytest.raises(UndefinedError, match="'summary' is undefined"):
        rendering.rendered("claims.html.j2", papers={}, note="")
