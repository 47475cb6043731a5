"""Every page for people. Fragments have addresses of their own, which are pages too."""

from django.urls import include, path

from reviews.board import views as board
from reviews.effects import acting as effects_acting
from reviews.effects import views as effects
from reviews.help import views as help_pages
from reviews.inbox import views as inbox
from reviews.shell import errors
from reviews.shell import views as shell
from reviews.signin import password as account
from reviews.signin import views as signin
from reviews.taskpage import acting as tasks_acting
from reviews.taskpage import views as tasks

urlpatterns = [
    path("", inbox.start, name="start"),
    path("signin", signin.signin, name="signin"),
    path("signout", signin.signout, name="signout"),
    path("account/password", account.password, name="password"),
    path("preferences", signin.preferences, name="preferences"),
    path("badges", shell.badges, name="badges"),
    path("board", board.page, name="board"),
    path("board/columns", board.columns, name="board-columns"),
    path("board/table", board.table, name="board-table"),
    path("", include("reviews.inbox.urls")),
    path("", include("reviews.provenance.urls")),
    path("", include("reviews.arbitration.urls")),
    path("", include("reviews.writing.urls")),
    path("tasks/<str:ref>", tasks.page, name="task"),
    path("tasks/<str:ref>/act", tasks_acting.act, name="task-act"),
    path("tasks/<str:ref>/deps.svg", tasks.deps, name="task-deps"),
    path("tasks/<str:ref>/<slug:tab>", tasks.tab, name="task-tab"),
    path("effects/<str:effect>", effects.page, name="effect"),
    path("effects/<str:effect>/act", effects_acting.act, name="effect-act"),
    path("help/problems", help_pages.index, name="help-problems"),
    path("help/problems/<slug:code>", help_pages.problem, name="help-problem"),
    path("", include("reviews.desk.urls")),
    path("<path:rest>", errors.nowhere, name="nowhere"),
]
