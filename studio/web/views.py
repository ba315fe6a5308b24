"""Pages that belong to no app: the ways in and out, the account, one job."""

import datetime as dt

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from studio.web import access, audit, claims, jobs, saved_views
from studio.web.acts import Act
from studio.web.auth import ensure, principal, require
from studio.web.choices import Role, Scope
from studio.web.codes import get_by_code
from studio.web.errors import Invalid, Throttled
from studio.web.forms import InviteForm, PasswordForm, SignInForm, TokenForm, WelcomeForm
from studio.web.htmx import etag, render_page, see_other, unchanged
from studio.web.models import ApiToken, Job, User

BACKEND = "django.contrib.auth.backends.ModelBackend"
#: A session that is not to be remembered ends with the browser.
SESSION_ENDS_WITH_BROWSER = 0
PEOPLE_SHOWN = 200


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page: 422 on a wrong password, 429 during a pause."""
    target = _safe_target(request)
    if request.user.is_authenticated and request.method == "GET":
        return see_other(request, target)
    form = SignInForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                user = access.sign_in(
                    request, form.cleaned_data["username"], form.cleaned_data["password"]
                )
            except (access.WrongPassword, Throttled) as error:
                form.add_error(None, error.detail)
                status = error.status
            else:
                _enter(request, user, remember=form.cleaned_data["remember"])
                return see_other(request, target)
    context = {"form": form, "next": target, "owner_hint": access.needs_owner()}
    response = render(request, "registration/sign_in.html", context, status=status)
    if status == Throttled.status:
        response["Retry-After"] = str(int(access.FIRST_PAUSE.total_seconds()))
    return response


@login_not_required
@never_cache
def admin_entrance(request: HttpRequest) -> HttpResponse:
    """In place of the admin site's own sign-in form, which knows no throttle."""
    if request.user.is_authenticated:
        ensure(principal(request), Act.CHANGE_SETTINGS)
        return see_other(request, _safe_target(request, reverse("admin:index")))
    return redirect_to_login(_safe_target(request, reverse("admin:index")), reverse("sign-in"))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    if isinstance(request.user, User):
        audit.record(request.user, "sign_out")
    logout(request)
    return see_other(request, str(settings.LOGIN_URL))


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def welcome(request: HttpRequest, secret: str) -> HttpResponse:
    """A one-time link. Reading it uses nothing up (mail programs fetch links); the button does."""
    invitation = access.open_invitation(secret)
    form = WelcomeForm(request.POST if request.method == "POST" else None, user=invitation.user)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                user = access.accept_invitation(
                    secret,
                    username=form.cleaned_data["username"],
                    password=form.cleaned_data["password"],
                )
            except Invalid as error:
                for problem in error.problems:
                    form.add_error(problem.place, problem.message)
            else:
                _enter(request, user, remember=True)
                return see_other(request, reverse("home"))
    context = {"form": form, "invitation": invitation, "role": Role(invitation.role).label}
    response = render(request, "registration/welcome.html", context, status=status)
    # The address is a secret: it must not travel to other sites. "no-referrer" would be stricter,
    # but browsers then send "Origin: null" with the form, which the CSRF check refuses.
    response["Referrer-Policy"] = "same-origin"
    return response


@never_cache
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """One's own role and API tokens; a new token's secret is shown on this answer only."""
    who = principal(request)
    form = TokenForm(request.POST if request.method == "POST" else None, role=who.role)
    issued = None
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                issued = access.issue_token(
                    who.user,
                    form.cleaned_data["name"],
                    frozenset(Scope(item) for item in form.cleaned_data["scopes"]),
                    life=dt.timedelta(days=form.cleaned_data["days"]),
                )
            except Invalid as error:
                for problem in error.problems:
                    form.add_error(problem.place, problem.message)
            else:
                status = 201
                form = TokenForm(role=who.role)
    context = {
        "form": form,
        "issued": issued,
        "tokens": who.user.tokens.filter(revoked_at=None),
        "role": who.role.label,
        "invite_form": InviteForm() if who.may(Act.MANAGE_USERS) else None,
        "people": User.objects.order_by("username")[:PEOPLE_SHOWN]
        if who.may(Act.MANAGE_USERS)
        else None,
    }
    return render(request, "account.html", context, status=status)


