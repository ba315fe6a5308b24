"""Becomes the programme it is given, after asking the kernel for a signal when its parent dies.

So a supervisor that is killed with -9 leaves no web server or worker behind. Linux only; elsewhere
the programme simply starts.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """``python -m studio.child PARENT PROGRAMME ARGUMENT...``."""
    parent, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # it died before we could ask
        raise SystemExit(1)
    os.execv(command[0], command)  # noqa: S606 - no shell wanted


if __name__ == "__main__":
    main(sys.argv[1:])
