"""``manage.py freeze_dataset --kind demonstrations|prompts --name X --filter FILTER``."""

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject, written_value
from studio.web.commands import JobCommand
from studio.web.errors import Invalid, NotFound, Problem, TooLarge
from studio.web.models import Job
from training_app.core.curation import Rules
from training_app.enums import DatasetKind
from training_app.jobs.datasets import KIND, result_of
from training_app.models import Dataset
from training_app.operations.attachments import keep_images
from training_app.operations.dataset_files import write_folder
from training_app.operations.datasets import LARGEST_MIX, Mix, open_dataset
from training_app.queries.datasets import get_dataset


class Command(JobCommand):
    """Choose, build, lint and freeze a dataset; print what was dropped and the hash."""

    help = (
        "Freeze the episodes of a filter as demonstrations, or the tasks of a filter as prompts. "
        f"Rules of curation: {', '.join(Rules().written())}."
    )
    kind = KIND
    dataset: Dataset | None = None

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """What goes in, what is dropped, what is mixed in."""
        parser.add_argument("--kind", required=True, choices=DatasetKind.values)
        parser.add_argument("--name", required=True, help="of the dataset; once only")
        parser.add_argument(
            "--filter", default="", help="of episodes, or of tasks (without state: approved ones)"
        )
        parser.add_argument(
            "--rule",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a rule of curation, such as turns=20 or duplicates=first; may be repeated",
        )
        parser.add_argument(
            "--hold-out",
            action="append",
            default=[],
            metavar="FAMILY",
            help="hold a whole family back (split kind new_families); may be repeated",
        )
        parser.add_argument(
            "--mix",
            action="append",
            default=[],
            metavar="FILE:WEIGHT",
            help="mix rows from outside in, such as chat.jsonl:0.5; may be repeated",
        )
        parser.add_argument("--license", default="", help="license and provenance of mixed files")
        parser.add_argument(
            "--images",
            type=Path,
            metavar="FOLDER",
            help="PNG and JPEG files that the tasks name by their hash; kept with the dataset",
        )
        parser.add_argument(
            "--to", type=Path, help="also write it as a folder that load_dataset reads"
        )

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the dataset; whatever is wrong ends the command here."""
        if options["images"] is not None:
            if not options["images"].is_dir():
                raise NotFound(f"There is no folder {options['images']}.")
            keep_images(options["images"])
        self.dataset = open_dataset(
            kind=options["kind"],
            name=options["name"],
            by=None,
            filter_text=options["filter"],
            rules=dict(map(_rule, options["rule"])),
            held_families=options["hold_out"],
            mixes=[_mix(text, options["license"]) for text in options["mix"]],
        )
        return {"dataset": self.dataset.code}

    def job_subject(self, options: dict[str, Any]) -> str:
        """The dataset's code, so that its page finds the job."""
        return "" if self.dataset is None else self.dataset.code

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Freeze it, then write the folder where one is wanted."""
        folder = options["to"]
        if (
            folder is not None
            and folder.exists()
            and (not folder.is_dir() or any(folder.iterdir()))
        ):
            raise Invalid(f"{folder} is not an empty folder.", [Problem("to", "choose another")])
        result = super().run(options)
        if folder is not None:
            try:
                write_folder(get_dataset(str(result["dataset"])), folder)
            except OSError as error:
                raise Invalid(
                    f"{folder} cannot be written; {result['dataset']} is frozen all the same.",
                    [Problem("to", error.strerror or str(error))],
                ) from error
        return result

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """The dataset, its rows, what was dropped, its hash."""
        return result_of(get_dataset("" if self.dataset is None else self.dataset.code))


def _rule(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; true, false, null and numbers are read as such."""
    name, sign, value = text.partition("=")
    if not sign:
        raise Invalid(f"“{text}” is no rule.", [Problem("rule", "write NAME=VALUE")])
    return name, written_value(value)


def _mix(text: str, terms: str) -> Mix:
    """Read FILE:WEIGHT; without a weight each row counts once."""
    path, sign, weight = text.rpartition(":")
    if not sign:
        path, weight = text, "1"
    try:
        number = Decimal(weight)
    except InvalidOperation as error:
        raise Invalid(
            f"“{text}” is no file with a weight.", [Problem("mix", "write FILE:WEIGHT")]
        ) from error
    if not number.is_finite():
        raise Invalid(f"“{weight}” is no weight.", [Problem("mix", "write FILE:WEIGHT")])
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_MIX:
            raise TooLarge(f"{file} is larger than {LARGEST_MIX // 2**20} MiB.")
        return Mix(file.name, file.read_bytes(), number, terms)
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from error
