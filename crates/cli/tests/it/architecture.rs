//! Crates depend on each other as docs/architecture.md draws it, and no files of a crate use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates outside the workspace whose files must not use each other in a circle either, by their folders.
const KERNEL: [&str; 3] = ["kernel/bpf", "kernel/loader", "kernel/parity"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A floor of the house: a folder of crates, from the ground up. A crate depends on crates on the same floor and on lower floors.
const FLOORS: [&str; 7] = ["library", "stack", "lab", "field", "output", "cli", "python"];
/// The floors of programs, of one crate each.
const PROGRAMS: [&str; 2] = ["cli", "python"];
/// The floor apart: only programs depend on its crates.
const TESTS: &str = "tests";

/// A row of the table under `## Crates`.
struct Drawn {
    floor: String,
    name: String,
    on: BTreeSet<String>,
}

impl Drawn {
    /// Returns the folder of the crate.
    fn folder(&self) -> PathBuf {
        let Self { floor, name, .. } = self;
        match floor.as_str() {
            TESTS => root().join(TESTS).join(name),
            "cli" => root().join("crates/cli"),
            "python" => root().join("python"),
            _ => root().join("crates").join(floor).join(name),
        }
    }

    /// Returns the number of the floor, from the ground up; `None` for the floor apart.
    fn height(&self) -> Option<usize> {
        FLOORS.iter().position(|floor| *floor == self.floor)
    }
}

/// Returns the table under `## Crates`, in its order.
fn drawn() -> Vec<Drawn> {
    let page = text(&root().join("docs/architecture.md"));
    let section = page.split("\n## Crates\n").nth(1).expect("a section `## Crates`");
    let table = section.split("```").nth(1).expect("a fenced table");
    let line = |line: &str| {
        let (place, on) = line.split_once("->").unwrap_or_else(|| panic!("`{line}` has no `->`"));
        let place = place.trim();
        let (floor, name) = place.split_once('/').unwrap_or((place, place));
        let on = on.split_whitespace().map(str::to_owned).collect();
        Drawn { floor: floor.to_owned(), name: name.to_owned(), on }
    };
    table.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

/// Returns the crates of this workspace that a crate depends on, except for its tests. A package outside the workspace, which an optional
/// dependency names by its path, is in no row.
fn declared(folder: &Path) -> BTreeSet<String> {
    let manifest: toml::Table = text(&folder.join("Cargo.toml")).parse().expect("a manifest");
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let is_member = |dependency: &toml::Value| dependency.get("workspace").is_some();
    let names = dependencies.into_iter().flatten().filter(|(_, dependency)| is_member(dependency));
    names
        .map(|(name, _)| name)
        .filter_map(|name| match name.strip_prefix("firstflight")? {
            "" => Some("core"),
            rest => rest.strip_prefix('-'),
        })
        .map(str::to_owned)
        .collect()
}

/// Returns the folders of all crates of the workspace but the examples.
fn members() -> BTreeSet<PathBuf> {
    let manifest: toml::Table = text(&root().join("Cargo.toml")).parse().expect("a manifest");
    let members = manifest["workspace"]["members"].as_array().expect("members");
    let names = members.iter().filter_map(toml::Value::as_str);
    names.filter(|name| !name.starts_with("examples/")).map(|name| root().join(name)).collect()
}

#[test]
fn crates_depend_on_crates_above_them_as_drawn() {
    let drawn = drawn();
    assert_eq!(drawn.iter().map(Drawn::folder).collect::<BTreeSet<_>>(), members());
    let mut above = BTreeSet::new();
    for row in drawn {
        let Drawn { name, on, .. } = &row;
        assert_eq!(declared(&row.folder()), *on, "the manifest of {name}, and docs/architecture.md");
        assert!(on.is_subset(&above), "{name} depends on {:?}, not above it", on.difference(&above));
        above.insert(name.clone());
    }
}

#[test]
fn crates_depend_on_no_higher_floor_and_only_programs_on_tests() {
    let drawn = drawn();
    let floor_of: BTreeMap<&str, Option<usize>> =
        drawn.iter().map(|row| (row.name.as_str(), row.height())).collect();
    for row in &drawn {
        for on in &row.on {
            match (row.height(), floor_of[on.as_str()]) {
                (Some(own), Some(other)) => {
                    assert!(other <= own, "{} depends on {on}, on a higher floor", row.name);
                }
                (Some(_), None) => {
                    assert!(
                        PROGRAMS.contains(&row.floor.as_str()),
                        "{} depends on {on} of {TESTS}",
                        row.name
                    );
                }
                (None, other) => {
                    assert!(!PROGRAMS.contains(&on.as_str()), "{} depends on a program: {other:?}", row.name);
                }
            }
        }
    }
    let known = |row: &Drawn| row.height().is_some() || row.floor == TESTS;
    assert!(drawn.iter().all(known), "floors are {FLOORS:?} and {TESTS}");
}

#[test]
fn no_files_of_a_crate_use_each_other_both_ways() {
    for row in drawn() {
        assert_eq!(circle(&files_of(&row.folder())), None, "files of {} use each other", row.name);
    }
    for folder in KERNEL {
        assert_eq!(circle(&files_of(&root().join(folder))), None, "files of {folder} use each other");
    }
}

/// Returns the files of a crate by module.
fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    read(&folder.join("src"), &mut Vec::new(), &mut files);
    files
}

/// Collects the files of a folder by module: `a::b`; the root is empty. Files of tests are left out.
fn read(folder: &Path, module: &mut Vec<String>, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            module.push(stem);
            read(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = if ["lib", "mod"].contains(&stem.as_str()) { None } else { Some(stem) };
            files.insert(module.iter().cloned().chain(own).collect::<Vec<_>>().join("::"), text(&path));
        }
    }
}

