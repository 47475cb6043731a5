"""Exec shim: makes the program that follows end with its parent, and runs servers as a mere user.

Run by path with the isolated interpreter: `shim.py --parent PID --signal N [--demote] -- program ...`.

`--demote` is for PostgreSQL, which refuses uid 0. As root the shim enters a user namespace that maps
root to an unprivileged id: no user is made and no folder changes its mode. Where the kernel refuses
that, it becomes an unprivileged user in earnest (the caller has given that user the data folder).
As an ordinary user `--demote` does nothing.
"""

import ctypes
import os
import pwd
import sys
import warnings  # noqa: F401 - os.execvp imports it, too late once this user cannot read the library

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
libc = ctypes.CDLL(None, use_errno=True)


def ordinary_user() -> pwd.struct_passwd:
    """The unprivileged user servers run as: `daemon`, `nobody`, or the first that is not root."""
    for name in ("daemon", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return next(user for user in pwd.getpwall() if user.pw_uid != 0)


def enter_namespace(user: pwd.struct_passwd) -> bool:
    """Enter a user namespace in which this root is `user`; False where the kernel refuses."""
    if libc.unshare(CLONE_NEWUSER) != 0:
        return False
    try:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user.pw_uid} 0 1")
        write("/proc/self/gid_map", f"{user.pw_gid} 0 1")
    except OSError as error:
        sys.exit(f"The user namespace could not be mapped: {error}.")
    return True


def become(user: pwd.struct_passwd) -> None:
    """Drop root for good."""
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def write(path: str, text: str) -> None:
    """Write one of the kernel's control files."""
    with open(path, "w") as file:
        file.write(text)


def namespaces_work() -> bool:
    """Whether a child can enter a mapped user namespace here; tried in a child of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            if enter_namespace(ordinary_user()):
                os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def main(arguments: list[str]) -> None:
    """Demote, arm the parent-death signal, check that the parent still lives, then exec."""
    split = arguments.index("--")
    options, program = arguments[:split], arguments[split + 1 :]
    parent = int(options[options.index("--parent") + 1])
    signal_number = int(options[options.index("--signal") + 1])
    if "--demote" in options and os.getuid() == 0:
        user = ordinary_user()
        if "--become" in options or not enter_namespace(user):
            become(user)
    # After the change of credentials, because that clears the parent-death signal.
    libc.prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("The supervisor is gone.")
    os.execvp(program[0], program)  # noqa: S606 - an exec shim has no use for a shell


if __name__ == "__main__":
    main(sys.argv[1:])
