"""Networks of torchvision, timm, transformers and PEFT with random weights: channels, padding, and one diagnosis each.

The packages are optional; docs/diagnose.md names what is tested here.
"""

import copy

import numpy as np
import pytest
import torch

from carryover.diagnosis.comparison import compare
from carryover.diagnosis.recording import record
from toy.packages import package

pytestmark = pytest.mark.filterwarnings("ignore")
SAMPLES, TOKENS = 24, 7
NUMBERS = torch.Generator().manual_seed(0)
IMAGES = torch.randn(SAMPLES, 3, 64, 64, generator=NUMBERS)
IDS = torch.randint(3, 50, (SAMPLES, TOKENS), generator=NUMBERS)
MASK = (torch.arange(TOKENS) < 2 + torch.arange(SAMPLES)[:, None] % (TOKENS - 1)).long()
SOUND = torch.randn(SAMPLES, 4000, generator=NUMBERS)
TEXT = {"input_ids": IDS, "attention_mask": MASK}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def torchvision(name):
    return lambda: package("torchvision").models.get_model(name, num_classes=4)


def timm(name, **sizes):
    return lambda: package("timm").create_model(name, num_classes=4, **sizes)


def transformers(model, configuration, **sizes):
    def make():
        library = package("transformers")
        return getattr(library, model)(getattr(library, configuration)(**sizes))

    return make


def adapted():
    peft = package("peft")
    adapters = peft.LoraConfig(r=2, target_modules=["query"], task_type="SEQ_CLS")
    return peft.get_peft_model(NETWORKS["transformers BERT"][0](), adapters)


BERT = transformers("BertForSequenceClassification", "BertConfig", vocab_size=50, **SIZES)
FIRST, LAST, PAIRS = 1, -1, {"decoder_input_ids": IDS[:, :4], "decoder_attention_mask": MASK[:, :4]}
NETWORKS = {
    "torchvision ResNet": (torchvision("resnet18"), IMAGES, {
        "conv1": FIRST, "relu": FIRST, "layer1.0": FIRST, "layer4": FIRST, "avgpool": FIRST}),
    "torchvision ConvNeXt": (torchvision("convnext_tiny"), IMAGES, {
        "features.0": FIRST, "features.0.1": FIRST, "features.1.0": FIRST, "features.1.0.block.1": LAST,
        "features.1.0.block.6": FIRST, "features.7": FIRST, "avgpool": FIRST}),
    "torchvision Swin": (torchvision("swin_t"), IMAGES, {
        "features.0.0": FIRST, "features.0.1": LAST, "features.1": LAST, "features.1.0.mlp": LAST, "features.2": LAST,
        "features.7": LAST, "norm": LAST, "permute": FIRST}),
    "torchvision ViT": (torchvision("vit_b_16"), torch.nn.functional.interpolate(IMAGES[:20], 224), {
        "conv_proj": FIRST, "encoder.layers.encoder_layer_3": LAST, "encoder.ln": LAST}),
    "timm ResNet": (timm("resnet18"), IMAGES, {"act1": FIRST, "layer2": FIRST, "layer4.1.bn2": FIRST}),
    "timm ConvNeXt": (timm("convnext_atto", conv_mlp=False), IMAGES, {
        "stem.1": FIRST, "stages.0": FIRST, "stages.0.blocks.0.norm": LAST, "stages.3": FIRST, "head.norm": FIRST}),
    "timm ViT": (timm("vit_tiny_patch16_224", img_size=64), IMAGES, {
        "patch_embed": LAST, "patch_embed.proj": FIRST, "blocks.2": LAST, "blocks.2.mlp.act": LAST, "norm": LAST}),
    "timm Swin": (timm("swin_tiny_patch4_window7_224", img_size=64, window_size=4), IMAGES, {
        "patch_embed": LAST, "layers.0": LAST, "layers.1.downsample": LAST, "norm": LAST}),
    "transformers BERT": (BERT, TEXT, {
        "bert.embeddings": LAST, "bert.encoder.layer.1.intermediate": LAST, "bert.encoder.layer.1.output": LAST}),
    "transformers GPT-2": (
        transformers("GPT2LMHeadModel", "GPT2Config", vocab_size=50, n_embd=16, n_layer=2, n_head=2, bos_token_id=0,
                     eos_token_id=0),
        TEXT, {"transformer.drop": LAST, "transformer.h.0.attn.c_attn": LAST, "transformer.h.1.mlp": LAST,
               "transformer.ln_f": LAST}),
    "transformers T5": (
        transformers("T5ForConditionalGeneration", "T5Config", vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=2,
                     num_heads=2, decoder_start_token_id=0),
        TEXT | PAIRS, {"encoder.block.1.layer.1": LAST, "encoder.final_layer_norm": LAST,
                       "decoder.block.1.layer.2": LAST, "decoder.block.0.layer.1.EncDecAttention.k": LAST,
                       "decoder.final_layer_norm": LAST}),
    "transformers Wav2Vec2": (
        transformers("Wav2Vec2Model", "Wav2Vec2Config", conv_dim=(12, 12, 12), conv_kernel=(10, 5, 5),
                     conv_stride=(5, 4, 4), num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, **SIZES),
        {"input_values": SOUND}, {
            "feature_extractor": FIRST, "feature_extractor.conv_layers.0.activation": FIRST,
            "feature_extractor.conv_layers.2": FIRST, "feature_projection.layer_norm": LAST,
            "encoder.pos_conv_embed": LAST, "encoder.layers.1.final_layer_norm": LAST}),
    "PEFT LoRA": (adapted, TEXT, {"bert.encoder.layer.0.attention.self.query": LAST}),
}  # fmt: skip
"""{name: (how it is made, a batch, {layer: axis of its channels})}."""


