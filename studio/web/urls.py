"""Addresses of the ways in and out, the account and jobs."""

from django.urls import path

from studio.web import views

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    # Before the admin site's own: its form knows no throttle.
    path("admin/login/", views.admin_entrance, name="admin-entrance"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("welcome/<str:secret>/", views.welcome, name="welcome"),
    path("account/", views.account, name="account"),
    path("account/password/", views.password, name="password"),
    path("account/invite/", views.invite, name="invite"),
    path("account/tokens/<str:code>/revoke/", views.token_revoke, name="token-revoke"),
    path("views/", views.view_save, name="view-save"),
    path("views/<str:code>/delete/", views.view_delete, name="view-delete"),
    path("jobs/<str:code>/", views.job, name="job"),
    path("jobs/<str:code>/cancel/", views.job_cancel, name="job-cancel"),
    path("jobs/<str:code>/resume/", views.job_resume, name="job-resume"),
]
