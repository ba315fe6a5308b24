"""As the model sees it: the page and the route show what the endpoint was really sent."""

from pathlib import Path
from typing import Any

import pytest
import zstandard

from rollouts_app.core.trajectory import decode, encode
from rollouts_app.models import Episode, EpisodePayload
from rollouts_app.reports import told
from studio.web.choices import Role
from studio.web.errors import NotFound
from tests.factories.chat_stub import chat_stub
from tests.factories.pages import ClientOf
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.test_model_batches import lab, opened, run, solving
from tests.studio.lib.test_tokens import tokenizer_at


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_what_is_shown_is_what_the_endpoint_was_sent_with_its_own_count(db: None) -> None:
    stored(small_spec())
    with chat_stub(solving()) as stub:
        lab(stub)
        episode = run(opened()).episodes.select_related("batch", "version").get()
        sent = stub.asked
    for turn, body in enumerate(sent, 1):
        found = told(episode, turn)
        assert (found.turn, found.turns, found.counted, found.damage) == (turn, 2, 11, "")
        assert found.messages == body["messages"]
        assert list(found.tools) == body["tools"]
    with pytest.raises(NotFound, match="has no turn 3; the last one is 2"):
        told(episode, 3)


def test_an_episode_that_was_not_run_shows_what_it_would_be_told(db: None) -> None:
    stored(small_spec())
    with chat_stub(solving()) as stub:
        lab(stub)
        found = told(opened().episodes.get())
    assert [message["role"] for message in found.messages] == ["system", "user"]
    assert (found.turns, found.counted) == (1, None)


def test_behind_a_damaged_turn_nothing_is_guessed(episode: Episode) -> None:
    payload = EpisodePayload.objects.get(pk=episode.pk)
    lines = encode(decode(bytes(payload.trajectory)))
    text = zstandard.ZstdDecompressor().decompress(lines, max_output_size=10**7).split(b"\n")
    text[3] = b"{torn"
    payload.trajectory = zstandard.ZstdCompressor().compress(b"\n".join(text))
    payload.save()
    found = told(episode, 3)
    assert found.turns == 3
    assert found.damage.startswith("Turn 3 cannot be read: ")


def test_the_page_shows_messages_and_tools_and_marks_what_is_new(
    episode: Episode, client_of: ClientOf
) -> None:
    viewer = client_of(Role.VIEWER)
    first = viewer.get(f"/episodes/{episode.code}/model/").content.decode()
    assert "As the model sees it, before turn 1" in first
    assert "characters ÷ 4" in first
    assert '<span class="tag">new</span>' not in first
    second = viewer.get(f"/episodes/{episode.code}/model/?turn=2").content.decode()
    assert second.count('<span class="tag">new</span>') == 4  # in the table and at the message
    assert f'href="/episodes/{episode.code}/?turn=2#turn-2"' in second
    for wrong in ("0", "x", "99", "1" * 9):
        assert viewer.get(f"/episodes/{episode.code}/model/?turn={wrong}").status_code == 404


def test_a_chosen_tokenizer_counts_exactly_and_one_that_is_gone_says_so(
    episode: Episode, client_of: ClientOf, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    tokenizer_at(tmp_path / "runs" / "RUN-4K7Q" / "checkpoints" / "step-000100")
    viewer = client_of(Role.VIEWER)
    path = f"/episodes/{episode.code}/model/?tokenizer="
    page = viewer.get(f"{path}RUN-4K7Q/checkpoints/step-000100").content.decode()
    assert "texts counted by RUN-4K7Q/checkpoints/step-000100" in page
    gone = viewer.get(f"{path}../../etc/passwd").content.decode()
    assert "This tokenizer is gone." in gone
    assert "an estimate: characters ÷ 4" in gone


def test_hostile_text_of_a_model_is_only_text(db: None, client_of: ClientOf) -> None:
    stored(small_spec(request={"text": "<script>alert(1)</script>"}))
    code = rolled_out("null").episodes.get().code
    page = client_of(Role.VIEWER).get(f"/episodes/{code}/model/").content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_the_api_gives_the_conversation(episode: Episode, client_of: ClientOf) -> None:
    viewer = client_of(Role.VIEWER)
    path = f"/api/v1/episodes/{episode.code}/conversation"
    body = viewer.get(f"{path}?turn=2").json()
    found = told(Episode.objects.select_related("batch", "version").get(pk=episode.pk), 2)
    assert body == {
        "turn": 2,
        "turns": 13,
        "messages": found.messages,
        "tools": list(found.tools),
        "prompt_tokens": None,
        "damage": "",
    }
    assert viewer.get(f"{path}?turn=14").status_code == 404
    assert viewer.get(f"{path}?turn=0").status_code == 422
