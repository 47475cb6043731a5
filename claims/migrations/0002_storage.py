"""Sequences for numbers and epochs, and room on the pages of rows that are updated in place."""

from django.db import migrations

SEQUENCES = """
CREATE SEQUENCE claims_task_number START WITH 1001;
CREATE SEQUENCE claims_scheduler_epoch START WITH 1;
"""

ROOM = """
ALTER TABLE claims_task SET (fillfactor = 80);
ALTER TABLE claims_attempt SET (fillfactor = 85);
ALTER TABLE claims_lease SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
"""

NO_ROOM = """
ALTER TABLE claims_task RESET (fillfactor);
ALTER TABLE claims_attempt RESET (fillfactor);
ALTER TABLE claims_lease RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
"""


class Migration(migrations.Migration):
    dependencies = [("claims", "0001_contract")]

    operations = [
        migrations.RunSQL(SEQUENCES, "DROP SEQUENCE claims_task_number; DROP SEQUENCE claims_scheduler_epoch;"),
        migrations.RunSQL(ROOM, NO_ROOM),
    ]
