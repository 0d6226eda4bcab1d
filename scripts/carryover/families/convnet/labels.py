"""How figures write what runs of convolutional networks are."""

VALUE_LABELS = {
    "network": {"resnet18": "ResNet-18", "vgg11": "VGG-11", "vgg5": "VGG-5"},
    "rescaled": {"all": "all weights", "weights": "all but normalisation", "readout": "new last layer alone"},
}
