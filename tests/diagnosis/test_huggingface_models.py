"""Networks of transformers and PEFT, as they are, without any download."""

import copy

import pytest
import torch
import xarray as xr

from carryover.diagnosis.comparison import compare
from carryover.diagnosis.modules import submodules
from carryover.diagnosis.networks import reinitialise
from toy.packages import package

transformers = package("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
MAKERS = {
    "bert": lambda: transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=50, **SIZES)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=50, **SIZES)),
    "gpt2": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    ),
    "vit": lambda: transformers.ViTModel(transformers.ViTConfig(image_size=8, patch_size=4, **SIZES)),
}
IDS = torch.randint(0, 50, (60, 7), generator=torch.Generator().manual_seed(0))
MASK = (torch.arange(7) < 1 + torch.arange(60)[:, None] % 7).long()


@pytest.mark.parametrize("name", MAKERS)
def test_all_weights_of_a_loaded_network_are_drawn_anew_as_its_makers_do(name, tmp_path):
    net = MAKERS[name]()
    net.save_pretrained(tmp_path)
    net = type(net).from_pretrained(tmp_path)
    with torch.no_grad():
        for one in net.parameters():
            one += 3
    made, fresh = reinitialise(net), dict(MAKERS[name]().named_parameters())
    for key, one in made.named_parameters():
        some = one.numel() ** -0.5
        assert one.std().item() == pytest.approx(fresh[key].std().item(), rel=4 * some, abs=1e-6), key
        assert one.mean().item() == pytest.approx(fresh[key].mean().item(), abs=0.02 * 8 * some), key


@pytest.mark.parametrize("trained", [False, True])
def test_a_model_with_adapters_is_compared_with_the_one_before_and_with_itself_without_them(trained):
    peft = package("peft")
    torch.manual_seed(0)
    net = MAKERS["bert"]()
    adapters = peft.LoraConfig(r=2, target_modules=["query", "value"], task_type="SEQ_CLS")
    after = peft.get_peft_model(copy.deepcopy(net), adapters)
    assert list(submodules(after)) == list(submodules(net))
    if trained:
        with torch.no_grad():
            for name, one in after.named_parameters():
                one += 0.3 * torch.randn_like(one) * ("lora_B" in name)
    loader = [
        transformers.BatchEncoding({"input_ids": ids, "attention_mask": mask, "labels": ids[:, 0] % 2})
        for ids, mask in zip(IDS.split(16), MASK.split(16), strict=True)
    ]
    how = {"layers": "bert.encoder.layer.*.attention.self.query", "baseline": None, "progress": False, "reduce": "last"}
    found = compare(net, after, loader, **how)
    assert ((found["cka"] < 0.999) == trained).all()
    assert ((found["weight_change"] > 0) == trained).all()
    assert ("4 of 41 parameters differ" in found.headline) == trained  # the query and the value of two layers
    itself = compare(after, loader=loader, adapter=True, **how)
    xr.testing.assert_allclose(itself, found)
    assert itself.headline == found.headline
