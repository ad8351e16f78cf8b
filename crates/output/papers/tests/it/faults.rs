//! Every fault of a file is one line with the file, the place and what is allowed.

use std::fs;
use std::path::PathBuf;

use firstflight::registry::Registry;
use firstflight_papers::{Ledger, LedgerError, Settings, check};

const HEAD: &str = "title = 't'\nsection = '1'\nfigure = 'Figure 1'\nsetup = 'ns-2'\n";
const RUN: &str =
    "[scenario]\nrate = '5mbit'\nrtt = '40ms'\nsize = '20p'\nschemes = ['slow-start', 'paced:as=past']\n";
const CLAIM: &str = "[[claim]]\nid = 'a'\nsays = 's'\nsource = 'text'\nexpected = '> 1'\ntolerance = 'none'\nstatus = 'holds'\n";

/// A folder with one file, which is removed when the guard is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("firstflight-papers-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("past")).expect("a folder");
        fs::write(folder.join("past/figure-1.toml"), text).expect("a file");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The line, the column and the message of the fault in a text.
fn fault(name: &str, text: &str) -> (usize, usize, String) {
    let folder = Folder::with(name, text);
    match Ledger::read(Registry::builtin(), &folder.0) {
        Err(LedgerError::File { error, .. }) => {
            assert!(!error.message.contains('\n'), "{}", error.message);
            (error.line, error.column, error.message)
        }
        Err(other) => panic!("{name}: {other}"),
        Ok(_) => panic!("{name}: nothing is at fault"),
    }
}

fn measured(name: &str, expression: &str) -> (usize, usize, String) {
    let quoted = expression.replace('\'', "\"");
    let (line, column, message) = fault(name, &format!("{HEAD}{RUN}{CLAIM}measured = '{quoted}'\n"));
    assert_eq!(line, 17, "{message}");
    // Columns within the expression.
    (line, column - "measured = '".len(), message)
}

#[test]
fn unknown_keys_and_wrong_values_are_refused_at_their_place() {
    let (line, column, message) = fault("key", &format!("{HEAD}titel = 'x'\n"));
    assert_eq!((line, column), (5, 1));
    assert!(message.contains("unknown field `titel`") && message.contains("`title`"), "{message}");
    let (line, _, message) = fault("setup", "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns2'\n");
    assert_eq!(line, 4);
    assert!(message.contains("`ns-2`, `model`, `testbed`, `internet`"), "{message}");
    let (.., message) = fault("missing", "title = 't'\nsection = '1'\nsetup = 'ns-2'\n");
    assert!(message.contains("missing field `figure`"), "{message}");
    let (line, ..) = fault("syntax", "title = 't\n");
    assert_eq!(line, 1);
}

#[test]
fn a_scenarios_faults_stand_at_its_keys() {
    let (line, _, message) =
        fault("rate", &format!("{HEAD}[scenario]\nrate = '0mbit'\nschemes = ['slow-start']\n"));
    assert_eq!(line, 6);
    assert!(message.starts_with("rate: `0mbit` is zero"), "{message}");
    let (line, _, message) =
        fault("unknown", &format!("{HEAD}[scenario]\nquue = '5p'\nschemes = ['slow-start']\n"));
    assert_eq!(line, 6);
    assert!(message.contains("is `queue` meant?"), "{message}");
    let (line, _, message) =
        fault("scheme", &format!("{HEAD}[scenario]\nrate = '5mbit'\nschemes = ['slow-strat']\n"));
    assert_eq!(line, 7);
    assert!(message.contains("is `slow-start` meant?"), "{message}");
    let (line, _, message) = fault("none", &format!("{HEAD}[scenario]\nrate = '5mbit'\n"));
    assert_eq!(line, 5);
    assert!(message.starts_with("schemes: they are missing"), "{message}");
}

