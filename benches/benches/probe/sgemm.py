"""Prints the best rate of a product of two square matrices of single precision by numpy, in FLOP/s, and whose BLAS it has.

sgemm.py SIZE SECONDS
"""

import sys
import time

import numpy

size, seconds = int(sys.argv[1]), float(sys.argv[2])
random = numpy.random.default_rng(1)
a, b = (random.uniform(-1, 1, (size, size)).astype(numpy.float32) for _ in range(2))
out = numpy.empty((size, size), numpy.float32)
numpy.matmul(a, b.T, out=out)
best, until = float("inf"), time.perf_counter() + seconds
while time.perf_counter() < until:
    begin = time.perf_counter()
    numpy.matmul(a, b.T, out=out)
    best = min(best, time.perf_counter() - begin)
blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
print(f"gemm {2.0 * size**3 / best:.6g}")
print(f"numpy {numpy.__version__}, {blas['name']} {blas['version']}", file=sys.stderr)
