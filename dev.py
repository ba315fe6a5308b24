#!/usr/bin/env python3
"""One command for everything, with nothing but Python 3.11 on the machine.

    python3 dev.py run      set up, then serve the studio on http://127.0.0.1:8000
    python3 dev.py test     set up, then lint, types, import contracts and every test
    python3 dev.py setup    set up alone; afterwards every manage.py command works by itself
    python3 dev.py lint     ruff, mypy, import-linter
    python3 dev.py bench [NAME]   measure; benchmarks/NAME.py alone where one is named
    python3 dev.py shots    photograph every page into var/shots
    python3 dev.py story    the whole story in a browser
    python3 dev.py lock     compile requirements/*.lock out of pyproject.toml

Set-up makes .venv, installs the locks, starts the embedded servers, migrates and seeds the demo.
It is skipped step by step where nothing changed. Options stand before or after the command:
--lite leaves the training extra out, --json reports progress as JSON lines. What stands after
the command and is not ours goes on to the programme behind it: `dev.py test -k embedded`.
"""

from __future__ import annotations  # an old Python must get as far as our own message

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator, NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "studio-stamp.json"
REQUIREMENTS = ROOT / "requirements"
# Installed by pip before the locks and not part of them: which build fits, and which libraries of
# a graphics card it drags along, depends on the machine.
TORCH = "torch==2.13.0"
COMMANDS = ("run", "test", "setup", "lint", "bench", "shots", "story", "lock")
# Checked in this order: the fast ones first.
LINTERS = {
    "ruff check": ["-m", "ruff", "check", "--output-format", "concise", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "--output-format", "concise", "."],
    "import-linter": ["-c", "from importlinter.cli import lint_imports_command as c; c()"],
    "mypy": ["-m", "mypy", "."],
}


