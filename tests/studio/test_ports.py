"""Ports that are free, taken and impossible."""

import socket
from pathlib import Path

import pytest

from studio.ports import PortError, check_port, free_port, last_address, remember_address


def test_taken_port_is_named_together_with_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        other = free_port("127.0.0.1", port)
        with pytest.raises(PortError) as raised:
            check_port("127.0.0.1", port)

    assert other > port
    assert str(raised.value) == (
        f"Port {port} on 127.0.0.1 is in use by another programme. "
        f"Choose another one: --port {other}"
    )


def test_port_is_free_again_after_its_server_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    check_port("127.0.0.1", port)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(PortError, match="not between 1 and 65535"):
        check_port("127.0.0.1", port)


def test_host_that_is_not_ours_is_refused_with_the_reason() -> None:
    with pytest.raises(PortError, match=r"Cannot listen on 192\.0\.2\.1 port 8000"):
        check_port("192.0.2.1", 8000)


def test_links_lead_to_where_the_studio_is_served_and_to_the_usual_address_before(
    tmp_path: Path,
) -> None:
    before = last_address(tmp_path)
    remember_address(tmp_path, "http://127.0.0.1:8123")
    assert (before, last_address(tmp_path)) == ("http://127.0.0.1:8000", "http://127.0.0.1:8123")
