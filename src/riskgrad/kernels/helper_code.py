"""The compilers of kernels and helpers. A helper stays LLVM code until a kernel that calls it becomes machine code.

Numba optimizes each function that it compiles and makes machine code of it, and does both again for the same function
inside every caller. The machine code of a helper alone is never run: without it a first run on CartPole takes three
quarters of the time. What kernels compute is the same to the bit.

A helper must not raise or print: code that does either needs the address of a Python object, which is not set here.

An inline helper also promises that what it writes through one of its arrays it does not read or write through another
one. Numba's decorators have no option for this promise, without which loops would check whether their arrays overlap.

The machine code of a kernel on disk contains its helpers, which may be defined in other files. Numba compiles a cached
kernel again only if the kernel's own file has changed; `expire_with_helpers` extends this to all files of this folder.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

from numba.core import config  # pyright: ignore[reportMissingTypeStubs]
from numba.core.codegen import JITCodeLibrary  # pyright: ignore[reportMissingTypeStubs]
from numba.core.compiler import Compiler, Flags  # pyright: ignore[reportMissingTypeStubs]


class _LinkedCode(JITCodeLibrary):
    """A function's code that is linked into its callers, and is run nowhere else."""

    def _optimize_final_module(self) -> None:
        """Do nothing: each caller optimizes all the code that it has linked."""

    def _finalize_final_module(self) -> None:
        """Mark the module as final, without giving it to the engine that makes machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Give 0, by which numba means that the function has no address."""
        del name
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object on which numba calls `set_env`: this one, which ignores the call."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Ignore the environment: only code that raises or prints reads it."""


class _OwnFlags(Flags):
    """The flags of a kernel or helper, which numba copies for the time in which it compiles the function.

    It compiles its own functions, such as `min` or `np.empty`, once for all callers with the same flags. A helper
    differs from a kernel in flags that do not matter for what it calls: the copy lacks these. What an inline helper
    calls is inlined as well, so that its copy keeps this flag.
    """

    def copy(self) -> Any:
        """Give one object for all functions whose flags agree: numba compares two objects flag by flag."""
        shared: Any = _OwnFlags(self)
        for name in ("no_cpython_wrapper", "noalias", "inline"):
            shared.discard(name)
        return _SHARED.setdefault(shared, shared)

    def __hash__(self) -> int:
        """Give one number for all flags, as numba does, but without sorting their names before."""
        return 0


_SHARED: dict[_OwnFlags, _OwnFlags] = {}


class KernelCompiler(Compiler):
    """Numba's compiler, with the flags of this file."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, answer: Any, flags: Any, names: Any
    ) -> None:
        super().__init__(typingctx, targetctx, library, args, answer, _OwnFlags(flags), names)


class HelperCompiler(KernelCompiler):
    """Numba's compiler, which keeps the LLVM code of a function for its callers and makes no machine code."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        del library
        super().__init__(typingctx, targetctx, _LinkedCode(targetctx.codegen(), "helper"), *rest)


class InlineCompiler(HelperCompiler):
    """The compiler of inline helpers, which lets LLVM assume that arrays do not overlap where the helper writes."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, answer: Any, flags: Any, *rest: Any
    ) -> None:
        apart = flags.copy()
        apart.noalias = True
        super().__init__(typingctx, targetctx, library, args, answer, apart, *rest)


def expire_with_helpers(kernel: Any) -> None:
    """Make numba compile a cached kernel again once any file of this folder has changed."""
    if cast("Any", config).DISABLE_JIT:  # the kernel is then the plain Python function
        return
    kept = kernel._cache._cache_file  # noqa: SLF001 - numba has no public name for it
    kept._source_stamp = (kept._source_stamp, stamp_of_kernels())  # noqa: SLF001


@cache
def stamp_of_kernels() -> tuple[int, int]:
    """Give the time of the last change to a file of this folder, in ns, and the total size of the files, in bytes."""
    files = [path.stat() for path in Path(__file__).parent.glob("*.py")]
    return max((file.st_mtime_ns for file in files), default=0), sum(file.st_size for file in files)
