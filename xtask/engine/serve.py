"""Serves a GGUF model with llama.cpp's own HTTP server, as the package `xllamacpp` carries it, until SIGTERM.

    python serve.py MODEL.gguf NAME URL_FILE

The base URL is written to URL_FILE once the server listens. The settings are those of a benchmark's subject: a
known number of slots, nothing remembered from one prompt to the next, and one compute thread, so that the client
has a core of its own.
"""

import pathlib
import signal
import sys

import xllamacpp

SLOTS = 8
CONTEXT_PER_SLOT = 4096


def parameters(model, name):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0

    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT_PER_SLOT
    # Each open connection holds one of these. With too few, clients wait unread, out of sight of the engine's
    # own queue, and /health waits with them.
    params.n_threads_http = 128
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1

    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.slot_prompt_similarity = 0.0
    params.n_ctx_checkpoints = 0

    params.endpoint_metrics = True
    params.endpoint_props = True
    params.endpoint_slots = True
    params.ui = False
    return params


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: python serve.py MODEL.gguf NAME URL_FILE")
    model, name, url_file = sys.argv[1:]
    # Held back from every thread, those of the server too, so that it waits for `sigwait` below.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    server = xllamacpp.Server(parameters(model, name))
    part = pathlib.Path(url_file + ".part")
    part.write_text(server.listening_address, encoding="utf-8")
    part.replace(url_file)
    signal.sigwait({signal.SIGTERM})
    pathlib.Path(url_file).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
