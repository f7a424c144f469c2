"""How much processor time a first run takes, when nothing is compiled yet, and how much the second one does.

    python benchmarks/first_run.py [environment ...]

Prints the table of benchmarks/first_run.md. Each run is `riskgrad train` with two iterations in a process of its own;
the first has an empty cache, the second has what the first one left.
"""

import os
import resource
import subprocess
import sys
import tempfile

ENVIRONMENTS = ("two-roads", "CartPole-v1")


def processor_time(env, cache):
    """Give the seconds that a process and its threads worked."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "riskgrad.cli", "train", env, "--risk", "cvar:0.1", "--iterations", "2"]
    with tempfile.TemporaryDirectory() as folder:
        given = {**os.environ, "NUMBA_CACHE_DIR": cache}
        subprocess.run(command, check=True, env=given, cwd=folder, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    print("| environment | first run | second run |")
    print("|---|---|---|")
    for env in sys.argv[1:] or ENVIRONMENTS:
        with tempfile.TemporaryDirectory() as cache:
            first, second = processor_time(env, cache), processor_time(env, cache)
        print(f"| {env} | {first:.1f} s | {second:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
