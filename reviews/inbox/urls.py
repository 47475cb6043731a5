"""The inbox and what one does with its rows."""

from django.urls import path

from reviews.inbox import acting, deputy, preview, views

urlpatterns = [
    path("reviews", views.page, name="reviews"),
    path("reviews/bucket/<slug:bucket>", views.bucket, name="reviews-bucket"),
    path("reviews/mark", acting.mark, name="reviews-mark"),
    path("reviews/preview/<uuid:delivery>", preview.preview, name="reviews-preview"),
    path("reviews/snooze/<uuid:delivery>", acting.snooze, name="reviews-snooze"),
    path("reviews/hand-on/<uuid:delivery>", acting.hand_on, name="reviews-hand-on"),
    path("account/deputy", deputy.deputy, name="deputy"),
]
