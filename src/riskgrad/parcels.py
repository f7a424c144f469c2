"""What is sent to workers: a package for each batch of tasks, and parcels, which a worker gets once and keeps.

Work is a function of a recipe, of parameters and of seeds. The recipe, such as how an environment is made or a model
with all of its numbers, is the same for a whole run: it is a parcel, known by the digest of its bytes. The parameters
are the same for all tasks of a batch: they are in the package of the work. The seeds are in the tasks.
"""

import contextlib
import hashlib
import io
import pickle
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from multiprocessing.util import Finalize
from typing import Any, Final, Protocol

from riskgrad.errors import WorkerError
from riskgrad.making import close_or_warn

PROTOCOL: Final = pickle.HIGHEST_PROTOCOL
MOST_OPENED: Final = 4  # parcels that a process keeps open


class PicklerMaker(Protocol):
    """A class of picklers: that of `pickle`, or that of `cloudpickle`."""

    def __call__(self, file: Any, protocol: int | None = None) -> Any:
        """Make a pickler that writes to a file."""
        ...


def pickle_plainly(thing: Any) -> bytes:
    """Pickle a thing, with its classes and functions by name; raise where one cannot be found by its name."""
    return pickle.dumps(thing, PROTOCOL)


@contextlib.contextmanager
def finding_parts() -> Generator[None]:
    """Say in one line what to do where this process cannot find a class or function of what it was sent."""
    try:
        yield
    except (AttributeError, ImportError) as error:
        advice = "define it in a module that each worker can import, or in a script, above `if __name__ == '__main__':`"
        text = f"a worker process cannot find what its task is made of ({error}); {advice}"
        raise WorkerError(text) from error


class Parcel:
    """Bytes that a worker is sent once.

    Args:
        content: a pickled recipe.
        key: the digest of the content, where it is known already.
    """

    def __init__(self, content: bytes, key: str | None = None) -> None:
        self.content = content
        self.key = hashlib.blake2b(content, digest_size=16).hexdigest() if key is None else key

    def open(self, make: Callable[[Any], Any]) -> Any:
        """Give what `make` makes of the recipe; a process makes it once, and keeps the few that were used last.

        Args:
            make: from the unpickled recipe to an object with `close`, which is called when it is no longer kept.
        """
        if not _OPENED:
            Finalize(None, _close_opened, exitpriority=0)
        if self.key not in _OPENED:
            if len(_OPENED) == MOST_OPENED:
                _OPENED.popitem(last=False)[1].close()
            with finding_parts():
                recipe = pickle.loads(self.content)  # noqa: S301 - pickled by the process that asks for the work
            _OPENED[self.key] = make(recipe)
        _OPENED.move_to_end(self.key)
        return _OPENED[self.key]


_OPENED: "OrderedDict[str, Any]" = OrderedDict()


def _close_opened() -> None:
    while _OPENED:
        made = _OPENED.popitem()[1]
        close_or_warn(made, str(getattr(made, "name", made)))


@dataclass(frozen=True)
class Package:
    """Pickled work.

    Attributes:
        content: the work, without the parcels in it.
        parcels: their bytes by their keys.
    """

    content: bytes
    parcels: Mapping[str, bytes]


def pack(work: Any, pickler: PicklerMaker = pickle.Pickler) -> Package:
    """Pickle work; the bytes of the parcels in it are kept beside it.

    Args:
        work: anything that can be pickled.
        pickler: the class that pickles it.
    """
    file, parcels = io.BytesIO(), dict[str, bytes]()

    def find_parcel(thing: Any) -> str | None:
        if not isinstance(thing, Parcel):
            return None
        parcels[thing.key] = thing.content
        return thing.key

    writer = pickler(file, PROTOCOL)
    writer.persistent_id = find_parcel
    writer.dump(work)
    return Package(file.getvalue(), parcels)


def unpack(content: bytes, parcels: Mapping[str, bytes]) -> Any:
    """Give the work of a package, with its parcels in their places."""

    def find_parcel(key: str) -> Parcel:
        return Parcel(parcels[key], key)

    reader: Any = pickle.Unpickler(io.BytesIO(content))  # noqa: S301 - pickled by the process that asks for the work
    reader.persistent_load = find_parcel
    return reader.load()
