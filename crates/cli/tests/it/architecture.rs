//! Crates depend as docs/architecture.md draws it, and no two files of a crate use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose files are held to use each other one way.
const WITHOUT_CIRCLES: [&str; 9] =
    ["sim", "tcp", "scenario", "measure", "model", "lab", "papers", "emulate", "compare"];
/// Those of them where a file below another is a piece of it: `sender/ack.rs` adds to the type of `sender/mod.rs`. What a
/// piece uses of the files above it makes no circle.
const IN_PIECES: [&str; 1] = ["tcp"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The table under `## Crates`: in its order, each crate and what it depends on.
fn drawn() -> Vec<(String, BTreeSet<String>)> {
    let page = text(&root().join("docs/architecture.md"));
    let section = page.split("\n## Crates\n").nth(1).expect("a section `## Crates`");
    let table = section.split("```").nth(1).expect("a fenced table");
    let line = |line: &str| {
        let (name, on) = line.split_once("->").unwrap_or_else(|| panic!("`{line}` has no `->`"));
        (name.trim().to_owned(), on.split_whitespace().map(str::to_owned).collect())
    };
    table.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}

/// The crates of this workspace that a crate depends on, its tests not counted. A package outside it, which an optional
/// dependency names by its path, is in no row.
fn declared(name: &str) -> BTreeSet<String> {
    let manifest: toml::Table =
        text(&root().join("crates").join(name).join("Cargo.toml")).parse().expect("a manifest");
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

#[test]
fn crates_depend_on_crates_above_them_as_drawn() {
    let drawn = drawn();
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    let folders: BTreeSet<String> =
        folders.map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(drawn.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>(), folders);
    let mut above = BTreeSet::new();
    for (name, on) in drawn {
        assert_eq!(declared(&name), on, "the manifest of {name}, and docs/architecture.md");
        assert!(on.is_subset(&above), "{name} depends on {:?}, not above it", on.difference(&above));
        above.insert(name);
    }
}

#[test]
fn no_files_of_a_crate_use_each_other_both_ways() {
    for name in WITHOUT_CIRCLES {
        let source = root().join("crates").join(name).join("src");
        let mut files = BTreeMap::new();
        read(&source, &mut Vec::new(), &mut files);
        assert_eq!(circle(&files, IN_PIECES.contains(&name)), None, "files of {name} use each other");
    }
}

/// The files of a folder, by module: `a::b`; the root is empty. Files of tests are left out.
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

/// Files that use each other in a circle, if any do. A module that hands on a child's items (`pub use`) does not use the
/// child: who takes the item from there uses the child. If a crate is `in_pieces`, a file does not use a file that it lies below.
fn circle(files: &BTreeMap<String, String>, in_pieces: bool) -> Option<Vec<String>> {
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
        let counts = |other: &String| other != module && !(in_pieces && is_below(module, other));
        uses.insert(module, found.filter(counts).collect());
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

/// Whether a module lies below another, the root aside.
fn is_below(module: &str, other: &str) -> bool {
    module.strip_prefix(other).is_some_and(|rest| rest.starts_with("::"))
}

/// A path in a file.
struct Mention {
    path: Vec<String>,
    /// Whether it is a `pub use`.
    hands_on: bool,
}

struct Crate<'a> {
    /// By module and name: the path that a `pub use` there names.
    handed_on: BTreeMap<(String, String), Vec<String>>,
    modules: BTreeSet<&'a str>,
}

impl Crate<'_> {
    /// The file that has what a path names, as it stands in the file of `module`; `None` of other crates' items.
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

/// The words and signs of a file, without comments, texts and what only tests have.
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

/// Every path in a file: those of `use`, each by itself, and those inside bodies.
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

/// The names with `::` between that the words begin with.
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
        circle(&named(files), false)
    }

    fn named(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(module, text)| ((*module).to_owned(), (*text).to_owned())).collect()
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
    fn a_piece_may_use_what_it_is_a_piece_of_and_no_other_piece_both_ways() {
        let piece =
            [("a", "mod c; fn f() { c::f(); }"), ("a::c", "use super::A;"), ("ab", "use crate::a::A;")];
        assert_eq!(circle(&named(&piece), true), None);
        let pieces = [("a", "mod c; mod d;"), ("a::c", "use super::d::D;"), ("a::d", "use super::c::C;")];
        assert_eq!(circle(&named(&pieces), true), Some(vec!["a::c".to_owned(), "a::d".to_owned()]));
        let outside = [("a", "mod c;"), ("a::c", "use crate::b::B;"), ("b", "use crate::a::c::C;")];
        assert_eq!(circle(&named(&outside), true), Some(vec!["a::c".to_owned(), "b".to_owned()]));
    }
}
