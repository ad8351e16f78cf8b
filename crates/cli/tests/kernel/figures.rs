//! `firstflight paper --habitat kernel`: figures in this machine's TCP, with nginx at the sending host.

use std::process::{Output, Stdio};

use firstflight_kernel::name_in_process;
use serde_json::Value;

use crate::common::{firstflight, folder, status, stderr, stdout};
use crate::{can_run, is_registered};

const HEAD: &str = "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'testbed'\n";

/// A claim that has to hold.
fn claim(id: &str, measured: &str, expected: &str) -> String {
    format!(
        "[[claim]]\nid = '{id}'\nsays = 's'\nsource = 'text'\nmeasured = '{measured}'\nexpected = '{expected}'\ntolerance = 'n'\n\
         status = 'not_testable'\nwhy = 'real packets alone'\n"
    )
}

/// Returns the output of `paper check --habitat kernel --json` for the ledger of one figure of this name with these claims.
///
/// Asserts that nothing the command loaded is left in the kernel.
fn checked(name: &str, scenario: &str, claims: &[(&str, &str, &str)]) -> (Output, Vec<Value>) {
    let folder = folder(name);
    let past = folder.join("past");
    std::fs::create_dir_all(&past).expect("a folder");
    let text =
        claims.iter().fold(format!("{HEAD}[scenario]\n{scenario}"), |text, (id, measured, expected)| {
            text + &claim(id, measured, expected)
        });
    let there = claims.iter().map(|(id, ..)| format!("{id} = {{ status = 'holds' }}\n"));
    let text = text + "[habitat.kernel.claims]\n" + &there.collect::<String>();
    std::fs::write(past.join("figure-1.toml"), text).expect("a file");
    let ledger = folder.to_string_lossy().into_owned();
    let child = firstflight()
        .args(["paper", "check", "--habitat", "kernel", "--ledger", &ledger, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let process = child.id();
    let output = child.wait_with_output().expect("the command ends");
    assert!((0..100).all(|number| !is_registered(&name_in_process(process, number))));
    drop(std::fs::remove_dir_all(&folder));
    let lines = stdout(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    (output, lines)
}

/// Every claim holds.
fn hold(name: &str, scenario: &str, claims: &[(&str, &str, &str)]) {
    let (output, results) = checked(name, scenario, claims);
    if stderr(&output).contains("stayed invalid") {
        println!("skipped kernel::figures: a run of {name} stayed invalid on this machine");
        return;
    }
    assert_eq!(status(&output), 0, "{}: {results:#?}", stderr(&output));
    assert_eq!(results.len(), claims.len());
    for result in &results {
        assert_eq!((&result["status"], &result["habitat"]), (&"holds".into(), &"kernel".into()), "{result}");
    }
}

/// 300 kB over 20 Mbit/s and 40 ms: the kernel's own reno, a loaded scheme, and Quick-Start in addition to reno.
#[test]
fn a_transfer_has_the_scheme_of_its_row_in_the_servers_sockets() {
    let name = "figures::a_transfer_has_the_scheme_of_its_row_in_the_servers_sockets";
    if !can_run(name, &["nginx"]) {
        return;
    }
    let scenario = "rate = '20mbit'\nrtt = '40ms'\nqueue = '100p'\nsize = '300kB'\nschemes = ['slow-start:avoidance=reno,as=reno', \
                    'hystart:avoidance=reno,as=hystart', 'quick-start:request=10.24mbit,avoidance=reno,as=asked']\n";
    let claims = [
        // The minimum: a handshake, the transfer at the rate, and the propagation of the last packet.
        ("reno", "fct_s[reno]", "between 0.186 and 0.6"),
        ("train", "exit_cause[hystart] == \"ack-train\"", "= 1 within 0"),
        ("window", "exit_cwnd_packets[hystart]", "between 30 and 150"),
        ("approved", "granted_rate_bps[asked]", "= 10.24mbit within 0"),
        ("faster", "fct_s[asked] / fct_s[reno]", "< 0.95"),
    ];
    hold("figure-transfer", scenario, &claims);
}

/// Two replies of 8 segments with 1.5 s between: without a restart policy the whole window is sent at once, with RFC 5681's it is not.
#[test]
fn replies_in_rounds_restart_by_the_policy_of_their_row() {
    let name = "figures::replies_in_rounds_restart_by_the_policy_of_their_row";
    if !can_run(name, &["nginx"]) {
        return;
    }
    let scenario = "rate = '1mbit'\nrtt = '40ms'\nqueue = '100p'\nmss = 500\nsize = '8kB'\nrounds = 2\nidle = '1500ms'\niw = '2p'\n\
                    rwnd = '4kB'\n\
                    schemes = ['slow-start:avoidance=reno,restart=nssr,as=nssr', 'slow-start:avoidance=reno,restart=ssr,as=ssr']\n";
    let claims = [
        ("whole", "burst_packets[nssr]", "between 7 and 9"),
        ("held", "burst_packets[ssr]", "<= 4"),
        ("later", "elapsed_s[ssr] / elapsed_s[nssr]", "> 1.1"),
    ];
    hold("figure-rounds", scenario, &claims);
}

/// Web users for 8 s, in both directions: files have the drawn sizes, and rates within the path's.
#[test]
fn users_ask_for_the_simulators_files_both_ways() {
    let name = "figures::users_ask_for_the_simulators_files_both_ways";
    if !can_run(name, &["nginx"]) {
        return;
    }
    let scenario = "rate = '20mbit'\nrtt = '20ms'\nqueue = '66p'\nreverse-queue = '66p'\ntopology = 'dumbbell:hosts=1,ways=onward'\n\
                    flows = 1000\narrivals = 'users:4'\nsize = '20kB'\nsizes = 'fixed'\nlimit = '8s'\nwindows = '0s..8s'\n\
                    cross = 'users:4,20kB,way=reverse'\nschemes = ['slow-start:avoidance=reno,as=reno']\n";
    let claims = [
        ("some", "count(flow.throughput_bps[reno])", ">= 8"),
        ("sizes", "median(flow.size_bytes[reno])", "between 19.99kB and 20kB"),
        ("rates", "max(flow.throughput_bps[reno])", "between 0.5mbit and 8mbit"),
        ("carried", "goodput_bps_0s_8s[reno]", "between 0.1mbit and 8mbit"),
        ("dropped", "dropped_packets_0s_8s[reno]", "= 0 within 0"),
    ];
    hold("figure-users", scenario, &claims);
}
