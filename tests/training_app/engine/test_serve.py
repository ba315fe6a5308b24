"""A tiny checkpoint as a server: what the model sees, what it may write, and the whole way once."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from django.conf import LazySettings  # noqa: E402 (after the skip)
from transformers import Qwen3Config, Qwen3ForCausalLM  # noqa: E402

from rollouts_app.core.environment import Environment  # noqa: E402
from rollouts_app.core.messages import Message, ToolRequest  # noqa: E402
from rollouts_app.core.policy import Action  # noqa: E402
from rollouts_app.core.teacher import TeacherPolicy, as_sent  # noqa: E402
from studio.lib.chat import Abilities, ChatRequest, OpenAIChat  # noqa: E402
from studio.web import jobs  # noqa: E402
from tests.factories.runs import made_run  # noqa: E402
from tests.training_app.engine.marks import ENGINE  # noqa: E402
from training_app.core import pocket  # noqa: E402
from training_app.core.demonstrations import from_reference  # noqa: E402
from training_app.core.recipe import preset  # noqa: E402
from training_app.engine import play as player  # noqa: E402
from training_app.engine.serve import Asked, Draws, Handler, Refused, Server, Writer, main  # noqa: E402
from training_app.engine.tiny import tokenizer as tiny_tokenizer  # noqa: E402
from training_app.enums import Algorithm  # noqa: E402
from training_app.jobs.evaluations import EVALUATE, arguments_of  # noqa: E402
from training_app.models import Checkpoint, TrainingRun  # noqa: E402
from training_app.operations.evaluations import built_in_suite, open_evaluation  # noqa: E402
from training_app.queries.evaluations import get_evaluation  # noqa: E402
from training_app.queries.runs import checkpoint_folder  # noqa: E402

pytestmark = [*ENGINE]


@pytest.fixture(scope="module")
def writer() -> Writer:
    """A model of random weights; what it writes is noise."""
    specs = [*pocket.tasks("train", 16, 0), *pocket.tasks("held_out", 16, 0)]
    tokenizer = tiny_tokenizer.build([from_reference(spec, quote=True) for spec in specs])
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    player.note_longest(model, 0)
    return Writer(model, tokenizer, player.turn_limit(model))


def test_a_folder_with_damaged_weights_is_named_and_not_traced(
    writer: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer.model.save_pretrained(tmp_path)
    writer.tokenizer.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert main([str(tmp_path), "--name", "CK-TEST", "--port", "1"]) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith(f"the model at '{tmp_path}' cannot be read (Error while deserializing header")
    )


@pytest.fixture
def url(writer: Writer) -> Iterator[str]:
    """The writer behind an address."""
    handler = type("Served", (Handler,), {"writer": writer, "name": "CK-TEST"})
    server = Server(("127.0.0.1", 0), handler)
    for target in (lambda: server.serve_forever(0.02), writer.work):
        threading.Thread(target=target, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def turns(writer: Writer, actions: list[Action]) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """The prompt of each turn, as the engine's player has it and as the server reads it."""
    seat = player._Seat(pocket.tasks("held_out", 1, 5)[0])
    for action in [*actions, None]:
        sent = [as_sent(message) for message in seat.environment.messages]
        body = json.loads(json.dumps({"messages": sent, "tools": list(seat.environment.tools)}))
        yield seat.prompt(writer.tokenizer), writer.read(body).ids
        if action is not None:
            seat.environment.step(action)


def test_the_model_sees_the_very_prompt_that_the_engine_gives_it(writer: Writer) -> None:
    spec = pocket.tasks("held_out", 1, 5)[0]
    row = from_reference(spec, quote=True)
    actions = [
        Action(
            message["content"],
            tuple(
                ToolRequest(
                    call["id"], call["function"]["name"], call["function"]["arguments"].encode()
                )
                for call in message.get("tool_calls", ())
            ),
        )
        for message in row["messages"]
        if message["role"] == "assistant"
    ]
    assert any(action.text and action.calls for action in actions)
    prompts = list(turns(writer, actions[:-1]))
    assert len(prompts) == len(actions)
    for ours, theirs in prompts:
        assert tuple(ours) == theirs


def test_a_call_that_is_no_json_comes_back_as_it_was_written(writer: Writer) -> None:
    broken = Action("", (ToolRequest("call_1", "", b'{"name": "a", "arg'),))
    plain = Action("", (ToolRequest("call_2", "orders_get_order", b'{"not_json":1}'),))
    for ours, theirs in turns(writer, [broken, plain]):
        assert tuple(ours) == theirs


def test_greedy_writes_what_the_engine_writes_whoever_is_answered_beside_it(
    writer: Writer,
) -> None:
    seats = [player._Seat(spec) for spec in pocket.tasks("held_out", 3, 5)]
    prompts = [seat.prompt(writer.tokenizer) for seat in seats]
    expected = player._write(writer.model, writer.tokenizer, prompts, 0.0)
    asked = [Asked(tuple(ids), 0.0, 1.0, player.SHORTEST_LIMIT, 0) for ids in prompts]
    end = writer.tokenizer.eos_token_id
    for found, ids in zip(writer.write(asked), expected, strict=True):
        kept = ids[: ids.index(end)] if end in ids else ids
        assert found.text == writer.tokenizer.decode(kept)
        assert found.cut == (end not in ids)


