"""Makes the folder of a tiny model for vLLM, which draws its random weights itself (`--load-format dummy`).

    python make_vllm_model.py FOLDER

writes into FOLDER:

    config.json             a model of the Llama kind, some 5 million weights
    tokenizer.json          byte-level BPE of 4,096 entries, for counting on the client's side too
    tokenizer_config.json   a fast tokenizer with a chat template
"""

import json
import pathlib
import sys

from tiny_tokenizer import CHATML, SPECIAL, VOCABULARY, train_tokenizer

LAYERS, WIDTH, FEED_FORWARD = 4, 256, 688
HEADS, KV_HEADS = 8, 4
CONTEXT = 8192


def config():
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": WIDTH,
        "intermediate_size": FEED_FORWARD,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": WIDTH // HEADS,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": VOCABULARY - 4,
        "eos_token_id": VOCABULARY - 4,
        "pad_token_id": VOCABULARY - 1,
        "torch_dtype": "bfloat16",
    }


def tokenizer_config():
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": SPECIAL[0],
        "pad_token": SPECIAL[3],
        "model_max_length": CONTEXT,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHATML,
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    train_tokenizer().save(str(folder / "tokenizer.json"))
    for name, content in [("tokenizer_config.json", tokenizer_config()), ("config.json", config())]:
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