#[test]
fn varied_keys_must_be_known_keys_braced_words_or_named_tables() {
    let (line, column, message) = fault("vary", &format!("{HEAD}{RUN}[vary]\nrtts = ['1ms']\n"));
    assert_eq!((line, column), (11, 1));
    assert!(message.contains("is `rtt` meant?"), "{message}");
    let (_, _, message) = fault("value", &format!("{HEAD}{RUN}[vary]\nrtt = ['1ms', 'x']\n"));
    assert!(message.starts_with("rtt: `x`"), "{message}");
    let (line, _, message) = fault("empty", &format!("{HEAD}{RUN}[vary]\nrtt = []\n"));
    assert_eq!(line, 11);
    assert!(message.contains("the list is empty"), "{message}");
    let (.., message) = fault("name", &format!("{HEAD}{RUN}[vary]\npath = [{{ rtt = '1ms' }}]\n"));
    assert!(message.contains("has a `name`"), "{message}");
}

#[test]
fn an_expressions_faults_stand_within_it() {
    assert_eq!(measured("end", "max(su_loss[past]").1, 18);
    let (_, column, message) = measured("function", "maxx(su_loss[past])");
    assert_eq!((column, message.as_str()), (1, "there is no function `maxx`; is `max` meant?"));
    let (_, column, message) = measured("column", "1 + su_los[past]");
    assert_eq!((column, message.as_str()), (5, "there is no column `su_los`; is `su_loss` meant?"));
    let (_, column, message) = measured("label", "su_loss[pats]");
    assert_eq!((column, message.as_str()), (9, "there is no scheme `pats`; is `past` meant?"));
    let (.., message) = measured("bare", "su_loss");
    assert!(message.contains("`su_loss` has no scheme"), "{message}");
    let (.., message) = measured("star", "su_loss[*]");
    assert!(message.contains("in a plot"), "{message}");
    let (.., message) = measured("series", "max(series.cwnd[past])");
    assert_eq!(
        message,
        "there is no column `cwnd`; there are `throughput_bps`, `sent_bps`, `delivered_bytes`, `cwnd_bytes`, `ssthresh_bytes`, `in_flight_bytes`, `queue_packets`, `rtt_s`, `sequence_bytes`, `sent_s`, `dropped_packets`"
    );
    let (.., message) = measured("flow", "max(flow.throughput_bps[past])");
    assert!(message.contains("the scenario has no flows"), "{message}");
    let (.., message) = measured("axis", "at(rtt=40ms, su_loss[past])");
    assert!(message.contains("[vary] has no key `rtt`"), "{message}");
    let (.., message) = measured("model", "model.quik-start.improvement()");
    assert!(message.contains("is `quick-start` meant?"), "{message}");
    let (.., message) = measured("cell", "model.quick-start.improvment()");
    assert!(message.contains("is `improvement` meant?"), "{message}");
    let (.., message) = measured("parameter", "model.quick-start.improvement(sise=1kB)");
    assert!(message.contains("is `size` meant?"), "{message}");
    let (.., message) = measured("arguments", "quantile(su_loss[past])");
    assert!(message.contains("quantile(Q, E) is wanted"), "{message}");
    let (_, column, _) = measured("unit", "1 + 5parsec");
    assert_eq!(column, 5);
}

#[test]
fn an_expression_has_at_most_so_many_words_and_parts_within_parts() {
    let parts = "at most 50 parts within each other";
    assert!(measured("parentheses", &("(".repeat(100_000) + "1")).2.contains("more than 1000 words"));
    assert!(measured("fifty", &("(".repeat(400) + "1" + &")".repeat(400))).2.contains(parts));
    assert!(measured("signs", &("- ".repeat(400) + "1")).2.contains(parts));
    assert!(measured("functions", &("abs(".repeat(200) + "1" + &")".repeat(200))).2.contains(parts));
    assert!(measured("sum", &("1".to_owned() + &" + 1".repeat(1_000))).2.contains("more than 1000 words"));
}

#[test]
fn the_longest_expressions_are_computed() {
    let nested = "abs(".repeat(48) + "1" + &")".repeat(48);
    let long = "1".to_owned() + &" + 1".repeat(499);
    let claims = [nested, long]
        .map(|one| CLAIM.replace("'a'", &format!("'a{}'", one.len())) + &format!("measured = '{one}'\n"));
    let folder = Folder::with("longest", &(HEAD.to_owned() + &claims.join("")));
    let ledger = Ledger::read(Registry::builtin(), &folder.0).expect("a ledger");
    let figures: Vec<_> = ledger.figures.iter().collect();
    let settings = Settings { jobs: Some(1), progress: &|_, _, _| (), interrupted: &|| false, habitat: None };
    let results = check(&figures, &settings).expect("values");
    let measured: Vec<_> = results[0].claims.iter().map(|claim| claim.measured.as_f64()).collect();
    assert_eq!(measured, [Some(1.0), Some(500.0)]);
}