/// Returns files that use each other in a circle, if any do. A module that re-exports a child's items (`pub use`) does not use the child:
/// the users of the item use the child.
fn circle(files: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let code: BTreeMap<&str, Vec<String>> =
        files.iter().map(|(module, text)| (module.as_str(), words(text))).collect();
    let mut crate_ = Crate { handed_on: BTreeMap::new(), modules: code.keys().copied().collect() };
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (&module, words) in &code {
        for Mention { path, hands_on } in mentions(words) {
            if hands_on {
                let name = path.last().cloned().unwrap_or_default();
                crate_.handed_on.insert((module.to_owned(), name), path);
            }
        }
    }
    for (&module, words) in &code {
        let named = mentions(words).into_iter().filter(|mention| !mention.hands_on);
        let found = named.filter_map(|mention| crate_.file_of(module, &mention.path, 0));
        uses.insert(module, found.filter(|other| other != module).collect());
    }
    let reaches = |from: &str, to: &str| -> Option<Vec<String>> {
        let mut ways = vec![vec![from.to_owned()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop() {
            for next in uses.get(way.last()?.as_str()).into_iter().flatten() {
                if next == to {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    ways.push([way.clone(), vec![next.clone()]].concat());
                }
            }
        }
        None
    };
    code.keys().find_map(|module| reaches(module, module))
}

/// A path in a file.
struct Mention {
    path: Vec<String>,
    /// Whether the path is in a `pub use`.
    hands_on: bool,
}

struct Crate<'a> {
    /// The path that a `pub use` names, by its module and name.
    handed_on: BTreeMap<(String, String), Vec<String>>,
    modules: BTreeSet<&'a str>,
}

impl Crate<'_> {
    /// Returns the file with the item that a path in the file of `module` names; `None` for other crates' items.
    fn file_of(&self, module: &str, path: &[String], depth: usize) -> Option<String> {
        let mut at: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let child = |at: &[&str], name: &str| [at, &[name]].concat().join("::");
        let mut rest = path.iter().map(String::as_str).peekable();
        match *rest.peek()? {
            "crate" => at.clear(),
            "self" | "super" => {}
            name if self.modules.contains(child(&at, name).as_str()) => {}
            _ => return None,
        }
        for name in rest {
            match name {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                _ if self.modules.contains(child(&at, name).as_str()) => at.push(name),
                _ => {
                    let here = at.join("::");
                    let on = self.handed_on.get(&(here.clone(), name.to_owned())).filter(|_| depth < 8);
                    return on.and_then(|on| self.file_of(&here, on, depth + 1)).or(Some(here));
                }
            }
        }
        Some(at.join("::"))
    }
}

/// Returns the words and signs of a file, without comments, texts and test modules.
fn words(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().replace("'\"'", "");
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let goes_on = sign.is_alphanumeric() || sign == '_';
        if sign == '"' {
            while let Some(inside) = signs.next().filter(|inside| *inside != '"') {
                if inside == '\\' {
                    signs.next();
                }
            }
        } else if sign == '/' && signs.peek() == Some(&'/') {
            signs.by_ref().find(|sign| *sign == '\n');
        } else if goes_on && in_word {
            words.last_mut().expect("a word").push(sign);
        } else if !sign.is_whitespace() {
            words.push(sign.to_string());
        }
        in_word = goes_on;
    }
    words
}

