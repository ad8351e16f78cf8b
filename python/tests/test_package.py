"""What the package promises: errors with their place, interrupts, progress, no hard dependencies, types that are up to date."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import firstflight as ff
import pytest

FAST = ff.Path(rate="10mbit", rtt="40ms", size="100kB")

#: A race that takes many seconds.
LONG = "ff.race(ff.Path(rate='1gbit', rtt='60ms', size='1GB', runs=200), 'slow-start')"


def in_python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", f"import firstflight as ff\n{program}"], capture_output=True, text=True, check=False)


def test_a_wrong_value_is_an_error_with_a_mark_below_it() -> None:
    with pytest.raises(ff.ScenarioError) as error:
        ff.race(ff.Path(rate="20mbitt"))
    first, line, mark = str(error.value).splitlines()
    assert "`20mbitt` has the unknown unit `mbitt`" in first
    assert line.endswith("--rate=20mbitt")
    assert line[mark.index("^") :] == "20mbitt"


def test_an_unknown_key_names_the_key_that_is_meant() -> None:
    with pytest.raises(ff.ScenarioError, match="is `--rate` meant"):
        ff.Path.of({"rat": "1mbit"})


def test_an_unknown_scheme_names_the_scheme_that_is_meant() -> None:
    with pytest.raises(ff.ScenarioError, match="hystart"):
        ff.race(FAST, ["hystrat"])


def test_a_value_of_a_wrong_type_is_refused() -> None:
    for keys in ({"rate": ["1mbit", "2mbit"]}, {"rate": True}, {"rtt": object()}):
        with pytest.raises(TypeError, match=next(iter(keys))):
            ff.Path.of(keys)


def test_numbers_are_si_units() -> None:
    assert ff.race(FAST.with_(rate=1e7, rtt=0.04, size=100_000), "leap").rows.parquet() == ff.race(FAST, "leap").rows.parquet()


def test_a_key_of_none_is_not_given() -> None:
    assert FAST.with_(size=None).keys == {"rate": "10mbit", "rtt": "40ms"}
    assert FAST.with_(ecn=True).arguments[-1] == "--ecn"
    assert FAST.with_(ecn=False) == FAST


def test_a_scenario_file_is_raced(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('rate = "10mbit"\nrtt = "40ms"\nsize = "100kB"\nschemes = ["leap"]\n')
    assert ff.race(file).rows.parquet() == ff.race(FAST, "leap").rows.parquet()
    file.write_text('rate = "10mbitt"\n')
    with pytest.raises(ff.ScenarioError, match=r"mine\.toml:1:8"):
        ff.race(file)


def test_rows_have_fields_as_attributes() -> None:
    race = ff.race(FAST, ["leap", "slow-start"])
    assert race["leap"].cost == race["leap"]["cost"] == race.rows.rows()[0]["cost"]
    with pytest.raises(AttributeError, match="no field `costs`"):
        race["leap"].costs  # noqa: B018
    with pytest.raises(KeyError, match="there are"):
        race["vegas"]


def test_the_best_row_is_of_a_scheme_that_needs_no_help() -> None:
    race = ff.race(FAST, ["quick-start", "slow-start"])
    assert race["quick-start"].cost < race["slow-start"].cost
    assert race.best.scheme == "slow-start"


def test_a_notebook_shows_verdict_and_table() -> None:
    race = ff.race(FAST, ["leap", "slow-start"])
    shown = race._repr_html_()
    assert race.verdict.splitlines()[0] in shown.replace("&#x27;", "'")
    assert shown.count("<tr>") == 3
    assert "<iframe srcdoc=" in race.report()._repr_html_()


def test_columns_have_units_and_meanings() -> None:
    rows = ff.race(FAST, "leap").rows
    assert rows.units["fct_s"] == "s"
    assert "completion time" in rows.meanings["fct_s"]


def test_arrow_readers_take_a_result() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    race = ff.race(FAST, ["leap", "slow-start"])
    costs = [row.cost for row in race]
    assert pyarrow.table(race)["cost"].to_pylist() == costs
    assert polars.DataFrame(race)["cost"].to_list() == costs
    assert race.to_polars()["cost"].to_list() == costs
    assert duckdb.sql("select cost from race").fetchall() == [(cost,) for cost in costs]


def test_pandas_takes_a_result() -> None:
    pytest.importorskip("pandas")
    race = ff.race(FAST, ["leap", "slow-start"])
    assert list(race.to_pandas()["cost"]) == [row.cost for row in race]


def test_doubles_are_the_values_of_a_column() -> None:
    numpy = pytest.importorskip("numpy")
    rows = ff.race(FAST, ["leap", "slow-start"]).rows
    assert list(numpy.frombuffer(rows.doubles("fct_s"))) == rows.column("fct_s")
    with pytest.raises(TypeError, match="no numbers"):
        rows.doubles("scheme")
    with pytest.raises(KeyError):
        rows.column("no such column")


def test_importing_the_package_imports_no_optional_package() -> None:
    program = "import sys; print([n for n in ('numpy','pandas','polars','pyarrow','matplotlib','tqdm') if n in sys.modules])"
    assert in_python(program).stdout == "[]\n"


def test_progress_counts_the_runs() -> None:
    seen: list[tuple[int, int, str]] = []
    ff.race(FAST, ["leap", "slow-start"], runs=3, jitter="1ms", progress=lambda *done: seen.append(done))
    assert seen[-1][:2] == (6, 6)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_an_exception_of_the_progress_function_ends_the_race() -> None:
    def stop(done: int, total: int, name: str) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ff.race(FAST, "slow-start", runs=50, jitter="1ms", progress=stop)


def test_other_threads_run_during_a_race() -> None:
    counts: list[int] = []

    def count() -> None:
        counts.append(0)
        while counts[0] >= 0:
            counts[0] += 1

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    while not counts:
        pass
    before = counts[0]
    ff.race(FAST, "slow-start", size="20MB", jobs=1)
    assert counts[0] > before + 1_000
    counts[0] = -(10**9)
    thread.join(10)


def test_an_interrupt_ends_a_race_within_a_fraction_of_a_second() -> None:
    program = f"import firstflight as ff\nprint('ready', flush=True)\n{LONG}"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert errors.rstrip().splitlines()[-1].startswith("KeyboardInterrupt")
    # A tenth of a second is the promise, and the interpreter's end and a slow machine take more.
    assert time.monotonic() - began < 2


def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    population = ff.Population(300, rate=ff.log_uniform("2mbit", "50mbit"), rtt="20ms", size="500kB", part=3)

    def stop(done: int, total: int, name: str) -> None:
        if done >= 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ff.sweep(population, "slow-start", out=tmp_path / "part", jobs=1, progress=stop)
    assert 0 < len(list((tmp_path / "part").glob("part-*.parquet"))) < 100
    swept = ff.sweep(population, "slow-start", out=tmp_path / "part")
    whole = ff.sweep(population, "slow-start", out=tmp_path / "whole")
    assert [part.read_bytes() for part in swept.parts] == [part.read_bytes() for part in whole.parts]
    assert len(swept.rows) == 300


def test_listed_paths_keep_their_weights_and_names() -> None:
    population = ff.Population([FAST, FAST.with_(rate="5mbit")], weights=[3, 1], names=["home", "office, upstairs"])
    listed = population.paths()
    assert [row["name"] for row in listed] == ["home", "office, upstairs"]
    assert ff.sweep(population, "leap").rows.column("path_weight") == [3.0, 1.0]
    with pytest.raises(ValueError, match="weights: there are 1 for 2 paths"):
        ff.Population([FAST, FAST], weights=[1])


def test_a_folder_without_a_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ff.ScenarioError, match="no part"):
        ff.read(tmp_path)
    with pytest.raises(ff.ScenarioError):
        ff.score(tmp_path)
    with pytest.raises(ff.ScenarioError, match="is wanted"):
        ff.read(tmp_path / "rows.xlsx")


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ValueError, match="rows.parquet"):
        ff.read(tmp_path / "rows.parquet")
    (tmp_path / "rows.json").write_text('{"a": 1}\n[2]\n')
    with pytest.raises(ValueError, match="row 2"):
        ff.read(tmp_path / "rows.json")


def test_the_command_is_in_the_package(program: str) -> None:
    for arguments in (["race", "--rate=10mbit", "--rtt=40ms", "--json"], ["schemes"], ["race", "--rate=1x"], ["nonsense"]):
        inside = subprocess.run([sys.executable, "-m", "firstflight", *arguments], capture_output=True, check=False)
        outside = subprocess.run([program, *arguments], capture_output=True, check=False)
        assert (inside.returncode, inside.stdout, inside.stderr) == (outside.returncode, outside.stdout, outside.stderr)


def test_commands_on_real_packets_are_refused_inside_python() -> None:
    from firstflight import _call

    with pytest.raises(ff.ScenarioError, match="python -m firstflight watch"):
        _call.run(["watch"])


def test_an_interrupt_of_the_command_ends_it_at_once() -> None:
    arguments = ["race", "--rate=1gbit", "--rtt=60ms", "--size=1GB", "--runs=200", "--schemes=slow-start"]
    process = subprocess.Popen([sys.executable, "-m", "firstflight", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


def test_the_types_of_keys_are_those_of_the_tables() -> None:
    root = Path(__file__).parents[1]
    made = subprocess.run(
        [sys.executable, str(root / "make_keys.py")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    ).stdout
    assert made == Path(ff.__file__).with_name("_keys.py").read_text(encoding="utf-8"), "run python/make_keys.py"


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    path = ff.Path.of({"rate": numpy.float64(1e7), "rtt": numpy.float64(0.04), "runs": numpy.int64(2), "size": numpy.int64(100_000)})
    assert path.keys == {"rate": "10000000bit", "rtt": "0.04s", "runs": "2", "size": "100000B"}


def test_a_population_takes_numbers_and_refuses_unknown_keys() -> None:
    population = ff.Population(2, rate=ff.log_uniform(1e6, 1e7), rtt=[0.02, "40ms"], loss=ff.one_of(0, ff.uniform(0.001, 0.01)), size=50_000)
    assert 'rate = { log-uniform = ["1000000bit", "10000000bit"] }' in population.toml()
    assert 'rtt = ["0.02s", "40ms"]' in population.toml()
    assert len(ff.sweep(population, "slow-start").rows) == 4
    with pytest.raises(ff.ScenarioError, match="`--rat`"):
        ff.Population(2, rat=ff.uniform("1mbit", "2mbit"))


def test_an_error_of_a_population_names_no_file_that_is_gone() -> None:
    with pytest.raises(ff.ScenarioError) as error:
        ff.sweep(ff.Population(2, rate="nonsense", rtt="20ms"), "slow-start")
    assert "firstflight-" not in str(error.value)
    assert "sweep.toml:" in str(error.value)


def test_sweeps_are_compared() -> None:
    population = ff.Population(6, rate=ff.log_uniform("2mbit", "50mbit"), rtt="20ms", size="50kB")
    before, after = (ff.sweep(population, ["slow-start", "leap"]) for _ in range(2))
    assert ff.diff(before, after).verdict.startswith("Nothing changed: 19 numbers are equal in all pairs.")


def test_a_sweep_of_an_edited_class_is_another_sweep(tmp_path: Path) -> None:
    file = tmp_path / "edited_scheme.py"
    program = (
        "import firstflight as ff, sys; sys.path.insert(0, {folder!r}); from edited_scheme import Mine\n"
        "p = ff.Population(4, rate=ff.log_uniform('2mbit', '50mbit'), rtt='20ms', size='50kB')\n"
        "ff.sweep(p, [Mine], out={out!r}); print('swept')\n"
        "print(ff.score({out!r}, schemes=[Mine]).notes)"
    ).format(folder=str(tmp_path), out=str(tmp_path / "rows"))
    code = "import firstflight as ff\nclass Mine(ff.SlowStart):\n    K = {k}\n    def on_ack(self, ack, path):\n        if path.delivered > self.K: return ff.exit('delay')\n"
    file.write_text(code.format(k=20_000))
    assert in_python(program).stdout.startswith("swept")
    assert in_python(program).stdout.startswith("swept")
    file.write_text(code.format(k=40_000))
    refused = in_python(program)
    assert "the source code of its schemes is another version" in refused.stderr
    assert refused.stdout == ""
    scored = in_python(program.replace("ff.sweep(", "0 and ff.sweep("))
    assert "another version of the source code" in scored.stdout


def test_a_star_import_leaves_the_built_in_exit() -> None:
    assert in_python("from firstflight import *; print(exit.__class__.__name__)").stdout == "Quitter\n"
    assert ff.__version__.count(".") == 2


def test_files_that_begin_with_a_dash_are_files() -> None:
    with pytest.raises(ff.ScenarioError, match=r"\./-mine\.toml"):
        ff.race("-mine.toml")
