"""A small Ray cluster of its own for tests: on 127.0.0.1, with its token and its files in a temporary folder."""

import contextlib
import importlib
import os
import secrets
import tempfile
import time
from pathlib import Path

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # binds to 127.0.0.1 alone
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
}
STORE = 100 * 2**20  # bytes of the object store of a node


@contextlib.contextmanager
def settled():
    """Set what keeps Ray to itself, and take it back at the end; give a folder with a name that suits sockets."""
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as folder:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32))
        new = {**SETTINGS, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        before = {name: os.environ.get(name) for name in new}
        os.environ.update(new)
        try:
            yield folder
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


@contextlib.contextmanager
def two_nodes(cpus=(1, 1)):
    """Start a head and a second node; give the cluster, to which this process is connected."""
    with settled() as folder:
        ray, utils = importlib.import_module("ray"), importlib.import_module("ray.cluster_utils")
        options = {"object_store_memory": STORE, "include_dashboard": False}
        cluster = utils.Cluster()
        try:
            cluster.add_node(num_cpus=cpus[0], temp_dir=folder, **options)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
            cluster.add_node(num_cpus=cpus[1], **options)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


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


def wait_until(holds, seconds=20.0):
    """Wait until something holds; say whether it did."""
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    return holds()
