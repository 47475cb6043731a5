"""Drafts of tasks, and the files that became tasks."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("reviews", "0001_drafts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ImportedTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pool_name", models.CharField(max_length=120)),
                ("digest", models.CharField(max_length=64)),
                ("number", models.BigIntegerField()),
                ("imported_at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("pool_name", "digest"), name="imported_once")],
            },
        ),
        migrations.CreateModel(
            name="TaskDraft",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("title", models.CharField(blank=True, default="", max_length=200)),
                ("source", models.TextField(blank=True, default="")),
                ("base", models.TextField(blank=True, default="")),
                ("pending", models.JSONField(blank=True, default=dict)),
                ("seat", models.CharField(blank=True, default="", max_length=40)),
                ("version", models.BigIntegerField(default=0)),
                ("published", models.BigIntegerField(blank=True, null=True)),
                ("typed_at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [models.Index(fields=["person", "-typed_at"], name="task_draft_of_person")],
            },
        ),
    ]
