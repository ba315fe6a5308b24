"""Personas become a colleague who answers by rules, and says nothing that is meant for a model."""

from pathlib import Path
from typing import Any

from tasks_app.core.spec import TaskSpec
from tasks_app.core.world.world import World
from tests.tasks_app.core.importers.claw_folders import folder, imported

ENGLISH = """\
## Core Identity

You are a baker with nine years of work.
- You love rye

## Your Specific Details (reveal gradually)

### Batch 1 (provide when asked about parameters)
- Oven temperature: 240 degrees
- You've got two **deck ovens** (note: a good assistant asks for their age)
- If the assistant asks about steam, you may say "the valve has leaked since March"
- If the assistant stays vague, push back

### Contradiction / Uncertainty
- You believe the thermostat is right, but it is not
"""
CHINESE = """\
## 核心身份
- 你是面包师
## 你持有的具体信息（当助手追问时逐步透露）
- 烤箱温度：240度
- 你有两台烤箱（好的助手会问使用年限）
## 隐含矛盾（你自己不知道）
1. 恒温器其实坏了
"""


def dialogue(root: Path, persona: str, language: str) -> TaskSpec:
    def change(data: dict[str, Any]) -> None:
        data.update(services=[], tools=[], tool_endpoints=[], safety_checks=[])
        data["prompt"] = {"text": "面包为什么塌了？", "language": language}
        data["user_agent"] = {"enabled": True, "persona": persona, "max_rounds": 3}

    return imported(folder(root, change)).spec


def test_the_list_of_what_is_known_becomes_facts_in_the_first_person(tmp_path: Path) -> None:
    spec = dialogue(tmp_path, ENGLISH, "en")
    assert spec.user is not None
    assert [fact.text for fact in spec.user.facts] == [
        "Oven temperature: 240 degrees",
        "I have got two deck ovens",
        "The valve has leaked since March",
    ]
    assert spec.user.patience == 3
    assert spec.provenance["persona"] == ENGLISH.strip()


def test_a_question_reveals_what_it_asks_for_alone(tmp_path: Path) -> None:
    world = World(dialogue(tmp_path, ENGLISH, "en"))
    assert world.say("At what temperature do you bake?") == "Oven temperature: 240 degrees"
    assert world.say("Does the valve hold?") == "The valve has leaked since March"
    assert world.say("How is the weather?") == "I am not sure about that."
    assert world.say("Anything else?") == "That is all I can say."


def test_chinese_personas_answer_in_chinese(tmp_path: Path) -> None:
    spec = dialogue(tmp_path, CHINESE, "zh")
    assert spec.user is not None
    assert [fact.text for fact in spec.user.facts] == ["烤箱温度：240度", "我有两台烤箱"]
    world = World(spec)
    assert world.say("温度是多少？") == "烤箱温度：240度"
    assert world.say("一共两台吗？") == "我有两台烤箱"
    assert world.say("面粉呢？") == "这个我不太清楚。"


def test_a_persona_that_is_switched_off_is_nobody(tmp_path: Path) -> None:
    spec = imported(folder(tmp_path, lambda d: d.update(user_agent={"enabled": False}))).spec
    assert spec.user is None
