"""A frozen dataset goes where its transaction names it, and in no other way."""

from django.db import migrations

GOES = """
DROP TRIGGER training_dataset_never_goes ON training_app_dataset;
CREATE TRIGGER training_dataset_never_goes BEFORE DELETE ON training_app_dataset
FOR EACH ROW WHEN (
    OLD.frozen_at IS NOT NULL
    AND OLD.code <> coalesce(current_setting('studio.dataset_goes', true), '')
) EXECUTE FUNCTION training_dataset_is_frozen();

CREATE OR REPLACE FUNCTION training_item_of_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held bigint;
    going text := '';
BEGIN
    IF TG_OP = 'INSERT' THEN held := NEW.dataset_id; ELSE held := OLD.dataset_id; END IF;
    IF TG_OP = 'DELETE' THEN
        going := coalesce(current_setting('studio.dataset_goes', true), '');
    END IF;
    IF EXISTS (
        SELECT 1 FROM training_app_dataset
        WHERE id = held AND frozen_at IS NOT NULL AND code <> going
    ) THEN
        RAISE EXCEPTION 'a frozen dataset never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
"""
STAYS = """
DROP TRIGGER training_dataset_never_goes ON training_app_dataset;
CREATE TRIGGER training_dataset_never_goes BEFORE DELETE ON training_app_dataset
FOR EACH ROW WHEN (OLD.frozen_at IS NOT NULL) EXECUTE FUNCTION training_dataset_is_frozen();

CREATE OR REPLACE FUNCTION training_item_of_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""


class Migration(migrations.Migration):
    dependencies = [("training_app", "0004_kept_buckets")]

    operations = [migrations.RunSQL(GOES, STAYS)]
