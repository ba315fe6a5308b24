"""Say of the episodes that are stored already what failed first in them, out of their grades."""

from django.db import migrations

FILL = """
UPDATE rollouts_app_episode AS episode
SET first_failed = coalesce(
    episode.violations[1],
    (
        SELECT graded.result ->> 'id'
        FROM jsonb_array_elements(payload.grade::jsonb -> 'checks')
            WITH ORDINALITY AS graded(result, place)
        WHERE (graded.result ->> 'score')::double precision < 1 - 1e-9
        ORDER BY graded.place
        LIMIT 1
    ),
    ''
)
FROM rollouts_app_episodepayload AS payload
WHERE payload.episode_id = episode.id AND episode.state = 'graded'
    AND (episode.checks ~ '[0px]' OR episode.violations <> '{}')
"""


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0003_first_failures_and_open_episodes'),
    ]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