@never_cache
@sensitive_post_parameters("present", "new")
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Choose a password; other sessions of this person end, this one goes on."""
    user = principal(request).user
    form = PasswordForm(request.POST if request.method == "POST" else None, user=user)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            access.change_password(user, form.cleaned_data["new"])
            update_session_auth_hash(request, user)
            messages.success(request, "Your password is changed.")
            return see_other(request, reverse("account"))
    return render(request, "registration/password.html", {"form": form}, status=status)


@never_cache
@require_POST
@require(Act.MANAGE_USERS)
def invite(request: HttpRequest) -> HttpResponse:
    """A one-time link for a colleague, shown on this answer only."""
    form = InviteForm(request.POST)
    context: dict[str, object] = {"form": form}
    status = 422
    if form.is_valid():
        path = access.invite(
            by=principal(request).user,
            role=Role(form.cleaned_data["role"]),
            email=form.cleaned_data["email"],
        )
        context["link"] = request.build_absolute_uri(path)
        status = 201
    return render(request, "invite.html", context, status=status)


@require_POST
def token_revoke(request: HttpRequest, code: str) -> HttpResponse:
    """Make a token useless: one's own, or another's as an administrator."""
    who = principal(request)
    if who.may(Act.MANAGE_TOKENS_OF_OTHERS):
        token = get_by_code(ApiToken.objects.all(), code)
    else:
        token = get_by_code(ApiToken.objects.filter(user=who.user), code)
    access.revoke_token(token, by=who.user)
    messages.success(request, f"{token.code} no longer works.")
    return see_other(request, reverse("account"))


@require_POST
@require(Act.READ)
def view_save(request: HttpRequest) -> HttpResponse:
    """Keep the filter of a list page under a name, and open it there."""
    view = saved_views.save_view(
        principal(request),
        page=request.POST.get("page", ""),
        name=request.POST.get("name", ""),
        query=" ".join(request.POST.getlist("q")),
        shared=request.POST.get("shared") == "on",
    )
    messages.success(request, f"“{view.name}” is kept.")
    return see_other(request, f"{saved_views.PAGES[view.page]}?view={view.code}")


@require_POST
@require(Act.READ)
def view_delete(request: HttpRequest, code: str) -> HttpResponse:
    """Delete one of one's own views."""
    view = saved_views.delete_view(principal(request), code)
    messages.success(request, f"“{view.name}” is deleted.")
    return see_other(request, saved_views.PAGES.get(view.page, "/"))


@never_cache
@require_GET
@require(Act.READ)
def job(request: HttpRequest, code: str) -> HttpResponse:
    """One job; asked by a poller it is the progress fragment, 304 while nothing moved."""
    row = get_by_code(Job.objects.select_related("user"), code)
    token = [row.code, row.state, row.done, row.total, row.note, row.attempt, row.error]
    same = unchanged(request, token)
    if same is not None:
        return same
    context = {
        "job": row,
        "title": row.kind.replace("_", " ").capitalize(),
        "label": row.note or row.kind.replace("_", " "),
        "poll_url": reverse("job", args=[row.code]),
        "cancel_url": reverse("job-cancel", args=[row.code]) if _may_move(request, row) else "",
        "resume_url": reverse("job-resume", args=[row.code]) if _may_move(request, row) else "",
        "etag": etag(token),
    }
    fragments = {f"job-{row.code}": "shared/_progress.html"}
    response = render_page(request, "job.html", fragments, context)
    response["ETag"] = etag(token)
    return response


@require_POST
def job_cancel(request: HttpRequest, code: str) -> HttpResponse:
    """Stop a job: one's own, or any as an administrator."""
    return _move(request, code, "cancel")


@require_POST
def job_resume(request: HttpRequest, code: str) -> HttpResponse:
    """Queue an ended job again."""
    return _move(request, code, "resume")


def _move(request: HttpRequest, code: str, act: str) -> HttpResponse:
    row = get_by_code(Job.objects.all(), code)
    who = principal(request)
    ensure(who, Act.GENERATE)
    if not _may_move(request, row):
        ensure(who, Act.CHANGE_SETTINGS)
    if act == "cancel":
        claims.request_cancel(row)
    else:
        jobs.resume(row)
    audit.record(who, f"{act}_job", row.code, {"kind": row.kind})
    return see_other(request, _safe_target(request, reverse("job", args=[row.code])))


def _may_move(request: HttpRequest, row: Job) -> bool:
    who = principal(request)
    return who.may(Act.CHANGE_SETTINGS) or (
        who.may(Act.GENERATE) and row.user_id in (None, who.user.pk)
    )


def _enter(request: HttpRequest, user: User, *, remember: bool) -> None:
    login(request, user, backend=BACKEND)
    if not remember:
        request.session.set_expiry(SESSION_ENDS_WITH_BROWSER)


def _safe_target(request: HttpRequest, default: str | None = None) -> str:
    """Where to go next: ``next`` only within this site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return wanted
    return default or reverse("home")
