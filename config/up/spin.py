"""Where the Spin model checker and a C compiler of this machine are, for the model of the contract."""

import shutil

INSTALL = "apt-get install --yes --no-install-recommends spin gcc libc6-dev"
COMPILERS = ("cc", "gcc", "clang")


def found_spin() -> tuple[str, str] | None:
    """The paths of `spin` and of a C compiler on PATH; None when either is absent."""
    spin = shutil.which("spin")
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    return (spin, compiler) if spin and compiler else None
