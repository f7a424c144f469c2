"""Event files hold what the record holds, and histograms of the returns."""

import builtins
import struct

import pytest

import riskgrad as rg
from riskgrad.errors import InputError


def events_of(folder):
    """Read the records of an event file: length, its checksum, the event, its checksum."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")
    (path,) = folder.glob("events.out.tfevents.*")
    content, events, at = path.read_bytes(), [], 0
    while at < len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        events.append(event_pb2.Event.FromString(content[at + 12 : at + 12 + size]))
        at += 16 + size
    return events


def test_scalars_and_histograms_are_those_of_the_record(tmp_path):
    pytest.importorskip("tensorboardX")
    with rg.run.TensorBoard(tmp_path / "board") as board:
        options = {"iterations": 4, "held_out": 20, "callback": board}
        run = rg.train("two-roads", "cvar:0.1", algorithm=rg.OffPSF(episodes=50), **options)
    found = {}
    for event in events_of(tmp_path / "board"):
        for value in event.summary.value:
            found.setdefault(value.tag, {})[event.step] = value
    for name, tag in (("risk", "return/risk"), ("mean", "return/mean"), ("ess", "weights/ess")):
        told = [found[tag][step].simple_value for step in range(4)]
        assert told == pytest.approx([line[name] for line in run.history], rel=1e-6)
    assert found["gradient/norm"].keys() == found["progress/episodes_per_second"].keys() == set(range(4))
    judged = {line["iteration"] for line in run.history if line["held_out"] is not None}
    assert found["return/held_out"].keys() == judged
    for step in range(4):
        histogram = found["returns"][step].histo
        assert histogram.num == 50
        assert histogram.sum / 50 == pytest.approx(run.history[step]["mean"])


def test_without_the_extra_there_is_one_clear_line(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *more):
        if name.startswith("tensorboardX"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"pip install 'riskgrad\[tensorboard\]'"):
        rg.run.TensorBoard(tmp_path)
