"""Marks of tests that need the train extra."""

import pytest

ENGINE = [
    pytest.mark.engine,
    # the libraries warn about their own coming versions; ours are pinned
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