/// Returns every path in a file: each one of a `use`, and those inside bodies.
fn mentions(words: &[String]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let before = words[..place].last().map_or("", String::as_str);
        if word == "use" {
            let end =
                words[place..].iter().position(|word| word == ";").map_or(words.len(), |end| place + end);
            let hands_on = ["pub", ")"].contains(&before);
            for path in branches(&words[place + 1..end]) {
                found.push(Mention { path, hands_on });
            }
            place = end;
        } else if word == "in" && before == "(" {
            // `pub(in crate::a)` says who may use the item.
            place += straight(&words[place + 1..]).len() * 3 - 1;
        } else if is_name(word) && !words[..place].ends_with(&[":".to_owned(), ":".to_owned()]) {
            let path = straight(&words[place..]);
            place += 3 * path.len() - 2;
            if path.len() > 1 {
                found.push(Mention { path, hands_on: false });
            }
        } else {
            place += 1;
        }
    }
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
}

/// Returns the names joined by `::` at the beginning of the words.
fn straight(words: &[String]) -> Vec<String> {
    let mut path = vec![words[0].clone()];
    let mut rest = &words[1..];
    while let [first, second, name, more @ ..] = rest
        && first == ":"
        && second == ":"
        && is_name(name)
    {
        path.push(name.clone());
        rest = more;
    }
    path
}

/// Each path of the tree of a `use`.
fn branches(tree: &[String]) -> Vec<Vec<String>> {
    let (mut paths, mut stems, mut path) = (Vec::new(), Vec::new(), Vec::<String>::new());
    let mut skips = false;
    let mut end = |path: &mut Vec<String>, stem: usize| {
        if path.len() > stem {
            paths.push(std::mem::take(path));
        }
    };
    for word in tree {
        let stem: Vec<String> = stems.last().cloned().unwrap_or_default();
        match word.as_str() {
            "{" => stems.push(path.clone()),
            "}" => {
                end(&mut path, stem.len());
                stems.pop();
                path.clear();
                skips = true;
            }
            "," => {
                if !skips || !path.is_empty() {
                    end(&mut path, stem.len());
                }
                (path, skips) = (stem, false);
            }
            "as" => skips = true,
            name if is_name(name) && !skips => path.push(name.to_owned()),
            _ => {}
        }
    }
    end(&mut path, 0);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let files = files.iter().map(|(module, text)| ((*module).to_owned(), (*text).to_owned()));
        circle(&files.collect())
    }

    #[test]
    fn a_circle_is_found_through_uses_paths_and_doors() {
        let one_way = [
            ("", "mod a; mod b; pub use b::{B, C as D};"),
            ("a", "use crate::{B, D}; // crate::b::B\nfn f() -> &str { \"crate::c::C\" }"),
            ("b", "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::f; }"),
        ];
        assert_eq!(made_up(&one_way), None);
        let by_use =
            [("a", "use crate::b::{self, c::{D, E}};"), ("b", ""), ("b::c", "use super::super::a::A;")];
        assert_eq!(made_up(&by_use), Some(vec!["a".to_owned(), "b::c".to_owned()]));
        let by_path = [("a", "fn f() { crate::b::f(); }"), ("b", "fn f() { let x: crate::a::A; }")];
        assert_eq!(made_up(&by_path), Some(vec!["a".to_owned(), "b".to_owned()]));
        let by_door = [("", "pub use b::B;"), ("a", "use crate::B;"), ("b", "use crate::a::A;")];
        assert_eq!(made_up(&by_door), Some(vec!["a".to_owned(), "b".to_owned()]));
        let with_child = [("a", "mod c; fn f() { c::f(); }"), ("a::c", "use super::A;")];
        assert_eq!(made_up(&with_child), Some(vec!["a".to_owned(), "a::c".to_owned()]));
    }

    #[test]
    fn a_visibility_is_no_use() {
        assert_eq!(made_up(&[("a", "use self::b::B;"), ("a::b", "pub(in crate::a) struct B;")]), None);
        let used = [("a", "use self::b::B;"), ("a::b", "pub(in crate::a) struct B(crate::a::A);")];
        assert_eq!(made_up(&used), Some(vec!["a".to_owned(), "a::b".to_owned()]));
    }
}
