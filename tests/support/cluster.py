"""A small Ray cluster of its own for tests: on 127.0.0.1, with its token and its files in a temporary folder."""

import contextlib
import importlib
import os
import secrets
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # binds to 127.0.0.1 alone
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
    # nodes are looked after more often than by default
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "300",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
STORE = 100 * 2**20  # bytes of the object store of a node


@contextlib.contextmanager
def settled():
    """Set what keeps Ray to itself, and take it back at the end."""
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as folder:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32))
        (Path(folder) / "ray").mkdir()
        new = {**SETTINGS, "RAY_TMPDIR": folder, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        before = {name: os.environ.get(name) for name in new}
        os.environ.update(new)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


@contextlib.contextmanager
def two_nodes(cpus=(2, 2)):
    """Start a head and a second node; give the cluster, to which this process is connected."""
    with settled():
        ray, utils = importlib.import_module("ray"), importlib.import_module("ray.cluster_utils")
        options = {"object_store_memory": STORE, "include_dashboard": False}
        cluster = utils.Cluster()
        try:
            cluster.add_node(num_cpus=cpus[0], **options)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
            cluster.add_node(num_cpus=cpus[1], **options)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


class Chaos(threading.Thread):
    """Kills workers at random moments, and every fourth time the second node, which `mend` replaces.

    Args:
        cluster: of two nodes.
        backend: whose workers.
        kills: how many.
        pause: seconds between kills, on average.
        cpus: of the second node.
    """

    def __init__(self, cluster, backend, kills, pause, cpus):
        super().__init__()
        self.cluster, self.backend, self.most, self.pause, self.cpus = cluster, backend, kills, pause, cpus
        self.dice, self.kills, self.gone, self.over = np.random.default_rng(3), [], None, threading.Event()

    def run(self):
        """Kill until there were enough, or it is over."""
        while len(self.kills) < self.most and not self.over.wait(self.dice.uniform(0.5, 1.5) * self.pause):
            if len(self.kills) % 4 == 3:
                if self.gone is None:
                    node = next(iter(self.cluster.worker_nodes))
                    os.kill(node.all_processes["raylet"][0].process.pid, signal.SIGKILL)
                    self.gone = node
                    self.kills.append("node")
                continue
            living = [actor.process for actor in list(self.backend._actors) if actor.ready]
            if living:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(self.dice.choice(living)), signal.SIGKILL)
                    self.kills.append("worker")

    def mend(self, *_):
        """Put a new node in the place of the one that is gone; in the main thread, where Ray wants to be."""
        if self.gone is not None:
            self.cluster.remove_node(self.gone, allow_graceful=False)
            self.cluster.add_node(num_cpus=self.cpus, object_store_memory=STORE, include_dashboard=False)
            self.gone = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        self.mend()


def descendants(process=None):
    """Give the processes that come from one, this one by default: those that live, by their numbers."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            state, parent = place.read_text().rsplit(")", 1)[1].split()[:2]
            if state != "Z":
                parents[int(place.parent.name)] = int(parent)
    found = {process or os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process or os.getpid()}


def find_workers():
    """Give the workers among the processes that come from this one, with what each of them started."""
    found = set()
    for process in descendants():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::Supervisor"):
                found |= {process} | descendants(process)
    return found


def are_gone(processes):
    """Say whether none of some processes lives; a zombie does not."""
    for process in processes:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                return False
    return True


def resident():
    """Give the megabytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def wait_until(holds, seconds=20.0):
    """Wait until something holds; say whether it did."""
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    return holds()
