"""What is mixed in and held back; and a frozen dataset that the database itself keeps as it is."""

from django.db import migrations, models

KEEP = """
CREATE FUNCTION training_dataset_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a frozen dataset never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER training_dataset_never_changes BEFORE UPDATE ON training_app_dataset
FOR EACH ROW WHEN (
    OLD.frozen_at IS NOT NULL
    AND (to_jsonb(OLD) - 'author_id' - 'job_id') IS DISTINCT FROM
        (to_jsonb(NEW) - 'author_id' - 'job_id')
) EXECUTE FUNCTION training_dataset_is_frozen();
CREATE TRIGGER training_dataset_never_goes BEFORE DELETE ON training_app_dataset
FOR EACH ROW WHEN (OLD.frozen_at IS NOT NULL) EXECUTE FUNCTION training_dataset_is_frozen();

CREATE FUNCTION training_item_of_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN held := NEW.dataset_id; ELSE held := OLD.dataset_id; END IF;
    IF EXISTS (
        SELECT 1 FROM training_app_dataset WHERE id = held AND frozen_at IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'a frozen dataset never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER training_item_never_changes BEFORE UPDATE ON training_app_datasetitem
FOR EACH ROW WHEN (
    (to_jsonb(OLD) - 'episode_id' - 'version_id') IS DISTINCT FROM
    (to_jsonb(NEW) - 'episode_id' - 'version_id')
) EXECUTE FUNCTION training_item_of_frozen();
CREATE TRIGGER training_item_never_comes_or_goes BEFORE INSERT OR DELETE
ON training_app_datasetitem FOR EACH ROW EXECUTE FUNCTION training_item_of_frozen();
"""
RELEASE = """
DROP TRIGGER training_item_never_comes_or_goes ON training_app_datasetitem;
DROP TRIGGER training_item_never_changes ON training_app_datasetitem;
DROP FUNCTION training_item_of_frozen();
DROP TRIGGER training_dataset_never_goes ON training_app_dataset;
DROP TRIGGER training_dataset_never_changes ON training_app_dataset;
DROP FUNCTION training_dataset_is_frozen();
"""


class Migration(migrations.Migration):
    dependencies = [("training_app", "0001_training")]

    operations = [
        migrations.AddField("dataset", "held_families", models.JSONField(blank=True, default=list)),
        migrations.AddField("dataset", "mixes", models.JSONField(blank=True, default=list)),
        migrations.AddField("datasetitem", "origin", models.JSONField(blank=True, default=dict)),
        migrations.AddField("datasetitem", "copies", models.PositiveSmallIntegerField(default=1)),
        migrations.AddField(
            "datasetitem", "digest", models.CharField(blank=True, max_length=64)
        ),
        migrations.RunSQL(KEEP, RELEASE),
    ]
