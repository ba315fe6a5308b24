"""Figures of runs as Plotly reads them: plain values, so that a page need not import Plotly.

Colours are names of our tokens (``--s-grpo``, with a share ``--s-grpo 13%``): the page puts in what
they are in its theme. Beside ``data`` and ``layout`` a figure carries what stands around it: title,
unit, last value, a sentence for those who do not see it, notes.
"""
