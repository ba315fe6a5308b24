"""What every app needs from the web platform, and nothing that knows an app.

Where to look: ``codes`` (T-4F7K), ``claims`` and ``jobs`` (work in the background), ``auth``
(people, roles, tokens), ``audit``, ``errors`` (one exception, one page, one problem document),
``filters`` (the filter language), ``pagination`` (keyset pages), ``exports`` (streamed JSONL),
``htmx`` (page or fragment), ``middleware`` (account required, CSP, size limit).
"""
