"""The tokenizer of the tiny models: byte-level BPE, learnt from what every machine with Python has."""

import pathlib
import sys
import sysconfig

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
# They come last, so that the ids from 0 up are ordinary and a client may draw prompts from any low range.
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"]
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CORPUS_BYTES = 8_000_000


def corpus():
    """Python's own standard library, the one text that every machine with Python has."""
    left = CORPUS_BYTES
    for path in sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield text
        left -= len(text)
        if left <= 0:
            return


def train_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens(SPECIAL)
    if tokenizer.get_vocab_size() != VOCABULARY:
        sys.exit(f"tiny_tokenizer: {tokenizer.get_vocab_size()} tokens were learnt, {VOCABULARY} are needed")
    return tokenizer
