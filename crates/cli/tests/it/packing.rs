//! Packs a small file as the program, by `.ci/dist-pack`, and reads the archive, the Debian package and the image.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::{folder, names, stderr, stdout};

const EPOCH: &str = "1700000000";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Checks whether the scripts can run here; if not, prints why.
fn can_pack(test: &str, packages: bool) -> bool {
    let works = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    if !works("python3", &["-c", "import tomllib"]) {
        println!("skipped packing::{test}: .ci/dist-pack needs python3, version 3.11 or later");
        return false;
    }
    if packages && !works("dpkg-deb", &["--version"]) {
        println!("skipped packing::{test}: dpkg-deb is not installed");
        return false;
    }
    true
}

/// Runs `.ci/dist-pack` and returns the file that it wrote.
fn pack(words: &[&str]) -> PathBuf {
    let output = Command::new("python3")
        .arg(root().join(".ci/dist-pack"))
        .args(words)
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .env("FEATURES", "")
        .current_dir(root())
        .output()
        .expect("python3 runs");
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    PathBuf::from(stdout(&output).trim())
}

/// Packs a small program into an archive in `out`, for one architecture.
fn archive_for(architecture: &str, out: &Path) -> PathBuf {
    let program = out.join("program");
    fs::write(&program, "a program\n").expect("the folder can be written");
    let (program, host) = (program.to_string_lossy(), env!("CARGO_BIN_EXE_firstflight"));
    pack(&["archive", architecture, &program, host, &out.join("made").to_string_lossy()])
}

fn archive(out: &Path) -> PathBuf {
    archive_for("aarch64", out)
}

/// Unpacks an archive and returns the folder in it.
fn unpacked(archive: &Path, into: &Path) -> PathBuf {
    fs::create_dir_all(into).expect("the folder can be made");
    let status = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(into).status().expect("tar runs");
    assert!(status.success(), "{}", archive.display());
    into.to_owned()
}

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().expect("a list").iter().filter_map(|one| one[key].as_str()).collect()
}

#[test]
fn archive_package_and_image_of_the_same_inputs_are_the_same_bytes() {
    if !can_pack("archive_package_and_image_of_the_same_inputs_are_the_same_bytes", true) {
        return;
    }
    let made: Vec<_> = ["packing-first", "packing-second"]
        .map(folder)
        .iter()
        .map(|out| {
            let archive = archive(out).to_string_lossy().into_owned();
            pack(&["deb", &archive]);
            pack(&["image", &archive]);
            out.join("made")
        })
        .collect();
    let files = names(&made[0]);
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        format!("firstflight-{version}-aarch64-unknown-linux-musl.tar.gz"),
        format!("firstflight-{version}-oci.tar"),
        format!("firstflight_{version}_arm64.deb"),
    ];
    assert_eq!(files, expected);
    for file in &files {
        let [first, second] = [&made[0], &made[1]].map(|made| fs::read(made.join(file)).expect("a file"));
        assert_eq!(sha256(&first), sha256(&second), "{file}");
    }
}

#[test]
fn the_checksums_of_an_archive_are_those_of_all_its_files() {
    if !can_pack("the_checksums_of_an_archive_are_those_of_all_its_files", false) {
        return;
    }
    let out = folder("packing-sums");
    let below = unpacked(&archive(&out), &out.join("unpacked"));
    let below = below.join(&names(&below)[0]);
    let sums = fs::read_to_string(below.join("SHA256SUMS")).expect("a file");
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").expect("a sum and a name");
        assert_eq!(sum, sha256(&fs::read(below.join(name)).expect("a file")), "{name}");
    }
    let found = Command::new("find").arg(&below).args(["-type", "f"]).output().expect("find runs");
    assert_eq!(sums.lines().count() + 1, stdout(&found).lines().count());
    for name in [
        "bin/firstflight",
        "share/man/man1/firstflight-race.1",
        "share/firstflight/objects/MANIFEST",
        "lib/systemd/system/firstflight-watch.service",
        "etc/firstflight/watch.conf",
        "THIRD-PARTY.txt",
        "LICENSE-MIT",
    ] {
        assert!(sums.lines().any(|line| line.ends_with(&format!("  {name}"))), "{name} is not in\n{sums}");
    }
}

