//! `firstflight paper`: the ledger from the command line.

use std::fs;
use std::path::PathBuf;

use crate::common::{names, refused, run, status, stderr, stdout, text};

/// A folder with the ledger of one figure, `quick-start/ring`. The figure has one claim and needs no run. The folder is removed when the
/// guard is dropped.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, expected: &str, status: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("firstflight-cli-paper-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("quick-start")).expect("a folder");
        let text = format!(
            "title = 'Ring'\nsection = 'V'\nfigure = 'text'\nsetup = 'model'\n[[claim]]\nid = 'slots'\nsays = 'a <slot>'\n\
             source = 'text'\nmeasured = 'model.ring-buffer.slots()'\nexpected = '{expected}'\ntolerance = 'none'\nstatus = '{status}'\n\
             why = 'because'\n"
        );
        fs::write(folder.join("quick-start/ring.toml"), text).expect("a file");
        Self(folder)
    }

    fn path(&self, inside: &str) -> String {
        self.0.join(inside).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn the_list_has_titles_sources_and_counts() {
    let list = stdout(&run(&["paper", "list", "past"]));
    assert!(list.starts_with("past: Hu and Steenkiste"), "{list}");
    assert!(list.contains("past/figure-8b ") && list.contains(" holds"), "{list}");
}

#[test]
fn paper_list_includes_items_without_figures_and_their_reasons() {
    let list = stdout(&run(&["paper", "list", "past"]));
    let line = |id: &str| list.lines().find(|line| line.trim_start().starts_with(id)).map(str::to_owned);
    assert!(line("past/F3 ").expect("a diagram").contains("nothing to run"), "{list}");
    let whole = stdout(&run(&["paper", "list"]));
    let later: Vec<&str> = whole.lines().filter(|line| line.contains("left for later")).collect();
    assert_eq!(later, [""; 0], "every row has a file or is a diagram");
    assert!(!stdout(&run(&["paper", "list", "past/figure-1"])).contains("past/F3 "));
}

#[test]
fn the_list_as_json_is_an_object_a_row_of_the_papers() {
    let rows = |ids: &[&str]| -> Vec<serde_json::Value> {
        let list = stdout(&run(&[&["paper", "list", "--json"], ids].concat()));
        list.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
    };
    let all = rows(&[]);
    assert_eq!(all.len(), 116);
    for row in &all {
        let files = row["files"].as_array().expect("a list");
        let ways = [!files.is_empty(), row["diagram"] == true, row["later"].is_string()];
        assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{row}");
    }
    let one = rows(&["past/figure-8b"]);
    assert_eq!((one.len(), &one[0]["id"]), (1, &serde_json::json!("past/F8b")));
}

#[test]
fn an_unknown_name_is_one_line_with_the_nearest() {
    assert!(refused(&["paper", "run", "past/figure-8bb"]).contains("is `past/figure-8b` meant?"));
    assert!(refused(&["paper", "check", "pasd"]).contains("there is no paper `pasd`; is `past` meant?"));
    assert!(refused(&["paper", "lst"]).contains("lst"));
}

#[test]
fn a_check_fails_only_if_a_claim_recorded_as_holding_fails() {
    for (expected, status, code) in [
        (">= 1", "holds", 0),
        ("<= 0", "holds", 1),
        ("<= 0", "does_not_hold", 0),
        (">= 1", "does_not_hold", 0),
    ] {
        let folder = Folder::with(
            &format!("{status}-{}", &expected[..1].replace(['<', '>'], "bound")),
            expected,
            status,
        );
        let output = run(&["paper", "check", "--ledger", &folder.path("")]);
        assert_eq!(output.status.code(), Some(code), "{expected} {status}: {}", stderr(&output));
        if code == 1 {
            assert!(
                stderr(&output).contains(
                    "1 of 1 claims are recorded as holding and do not hold: quick-start/ring/slots"
                )
            );
        }
        let is_as_recorded = (expected == ">= 1") == (status == "holds");
        assert_eq!(!stdout(&output).contains("recorded as"), is_as_recorded, "{}", stdout(&output));
    }
}

#[test]
fn json_is_an_object_a_claim_with_ten_fields() {
    let folder = Folder::with("json", "<= 0", "does_not_hold");
    let output = run(&["paper", "check", "--json", "--ledger", &folder.path("")]);
    let line: serde_json::Value = serde_json::from_str(stdout(&output).trim()).expect("one object");
    let keys: Vec<&String> = line.as_object().expect("an object").keys().collect();
    let wanted =
        ["id", "paper", "figure", "claim", "expected", "measured", "ci95", "status", "why", "habitat"];
    assert_eq!(keys, wanted);
    assert_eq!(line["id"], "quick-start/ring/slots");
    assert_eq!(line["status"], "does_not_hold");
    assert_eq!(line["habitat"], "simulator");
    assert_eq!(line["why"], "because");
    assert!(line["measured"].as_f64().is_some_and(|slots| slots >= 1.0));
}

impl Folder {
    /// A ledger whose figure has these further keys of its claim, and tables.
    fn with_more(name: &str, keys: &str) -> Self {
        let folder = Self::with(name, "= 4 within 0", "does_not_hold");
        let path = folder.path("quick-start/ring.toml");
        let text = fs::read_to_string(&path).expect("a file");
        fs::write(path, text + keys).expect("a file");
        folder
    }
}

#[test]
fn reasons_are_measured_again_and_commands_repeated() {
    let slots = stdout(&run(&["model", "ring-buffer", "--json"]));
    let slots: serde_json::Value = serde_json::from_str(slots.trim()).expect("an object");
    let slots = slots["slots"].to_string();
    let evidence = |gives: &str| {
        format!(
            "evidence = [{{ gives = '{gives}' }}, {{ command = 'firstflight model ring-buffer', prints = ['{gives}'] }}]\n"
        )
    };
    let check = |name: &str, gives: &str, rest: &[&str]| {
        let folder = Folder::with_more(name, "");
        let path = folder.path("quick-start/ring.toml");
        let text =
            fs::read_to_string(&path).expect("a file").replace("'because'", &format!("'it is {gives}'"));
        fs::write(path, text + &evidence(gives)).expect("a file");
        let ledger = folder.path("");
        let output = run(&[&["paper", "check", "--ledger", &ledger, "--reasons"], rest].concat());
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, out, _) = check("reasons", &slots, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(out, "2 reasons of 1 claims; 0 claims that do not hold are without evidence\n");
    let (code, out, said) = check("wrong-reasons", "4.5", &[]);
    assert_eq!(code, Some(1), "{said}");
    let measured = "quick-start/ring/slots: evidence: model.ring-buffer.slots(): recorded 4.5; measured ";
    assert!(out.contains(measured) && out.contains("firstflight model ring-buffer: recorded 4.5; "), "{out}");
    assert!(said.contains("2 of 2 reasons give something else than is recorded"), "{said}");
    let (_, out, _) = check("reasons-json", "4.5", &["--json"]);
    let rows: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!((rows.len(), &rows[0]["of"], &rows[1]["same"]), (2, &"evidence".into(), &false.into()));
    let line = refused(&["paper", "check", "--reasons", "--mutants"]);
    assert!(line.contains("--reasons") && line.contains("--mutants"), "{line}");
}

#[test]
fn a_mutant_that_fails_no_claim_is_indistinct_or_a_failure() {
    let figure = |lost: &str, indistinct: &str| {
        format!(
            "title = 'T'\nsection = 'V'\nfigure = 'f'\nsetup = 'ns-2'\n[scenario]\nrate = '5mbit'\nrtt = '40ms'\nsize = '20p'\n\
             schemes = ['paced:as=past']\n[mutant.slow]\nsays = 'no pace'\nschemes = {{ past = 'slow-start:iw=10p' }}\n{indistinct}\n\
             [[claim]]\nid = 'sent'\nsays = 's'\nsource = 'text'\nmeasured = 'packets_lost[past]'\nexpected = '{lost}'\n\
             tolerance = 'n'\nstatus = 'holds'\n"
        )
    };
    for (name, expected, indistinct, code) in [
        ("same", ">= 0", "", 1),
        ("said", ">= 0", "indistinct = 'both lose none'", 0),
        ("false", "> 99", "indistinct = 'both lose none'", 1),
        ("fails", "> 99", "", 0),
    ] {
        let folder = Folder::with(&format!("mutant-{name}"), ">= 1", "holds");
        fs::write(folder.path("quick-start/figure-1.toml"), figure(expected, indistinct)).expect("a file");
        let output =
            run(&["paper", "check", "--ledger", &folder.path(""), "--mutants", "--record", &folder.path("")]);
        let (out, said) = (stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{name}: {out}{said}");
        let counts = if expected == "> 99" { "1 fail (sent), 0 pass" } else { "0 fail, 1 pass (sent)" };
        assert!(out.starts_with(&format!("quick-start/figure-1: slow (no pace): {counts}")), "{out}");
        let text = fs::read_to_string(folder.path("mutants.json")).expect("a record");
        let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(rows[0]["schemes"]["past"], "slow-start:iw=10p");
        assert_eq!(rows[0]["indistinct"].is_string(), !indistinct.is_empty());
        assert_eq!(said.contains("quick-start/figure-1: slow "), code == 1, "{said}");
    }
    let line = refused(&["paper", "check", "past", "--mutants", "--record", "."]);
    assert!(line.contains("--record: mutants.json has the mutants of all figures"), "{line}");
}

#[test]
fn own_and_unsettled_claims_are_counted_apart() {
    let folder = Folder::with_more("own", "");
    let claim = |id: &str, keys: &str| {
        format!(
            "[[claim]]\nid = '{id}'\nsays = 's'\nmeasured = '1'\nexpected = '> 0'\ntolerance = 'n'\n{keys}\n"
        )
    };
    let path = folder.path("quick-start/ring.toml");
    let text = fs::read_to_string(&path).expect("a file")
        + &claim("mine", "source = 'own'\nstatus = 'holds'")
        + &claim(
            "open",
            "source = 'text'\nstatus = 'unsettled'\nwhy = 'w'\ntried = [{ gives = '1', holds = true }, { measured = '-1', gives = '-1', holds = false }]",
        );
    fs::write(path, text).expect("a file");
    let counts = "1 does not hold, 1 unsettled; own claims: 1 holds";
    let ledger = folder.path("");
    assert!(stdout(&run(&["paper", "list", "--ledger", &ledger])).contains(counts));
    let report = folder.path("r.html");
    let output = run(&["paper", "check", "--ledger", &ledger, "--report", &report]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let out = stdout(&output);
    assert!(out.ends_with(&format!("{counts}\n")), "{out}");
    assert!(out.contains("unsettled: quick-start/ring/open: expected > 0, measured 1\n"), "{out}");
    assert!(out.contains("in the figure's scenario: -1, does not hold\n"), "{out}");
    let html = fs::read_to_string(&report).expect("a report");
    assert!(html.contains("2 claims: 0 hold, 1 does not, 1 is unsettled, 0 are not testable here"), "{html}");
    assert!(html.contains("no sentence of a paper: 1, of which 1 holds") && html.contains("own claim"));
    assert_eq!(stdout(&run(&["paper", "check", "--ledger", &ledger, "--reasons"])).lines().count(), 1);
}

#[test]
fn a_report_and_a_record_are_written_whole() {
    let folder = Folder::with("report", ">= 1", "holds");
    let (report, records) = (folder.path("r.html"), folder.path("records"));
    fs::create_dir(&records).expect("a folder");
    let output =
        run(&["paper", "check", "--ledger", &folder.path(""), "--report", &report, "--record", &records]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(&report).expect("a report");
    assert!(html.contains("1 claim: 1 holds") && html.contains("a &lt;slot&gt;"), "{html}");
    assert!(!html.contains("<script") && !html.contains("http-equiv=\"refresh"), "the page needs no script");
    let record: serde_json::Value = serde_json::from_str(
        &fs::read_to_string(PathBuf::from(&records).join("quick-start.json")).expect("a record"),
    )
    .expect("JSON");
    assert_eq!(record[0]["status"], "holds");
    let line =
        refused(&["paper", "check", "--ledger", &folder.path(""), "--report", &folder.path("no/where.html")]);
    assert!(line.contains("--report"), "{line}");
    let line =
        refused(&["paper", "check", "--ledger", &folder.path(""), "--record", &folder.path("nowhere")]);
    assert!(line.contains("--record: there is no folder"), "{line}");
}

#[test]
fn check_outputs_are_validated_before_the_runs() {
    let folder = Folder::with("targets", ">= 1", "holds");
    let check = |rest: &[&str]| {
        let ledger = folder.path("");
        let output = run(&[&["paper", "check", "--ledger", &ledger], rest].concat());
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{}", stderr(&output));
        stderr(&output)
    };
    fs::create_dir_all(folder.path("records/quick-start.json")).expect("a folder");
    let said = check(&["--record", &folder.path("records")]);
    assert!(said.contains("--record: cannot write") && said.contains("is a directory"), "{said}");
    fs::create_dir(folder.path("whole")).expect("a folder");
    let both = ["--record", &folder.path("whole"), "--report", &folder.path("whole/quick-start.json")];
    assert!(check(&both).contains("would overwrite the report"));
    let said = check(&["--report", &folder.path("quick-start/ring.toml")]);
    assert!(said.contains("would overwrite the ledger's file"), "{said}");
}

#[test]
fn a_check_of_nothing_is_refused() {
    let folder = Folder::with("nothing", ">= 1", "holds");
    let ledger = folder.path("");
    let line = refused(&["paper", "check", "--ledger", &ledger, "--fast"]);
    assert!(line.contains("--fast: none of these figures has `fast = true`"), "{line}");
    let line = refused(&["paper", "list", "--ledger", &ledger, "past"]);
    assert!(line.contains("there is no figure of `past`; this ledger has none of the paper"), "{line}");
    let line = refused(&["paper", "check", "--ledger", &folder.path("quick-start")]);
    assert!(line.contains("--ledger: ") && line.contains(" has no figures; a ledger is a folder"), "{line}");
}

#[test]
fn a_fault_of_a_file_is_shown_at_its_place() {
    let folder = Folder::with("fault", "about 1", "holds");
    let output = run(&["paper", "list", "--ledger", &folder.path("")]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.starts_with("error: ") && said.contains("ring.toml:10:12\n"), "{said}");
    assert!(said.contains("expected: `about 1` has no meaning; allowed are `<= X`"), "{said}");
}

/// The columns of the values of figures.
const VALUES: &str = "figure,plot,curve,place,x,y,ci95,claim,printed";

#[test]
fn the_values_of_a_figure_have_the_printed_numbers_next_to_ours() {
    let csv = stdout(&run(&["paper", "run", "past/figure-5", "--csv"]));
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(VALUES));
    let printed: Vec<Vec<&str>> =
        lines.map(|line| line.split(',').collect()).filter(|row: &Vec<&str>| !row[8].is_empty()).collect();
    assert_eq!(printed.len(), 5, "{csv}");
    for row in &printed {
        let [ours, paper] = [row[5], row[8]].map(|cell| cell.parse::<f64>().expect("a number"));
        assert!((ours - paper).abs() < 0.0002, "{row:?}");
    }
    let curves = csv.lines().filter(|line| line.starts_with("past/figure-5,1,"));
    assert!(curves.count() > 0, "{csv}");
}

#[test]
fn a_figure_is_drawn_with_its_printed_numbers_and_its_series_are_a_table() {
    let folder = Folder::with("drawn", "= 4 within 0", "holds");
    let [svg, series] = ["one.svg", "series.csv"].map(|name| folder.path(name));
    let output = run(&["paper", "run", "bbr/case-1", "--figure", &svg, "--series", &series]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let drawn = fs::read_to_string(&svg).expect("a figure");
    for words in ["Test case 1", "sent (Mbit/s)", "printed 1, here", "The bandwidth found"] {
        assert!(drawn.contains(words), "{words}");
    }
    assert!(!drawn.contains("var("), "it needs no style sheet");
    let table = fs::read_to_string(&series).expect("a table");
    assert!(table.starts_with("figure,plot,curve,time_s,value\nbbr/case-1,1,bbr,0"), "{}", &table[..200]);
    let pdf = folder.path("one.pdf");
    let sized = ["--figure-size", "500x600", "--figure-font", "10"];
    let output = run(&[&["paper", "run", "bbr/case-1", "--figure", &pdf][..], &sized].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(fs::read(&pdf).expect("a figure").starts_with(b"%PDF"));
}

#[test]
fn values_that_cannot_be_written_are_refused_before_the_runs() {
    let folder = Folder::with("refused", "= 4 within 0", "holds");
    let inside = std::path::Path::new(&folder.0);
    let before = names(inside);
    let svg = folder.path("one.svg");
    let said = refused(&["paper", "run", "bbr", "--figure", &svg]);
    assert!(said.starts_with("error: --figure: one figure can be drawn; 22 are chosen"), "{said}");
    refused(&["paper", "run", "bbr/case-1", "--figure", &svg, "--series", &svg]);
    refused(&["paper", "run", "bbr/case-1", "--figure", text(&inside.join("one.eps"))]);
    refused(&["paper", "run", "bbr/case-1", "--csv", "--json"]);
    refused(&["paper", "run", "bbr/case-1", "--figure", &svg, "--figure-size", "5x5"]);
    let file = folder.path("quick-start/ring.toml");
    refused(&["paper", "run", "quick-start/ring", "--ledger", &folder.path(""), "--series", &file]);
    assert_eq!(names(inside), before);
}