#[test]
fn a_plots_units_are_above_nought_and_its_ranges_ascend() {
    for (name, line, says) in [
        ("zero", "x-unit = 0", "x-unit: `0` is not allowed; a number above 0 is"),
        ("negative", "y-unit = -1.5", "y-unit: `-1.5` is not allowed"),
        ("nan", "y-unit = nan", "y-unit: `NaN` is not allowed"),
        ("equal", "x-range = [5, 5]", "x-range: `[5, 5]` is not allowed; two numbers are, the lesser first"),
        ("infinite", "y-range = [0.0, inf]", "y-range: `[0, inf]` is not allowed"),
    ] {
        let plot = format!("{HEAD}{RUN}[plot]\nkind = 'lines'\ny = 'su_loss'\n{line}\n");
        let (at, _, message) = fault(name, &plot);
        assert_eq!(at, 13);
        assert!(message.starts_with(says), "{message}");
    }
}

#[test]
fn a_claim_says_what_it_expects_and_why_it_does_not_hold() {
    let with = |name: &str, from: &str, to: &str| {
        let claim = CLAIM.replace(from, to) + "measured = 'su_loss[past]'\n";
        fault(name, &format!("{HEAD}{RUN}{claim}"))
    };
    let (line, _, message) = with("expected", "> 1", "about 1");
    assert_eq!(line, 14);
    assert!(message.contains("`= X within Y%`"), "{message}");
    assert!(with("why", "'holds'", "'does_not_hold'").2.contains("`why`"));
    assert!(with("status", "'holds'", "'maybe'").2.contains("`does_not_hold`"));
    assert!(with("tolerance", "'none'", "''").2.contains("the reason"));
    assert!(with("id", "'a'", "'a/b'").2.contains("letters, digits"));
    let twice = format!("{HEAD}{RUN}{CLAIM}measured = '1'\n{CLAIM}measured = '1'\n");
    assert!(fault("twice", &twice).2.contains("two claims `a`"));
    let without = format!("{HEAD}{RUN}{CLAIM}").replace("expected = '> 1'\n", "");
    assert!(fault("without", &without).2.contains("`not_testable`"));
}

