"""The supervised tree, with small real programmes."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from studio.supervisor import Logs, Programme, Supervisor

PROJECT = Path(__file__).resolve().parents[2]
TREE = """
import sys
from studio.supervisor import Logs, Programme, Supervisor
wait = "import os, signal, sys; print('pid', os.getpid(), flush=True); signal.pause()"
deaf = "import os, signal; signal.signal(15, signal.SIG_IGN); " + wait
names = {"good": wait, "deaf": deaf}
programmes = [Programme(name, [sys.executable, "-c", names[name]]) for name in sys.argv[1:]]
Supervisor(programmes, Logs(sys.stdout, sys.argv[1:], colour=False)).run()
"""


def start(*names: str) -> tuple[subprocess.Popen[str], dict[str, psutil.Process]]:
    """Start a tree and return it with its children, once each has said its number."""
    tree = subprocess.Popen(
        [sys.executable, "-c", TREE, *names], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert tree.stdout is not None
    children = {}
    for _ in names:
        name, _, said = tree.stdout.readline().partition(" | pid ")
        children[name.strip()] = psutil.Process(int(said))
    return tree, children


def test_interrupt_ends_the_children_and_says_so() -> None:
    tree, children = start("good")

    tree.send_signal(signal.SIGINT)

    assert tree.communicate(timeout=20)[0] == "Stopping ...\nStopped.\n"
    assert (tree.returncode, psutil.wait_procs(list(children.values()), timeout=5)[1]) == (0, [])


def test_second_signal_kills_a_child_that_will_not_end() -> None:
    tree, children = start("good", "deaf")
    assert tree.stdout is not None

    tree.send_signal(signal.SIGTERM)
    assert tree.stdout.readline() == "Stopping ...\n"
    tree.send_signal(signal.SIGTERM)

    assert "deaf | did not end in time: killed" in tree.communicate(timeout=20)[0]
    assert psutil.wait_procs(list(children.values()), timeout=5)[1] == []


def test_killed_supervisor_leaves_no_child_behind() -> None:
    tree, children = start("good")

    tree.kill()
    tree.communicate()

    assert psutil.wait_procs(list(children.values()), timeout=10)[1] == []


def test_crashed_child_is_started_again() -> None:
    out = io.StringIO()
    code = (
        "import os, sys\n"
        f"os.kill({os.getpid()}, {int(signal.SIGTERM)}) if os.path.exists(sys.argv[1]) else 0\n"
        "open(sys.argv[1], 'a').close()\n"
        "sys.exit(3)\n"
    )
    logs = Logs(out, ["web"], colour=False)
    mark = PROJECT / "var" / f"supervisor-test-{os.getpid()}"
    mark.parent.mkdir(exist_ok=True)
    programme = Programme("web", [sys.executable, "-c", code, str(mark)])
    try:
        Supervisor([programme], logs).run()
    finally:
        mark.unlink(missing_ok=True)

    said = out.getvalue().splitlines()
    assert said[0] == "web | ended with exit code 3; starting again in 1 s"
    assert said[-1] == "Stopped."
