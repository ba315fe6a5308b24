"""The closed vocabularies of datasets and runs."""

from django.db.models import TextChoices


class DatasetKind(TextChoices):
    """What the rows of a dataset are."""

    DEMONSTRATIONS = "demonstrations", "Demonstrations"
    PROMPTS = "prompts", "Prompts"


class SplitKind(TextChoices):
    """What is new in the tasks that were held back; printed wherever a number is."""

    NEW_INSTANCES = "new_instances", "New instances"
    """Same families; names, ids and values that no training task contains."""
    NEW_FAMILIES = "new_families", "New families"
    """Families, and structures, that no training task has."""


class Portion(TextChoices):
    """Which part of a dataset a row belongs to."""

    TRAIN = "train", "Train"
    HELD_OUT = "held_out", "Held out"


class Algorithm(TextChoices):
    """How a run learns."""

    SFT = "sft", "SFT"
    GRPO = "grpo", "GRPO"
    GDPO = "gdpo", "GDPO"
    GIGPO = "gigpo", "GiGPO"
    DR_GRPO = "dr_grpo", "Dr.GRPO"