class Progress:
    """Says what happens: a bar on a terminal, JSON lines on request, plain lines elsewhere."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.bar = not as_json and sys.stdout.isatty()
        self.began = time.monotonic()
        self.step = ""
        self.said = 0.0

    def start(self, step: str) -> None:
        """Begin a step."""
        self.step = step
        self.began = time.monotonic()
        self.said = 0.0
        self.show(0, 0)

    def show(self, done: int, total: int) -> None:
        """Say how far the step is; total 0 means that nobody knows."""
        now = time.monotonic()
        if 0 < done < total and now - self.said < 0.2:
            return
        self.said = now
        if self.as_json:
            self._line({"step": self.step, "done": done, "total": total})
        elif self.bar:
            filled = 24 * done // total if total else 0
            count = f"{done}/{total}" if total else ""
            sys.stdout.write(f"\r\033[K[{'#' * filled:<24}] {self.step} {count}")
            sys.stdout.flush()
        elif done == 0 and total == 0:
            sys.stdout.write(f"{self.step} ...\n")
            sys.stdout.flush()

    def finish(self) -> None:
        """End the step and say how long it took."""
        seconds = round(time.monotonic() - self.began, 1)
        if self.as_json:
            self._line({"step": self.step, "state": "done", "seconds": seconds})
        elif self.bar:
            sys.stdout.write(f"\r\033[K  {self.step}: {seconds} s\n")
            sys.stdout.flush()

    def _line(self, event: dict[str, object]) -> None:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


def fail(message: str) -> NoReturn:
    """End with a message on stderr."""
    sys.stderr.write(f"\n{message}\n")
    raise SystemExit(1)


def main(arguments: list[str]) -> int:
    """Run one command."""
    flags = {"--lite", "--json"}
    # Behind "--" everything belongs to the programme that the command starts.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    ours, theirs = arguments[:cut], arguments[cut + 1 :]
    lite, as_json = "--lite" in ours, "--json" in ours
    rest = [word for word in ours if word not in flags]
    if not rest or rest[0] in {"-h", "--help", "help"}:
        sys.stdout.write(__doc__ or "")
        return 0
    command, *words = rest
    if command not in COMMANDS:
        fail(f"dev.py knows no command {command!r}; it knows: {', '.join(COMMANDS)}.")
    words += theirs
    progress = Progress(as_json=as_json)
    os.chdir(ROOT)
    os.environ.pop("PYTHONPATH", None)
    if command == "lock":
        install(progress, ["dev"])
        return lock(progress)
    # Checks need torch only where the one package of ours that may import it exists.
    needs_torch = command in {"setup", "run"} or (ROOT / "training_app" / "engine").exists()
    install(progress, ["dev", "train"] if needs_torch and not lite else ["dev"])
    if command == "setup":
        prepare(progress)
        return 0
    if command == "run":
        # It prepares in the same process: a second start has no second to lose.
        os.execv(PYTHON, [str(PYTHON), "manage.py", "up", "--prepare", *words])  # noqa: S606 - no shell wanted
    if command == "lint":
        return 1 if lint(progress) else 0
    if command == "test":
        return test(progress, words)
    return call(command, words, as_json=as_json)


def call(command: str, words: list[str], *, as_json: bool) -> int:
    """Hand over to the programme behind bench, shots or story."""
    programme = {
        "bench": ["-m", "benchmarks", *words, *(["--json"] if as_json else [])],
        "shots": ["-m", "tests.browser.shots", *words],
        "story": ["-m", "pytest", "tests/browser/test_walk.py", *words],
    }[command]
    return subprocess.call([str(PYTHON), *programme])


# Set-up


def install(progress: Progress, extras: list[str]) -> None:
    """Bring .venv to what the locks say; does nothing where they have not changed."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this very check is why the file runs on less
        fail(
            f"Python 3.11 or newer is needed, this is {platform.python_version()} "
            f"({sys.executable}). Run dev.py with a newer one: python3.11 dev.py ..."
        )
    wanted = {
        "python": platform.python_version(),
        "place": str(VENV),
        **{name: _digest(name) for name in ["base", *extras]},
    }
    if _installed(wanted):
        return
    with _only_one_setup():
        if _installed(wanted):  # somebody else has just done it
            return
        old = _read_stamp()
        if not _venv_fits():
            progress.start("Making .venv")
            _make_venv()
            progress.finish()
        STAMP.unlink(missing_ok=True)  # half an installation must not look like a whole one
        if "train" in extras and old.get("train") != wanted["train"]:
            progress.start(f"Installing {TORCH}")
            _pip(progress, [TORCH], 0)
            progress.finish()
        names = ["base", *extras]
        progress.start(f"Installing {', '.join(names)}")
        files = [REQUIREMENTS / f"{name}.lock" for name in names]
        count = sum(len(_locked(path)) for path in files)
        # A lock is complete, so pip has nothing to resolve.
        _pip(
            progress, ["--no-deps", *(word for path in files for word in ("-r", str(path)))], count
        )
        progress.finish()
        kept = {key: old[key] for key in ("dev", "train") if key in old}
        STAMP.write_text(json.dumps({**kept, **wanted}), encoding="utf-8")


def prepare(progress: Progress) -> None:
    """Start the servers, migrate, seed the demo."""
    progress.start("Database and demo")
    _manage("prepare")
    progress.finish()


