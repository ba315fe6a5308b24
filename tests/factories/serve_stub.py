"""A server of a checkpoint without a model: it closes the lamp's ticket and says so.

What it does is read from `stub.json` in the checkpoint's folder:

    {"talk": true}      answers with a text alone: nothing is done
    {"mute": 3}         ends with this code and a line on stderr
    {"name": "other"}   says of itself that it serves something else
"""

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.factories.chat_stub import Handler, Server, Stub, said

CLOSE = ("helpdesk_close_ticket", '{"ticket_id": "TK-2", "resolution": "answered"}')


class Checkpoint(Handler):
    """Answers like the engine's server, health included."""

    name: str

    def do_GET(self) -> None:  # noqa: N802 - the library calls it so
        """Health and models."""
        if self.path == "/health":
            body = {"status": "ok", "model": self.name, "asked": len(self.stub.asked), "idle": 1.0}
            self.send(200, json.dumps(body).encode())
        else:
            super().do_GET()


def main() -> int:
    """Serve until a signal, or until the parent is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    for name in ("--name", "--port", "--device", "--threads", "--parent"):
        parser.add_argument(name, required=True)
    given = parser.parse_args()
    file = given.folder / "stub.json"
    plan: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    if "mute" in plan:
        sys.stderr.write("the weights are damaged\n")
        return int(plan["mute"])

    def answer(handler: Handler) -> None:
        acted = any(message["role"] == "tool" for message in handler.body["messages"])
        (said("Closed.") if acted or "talk" in plan else said(calls=[CLOSE]))(handler)

    stub = Stub("", [answer])
    handler = type("Served", (Checkpoint,), {"stub": stub, "name": plan.get("name", given.name)})
    server = Server(("127.0.0.1", int(given.port)), handler)
    threading.Thread(target=_watch, args=(int(given.parent),), daemon=True).start()
    server.serve_forever()
    return 0


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.05)
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