def test_a_seed_and_a_prompt_decide_a_draw_and_nothing_else_does(writer: Writer) -> None:
    prompts = [tuple(player._Seat(s).prompt(writer.tokenizer)) for s in pocket.tasks("train", 2, 0)]
    one, same, other = (Asked(prompts[0], 1.0, 1.0, 12, seed) for seed in (1, 1, 2))
    beside = Asked(prompts[1], 1.0, 1.0, 12, 1)
    alone = writer.write([one])[0]
    together = writer.write([beside, same, other])
    assert together[1] == alone
    assert len({alone.text, together[0].text, together[2].text}) == 3


def test_draws_follow_the_model_s_own_shares(writer: Writer) -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    drawn = [
        int(Draws([Asked((0,), 1.0, 1.0, 1, seed)])(None, scores).argmax()) for seed in range(4000)
    ]
    shares = [drawn.count(token) / len(drawn) for token in range(4)]
    assert shares == pytest.approx(torch.softmax(scores[0], -1).tolist(), abs=0.03)
    kept = {
        int(Draws([Asked((0,), 1.0, 0.6, 1, seed)])(None, scores).argmax()) for seed in range(200)
    }
    assert kept == {0}


def test_a_prompt_too_long_and_an_answer_cut_off_have_no_text(writer: Writer) -> None:
    long = Asked(tuple([5] * writer.room), 0.0, 1.0, 5, 0)
    assert (writer.write([long])[0].text, writer.write([long])[0].cut) == ("", True)


def post(url: str, body: Any, kind: str = "application/json") -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(f"{url}/chat/completions", data, {"content-type": kind})  # noqa: S310
    try:
        with urlopen(request, timeout=60) as answer:  # noqa: S310 - our own address
            return answer.status, json.loads(answer.read())
    except HTTPError as problem:
        with problem:
            return problem.code, json.loads(problem.read())


def test_a_server_answers_and_refuses_with_words(url: str, writer: Writer) -> None:
    ask = {"model": "CK-TEST", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
    status, body = post(url, ask)
    assert (status, body["choices"][0]["finish_reason"]) == (200, "length")
    message = body["choices"][0]["message"]
    assert (message["content"], bool(message["reasoning_content"])) == ("", True)
    assert body["usage"]["completion_tokens"] == 3
    image = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    for wrong, words in (
        ({**ask, "model": "gpt"}, "only CK-TEST is served here"),
        ({**ask, "messages": []}, "a list that is not empty"),
        ({**ask, "messages": ["x"]}, "an object with a role"),
        ({**ask, "temperature": 99}, "temperature: must be between"),
        ({**ask, "stream": True}, "answers come whole"),
        ({**ask, "messages": [{"role": "user", "content": image}]}, "reads text only"),
        ([], "must be an object"),
        (b"{broken", "Expecting property name"),
    ):
        status, body = post(url, wrong)
        assert (status, words in body["error"]["message"]) == (400, True), body
    assert post(url, ask, "text/plain")[0] == 415
    with pytest.raises(Refused):
        writer.read({"messages": [{"role": "user", "tool_calls": [{"function": {}}]}]})


def test_a_policy_plays_through_the_server(url: str) -> None:
    client = OpenAIChat(url, "CK-TEST", "", abilities=Abilities(seed=True))
    environment = Environment(pocket.tasks("held_out", 1, 5)[0])
    policy = TeacherPolicy("checkpoint:CK-TEST", client, draw="E-1", seed=3)
    action = policy.act(environment.messages, environment.tools)
    again = client.ask(
        ChatRequest([m.as_chat() for m in environment.messages], environment.tools, seed=3)
    )
    assert (action.text, action.tokens) == (again.text, again.usage.completion)
    assert client.context_length() == 2048
    client.close()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_real_checkpoint_is_served_and_measured_by_its_code(
    writer: Writer, settings: LazySettings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    run = made_run(Algorithm.SFT, recipe=preset("cpu-tiny-sft"))
    TrainingRun.objects.filter(pk=run.pk).update(path=run.code)
    run.refresh_from_db()
    row = Checkpoint.objects.create(run=run, step=1)
    writer.model.save_pretrained(checkpoint_folder(row))
    writer.tokenizer.save_pretrained(checkpoint_folder(row))
    suite = built_in_suite("pocket-held-out", count=2)
    opened = open_evaluation(suite=suite, checkpoint=row, by=None)
    jobs.run_inline(EVALUATE, arguments_of(opened), subject=opened.code)
    found = get_evaluation(opened.code)
    assert (found.report["score"], found.report["graded"], found.report["failed"]) == (0.0, 2, 0)
    assert found.report["split_kind"] == "new_instances"
    assert found.batch is not None
    played = player.play(
        writer.model,
        writer.tokenizer,
        [item.version.load() for item in suite.items.select_related("version")],
        temperature=0.0,
        seed=0,
    )
    turns_taken = found.batch.episodes.order_by("version_id").values_list("turns", flat=True)
    # random weights never end a message: every reply is cut, there and here
    assert [one.truncated for one in played] == [True] * 2
    assert list(turns_taken) == [1] * 2


def test_messages_without_content_are_read_as_empty_texts(writer: Writer) -> None:
    call = Message("assistant", "", (ToolRequest("call_1", "a", b"{}"),)).as_chat()
    assert call["content"] is None
    assert writer.read({"messages": [{"role": "user", "content": "x"}, call]}).ids
