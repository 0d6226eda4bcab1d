"""The README's snippets run as they stand, and its links lead somewhere."""

import re
from pathlib import Path

import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


class Network(nn.Module):
    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.layer1, self.layer2 = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, inputs):
        return self.layer2(torch.relu(self.layer1(inputs)))


def test_the_readmes_snippets(capsys):
    names = {"before": Network(0), "after": Network(1), "loader": [torch.randn(200, 4)]}
    snippets = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(snippet, names)
    theory, here = re.match(r"theory: (\S+), this X: (\S+)\n2 layers: ", capsys.readouterr().out).groups()
    assert abs(float(theory) - float(here)) < 0.1


def test_links_lead_somewhere():
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", TEXT) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []
