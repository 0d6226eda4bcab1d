"""A small transformer of which finetuning gains by rescaling, and by no learning rate.

Its inputs are sequences of vectors, and a label is the sign of their mean along a direction. It is pretrained on many
directions and finetuned, of few samples, on one that is orthogonal to all of them: what it learnt before gets in the
way, the less the smaller its weights are. Positions are indexed by a buffer of integers, as in networks that are used.
"""

from functools import cache

import torch
from torch import nn
from torch.nn import functional as F

LENGTH, DIMENSION, DIRECTIONS, WIDTH, BLOCKS = 4, 64, 32, 32, 2
SAMPLES = 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_layers = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, tokens):
        seen = self.before_attention(tokens)
        tokens = tokens + self.attention(seen, seen, seen, need_weights=False)[0]
        return tokens + self.layers(self.before_layers(tokens))


class Transformer(nn.Module):
    def __init__(self, outputs, seed):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.embed = nn.Linear(DIMENSION, WIDTH)
            self.place = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
            self.register_buffer("position_ids", torch.arange(LENGTH))
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.classifier = nn.Linear(WIDTH, outputs)

    def forward(self, inputs):
        tokens = self.blocks(self.embed(inputs) + self.place[self.position_ids])
        return self.classifier(self.norm(tokens.mean(1)))


@cache
def directions():
    return torch.linalg.qr(torch.randn(DIMENSION, DIMENSION, generator=torch.Generator().manual_seed(0)))[0]


def samples(number, seed):
    """Inputs, and labels along all directions: of pretraining those before, of finetuning the one after."""
    inputs = torch.randn(number, LENGTH, DIMENSION, generator=torch.Generator().manual_seed(seed))
    return inputs, (inputs.mean(1) @ directions()[:, : DIRECTIONS + 1] > 0).float()


@cache
def pretrained():
    network = Transformer(DIRECTIONS, 0)
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    for step in range(700):
        inputs, labels = samples(128, step)
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(network(inputs), labels[:, :DIRECTIONS]).backward()
        optimizer.step()
    return network.state_dict()


def make(seed):
    return Transformer(2, seed)


def finetune(network, seed, rate=1.0):
    inputs, labels = samples(SAMPLES, 10**6 + seed)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1 * rate)
    for _ in range(400):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(inputs), labels[:, DIRECTIONS].long())
        loss.backward()
        optimizer.step()
        if loss < 0.02:
            break


def accuracy(network, seed=2 * 10**6):
    inputs, labels = samples(2000, seed)
    with torch.no_grad():
        return (network(inputs).argmax(1) == labels[:, DIRECTIONS]).float().mean().item()