#[test]
fn the_bill_of_materials_has_the_crates_of_the_program_with_the_checksums_of_the_lock() {
    if !can_pack("the_bill_of_materials_has_the_crates_of_the_program_with_the_checksums_of_the_lock", false)
    {
        return;
    }
    let out = folder("packing-bill");
    let below = unpacked(&archive(&out), &out.join("unpacked"));
    let below = below.join(&names(&below)[0]);
    let bill = json(&below.join("SBOM.cdx.json"));
    let licences = fs::read_to_string(below.join("THIRD-PARTY.txt")).expect("a file");
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the lock");
    let lock: toml::Table = toml::from_str(&lock).expect("TOML");
    let locked = lock["package"].as_array().expect("packages");
    let components = bill["components"].as_array().expect("a list");
    for component in components {
        let (name, version) = (component["name"].as_str().expect("a name"), component["version"].as_str());
        let Some(checksum) = component["hashes"][0]["content"].as_str() else { continue };
        let is_it = |package: &&toml::Value| {
            package["name"].as_str() == Some(name) && package["version"].as_str() == version
        };
        let package = locked.iter().find(is_it).unwrap_or_else(|| panic!("{name} is not in the lock"));
        assert_eq!(package["checksum"].as_str(), Some(checksum), "{name}");
        let reference = component["bom-ref"].as_str().expect("a reference");
        assert!(
            licences.lines().any(|line| line.starts_with(&format!("{reference} "))),
            "no licence of {reference}"
        );
    }
    let references = texts(&bill["components"], "bom-ref");
    let mut once = references.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), references.len());
    for dependency in bill["dependencies"].as_array().expect("a list") {
        for need in dependency["dependsOn"].as_array().expect("a list") {
            assert!(references.contains(&need.as_str().expect("a reference")), "{need} is no component");
        }
    }
    let scope = |name: &str| {
        components.iter().find(|component| component["name"] == name).map(|it| it["scope"].clone())
    };
    assert_eq!(scope("clap_builder"), Some("required".into()));
    assert_eq!(scope("clap_derive"), Some("excluded".into()), "a macro is in no program");
    assert_eq!(scope("insta"), None, "only tests use it");
    for embedded in ["plotly.js", "noto-sans"] {
        assert_eq!(scope(embedded), Some("required".into()), "{embedded}");
        assert!(licences.lines().any(|line| line.starts_with(&format!("{embedded}@"))), "{embedded}");
    }
    assert!(licences.contains("SIL OPEN FONT LICENSE") && licences.contains("Plotly Technologies Inc."));
    assert_eq!(bill["metadata"]["component"]["hashes"][0]["content"], sha256(b"a program\n"));
}

