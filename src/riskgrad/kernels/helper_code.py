"""The code of helpers, which stays in LLVM's language until a kernel that calls them is made machine code.

Numba optimizes each function that it compiles and makes machine code of it, and does both again for what it calls
within every caller. Nobody runs the first of these for a helper: without it a first run on CartPole takes three
quarters of the time. What kernels compute is the same to the bit.

A helper must not raise or print: for these its code would need the address of Python objects, which nobody gives it.

An inline helper promises more: what it writes to one of its arrays, it reads from no other one. Without that promise,
which numba has no word for, its loops would ask again and again whether the arrays overlap.

Machine code that is kept on the disk has helpers of other files in it. Numba compares its age with that of the
kernel's own file alone; `expire_with_helpers` lets it compare with all files of this folder.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

from numba.core import config  # pyright: ignore[reportMissingTypeStubs]
from numba.core.codegen import JITCodeLibrary  # pyright: ignore[reportMissingTypeStubs]
from numba.core.compiler import Compiler  # pyright: ignore[reportMissingTypeStubs]


class _LinkedCode(JITCodeLibrary):
    """A function's code that is linked into its callers, and is run nowhere else."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers, who do it for all that they have linked."""

    def _finalize_final_module(self) -> None:
        """Close it, without giving it to the engine that makes machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Give 0, which is numba's word for none."""
        del name
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What numba tells of the function's environment, as it does for machine code."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Forget the environment: only what raises or prints reads it."""


class HelperCompiler(Compiler):
    """Numba's compiler, with the code of the function kept for its callers."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        del library
        super().__init__(typingctx, targetctx, _LinkedCode(targetctx.codegen(), "helper"), *rest)


class InlineCompiler(HelperCompiler):
    """The compiler of helpers, for one whose arrays do not overlap where it writes."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, answer: Any, flags: Any, *rest: Any
    ) -> None:
        apart = flags.copy()
        apart.noalias = True
        super().__init__(typingctx, targetctx, library, args, answer, apart, *rest)


def expire_with_helpers(kernel: Any) -> None:
    """Let what a cached kernel keeps on the disk be compiled anew once any file of this folder has changed."""
    if cast("Any", config).DISABLE_JIT:  # it is then the plain function
        return
    kept = kernel._cache._cache_file  # noqa: SLF001 - numba has no other name for it
    kept._source_stamp = (kept._source_stamp, stamp_of_kernels())  # noqa: SLF001


@cache
def stamp_of_kernels() -> tuple[int, int]:
    """Give when a file of this folder was last changed, and how large they are together."""
    files = [path.stat() for path in Path(__file__).parent.glob("*.py")]
    return max((file.st_mtime_ns for file in files), default=0), sum(file.st_size for file in files)
