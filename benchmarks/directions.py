"""Time of a block of orthogonal directions, ours against LAPACK's QR factorization through numpy.

    python benchmarks/directions.py

LAPACK's time depends on the threads of BLAS: OPENBLAS_NUM_THREADS=1 is its best on a busy machine.
"""

import time
from collections.abc import Callable

import numpy as np

from riskgrad.gradient import sphere


def by_lapack(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    q, upper = np.linalg.qr(rng.standard_normal((d, n)))
    return np.ascontiguousarray((q * np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)).T)


def ours(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return sphere(rng, n, d, orthogonal=True)


def milliseconds(draw: Callable[..., np.ndarray], n: int, d: int) -> float:
    rng, times = np.random.default_rng(0), list[float]()
    for _ in range(50):
        begin = time.perf_counter()
        draw(rng, n, d)
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def main() -> None:
    print("| directions | parameters | ours, ms | LAPACK, ms |\n|---|---|---|---|")
    for n, d in ((8, 8), (32, 64), (128, 128), (16, 1000)):
        sphere(np.random.default_rng(0), n, d, orthogonal=True)  # compiles
        print(f"| {n} | {d} | {milliseconds(ours, n, d):.3f} | {milliseconds(by_lapack, n, d):.3f} |")


if __name__ == "__main__":
    main()
