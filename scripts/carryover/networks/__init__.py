"""The networks that are trained: arrays of weights with what they compute, and PyTorch modules.

- `diagonal`, `relu`, `deep_linear`: weights of many networks of a kind at once.
- Convolutional networks: `convnet` (ResNet-18, VGG-11, VGG-5, EfficientNet-Lite0), `convnet_layers` (layers that can be
  several side by side) and `convnet_weights` (read from files, rescaled, packed into one array).
"""