def _manage(*words: str) -> None:
    done = subprocess.run(
        [str(PYTHON), "manage.py", *words],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        fail(f"`manage.py {' '.join(words)}` failed:\n{done.stdout}")


def _digest(name: str) -> str:
    path = REQUIREMENTS / f"{name}.lock"
    if not path.exists():
        fail(f"{path} is missing: restore it from git, or make it with `python3 dev.py lock`.")
    extra = TORCH if name == "train" else ""
    return hashlib.sha256(path.read_bytes() + extra.encode()).hexdigest()


def _locked(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _read_stamp() -> dict[str, str]:
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _installed(wanted: dict[str, str]) -> bool:
    found = _read_stamp()
    return PYTHON.exists() and all(found.get(key) == value for key, value in wanted.items())


@contextlib.contextmanager
def _only_one_setup() -> Iterator[None]:
    try:
        (ROOT / "var").mkdir(exist_ok=True)
        file = (ROOT / "var" / "setup.lock").open("a")
    except PermissionError as error:
        fail(f"No permission to write {error.filename}: {ROOT} must belong to who runs dev.py.")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _venv_fits() -> bool:
    """Tell whether .venv runs, with the Python that runs this, from where it was made."""
    code = "import pip, platform, sys; print(platform.python_version(), sys.prefix)"
    try:
        done = subprocess.run(
            [str(PYTHON), "-c", code], check=False, capture_output=True, text=True
        )
    except OSError:
        return False
    return done.stdout.strip() == f"{platform.python_version()} {VENV}"


def _make_venv() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        fail(
            f"{sys.executable} cannot make a virtual environment:\n{done.stdout}{done.stderr}\n"
            "On Debian and Ubuntu `apt install python3-venv` mends this."
        )


def _pip(progress: Progress, words: list[str], count: int) -> None:
    # Not compiled: Python compiles what is imported, and that is a third of what is installed.
    command = [
        str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
        "--progress-bar", "off", "--root-user-action", "ignore", "--no-compile", *words,
    ]  # fmt: skip
    seen: list[str] = []
    done = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            seen.append(line)
            if line.startswith(("Collecting", "Requirement already", "Processing")):
                done += 1
                if count:
                    progress.show(min(done, count), count)
    if process.returncode != 0:
        fail(
            f"pip could not install {' '.join(words)}:\n{''.join(seen[-15:])}\n"
            "Without a network set PIP_INDEX_URL or PIP_FIND_LINKS to a mirror, then run again."
        )


# Checks


def lint(progress: Progress) -> list[str]:
    """Run every linter to its end; return the names of those that complained."""
    complained = []
    for name, words in LINTERS.items():
        progress.start(name)
        done = subprocess.run(
            [str(PYTHON), *words],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        progress.finish()
        if done.returncode != 0:
            complained.append(name)
            sys.stdout.write(f"{done.stdout}\n{name}: failed\n")
            sys.stdout.flush()
    return complained


def test(progress: Progress, words: list[str]) -> int:
    """Run the linters, then pytest, whose closing line is the last output."""
    complained = lint(progress)
    workers = min(os.cpu_count() or 1, 4)
    spread = [] if workers == 1 or "-n" in words else ["-n", str(workers), "--dist", "loadfile"]
    # tests/conftest.py repeats the complaint above pytest's closing line, where it is seen.
    environment = {**os.environ, "STUDIO_LINT_FAILED": ", ".join(complained)}
    code = subprocess.call([str(PYTHON), "-m", "pytest", *spread, *words], env=environment)
    return code or (1 if complained else 0)


# Lock


def lock(progress: Progress) -> int:
    """Compile base, dev and train as one resolve; dev and train hold what base does not."""
    progress.start("Resolving")
    work = ROOT / "var" / "lock"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # A marker that is never true takes torch out of the resolve, and its own dependencies with it.
    (work / "overrides.txt").write_text("torch ; python_version < '0'\n", encoding="utf-8")
    whole = work / "all.txt"
    _compile(work, whole, ["--all-extras", "--upgrade"])
    base: list[str] = []
    for name in ("base", "dev", "train"):
        part = work / f"{name}.txt"
        extra = [] if name == "base" else ["--extra", name]
        _compile(work, part, [*extra, "--constraint", str(whole)])
        lines = [line for line in _locked(part) if line not in base]
        base = base or lines
        head = f"# {name}: made by `python3 dev.py lock` out of pyproject.toml; do not edit.\n"
        text = head + "".join(f"{line}\n" for line in lines)
        (REQUIREMENTS / f"{name}.lock").write_text(text, encoding="utf-8")
    progress.finish()
    return 0


def _compile(work: Path, output: Path, words: list[str]) -> None:
    done = subprocess.run(
        [
            str(PYTHON), "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet",
            "--python-version", "3.11", "--override", str(work / "overrides.txt"),
            "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links",
            "--output-file", str(output), *words,
        ],
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip
    if done.returncode != 0:
        fail(f"uv could not resolve pyproject.toml:\n{done.stderr}")


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        fail("Interrupted. What was finished is kept; the next start goes on from there.")
