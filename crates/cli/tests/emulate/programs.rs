//! Unmodified programs over a path.

use std::process::{Command, Stdio};

use crate::common::{folder, status, stderr, stdout, text};
use crate::machine::can_run;
use crate::setting::{emulate, nginx, noise, number, run};

#[test]
fn commands_get_addresses_input_and_output() {
    if !can_run("programs::commands_get_addresses_input_and_output", &[]) {
        return;
    }
    let words = "--rate 20mbit -- cat - {A}.txt -- sleep 60";
    let mut child = emulate(&words.split(' ').collect::<Vec<_>>());
    let folder = folder("emulate-input");
    std::fs::write(folder.join("10.0.0.1.txt"), "from a file\n").expect("a file");
    let input = folder.join("input");
    std::fs::write(&input, "from standard input\n").expect("a file");
    let input = std::fs::File::open(input).expect("a file");
    let output = child.current_dir(&folder).stdin(Stdio::from(input)).output().expect("it runs");
    let out = stdout(&output);
    assert!(out.starts_with("from standard input\nfrom a file\n"), "{out}{}", stderr(&output));
    assert!(out.contains("B: 10.0.0.2, asked to end; sleep 60"), "{out}");
    assert_eq!(status(&output), 0);
}

#[test]
fn hosts_see_nothing_but_each_other() {
    if !can_run("programs::hosts_see_nothing_but_each_other", &["ip"]) {
        return;
    }
    let see = "ip -o link | wc -l; ip -o route | wc -l; ls -d /proc/[0-9]* | wc -l; echo $FIRSTFLIGHT_A $FIRSTFLIGHT_B";
    let (output, result) = run("--rate 20mbit", see, "sleep 60");
    // The first process, the shell, and the pipe's two.
    let seen: Vec<String> = stderr(&output).split_whitespace().map(str::to_owned).collect();
    assert_eq!(
        (&seen[..2], &seen[3..5]),
        (&["2".into(), "1".into()][..], &["10.0.0.1".into(), "10.0.0.2".into()][..])
    );
    assert!(seen[2].parse::<u32>().is_ok_and(|count| count <= 5), "{seen:?}");
    assert_eq!(number(&result, "/forward/packets_in"), 0, "the kernel says nothing by itself");
}

#[test]
fn nginx_and_curl_transfer_every_byte_and_the_log_has_every_packet() {
    if !can_run(
        "programs::nginx_and_curl_transfer_every_byte_and_the_log_has_every_packet",
        &["nginx", "curl", "sysctl"],
    ) {
        return;
    }
    let folder = folder("emulate-nginx");
    let (served, got, log) = (folder.join("served"), folder.join("got"), folder.join("log.pcapng"));
    std::fs::write(&served, noise(2_000_000)).expect("a file");
    let page = folder.join("page.html");
    let options = format!(
        "--rate 20mbit --rtt 20ms --queue 30p --sender b --log {} --report {}",
        text(&log),
        text(&page)
    );
    let curl = format!("exec curl -sS -o {} http://{{B}}:8080/served", text(&got));
    // Reno doubles the window until a packet is lost. CUBIC leaves start-up early when the machine is busy, and then the queue drops
    // nothing.
    let server = format!("sysctl -qw net.ipv4.tcp_congestion_control=reno; {}", nginx(&folder));
    let (output, result) = run(&options, &curl, &server);
    assert_eq!(result["void"].as_bool().map(|_| status(&output)), Some(i32::from(result["void"] == true)));
    assert!(std::fs::read(&got).expect("a file") == noise(2_000_000), "bytes differ");
    let of = |place: &str| number(&result, place);
    let dropped = of("/forward/dropped/queue");
    assert!(dropped > 0, "{result}");
    assert_eq!(of("/forward/packets_in"), of("/forward/packets_out") + dropped + of("/forward/inside"));
    assert!(std::fs::read_to_string(&page).expect("a page").contains("10.0.0.2:8080"));
    if !can_run("programs::the_log_is_read_by_tshark", &["tshark"]) {
        return;
    }
    let packets = |filter: &str| {
        let checked =
            ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-Y", filter, "-T", "fields"];
        let fields = ["-e", "frame.number"];
        let mut tshark = Command::new("tshark");
        let lines = tshark.arg("-r").arg(&log).args(checked).args(fields).output().expect("tshark");
        lines.stdout.iter().filter(|byte| **byte == b'\n').count() as u64
    };
    let passed =
        ["in", "out"].map(|way| ["forward", "reverse"].map(|to| of(&format!("/{to}/packets_{way}"))));
    assert_eq!(packets("frame"), passed.iter().flatten().sum::<u64>());
    assert_eq!(packets("frame.comment contains \"dropped by the queue\""), dropped);
    // Linux writes a checksum of 0x0000 as 0xffff, as UDP requires, which means the same; tshark reports it as wrong.
    let wrong = "ip.checksum.status == 0 || (tcp.checksum.status == 0 && tcp.checksum != 0xffff)";
    assert_eq!(packets(wrong), 0);
}

