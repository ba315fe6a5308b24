"""Forms of the ways in: signing in, accepting an invitation, making a token."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from studio.web.acts import scopes_of
from studio.web.choices import Role, Scope
from studio.web.models import User


class SignInForm(forms.Form):
    """Name and password; whether they fit is for ``access.sign_in`` to say."""

    username = forms.CharField(
        label="Name or e-mail",
        max_length=254,
        widget=forms.TextInput(
            attrs={"class": "in tall", "autocomplete": "username", "autofocus": True}
        ),
    )
    password = forms.CharField(
        label="Password",
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"class": "in tall", "autocomplete": "current-password"}),
    )
    remember = forms.BooleanField(label="Keep me signed in on this machine", required=False)


class WelcomeForm(forms.Form):
    """Name and password of an account; for an existing one the password may stay away."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(attrs={"class": "in tall", "autocomplete": "username"}),
    )
    password = forms.CharField(
        label="Password",
        max_length=4096,
        strip=False,
        required=False,
        help_text="At least eight characters. Without one you need a new link next time.",
        widget=forms.PasswordInput(attrs={"class": "in tall", "autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, user: User | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if user is not None:
            self.fields["username"].disabled = True
            self.fields["username"].initial = user.username
            # The name is given: Enter is to work at once.
            self.fields["password"].widget.attrs["autofocus"] = True
        else:
            self.fields["password"].required = True
            self.fields["password"].help_text = "At least eight characters."

    def clean_password(self) -> str:
        """Ask the configured validators."""
        password: str = self.cleaned_data.get("password", "")
        if password:
            name = str(self.data.get("username", ""))
            validate_password(password, self.user or User(username=name))
        return password


class PasswordForm(forms.Form):
    """A new password; the present one is asked for where there is one."""

    present = forms.CharField(
        label="Present password",
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"class": "in", "autocomplete": "current-password"}),
    )
    new = forms.CharField(
        label="New password",
        max_length=4096,
        strip=False,
        help_text="At least eight characters.",
        widget=forms.PasswordInput(attrs={"class": "in", "autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not user.has_usable_password():
            del self.fields["present"]

    def clean_present(self) -> str:
        """It must be right: an unattended browser is not enough to take an account over."""
        given: str = self.cleaned_data["present"]
        if not self.user.check_password(given):
            raise forms.ValidationError("That is not your present password.")
        return given

    def clean_new(self) -> str:
        """Ask the configured validators."""
        password: str = self.cleaned_data["new"]
        validate_password(password, self.user)
        return password


class InviteForm(forms.Form):
    """Whom to let in, and as what."""

    role = forms.ChoiceField(
        label="Role",
        choices=Role.choices,
        initial=Role.REVIEWER,
        widget=forms.Select(attrs={"class": "in"}),
    )
    email = forms.EmailField(
        label="E-mail", required=False, widget=forms.EmailInput(attrs={"class": "in"})
    )


class TokenForm(forms.Form):
    """Name, scopes within the role, and days."""

    name = forms.CharField(
        label="What it is for", max_length=80, widget=forms.TextInput(attrs={"class": "in"})
    )
    scopes = forms.MultipleChoiceField(
        label="It may", widget=forms.CheckboxSelectMultiple, initial=[Scope.READ.value]
    )
    days = forms.IntegerField(
        label="Days until it ends",
        min_value=1,
        max_value=365,
        initial=90,
        widget=forms.NumberInput(attrs={"class": "in"}),
    )

    def __init__(self, *args: Any, role: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = scopes_of(role)
        field = self.fields["scopes"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(item.value, item.label) for item in Scope if item in usable]
