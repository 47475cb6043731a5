"""Effects that wait for a person are few among many: each page's badge counts them by this index."""

from __future__ import annotations

from django.db import migrations, models

from claims.vocabulary import EffectState


class Migration(migrations.Migration):
    dependencies = [("claims", "0003_hot_verbs")]

    operations = [
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                condition=models.Q(("state", EffectState.PREPARED)),
                fields=["pool", "mode"],
                name="effect_prepared",
            ),
        ),
    ]
