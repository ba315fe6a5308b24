"""Fields that several schemas share."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise ValueError("holds a character that cannot be stored (NUL or half of a pair)")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Reason = Annotated[Text, Field(max_length=2000)]
Spec = dict[str, Any]
VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
