"""`make first`: one figure of each paper, with which `make` goes on."""

import pytest

from toy.small_project import TINY

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

ABOUT = {"name": "Tiny", "title": "On small things"}
PAPERS = {"tiny": {**ABOUT, "first": "relu_penalty"}, "others": ABOUT}
MADE = {"curve": 1, "figure": 1}
FIGURE = "results/figures/relu_penalty.png"


def test_it_makes_the_papers_first_figures_and_nothing_is_made_twice(fresh):
    fresh.configure(TINY | {"papers": PAPERS})
    everything = fresh.would_run()
    assert fresh.would_run("first") == MADE | {"first": 1}
    said = fresh.make("first")
    assert f"One figure of each paper:\n{FIGURE}\n" in said
    assert (fresh.folder / FIGURE).is_file()
    left = fresh.would_run()
    assert {rule: jobs - left.get(rule, 0) for rule, jobs in everything.items() if jobs != left.get(rule)} == MADE
    assert fresh.would_run("first") == {"first": 1}  # which only says where they are
