"""The tool channel to the simulated colleague: `message_user`. It holds no records."""

from typing import TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Service, Text, tool


class Answer(TypedDict):
    """What came back."""

    reply: str


class Colleague(Service):
    """The person who asked, reachable by short messages."""

    name = "user"
    function = "communication"
    purpose = "Ask the person who gave you the task."

    @tool(channel=True, name="message_user", text=("text",))
    def message_user(self, text: Text) -> Answer:
        """Send the person who gave you the task a short message and get the answer.

        Args:
            text: What you want to ask or tell.
        """
        if self.answer is None:
            raise ToolError("unavailable", "nobody is there to answer")
        return {"reply": self.answer(text)}
