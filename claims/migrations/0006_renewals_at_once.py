"""Renewals of many claims of one pool in one transaction (claim.v1 section 8, ``POST /renewals``).

Each is the renewal of ``0003_hot_verbs``, with its own locks and its own fresh read. They come in the order of
their tasks, so that two calls never wait for each other in a circle.
"""

from django.db import migrations

RENEW_MANY = """
CREATE FUNCTION claims_renew_many(p_agent bigint, p_items text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT json_agg(claims_renew((i->>0)::uuid, (i->>1)::uuid, (i->>2)::bigint, (i->>3)::bigint, (i->>4)::bigint, p_agent,
        (i->>5)::int)::json) FROM jsonb_array_elements(p_items::jsonb) i
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("claims", "0005_deputies")]

    operations = [migrations.RunSQL(RENEW_MANY, "DROP FUNCTION claims_renew_many")]
