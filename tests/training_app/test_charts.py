"""Figures: valid for Plotly, with the right lines, axes, notes and words."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import plotly
import pytest
from plotly.graph_objects import Figure

from tests.factories.runs import log_steps, made_run
from training_app.charts.grid import Drawn, overlay_figure, paper_cells
from training_app.charts.parts import Mark
from training_app.charts.run import run_figure
from training_app.charts.sheet import paper_sheet
from training_app.core.recipe import preset
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries.curve_families import families_of
from training_app.queries.curves import Axis, read

pytestmark = pytest.mark.django_db
TEMPLATE = Path(__file__).parents[2] / "templates" / "training" / "_plotly.html"


def painted(value: Any) -> Any:
    """Tokens exchanged for a colour, as the page does."""
    if isinstance(value, str):
        return "rgb(1, 2, 3)" if value.startswith("--") else value
    if isinstance(value, list):
        return [painted(item) for item in value]
    if isinstance(value, dict):
        return {key: painted(item) for key, item in value.items()}
    return value


def valid(figure: dict[str, Any]) -> Figure:
    """What Plotly itself makes of it; it refuses an unknown property or a wrong value."""
    made = painted(figure)
    return Figure(data=made["data"], layout=made["layout"])


def figure_of(run: TrainingRun, family: str, axis: Axis = "samples", **how: Any) -> dict[str, Any]:
    charts = read(run, families_of(run.algorithm), axis=axis)
    chart = next(chart for chart in charts if chart.family.id == family)
    return run_figure(run, chart, axis=axis, **{"smooth": True, **how})


def drawn(*runs: TrainingRun) -> list[Drawn]:
    return [Drawn(run, read(run, families_of(run.algorithm))) for run in runs]


def test_plotly_takes_every_figure_of_every_kind_of_run() -> None:
    for algorithm in Algorithm:
        run = made_run(algorithm, steps=100)
        for chart in read(run, families_of(algorithm)):
            for smooth in (True, False):
                valid(
                    run_figure(run, chart, axis="samples", smooth=smooth, marks=(Mark(9, 1, "C"),))
                )


def test_smoothed_shows_the_mean_over_the_values_in_the_hue_of_the_algorithm() -> None:
    figure = figure_of(made_run(Algorithm.GDPO, steps=20), "loss", end=1920.0)
    assert [(t["uid"], t["line"]["color"], t["line"]["dash"]) for t in figure["data"]] == [
        ("loss-raw", "--s-gdpo 34%", "solid"),
        ("loss-smooth", "--s-gdpo", "7px,2px"),
    ]
    assert figure["layout"]["xaxis"]["range"] == [0, 1920.0]
    assert figure["data"][0]["customdata"] == list(range(1, 21))
    assert figure["data"][0]["x"][:2] == [32.0, 64.0]


def test_each_step_by_itself_is_one_full_line() -> None:
    figure = figure_of(made_run(steps=20), "loss", smooth=False)
    assert [(t["uid"], t["line"]["color"]) for t in figure["data"]] == [("loss-raw", "--s-grpo")]


def test_a_long_run_has_a_band_from_lowest_to_highest() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=3000))
    log_steps(run, 1, 3000, {1500: {"loss": 9.0}})
    figure = figure_of(run, "loss", smooth=False)
    assert [t["uid"] for t in figure["data"]] == ["loss-low", "loss-high", "loss-raw"]
    assert figure["data"][1]["fill"] == "tonexty"
    assert max(figure["data"][1]["y"]) == 9.0


def test_later_points_alone_keep_the_lines_the_words_and_the_axes_of_the_whole() -> None:
    run = made_run(steps=20)
    whole = figure_of(run, "loss")
    tail = figure_of(run, "loss", since=20)
    assert [(t["uid"], t["mode"]) for t in tail["data"]] == [
        ("loss-raw", "lines"),
        ("loss-smooth", "lines"),
    ]
    for short, long in zip(tail["data"], whole["data"], strict=True):
        assert (short["customdata"], short["x"], short["y"]) == (
            [20], long["x"][-1:], long["y"][-1:],
        )  # fmt: skip
    assert {**tail, "data": ()} == {**whole, "data": ()}


def test_a_step_that_is_no_number_is_a_red_line_with_words_and_in_the_sentence() -> None:
    run = made_run()
    log_steps(run, 1, 20, {8: {"loss": None}})
    figure = figure_of(run, "loss", axis="step")
    [line] = [s for s in figure["layout"]["shapes"] if s["line"]["color"] == "--bad"]
    assert (line["x0"], line["x1"]) == (8.0, 8.0)
    assert [a["text"] for a in figure["layout"]["annotations"]] == ["■ NaN at step 8"]
    assert figure["words"].endswith("NaN at step 8.")


def test_checkpoints_are_triangles_and_epochs_dotted_lines() -> None:
    figure = figure_of(
        made_run(steps=20), "reward", marks=(Mark(640.0, 20, "CK-1AB2"),), epochs=(512.0,)
    )
    assert [(a["text"], a["x"], a["hovertext"]) for a in figure["layout"]["annotations"]] == [
        ("▼", 640.0, "CK-1AB2 at step 20")
    ]
    assert [(s["x0"], s["line"]["dash"]) for s in figure["layout"]["shapes"]] == [
        (512.0, "2px,3px")
    ]


def test_the_sentence_says_what_a_reader_would_see() -> None:
    run = made_run(steps=4)
    run.metrics.filter(step=1).update(values={"reward": 0.25, "num_tokens": 1.0})
    run.metrics.filter(step=3).update(values={"reward": 0.5, "num_tokens": 2.0})
    figure = figure_of(run, "reward")
    assert figure["words"] == (
        "Reward over processed training samples: from 0.25 to 0.50 at step 3, between 0.25 and "
        "0.50."
    )


def test_several_lines_have_their_names_at_their_ends_which_do_not_meet() -> None:
    notes = figure_of(made_run(steps=30), "components")["layout"]["annotations"]
    assert {note["text"] for note in notes} == {"outcome", "process", "report", "collateral"}
    heights = sorted(note["y"] for note in notes)
    assert min(b - a for a, b in pairwise(heights)) > 0.03


def test_a_share_of_which_only_0_was_measured_has_its_whole_scale_and_names_above_the_axis() -> (
    None
):
    run = made_run(Algorithm.SFT, steps=2)
    nothing = {"success/greedy": 0.0, "success/sampled": 0.0}
    log_steps(run, 3, 3, {3: nothing})
    layout = figure_of(run, "success")["layout"]
    assert layout["yaxis"]["range"] == [0, 1]
    assert [(note["text"], note["y"]) for note in layout["annotations"]] == [
        ("greedy", 0.05), ("sampled", 0.15),
    ]  # fmt: skip
    log_steps(run, 4, 4, {4: {"success/greedy": 0.5, "success/sampled": 0.25}})
    assert "range" not in figure_of(run, "success")["layout"]["yaxis"]


# The paper's figure 3


def all_four() -> list[TrainingRun]:
    runs = [
        made_run(algorithm, steps=60)
        for algorithm in (
            Algorithm.DR_GRPO, Algorithm.GIGPO, Algorithm.GDPO, Algorithm.GRPO,
        )
    ]  # fmt: skip
    return [*runs, made_run(Algorithm.GRPO, steps=60, recipe=preset("cpu-tiny-control"))]


def test_the_grid_has_the_papers_rows_and_columns_in_its_order() -> None:
    cells = paper_cells(drawn(*all_four()))
    rows = ["grpo", "gdpo", "gigpo", "dr_grpo"]
    assert [(cell.row.value, cell.column) for cell in cells] == [
        (row, column) for row in rows for column in ("reward", "loss", "length")
    ]
    for cell in cells:
        valid(cell.figure)


def test_x_of_the_grid_is_the_samples_processed_and_the_same_in_every_cell() -> None:
    cells = paper_cells(drawn(*all_four()))
    assert {tuple(cell.figure["layout"]["xaxis"]["range"]) for cell in cells} == {(0, 1920.0)}
    assert cells[0].figure["data"][-1]["x"][-1] == 59 * 32


def test_rewards_and_lengths_share_a_scale_and_each_loss_has_its_own() -> None:
    cells = paper_cells(drawn(*all_four()))
    ranges = {
        column: {
            tuple(cell.figure["layout"]["yaxis"].get("range", ()))
            for cell in cells
            if cell.column == column
        }
        for column in ("reward", "loss", "length")
    }
    assert len(ranges["reward"]) == len(ranges["length"]) == 1
    assert ranges["loss"] == {()}


def test_the_control_stands_grey_behind_rewards_and_lengths_and_not_behind_losses() -> None:
    runs = all_four()
    control = runs[-1].code
    for cell in paper_cells(drawn(*runs)):
        greys = [t["name"] for t in cell.figure["data"] if t["line"]["color"] == "--s-base"]
        expected = [] if cell.column == "loss" else [f"Control {control}, smoothed"]
        assert greys == expected
    assert len({cell.row for cell in paper_cells(drawn(*runs))}) == 4


def test_a_loss_that_is_zero_by_construction_says_so() -> None:
    flat = preset("cpu-tiny-grpo", rollouts={"steps_per_generation": 1})
    cells = paper_cells(drawn(made_run(Algorithm.GRPO, steps=20, recipe=flat)))
    assert [cell.figure["note"] for cell in cells] == ["", flat.flat_loss, ""]
    assert "is 0 at every step" in flat.flat_loss


def test_the_sheet_holds_all_cells_with_scales_of_their_own() -> None:
    cells = paper_cells(drawn(*all_four()))
    sheet = paper_sheet(cells)
    valid(sheet)
    assert len([key for key in sheet["layout"] if key.startswith("xaxis")]) == 12
    assert len(sheet["data"]) == sum(len(cell.figure["data"]) for cell in cells)
    assert {trace["yaxis"] for trace in sheet["data"]} == {
        "y", *(f"y{n}" for n in range(2, 13)),
    }  # fmt: skip
    words = " ".join(note["text"] for note in sheet["layout"]["annotations"])
    for expected in ("GRPO", "GDPO", "GiGPO", "Dr.GRPO", "Policy loss", "cumulative processed"):
        assert expected in words


def test_an_overlay_has_a_line_a_run_with_its_name_and_value_at_the_end() -> None:
    runs = all_four()
    figure = overlay_figure(drawn(*runs), "reward", axis="samples", smooth=True)
    valid(figure)
    assert [trace["name"] for trace in figure["data"]] == [run.code for run in runs]
    labels = {note["text"].rsplit(" ", 1)[0] for note in figure["layout"]["annotations"]}
    assert labels == {"GRPO", "GDPO", "GiGPO", "Dr.GRPO", "Control"}


def test_two_runs_of_one_algorithm_have_its_hue_and_dashes_of_their_own() -> None:
    figure = overlay_figure(
        drawn(made_run(steps=9), made_run(steps=9)), "loss", axis="step", smooth=False
    )
    assert [trace["line"]["color"] for trace in figure["data"]] == ["--s-grpo", "--s-grpo"]
    assert len({trace["line"]["dash"] for trace in figure["data"]}) == 2


def test_the_page_brings_the_element_that_keeps_plotlys_bundle_from_adding_a_style() -> None:
    [guard] = re.findall(r'<meta id="([0-9a-f]{64})">', TEMPLATE.read_text(encoding="utf-8"))
    bundle = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    assert f'getElementById("{guard}")' in bundle.read_text(encoding="utf-8")
