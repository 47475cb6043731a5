"""The pages on which tasks are written. They stand before /tasks/<task>: `new` and `import` name no task."""

from django.urls import path

from reviews.writing import importing_page, views

urlpatterns = [
    path("tasks/new", views.new, name="task-new"),
    path("tasks/new/like", views.like, name="task-like"),
    path("tasks/new/from/<slug:template>", views.begin, name="task-from"),
    path("tasks/new/check", views.check, name="task-check"),
    path("tasks/new/scope", views.scope, name="task-scope"),
    path("tasks/new/preview", views.preview, name="task-preview"),
    path("tasks/new/seat", views.seat, name="task-seat"),
    path("tasks/new/publish", views.publish, name="task-publish"),
    path("tasks/import", importing_page.import_files, name="task-import"),
]
