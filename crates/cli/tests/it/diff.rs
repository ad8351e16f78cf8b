//! `diff`, `--baseline` and `--assert`: two results compared, and conditions that fail a build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{firstflight, folder, run, status, stderr, stdout, text};

const PATH: &[&str] = &["--rate", "20mbit", "--rtt", "30ms", "--size", "200kB", "--jitter", "1ms"];
const RUNS: &[&str] = &["--runs", "12", "--schemes", "leap,hystart++"];

/// Races and writes a row of each run. Returns the file.
fn raced(place: &Path, name: &str, more: &[&str]) -> PathBuf {
    let file = place.join(name);
    let output = run(&[&["race"], PATH, RUNS, more, &["--each-run", "--parquet", text(&file)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    file
}

fn compared(before: &Path, after: &Path, more: &[&str]) -> Output {
    run(&[&["diff", text(before), text(after)], more].concat())
}

fn lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn two_runs_of_one_program_have_no_difference() {
    let place = folder("diff-same");
    let (one, other) = (raced(&place, "a.parquet", &[]), raced(&place, "b.parquet", &["--jobs", "1"]));
    let output = compared(&one, &other, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("Nothing changed"), "{}", stdout(&output));
    assert!(stdout(&output).contains("12 pairs"), "{}", stdout(&output));
    assert!(lines(&compared(&one, &other, &["--json"])).iter().all(|line| line["standing"] == "equal"));
}

#[test]
fn too_few_pairs_are_named_with_the_number_that_is_needed() {
    let place = folder("diff-few");
    let raced = |name: &str, iw: &str| {
        let file = place.join(name);
        let few = ["--runs", "3", "--schemes", "leap", "--iw", iw, "--each-run", "--parquet", text(&file)];
        assert_eq!(status(&run(&[&["race"], PATH, &few].concat())), 0);
        file
    };
    let output =
        compared(&raced("a.parquet", "10"), &raced("b.parquet", "4"), &["--by-name", "--numbers", "cost"]);
    assert!(stdout(&output).contains("at least 6 pairs"), "{}", stdout(&output));
}

#[test]
fn formats_give_the_same_comparison() {
    let place = folder("diff-formats");
    let (before, after) = (raced(&place, "a.parquet", &[]), raced(&place, "b.parquet", &["--iw", "4"]));
    let wanted = stdout(&compared(&before, &after, &["--json", "--by-name"]));
    assert!(wanted.contains("\"standing\":\"worse\""), "{wanted}");
    for (format, name) in [("--json", "a.jsonl"), ("--csv", "a.csv")] {
        let output = run(&[&["race"], PATH, RUNS, &["--each-run", format]].concat());
        let file = place.join(name);
        std::fs::write(&file, stdout(&output)).expect("a file");
        assert_eq!(stdout(&compared(&file, &after, &["--json", "--by-name"])), wanted, "{format}");
    }
}

#[test]
fn another_path_is_refused_unless_it_is_matched_by_name() {
    let place = folder("diff-other");
    let (before, after) = (raced(&place, "a.parquet", &[]), raced(&place, "b.parquet", &["--iw", "4"]));
    let refused = compared(&before, &after, &[]);
    assert_eq!(status(&refused), 2);
    assert!(stderr(&refused).contains("no path is in both") && stderr(&refused).contains("--by-name"));
    let by_name = compared(&before, &after, &["--by-name"]);
    assert_eq!(status(&by_name), 0, "{}", stderr(&by_name));
    assert!(stdout(&by_name).contains("Worse: "), "{}", stdout(&by_name));
    assert!(stdout(&by_name).contains("matched by their numbers"), "{}", stdout(&by_name));
}

#[test]
fn files_that_are_no_whole_result_are_refused_in_one_line() {
    let place = folder("diff-refused");
    let good = raced(&place, "a.parquet", &[]);
    let bytes = std::fs::read(&good).expect("a file");
    for (name, content, words) in [
        ("empty", Vec::new(), "it has no rows"),
        ("prose", b"not, a, result\n1,2,3\n".to_vec(), "neither Parquet, nor JSON lines, nor CSV"),
        ("cut", bytes[..bytes.len() / 2].to_vec(), "Parquet: "),
        ("torn", b"{\"scheme\":\"leap\"}\n{\"sch".to_vec(), "line 2 is no JSON"),
        ("stopped", b"{\"scheme\":\"leap\",\"interrupted\":\"x\"}\n".to_vec(), "was interrupted"),
        (
            "twice",
            b"{\"scheme\":\"a\",\"seed\":1}\n{\"scheme\":\"a\",\"seed\":1}\n".to_vec(),
            "two rows with the seed 1",
        ),
        ("nameless", b"{\"cost\":1}\n".to_vec(), "row 1 names no scheme"),
    ] {
        let file = place.join(name);
        std::fs::write(&file, content).expect("a file");
        for output in [compared(&file, &good, &[]), compared(&good, &file, &[])] {
            assert_eq!((status(&output), stdout(&output)), (2, String::new()), "{name}");
            let error = stderr(&output);
            assert!(error.contains(words) && error.contains(name), "{name}: {error}");
            assert_eq!(error.lines().filter(|line| line.starts_with("error")).count(), 1, "{error}");
        }
    }
    let missing = compared(&place.join("nowhere"), &good, &[]);
    assert!(status(&missing) == 2 && stderr(&missing).contains("cannot be read"), "{}", stderr(&missing));
}

#[test]
fn a_sweep_is_compared_path_by_path_and_refused_if_it_lacks_parts() {
    let place = folder("diff-sweep");
    let sweep = |name: &str, schemes: &str| {
        let file = place.join(format!("{name}.toml"));
        let text_of = format!(
            "paths = 24\nseed = 5\npart = 8\nschemes = [\"{schemes}\"]\n[path]\nrate = {{ uniform = [\"5mbit\", \"40mbit\"] }}\n\
             rtt = {{ uniform = [\"10ms\", \"60ms\"] }}\nsize = \"150kB\"\n"
        );
        std::fs::write(&file, text_of).expect("a file");
        let out = place.join(name);
        let output = run(&["sweep", text(&file), "--out", text(&out)]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        out
    };
    let (before, after) = (sweep("before", "search:as=x"), sweep("after", "search:iw=8,as=x"));
    let same = compared(&before, &before, &[]);
    assert!(stdout(&same).contains("on 24 paths"), "{}", stdout(&same));
    let found = lines(&compared(&before, &after, &["--by-name", "--json"]));
    let cost = found.iter().find(|line| line["number"] == "cost").expect("a cost");
    assert_eq!((&cost["pairs"], &cost["standing"]), (&Value::from(24), &Value::from("worse")), "{cost}");
    assert!(cost["change_low"].as_f64().expect("an end") > 0.0);
    std::fs::remove_file(after.join("part-000001.parquet")).expect("a part");
    let refused = compared(&before, &after, &[]);
    assert!(
        status(&refused) == 2 && stderr(&refused).contains("part 1 of 3 is missing"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_condition_that_fails_ends_with_one_and_a_line() {
    let place = folder("diff-assert");
    let before = raced(&place, "a.parquet", &[]);
    let junit = place.join("out.xml");
    let of = |conditions: &[&str], more: &[&str]| {
        let given: Vec<&str> = conditions.iter().flat_map(|one| ["--assert", *one]).collect();
        run(&[&["race"], PATH, RUNS, &given, more].concat())
    };
    let good = of(&["cost<=50", "leap.su_loss<=100%", "fct_s_p99>0"], &["--junit", text(&junit)]);
    assert_eq!(status(&good), 0, "{}", stderr(&good));
    let bad = of(&["cost<=50", "leap.cost<=0.1"], &["--junit", text(&junit)]);
    assert_eq!(status(&bad), 1);
    assert!(stdout(&bad).contains("fails: leap: cost is ") && stdout(&bad).contains("not <= 0.100"));
    assert!(stderr(&bad).contains("1 of 3 checks fails"), "{}", stderr(&bad));
    let xml = std::fs::read_to_string(&junit).expect("a file");
    assert!(xml.contains("tests=\"3\" failures=\"1\""), "{xml}");
    let baseline = ["--baseline", text(&before)];
    assert_eq!(status(&of(&["cost<=baseline", "timeouts=baseline"], &baseline)), 0);
    assert_eq!(status(&of(&["cost<=baseline*0.99"], &baseline)), 1);
    let json = of(&["leap.cost<=0.1"], &["--json"]);
    assert!(lines(&json).len() == 2 && stderr(&json).contains("fails: leap: cost"), "rows stay rows");
    for (condition, words) in [
        ("leep.cost<=1", "is `leap.cost` meant?"),
        ("cost<=baseline", "name one with --baseline"),
        ("costs<1", "is `cost` meant?"),
    ] {
        let wrong = of(&[condition], &[]);
        assert_eq!((status(&wrong), stdout(&wrong)), (2, String::new()), "{condition}");
        assert!(stderr(&wrong).contains(words), "{}", stderr(&wrong));
    }
}

#[test]
fn a_failed_condition_is_an_error_line_under_githubs_runner() {
    let mut command = firstflight();
    command.args(["race"]).args(PATH).args(RUNS).args(["--assert", "leap.cost<=0.1"]);
    let output = command.env("GITHUB_ACTIONS", "true").output().expect("it runs");
    let said = stderr(&output);
    assert!(
        said.lines().any(|line| line.starts_with("::error title=leap.cost<=0.1::leap: cost is ")),
        "{said}"
    );
}

#[test]
fn a_score_meets_conditions_and_is_compared_without_intervals() {
    let place = folder("diff-score");
    let file = place.join("s.toml");
    let sweep = "paths = 6\nseed = 2\nschemes = [\"leap\", \"suss\"]\n[path]\nrate = { uniform = [\"5mbit\", \"40mbit\"] }\nsize = \"150kB\"\n";
    std::fs::write(&file, sweep).expect("a file");
    let out = place.join("out");
    assert_eq!(status(&run(&["sweep", text(&file), "--out", text(&out)])), 0);
    let good = run(&["score", text(&out), "--assert", "cost_median<=100"]);
    assert_eq!(status(&good), 0, "{}", stderr(&good));
    let bad = run(&["score", text(&out), "--assert", "leap.cost_p90<=0.5"]);
    assert!(status(&bad) == 1 && stdout(&bad).contains("fails: leap: cost_p90 is "), "{}", stdout(&bad));
    let scored = place.join("score.jsonl");
    std::fs::write(&scored, stdout(&run(&["score", text(&out), "--json"]))).expect("a file");
    let same = compared(&scored, &scored, &[]);
    assert!(stdout(&same).contains("without intervals"), "{} {}", stdout(&same), stderr(&same));
}

/// The blocks of shell commands of a workflow, each with its step's name.
fn steps(workflow: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let (mut name, mut is_inside) = (String::new(), false);
    for line in workflow.lines() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if let Some(found) = bare.strip_prefix("- name: ") {
            (name, is_inside) = (found.to_owned(), false);
        } else if bare == "run: |" {
            steps.push((name.clone(), String::new()));
            is_inside = true;
        } else if is_inside && indent >= 10 {
            steps.last_mut().expect("a step").1 += &(bare.to_owned() + "\n");
        } else {
            is_inside = false;
        }
    }
    steps
}

#[test]
fn the_example_workflow_runs_and_its_checks_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workflow = std::fs::read_to_string(root.join("examples/ci/start-up.yml")).expect("the example");
    let place = folder("diff-workflow");
    let of_project = place.join("start-up");
    std::fs::create_dir(&of_project).expect("a folder");
    std::fs::copy(root.join("examples/ci/path.toml"), of_project.join("path.toml")).expect("a file");
    let program = Path::new(env!("CARGO_BIN_EXE_firstflight")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let summary = place.join("summary.md");
    let shell = |script: &str| {
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", script]).current_dir(&place).env("PATH", &path);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary);
        command.output().expect("bash runs")
    };
    let once = workflow.lines().find_map(|line| line.split_once("change: ")).expect("the first command").1;
    assert_eq!(status(&shell(once)), 0, "{once}");
    let steps = steps(&workflow);
    assert_eq!(steps.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Build", "Race", "Summary"]);
    // The step that builds needs the user's repository.
    for (name, script) in &steps[1..] {
        let output = shell(script);
        assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
    }
    let summary = std::fs::read_to_string(&summary).expect("a summary");
    assert!(summary.contains("| scheme |") && summary.contains("Nothing changed"), "{summary}");
    assert!(place.join("start-up.xml").exists());
    let worse = steps[1].1.replace("start-up/path.toml", "start-up/path.toml --iw 3 --by-name");
    assert_eq!(status(&shell(&worse)), 1, "a worse start-up fails the step");
}

#[test]
fn conditions_on_populations_are_checked_and_never_pass_without_rows() {
    let flows =
        ["race", "--flows", "20", "--topology", "dumbbell:hosts=10", "--rate", "20mbit", "--size", "50kB"];
    let of = |more: &[&str]| {
        run(&[&flows[..], &["--warm-up", "none", "--schemes", "leap,hystart++"], more].concat())
    };
    let bad = of(&["--assert", "leap.loss<0"]);
    assert!(status(&bad) == 1 && stdout(&bad).contains("fails: leap: loss is "), "{}", stderr(&bad));
    assert_eq!(status(&of(&["--assert", "leap.loss<=1"])), 0);
    let unmixed = of(&["--assert", "leap mixed.loss<=1"]);
    assert!(
        status(&unmixed) == 1 && stdout(&unmixed).contains("there is no row of it"),
        "{}",
        stdout(&unmixed)
    );
    let mixed = of(&["--mixed-share", "10%", "--assert", "leap mixed.loss<=1"]);
    assert_eq!(status(&mixed), 0, "{}", stderr(&mixed));
    assert!(
        stdout(&mixed)
            .contains("hystart++ among the others, compared with hystart++ alone: mean completion time")
    );
}

#[test]
fn a_baseline_of_means_is_compared_with_the_mean_of_all_runs() {
    let place = folder("diff-means");
    let file = place.join("means.jsonl");
    std::fs::write(&file, stdout(&run(&[&["race"], PATH, RUNS, &["--json"]].concat()))).expect("a file");
    let same = run(&[&["race"], PATH, RUNS, &["--baseline", text(&file)]].concat());
    assert!(
        stdout(&same).contains("Nothing changed") && stdout(&same).contains("rows are means"),
        "{}",
        stdout(&same)
    );
    let each = raced(&place, "each.parquet", &[]);
    assert!(stdout(&compared(&file, &each, &[])).contains("Nothing changed"));
    // Means have no percentiles.
    let tail = compared(&file, &file, &["--assert", "cost_p99<=100"]);
    assert!(status(&tail) == 1 && stdout(&tail).contains("cost_p99 is undefined"), "{}", stdout(&tail));
}

#[test]
fn no_name_of_a_row_becomes_a_command_of_the_build_system() {
    let place = folder("diff-injection");
    let file = place.join("rows.jsonl");
    let row = "{\"scheme\":\"a\\n::error title=x::b\",\"seed\":1,\"cost\":2.5}\n";
    std::fs::write(&file, row).expect("a file");
    let mut command = firstflight();
    command
        .args(["diff", text(&file), text(&file), "--full", "--assert", "cost<1"])
        .env("GITHUB_ACTIONS", "true");
    let output = command.output().expect("it runs");
    let all = stdout(&output) + &stderr(&output);
    let commands: Vec<&str> = all.lines().filter(|line| line.starts_with("::")).collect();
    assert!(commands.len() == 1 && commands[0].starts_with("::error title=cost<1::a"), "{all}");
}

#[test]
fn samples_that_differ_are_never_called_equal() {
    let place = folder("diff-samples");
    let file = |name: &str, first_seed: u64, costs: &[f64]| {
        let file = place.join(name);
        let row = |(at, cost): (usize, &f64)| {
            format!("{{\"scheme\":\"a\",\"seed\":{},\"cost\":{cost}}}\n", first_seed + at as u64)
        };
        std::fs::write(&file, costs.iter().enumerate().map(row).collect::<String>()).expect("a file");
        file
    };
    let (spread, flat) = (file("a", 1, &[1.0, 3.0, 1.0, 3.0]), file("b", 100, &[2.0; 4]));
    assert_eq!(lines(&compared(&spread, &flat, &["--json"]))[0]["standing"], "unclear");
    let (few, far) = (file("c", 1, &[1.0, 1.1]), file("d", 100, &[9.0, 9.1]));
    assert!(stdout(&compared(&few, &far, &[])).contains("2 and 2 runs cannot make a change"));
}

#[test]
fn schemes_of_several_laws_are_ranked_under_one_law_too() {
    let schemes = ["--schemes", "leap,hystart++,suss"];
    let own = run(&[&["race"], PATH, &schemes, &["--avoidance", "own"]].concat());
    let said = stdout(&own);
    let note =
        said.split("\nnote: ").find_map(|note| note.strip_prefix("with cubic for all: ")).expect("a note");
    let cubic = run(&[&["race"], PATH, &schemes, &["--avoidance", "cubic", "--json"]].concat());
    let ranked: Vec<String> = lines(&cubic)
        .iter()
        .map(|row| {
            format!(
                "{} {:.2} x",
                row["scheme"].as_str().expect("a name"),
                row["cost"].as_f64().expect("a cost")
            )
        })
        .collect();
    assert_eq!(note.split(".\n").next().expect("a sentence"), ranked.join(", "));
    assert!(
        !stdout(&run(&[&["race"], PATH, &schemes].concat())).contains("for all: "),
        "one law needs no note"
    );
}

#[test]
fn percentiles_over_runs_are_columns_and_fields() {
    let runs = ["--runs", "21", "--schemes", "leap", "--loss", "1%"];
    let each = lines(&run(&[&["race"], PATH, &runs, &["--each-run", "--json"]].concat()));
    let mut times: Vec<f64> = each.iter().map(|row| row["fct_s"].as_f64().expect("a time")).collect();
    times.sort_by(f64::total_cmp);
    let joined = &lines(&run(&[&["race"], PATH, &runs, &["--extremes", "--json"]].concat()))[0];
    let found = ["fct_s_min", "fct_s_median", "fct_s_p95", "fct_s_p99", "fct_s_max"]
        .map(|field| joined[field].as_f64());
    assert_eq!(found, [times[0], times[10], times[19], times[20], times[20]].map(Some));
    let table = run(&[&["race"], PATH, &runs, &["--extremes", "--columns", "fct_s_p95"]].concat());
    assert!(status(&table) == 0 && stdout(&table).contains("p95 s"), "{}", stderr(&table));
}
