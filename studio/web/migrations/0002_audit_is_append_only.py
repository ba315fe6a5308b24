"""The database itself refuses to change or delete audit entries."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION web_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are append-only' USING ERRCODE = 'restrict_violation';
END;
$$;
CREATE TRIGGER web_audit_append_only BEFORE UPDATE OR DELETE ON web_auditentry
    FOR EACH ROW EXECUTE FUNCTION web_audit_append_only();
"""
BACKWARDS = """
DROP TRIGGER web_audit_append_only ON web_auditentry;
DROP FUNCTION web_audit_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("web", "0001_platform")]

    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
