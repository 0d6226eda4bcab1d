"""What finetuning did to a network of one's own, or will do, and by how much to rescale it before.

- `comparison`: two networks in one call; `diagnosis`: recorded activations; `report`: the result in words and drawn.
- `recording`: activations of any torch module; `modules`: its layers by name; `axes`: their channels and tokens;
  `networks`: one that has learnt nothing, and changed weights.
- Of one layer: `inheritance` (what another predicts of it), `regimes` (the verdict), `task` (what a probe reads).
- `sources`: activations in files; `layers`: how alike all layers of two networks are.
- `forecast`: what will help, by regression on features and gradients (`arms`, `tangent`).
- `rescaling`: a factor for pretrained weights; `search`: how it is found by noisy scores.
"""