/// Returns the bytes of a blob of an image. The blob must have the digest and the size in `named`.
fn blob(layout: &Path, named: &Value) -> Vec<u8> {
    let digest =
        named["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("a digest");
    let bytes = fs::read(layout.join("blobs/sha256").join(digest)).expect("a blob");
    assert_eq!(sha256(&bytes), digest);
    assert_eq!(named["size"], bytes.len());
    bytes
}

#[test]
fn an_image_of_two_archives_has_an_index_with_a_platform_for_each() {
    if !can_pack("an_image_of_two_archives_has_an_index_with_a_platform_for_each", false) {
        return;
    }
    let out = folder("packing-platforms");
    let archives = ["x86_64", "aarch64"].map(|architecture| archive_for(architecture, &out));
    let [first, second] = archives.each_ref().map(|archive| archive.to_string_lossy());
    let layout = unpacked(&pack(&["image", &first, &second]), &out.join("layout"));
    let top = json(&layout.join("index.json"));
    assert_eq!(top["manifests"].as_array().map(Vec::len), Some(1), "podman refuses more");
    let index: Value = serde_json::from_slice(&blob(&layout, &top["manifests"][0])).expect("JSON");
    let found: Vec<_> = index["manifests"].as_array().expect("manifests").iter().collect();
    for (manifest, architecture) in found.iter().zip(["amd64", "arm64"]) {
        assert_eq!(manifest["platform"]["architecture"], architecture);
        let manifest: Value = serde_json::from_slice(&blob(&layout, manifest)).expect("JSON");
        let config: Value = serde_json::from_slice(&blob(&layout, &manifest["config"])).expect("JSON");
        assert_eq!(config["architecture"], architecture);
        blob(&layout, &manifest["layers"][0]);
    }
    assert_eq!(found.len(), 2);
}

#[test]
fn every_blob_of_an_image_has_the_digest_and_the_size_that_name_it() {
    if !can_pack("every_blob_of_an_image_has_the_digest_and_the_size_that_name_it", false) {
        return;
    }
    let out = folder("packing-image");
    let image = pack(&["image", &archive(&out).to_string_lossy()]);
    let layout = unpacked(&image, &out.join("layout"));
    let parsed = |named: &Value| serde_json::from_slice::<Value>(&blob(&layout, named)).expect("JSON");
    let top = json(&layout.join("index.json"));
    assert_eq!(top["manifests"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        top["manifests"][0]["annotations"]["io.containerd.image.name"],
        format!("localhost/firstflight:{}", env!("CARGO_PKG_VERSION"))
    );
    let manifest = parsed(&top["manifests"][0]);
    let config = parsed(&manifest["config"]);
    let mut layer = Vec::new();
    let packed = blob(&layout, &manifest["layers"][0]);
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut layer).expect("gzip");
    assert_eq!(config["architecture"], "arm64");
    assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", sha256(&layer)));
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/firstflight");
}

#[test]
fn a_package_has_settings_that_an_upgrade_keeps_and_no_scripts() {
    if !can_pack("a_package_has_settings_that_an_upgrade_keeps_and_no_scripts", true) {
        return;
    }
    let out = folder("packing-package");
    let package = pack(&["deb", &archive(&out).to_string_lossy()]);
    let said = |option: &str| {
        let mut command = Command::new("dpkg-deb");
        stdout(&command.arg(option).arg(&package).env("TZ", "UTC").output().expect("dpkg-deb runs"))
    };
    let control = out.join("control");
    let status =
        Command::new("dpkg-deb").arg("-e").args([&package, &control]).status().expect("dpkg-deb runs");
    assert!(status.success());
    assert_eq!(names(&control), ["conffiles", "control", "md5sums"]);
    let conffiles = fs::read_to_string(control.join("conffiles")).expect("a file");
    assert_eq!(conffiles, "/etc/firstflight/load-canary.conf\n/etc/firstflight/watch.conf\n");
    assert!(said("-f").contains("Architecture: arm64"), "{}", said("-f"));
    let contents = said("-c");
    assert!(contents.lines().all(|line| line.contains(" 2023-11-14 22:13 ")), "{contents}");
    let units = "./usr/lib/systemd/system/firstflight-watch.service";
    for (mode, name) in [("-rwxr-xr-x root/root", "./usr/bin/firstflight"), ("-rw-r--r-- root/root", units)] {
        let has = contents.lines().any(|line| line.starts_with(mode) && line.ends_with(&format!(" {name}")));
        assert!(has, "{name} in\n{contents}");
    }
}

#[test]
fn a_release_with_a_skipped_step_or_without_a_terminal_publishes_nothing() {
    let mut command = Command::new("bash");
    command.arg(root().join(".ci/release")).stdin(std::process::Stdio::null());
    for step in ["tree", "version", "items", "test", "crates", "dist", "wheel", "book", "tag"] {
        command.args(["--skip", step]);
    }
    let output = command.output().expect("bash runs");
    assert!(stdout(&output).contains("\nskipped  tag\n"), "{}", stdout(&output));
    assert!(stderr(&output).contains("nothing is published"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_unknown_step_of_a_release_is_refused_with_those_there_are() {
    let script = root().join(".ci/release");
    let output = Command::new("bash").arg(script).args(["--skip", "tets"]).output().expect("bash runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("`tets` is no step; there are tree, version, items, test"),
        "{}",
        stderr(&output)
    );
}
