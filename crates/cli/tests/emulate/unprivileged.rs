//! Without root.

use std::process::{Command, Output};

use crate::common::stderr;
use crate::machine::can_run;

/// Returns the output of the command as a user without rights. `device` is a shell command that runs first, in a separate mount namespace.
fn as_nobody(device: &str, command: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_firstflight");
    let drop = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all";
    let script = format!("{device} && exec {drop} {program} {command}");
    Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().expect("unshare")
}

const EMULATE: &str = "emulate --rate 20mbit -- sh -c 'id -u; cat /proc/net/route | wc -l' -- sleep 60";

#[test]
fn an_unprivileged_user_can_emulate_hosts_where_user_namespaces_are_allowed() {
    const TEST: &str =
        "unprivileged::an_unprivileged_user_can_emulate_hosts_where_user_namespaces_are_allowed";
    if !can_run(TEST, &["setpriv", "unshare", "mknod"]) {
        return;
    }
    let output = as_nobody("mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200", EMULATE);
    let said = stderr(&output);
    if said.contains("a kernel that lets users make user namespaces")
        || said.contains("Permission denied (os error 13)")
    {
        println!("skipped emulate::{TEST}: this system keeps namespaces, or this folder, from users");
        return;
    }
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.starts_with("0\n"), "the user is root in its namespaces: {out}{said}");
    assert!(out.contains("packets in"), "{out}{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn a_user_without_device_access_receives_a_one_line_error() {
    const TEST: &str = "unprivileged::a_user_without_device_access_receives_a_one_line_error";
    if !can_run(TEST, &["setpriv", "unshare", "mknod"]) {
        return;
    }
    let output = as_nobody("mount -t tmpfs none /dev/net && mknod -m 600 /dev/net/tun c 10 200", EMULATE);
    let said = stderr(&output);
    if output.status.code() == Some(126) || output.status.code() == Some(127) {
        println!("skipped emulate::{TEST}: this folder is kept from users");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("/dev/net/tun") || said.contains("needs root"), "{said}");
}

#[test]
fn a_comparison_without_rights_says_so_in_one_line_before_anything_runs() {
    const TEST: &str = "unprivileged::a_comparison_without_rights_says_so_in_one_line_before_anything_runs";
    if !can_run(TEST, &["setpriv", "unshare", "mknod"]) {
        return;
    }
    let command = "compare --rate 20mbit --schemes slow-start";
    let output = as_nobody("mount -t tmpfs none /dev/net && mknod -m 600 /dev/net/tun c 10 200", command);
    let said = stderr(&output);
    if output.status.code() == Some(126) || output.status.code() == Some(127) {
        println!("skipped emulate::{TEST}: this folder is kept from users");
        return;
    }
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("`--habitats sim-rfc,sim-linux`"), "{said}");
}

#[test]
fn figures_on_real_packets_are_skipped_by_name_without_rights() {
    const TEST: &str = "unprivileged::figures_on_real_packets_are_skipped_by_name_without_rights";
    if !can_run(TEST, &["setpriv", "unshare", "mknod"]) {
        return;
    }
    let command = "paper check past --habitat live";
    let output = as_nobody("mount -t tmpfs none /dev/net && mknod -m 600 /dev/net/tun c 10 200", command);
    let said = stderr(&output);
    if output.status.code() == Some(126) || output.status.code() == Some(127) {
        println!("skipped emulate::{TEST}: this folder is kept from users");
        return;
    }
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{said}");
    for figure in ["past/figure-1", "past/table-4"] {
        assert!(said.contains(&format!("skipped: {figure}: ")), "{said}");
    }
}
