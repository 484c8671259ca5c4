"""Makes a tiny language model with random weights: a real engine needs real weights to load, not good ones.

    python make_model.py FOLDER

writes into FOLDER, the same bytes each time for one version of Python and of the locked packages:

    model.gguf       12.6 million weights, f32, llama architecture
    config.json      the same model in the words of Hugging Face, for a speed-of-light bound
    tokenizer.json   byte-level BPE of 4,096 entries, for counting on the client's side

Every token that the model can be expected to say is one visible piece of ASCII text, so a stream of N tokens
has N events with text.

The weights are f32 because a batch must pay, as it does on a real accelerator. With f16 weights llama.cpp on
AVX2 spends as much on each token of eight as on a lone one, throughput falls again before all slots are busy,
and the knee lies elsewhere than at the slots. In f32, reading the weights is a large cost that a batch shares.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
from tiny_tokenizer import CHATML, SPECIAL, VOCABULARY, train_tokenizer

SEED = 1849
LAYERS, WIDTH, FEED_FORWARD = 6, 384, 1024
HEADS, KV_HEADS, HEAD_SIZE = 6, 2, 64
CONTEXT = 4096
NORM_EPSILON, ROPE_BASE = 1e-5, 10000.0


def byte_of_character():
    """GPT-2's table of bytes as printable characters, backwards (openai/gpt-2, src/encoder.py)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    table = {chr(b): b for b in printable}
    table.update({chr(256 + n): b for n, b in enumerate(others)})
    return table


def is_visible(token, table):
    return token not in SPECIAL and all(32 <= table[c] < 127 for c in token)


def rotary_order(weights, heads):
    """Hugging Face keeps a head's two rotary halves one after the other; llama.cpp wants them interleaved."""
    halves = weights.reshape(heads, 2, HEAD_SIZE // 2, weights.shape[1])
    return halves.swapaxes(1, 2).reshape(weights.shape)


def tensors(tokens):
    """(name, array) for each tensor, in the order in which they are drawn."""
    rng = np.random.default_rng(SEED)

    def draw(rows, columns, deviation=None):
        # Unit variance in, unit variance out, unless told otherwise.
        deviation = columns**-0.5 if deviation is None else deviation
        return rng.standard_normal((rows, columns), dtype=np.float32) * np.float32(deviation)

    ones = np.ones(WIDTH, dtype=np.float32)
    yield "token_embd.weight", draw(VOCABULARY, WIDTH, 1.0)
    for n in range(LAYERS):
        yield f"blk.{n}.attn_norm.weight", ones
        yield f"blk.{n}.attn_q.weight", rotary_order(draw(HEADS * HEAD_SIZE, WIDTH), HEADS)
        yield f"blk.{n}.attn_k.weight", rotary_order(draw(KV_HEADS * HEAD_SIZE, WIDTH), KV_HEADS)
        yield f"blk.{n}.attn_v.weight", draw(KV_HEADS * HEAD_SIZE, WIDTH)
        yield f"blk.{n}.attn_output.weight", draw(WIDTH, HEADS * HEAD_SIZE)
        yield f"blk.{n}.ffn_norm.weight", ones
        yield f"blk.{n}.ffn_gate.weight", draw(FEED_FORWARD, WIDTH)
        yield f"blk.{n}.ffn_up.weight", draw(FEED_FORWARD, WIDTH)
        yield f"blk.{n}.ffn_down.weight", draw(WIDTH, FEED_FORWARD)
    yield "output_norm.weight", ones
    # A deviation of 0.15 spreads the logits enough that ordinary sampling gives varied text. A row of zeros makes
    # its token some 300,000 times less likely than the rest together, and unreachable under top-k sampling.
    output = draw(VOCABULARY, WIDTH, 0.15)
    table = byte_of_character()
    output[[not is_visible(token, table) for token in tokens]] = 0
    yield "output.weight", output


def write_gguf(path, tokenizer):
    vocabulary = tokenizer.get_vocab()
    tokens = sorted(vocabulary, key=vocabulary.get)
    kinds = [gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in tokens]
    merges = [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("fizeau-tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD_SIZE)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(NORM_EPSILON)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(vocabulary["<|endoftext|>"])
    writer.add_eot_token_id(vocabulary["<|im_end|>"])
    writer.add_pad_token_id(vocabulary["<|pad|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHATML)
    for name, array in tensors(tokens):
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_config(path):
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": WIDTH,
        "intermediate_size": FEED_FORWARD,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_SIZE,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": NORM_EPSILON,
        "rope_theta": ROPE_BASE,
        "tie_word_embeddings": False,
        "torch_dtype": "float32",
        "vocab_size": VOCABULARY,
    }
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python make_model.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    write_config(folder / "config.json")
    write_gguf(folder / "model.gguf", tokenizer)


if __name__ == "__main__":
    main()
