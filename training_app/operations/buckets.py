"""Keeping the stretches of a long run that are over, so that nobody counts them up again."""

from django.db import transaction
from django.db.models import Max

from training_app.models import MetricBucket, TrainingRun
from training_app.queries.buckets import bucket_width, layout_of, names_kept, packed, stretches
from training_app.queries.curves import newest_row


@transaction.atomic
def keep_buckets(*, run: TrainingRun, since: int = 0) -> int:
    """Count up what is over since the last time and return how many stretches that are.

    Args:
        run: Its steps are written; whoever writes them holds its row.
        since: The first step that was written or taken away since then: what was kept of it and of
            all that follows is counted anew.
    """
    kept = MetricBucket.objects.filter(run=run)
    newest = newest_row(run)
    width = bucket_width(run, newest.step) if newest is not None else 1
    if newest is None or width == 1:
        kept.delete()
        return 0
    names = names_kept(run)
    layout = layout_of(names)
    kept.exclude(width=width, layout=layout).delete()
    kept.filter(number__gte=max(since - 1, 0) // width).delete()
    last = kept.aggregate(last=Max("number"))["last"]
    first, end = 0 if last is None else last + 1, (newest.step - 1) // width
    if first >= end:
        return 0
    rows = [
        MetricBucket(
            run=run,
            number=one.number,
            width=width,
            layout=layout,
            first=one.first,
            last=one.last,
            samples=one.samples,
            seconds=one.seconds,
            figures=packed(one),
        )
        for one in stretches(run, names, width, first=first, end=end)
    ]
    MetricBucket.objects.bulk_create(rows, batch_size=500)
    return len(rows)