#[test]
fn set_ups_axes_reasons_and_mutants_must_be_of_the_file() {
    let with = |name: &str, status: &str, keys: &str, tables: &str| {
        let claim = CLAIM.replace("status = 'holds'", &format!("status = '{status}'"));
        fault(name, &format!("{HEAD}{RUN}{claim}measured = 'su_loss[past]'\n{keys}\n{tables}"))
    };
    let unsettled = "status: an unsettled claim has two or more entries in `tried`";
    let one = "{ gives = '1', holds = true }";
    for (name, status, keys, says) in [
        ("set-up", "holds", "set-up = 'fat'", "set-up: there is no `fat`; is `fast` meant?"),
        ("set-up-key", "holds", "set-up = 'fast'", "there is no scheme `past`; there are `slow-start`"),
        ("over", "holds", "over = 'cpu'\nfrom = '1'", "over: [vary] has no key `cpu`; there are none"),
        ("from", "holds", "from = '1'", "from: it is for a claim with `over`"),
        ("few", "unsettled", "why = 'w'", unsettled),
        ("one", "unsettled", &format!("why = 'w'\ntried = [{one}]"), unsettled),
        (
            "tried",
            "holds",
            &format!("tried = [{one}, {one}]"),
            "status: `tried` is not allowed for this status",
        ),
        ("field", "unsettled", "why = 'w'\ntried = [{ gives = '1' }]", "missing field `holds`"),
        (
            "gives",
            "holds",
            "evidence = [{ gives = 'about 1' }]",
            "gives: `about 1` is not allowed; numbers as",
        ),
        (
            "absent",
            "holds",
            "why = 'it is 0.45'\nevidence = [{ gives = '0.4' }]",
            "gives: `why` does not have `0.4`",
        ),
        (
            "prints",
            "holds",
            "why = 'w'\nevidence = [{ command = 'firstflight model ring-buffer', prints = ['5'] }]",
            "prints: `why` does not have `5`",
        ),
        (
            "both",
            "holds",
            "why = '1'\nevidence = [{ gives = '1', command = 'firstflight model ring-buffer' }]",
            "evidence: `measured` and `gives`, or",
        ),
        (
            "shell",
            "holds",
            "why = '1'\nevidence = [{ command = 'rm -rf x', prints = ['1'] }]",
            "command: `rm -rf x` is not allowed; `firstflight model …` and",
        ),
        (
            "files",
            "holds",
            "why = '1'\nevidence = [{ command = 'firstflight race --report=x', prints = ['1'] }]",
            "command: `--report=x` is not allowed",
        ),
    ] {
        let table = "[set-up.fast]\nsays = 's'\nscenario = { schemes = ['slow-start'] }\n";
        let (line, _, message) = with(&format!("of-{name}"), status, keys, table);
        assert!(message.starts_with(says) && line > 10, "{name}: {line}: {message}");
    }
    for (name, table, says) in [
        ("says", "[set-up.fast]\nscenario = {}\n", "missing field `says`"),
        ("rate", "[set-up.fast]\nsays = 's'\nscenario = { rat = '1mbit' }\n", "there is no key `rat`"),
        (
            "label",
            "[mutant.a]\nsays = 's'\nschemes = { pst = 'slow-start' }\n",
            "schemes: there is no scheme `pst`; is `past` meant?",
        ),
        (
            "scheme",
            "[mutant.a]\nsays = 's'\nschemes = { past = 'hystrat' }\n",
            "mutant: schemes: unknown scheme `hystrat`; is `hystart` meant?",
        ),
        (
            "measured",
            "[mutant.a]\nsays = 's'\nmeasured = { lots = 'lost' }\n",
            "measured: no claim that holds has `lots` in its expression",
        ),
        ("nothing", "[mutant.a]\nsays = 's'\n", "mutant: `schemes` or `measured` is wanted"),
    ] {
        let (line, _, message) = with(&format!("of-{name}"), "holds", "", table);
        assert!(message.starts_with(says) && line > 17, "{name}: {line}: {message}");
    }
}

#[test]
fn habitats_must_be_known_and_refer_to_claims_of_the_file() {
    let with = |name: &str, habitat: &str| {
        fault(name, &format!("{HEAD}{RUN}{CLAIM}measured = 'su_loss[past]'\n{habitat}"))
    };
    for (name, habitat, says) in [
        (
            "moon",
            "[habitat.moon.claims]\na = { status = 'holds' }\n",
            "there is no `moon`; there are live, kernel",
        ),
        ("claim", "[habitat.live.claims]\nb = { status = 'holds' }\n", "there is no claim `b`"),
        ("why", "[habitat.live.claims]\na = { status = 'does_not_hold' }\n", "says `why`"),
        (
            "unsettled",
            "[habitat.live.claims]\na = { status = 'unsettled', why = 'w' }\n",
            "`unsettled` is not allowed in a habitat",
        ),
        ("key", "[habitat.live]\nscenario = { rat = '1mbit' }\nclaims = {}\n", "`rat`"),
        ("vary", "[habitat.live]\nvary = { rat = ['1mbit'] }\nclaims = {}\n", "`rat`"),
        (
            "measured",
            "[habitat.live.claims]\na = { measured = 'su_los[past]', status = 'holds' }\n",
            "`su_los`",
        ),
        (
            "label",
            "[habitat.live]\nscenario = { schemes = ['paced'] }\nclaims = { a = { status = 'holds' } }\n",
            "past",
        ),
    ] {
        let (line, _, message) = with(&format!("habitat-{name}"), habitat);
        assert!(message.contains(says) && line >= 5, "{name}: {line}: {message}");
    }
}

#[test]
fn a_folder_of_no_paper_is_refused() {
    let folder = Folder::with("folder", &format!("{HEAD}{RUN}"));
    fs::rename(folder.0.join("past"), folder.0.join("pats")).expect("renamed");
    let error = Ledger::read(Registry::builtin(), &folder.0).expect_err("no such paper").to_string();
    assert!(error.contains("there is no paper `pats`"), "{error}");
    assert!(Ledger::read(Registry::builtin(), &folder.0.join("nowhere")).is_err());
}
