"""Another processor, stood in for by what is switched off on this one."""

import numpy as np


def oldest() -> dict[str, str]:
    """The variables that switch off all instructions that numpy and glibc choose by the processor."""
    core = np._core._multiarray_umath
    on = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    tunables = "glibc.cpu.hwcaps=-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX2,-FMA"
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(on), "GLIBC_TUNABLES": tunables}
