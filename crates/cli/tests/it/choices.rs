//! `docs/reference/choices.md`: every switch and every test that it names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use firstflight::registry;
use firstflight_model::{MODELS, Settings};
use firstflight_scenario::{Options, parse_choices, parse_restarts};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/reference/choices.md")).expect("the page")
}

/// Returns the rows of a table, by cells; the table is the one after `heading`.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let after = page.split_once(heading).expect(heading).1;
    let lines =
        after.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    lines.skip(2).map(cells).collect()
}

fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns why a switch is not accepted.
fn refused(switch: &str) -> Option<String> {
    if let Some(model) = switch.strip_prefix("firstflight model ") {
        let mut words = model.split_whitespace();
        let name = words.next()?;
        let Some(model) = MODELS.iter().find(|model| model.name == name) else {
            return Some(format!("no model {name}"));
        };
        let words: Vec<_> = words.collect();
        let mut settings = Settings::of(model.parameters).expect(name);
        return words.chunks(2).find_map(|pair| {
            let [option, value] = pair else { return Some(format!("no value in {switch}")) };
            settings.set(option.trim_start_matches("--"), value).err().map(|error| error.to_string())
        });
    }
    if let Some(policy) = switch.strip_prefix("--restart ") {
        return parse_restarts(policy).err().map(|error| error.to_string());
    }
    if let Some((option, value)) = switch.strip_prefix("--").and_then(|rest| rest.split_once(' ')) {
        return Options::default().set(option, value).err().map(|error| error.to_string());
    }
    parse_choices(switch).err().map(|error| error.to_string())
}

#[test]
fn every_switch_named_is_accepted() {
    for row in rows(&page(), "# Choices") {
        for switch in quoted(&row[3]) {
            assert_eq!(refused(switch), None, "choice {}: `{switch}`", row[0]);
        }
    }
    assert!(refused("paced:acks=some").is_some() && refused("--restart cwv/rule=none").is_some());
    assert!(refused("firstflight model ptr --loop none").is_some() && refused("--recovery none").is_some());
}

#[test]
fn choices_have_a_switch_and_a_test_or_concern_no_scheme() {
    let rows = rows(&page(), "# Choices");
    let numbers: Vec<u32> = rows.iter().map(|row| row[0].parse().expect("a number")).collect();
    assert_eq!(numbers, (1..=27).collect::<Vec<u32>>());
    for row in &rows {
        let none = row[3].starts_with("not of a scheme");
        assert!(none || quoted(&row[3]).count() > 0 && quoted(&row[4]).count() > 0, "choice {}", row[0]);
    }
}

/// `choice-NN` links the code to the page and back.
#[test]
fn choices_of_schemes_are_referenced_in_the_code_by_number() {
    let rows = rows(&page(), "# Choices");
    let of_schemes = rows.iter().filter(|row| quoted(&row[4]).count() > 0);
    let flags: BTreeSet<String> = of_schemes.map(|row| format!("choice-{:0>2}", row[0])).collect();
    let mut sources = Vec::new();
    collect(&root().join("crates"), &mut sources);
    let missing = flags.iter().filter(|flag| !sources.iter().any(|text| text.contains(*flag)));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn every_parameter_of_paced_start_belongs_to_a_choice() {
    let page = page();
    let entry = registry::scheme("paced").expect("registered");
    for parameter in entry.parameters {
        assert!(page.contains(&format!("`paced:{}=", parameter.name)), "{}", parameter.name);
    }
}

#[test]
fn every_test_named_exists() {
    let page = page();
    let of_choices = rows(&page, "# Choices").into_iter().map(|row| row[4].clone());
    let of_values = rows(&page, "## Worked values").into_iter().map(|row| row[2].clone());
    let named: BTreeSet<String> = of_choices
        .chain(of_values)
        .flat_map(|cell| quoted(&cell).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(named.len() > 40, "{named:?}");
    let mut sources = Vec::new();
    for floor in ["crates", "tests"] {
        collect(&root().join(floor), &mut sources);
    }
    let functions = sources.iter().flat_map(|text| text.split("fn ").skip(1));
    let found: BTreeSet<&str> = functions.filter_map(|rest| Some(rest.split_once('(')?.0)).collect();
    let missing = named.iter().filter(|name| !found.contains(name.as_str()));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Adds the text of every source file in `folder`.
fn collect(folder: &Path, sources: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(&path).expect("source"));
        }
    }
}