def by_hand(network, batch, layers):
    """{layer: (samples, channels)}: the mean of each channel over all places, or over the tokens that count."""
    found, inner = {}, getattr(network, "base_model", network) if "Peft" in type(network).__name__ else network
    parts = dict(getattr(inner, "model", inner).named_modules() if inner is not network else network.named_modules())

    def keep(name, output):
        output = next(iter(output)) if isinstance(output, tuple) else output
        masks = [batch[key] for key in batch if key.endswith("mask")] if isinstance(batch, dict) else []
        mask = next((mask for mask in masks if mask.shape == output.shape[:2]), None)
        output = output.movedim(layers[name], -1)
        weights = torch.ones(output.shape[:-1]) if mask is None else mask.float()
        dims = tuple(range(1, output.ndim - 1))
        found[name] = ((output * weights[..., None]).sum(dims) / weights.sum(dims)[:, None]).numpy()

    hooks = [parts[name].register_forward_hook(lambda _, __, output, name=name: keep(name, output)) for name in layers]
    with torch.no_grad():
        network(**batch) if isinstance(batch, dict) else network(batch)
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.extended
@pytest.mark.parametrize("name", NETWORKS)
def test_channels_are_found_and_the_network_is_diagnosed(name):
    make, batch, layers = NETWORKS[name]
    torch.manual_seed(0)
    network = make().eval()
    expected = by_hand(network, batch, layers)
    with record(network, list(layers), reduce="mean") as see:
        see(**batch) if isinstance(batch, dict) else see(batch)
    for layer, values in expected.items():
        np.testing.assert_allclose(see.recording[layer], values, rtol=1e-3, atol=1e-5, err_msg=layer)
    after = copy.deepcopy(network)
    found = compare(network, after, [batch], layers="*", reduce="mean", baseline=None, progress=False)
    assert set(layers) <= set(found["layer"].values)
    np.testing.assert_allclose(found["cka"].dropna("layer"), 1, rtol=1e-4)
    assert "No parameter or buffer differs." in found.headline