#[test]
fn a_managed_queue_marks_the_kernels_tcp() {
    if !can_run("programs::a_managed_queue_marks_the_kernels_tcp", &["iperf3", "sysctl"]) {
        return;
    }
    let ecn = "sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3";
    let options = "--rate 20mbit --rtt 20ms --queue codel:1000p,ecn";
    let (_, result) = run(options, &format!("{ecn} -c {{B}} -t 2 -C cubic"), &format!("{ecn} -s -1"));
    assert!(number(&result, "/forward/marked") > 0, "{result}");
    assert_eq!(number(&result, "/forward/dropped/queue"), 0, "{result}");
}

#[test]
fn ipv6_crosses_the_path_where_packets_are_large_enough_for_it() {
    if !can_run("programs::ipv6_crosses_the_path_where_packets_are_large_enough_for_it", &["nginx", "curl"]) {
        return;
    }
    if !std::path::Path::new("/proc/net/if_inet6").exists() {
        println!("skipped emulate::programs::ipv6_crosses_the_path: it needs IPv6");
        return;
    }
    let folder = folder("emulate-v6");
    std::fs::write(folder.join("served"), "six").expect("a file");
    let server = nginx(&folder);
    let file = folder.join("nginx.conf");
    let configuration =
        std::fs::read_to_string(&file).expect("a file").replace("listen 8080", "listen [::]:8080");
    std::fs::write(file, configuration).expect("a file");
    let (output, result) = run("--rate 20mbit", "exec curl -sS http://[{B6}]:8080/served", &server);
    assert!(stderr(&output).starts_with("six"), "{}", stderr(&output));
    assert!(number(&result, "/forward/packets_out") > 4, "{result}");
}

#[test]
fn a_shell_at_host_a_prints_how_to_enter_host_b() {
    if !can_run("programs::a_shell_at_host_a_prints_how_to_enter_host_b", &["nsenter"]) {
        return;
    }
    let folder = folder("emulate-shell");
    let script = folder.join("script");
    std::fs::write(&script, "cat /proc/net/fib_trie | grep -c '10.0.0.1$'\nsleep 1\n").expect("a script");
    let mut shell = emulate(&["--rate", "20mbit", "--shell"]);
    let input = std::fs::File::open(script).expect("a script");
    shell.env("SHELL", "/bin/sh").stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = shell.spawn().expect("it runs");
    let mut said = std::io::BufReader::new(running.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("nsenter") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut said, &mut line).expect("a line") > 0, "no invitation");
    }
    let invited = format!("{} -c 'ip -br address show path0; ps ax | wc -l'", line.trim());
    let there = Command::new("sh").args(["-c", &invited]).output().expect("sh");
    let output = running.wait_with_output().expect("it ends");
    let there_out = String::from_utf8_lossy(&there.stdout).into_owned();
    assert!(
        there_out.contains("10.0.0.2 peer 10.0.0.1"),
        "{there_out}{}",
        String::from_utf8_lossy(&there.stderr)
    );
    assert_ne!(String::from_utf8_lossy(&output.stdout).lines().next(), Some("0"));
    assert_eq!(output.status.code(), Some(0));
}
