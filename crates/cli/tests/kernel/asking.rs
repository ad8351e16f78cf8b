//! Quick-Start at two hosts of this machine's kernel, for unmodified nginx and curl.

use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::common::{folder, status, stderr, stdout};
use crate::setting::{nginx, noise, number};
use crate::{PROGRAM, can_run, comes, kernel, said};

/// Runs a download of 300 kB from nginx at host B, whose connection requests a rate, over a path with these options.
fn download(name: &str, options: &str) -> (Output, Value) {
    let folder = folder(name);
    std::fs::write(folder.join("page"), noise(300_000)).expect("a file");
    let server = nginx(&folder);
    let fixed = "run quick-start --handover reno --sender b --rate 20mbit --rtt 40ms --queue 100p --json";
    let words: Vec<&str> = fixed.split(' ').chain(options.split_whitespace()).collect();
    let curl = "exec curl -sS -o /dev/null http://{B}:8080/page";
    let ends = ["--", "sh", "-c", curl, "--", "sh", "-c", &server];
    let output = said(&[&words[..], &ends].concat());
    let result = serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|error| panic!("{name}: {error}: {}", stderr(&output)));
    (output, result)
}

/// Returns the outcome of the only connection of a run.
fn outcome(result: &Value) -> &str {
    let asked = result["quick_start"].as_array().expect("connections that asked");
    assert_eq!(asked.len(), 1, "{result}");
    asked[0]["outcome"].as_str().expect("a word")
}

/// 10.24 Mbit/s is the highest rate of RFC 4782 table 1 below the 95 % of 20 Mbit/s that the routers approve. In an RTT of 40.2 ms it
/// carries 34 packets of 1500 bytes.
#[test]
fn unaware_programs_start_at_the_rate_approved_by_all_routers() {
    let name = "asking::unaware_programs_start_at_the_rate_approved_by_all_routers";
    if !can_run(name, &["nginx", "curl"]) {
        return;
    }
    let (_, result) = download("quick-start-approved", "");
    assert_eq!(outcome(&result), "approved", "{result}");
    let asked = &result["quick_start"][0];
    assert_eq!(asked["local"], "10.0.0.2:8080", "the server has the data, and asks in its SYN-ACK");
    assert_eq!(asked["requested_bps"], 1_310_720_000, "nobody knows at the SYN-ACK what will be sent");
    assert_eq!(asked["approved_bps"], 10_240_000);
    assert_eq!((&asked["window_packets"], &asked["round_packets"]), (&34.into(), &34.into()), "{result}");
    assert_eq!(number(&result, "/forward/dropped/queue"), 0, "{result}");
    assert_eq!(number(&result, "/forward/quick_start_asked"), 2, "each of two links was asked once");
}

#[test]
fn ipv6_asks_in_a_hop_by_hop_header() {
    if !can_run("asking::ipv6_asks_in_a_hop_by_hop_header", &["nginx", "curl"]) {
        return;
    }
    let folder = folder("quick-start-v6");
    std::fs::write(folder.join("page"), noise(300_000)).expect("a file");
    let server = nginx(&folder);
    let file = folder.join("nginx.conf");
    let text = std::fs::read_to_string(&file).expect("a configuration");
    std::fs::write(&file, text.replace("listen 8080;", "listen [::]:8080;")).expect("a configuration");
    let fixed = "run quick-start --sender b --rate 20mbit --rtt 40ms --json --";
    let words: Vec<&str> = fixed.split(' ').collect();
    let ends = ["curl", "-gsS", "-o", "/dev/null", "http://[{B6}]:8080/page", "--", "sh", "-c", &server];
    let output = said(&[&words[..], &ends].concat());
    let result: Value = serde_json::from_str(&stdout(&output)).expect("a result");
    assert_eq!(outcome(&result), "approved", "{result}");
    assert_eq!(result["quick_start"][0]["local"], "[fd00:ff::2]:8080");
}

#[test]
fn an_unapproved_request_falls_back_to_normal_start_with_a_reason() {
    if !can_run("asking::an_unapproved_request_falls_back_to_normal_start_with_a_reason", &["nginx", "curl"])
    {
        return;
    }
    for (options, wanted) in [
        ("--qs-hops none", "passed-by"),
        ("--qs-hops 1", "passed-by"),
        ("--qs-router threshold=0.4%", "denied"),
        ("--qs-router reduction=no", "denied"),
        // The first packet from B is dropped: the second SYN-ACK has no request.
        ("--loss 40% --seed 3", "lost"),
        // 1.28 Mbit/s are 4 packets a round trip.
        ("--qs-router threshold=10%", "small"),
    ] {
        let (_, result) = download("quick-start-refused", options);
        assert_eq!(outcome(&result), wanted, "{options}: {result}");
        assert_eq!(result["quick_start"][0]["round_packets"], Value::Null, "{options}");
        assert_eq!(result["a"]["exit_code"], 0, "{options}: {result}");
    }
}

/// Only host A has Quick-Start: B ignores the option of the IP header.
#[test]
fn a_host_without_it_answers_nothing() {
    if !can_run("asking::a_host_without_it_answers_nothing", &["iperf3"]) {
        return;
    }
    let a = format!(
        "exec 3>&1; {{ setpriv --pdeathsig KILL {PROGRAM} kernel load quick-start --interface path0 & echo $! >&4; wait; }} \
         4>&1 | {{ read P; read LINE; echo \"$LINE\" >&3; iperf3 -c {{B}} -n 100K >/dev/null; kill -TERM $P; cat >&3; }}"
    );
    let words =
        ["emulate", "--rate", "20mbit", "--rtt", "20ms", "--", "sh", "-c", &a, "--", "iperf3", "-s", "-1"];
    let mut command = Command::new("setpriv");
    let output = command
        .args(["--pdeathsig", "KILL", PROGRAM])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("the command runs");
    let out = stdout(&output);
    assert!(out.contains("quick-start is attached to path0"), "{out}{}", stderr(&output));
    let line = out.lines().find(|line| line.contains("10.0.0.1:")).unwrap_or_else(|| panic!("{out}"));
    assert!(line.contains("> 10.0.0.2:5201: no answer"), "{out}");
}

/// Runs a script in a shell in a new network namespace. Two more processes, A and B, have a namespace each. All of them end with the shell.
fn in_three_namespaces(script: &str) -> Output {
    let others = "setpriv --pdeathsig KILL unshare --net setpriv --pdeathsig KILL sleep 60 & A=$!
        setpriv --pdeathsig KILL unshare --net setpriv --pdeathsig KILL sleep 60 & B=$!
        until [ $(readlink /proc/$A/ns/net) != $(readlink /proc/self/ns/net) ] &&
            [ $(readlink /proc/$B/ns/net) != $(readlink /proc/self/ns/net) ]; do sleep 0.05; done";
    let shell =
        ["--pdeathsig", "KILL", "timeout", "60", "unshare", "--net", "--kill-child", "--fork", "sh", "-c"];
    let script = format!("{others}\n{script}");
    let output = Command::new("setpriv").args(shell).arg(script).stdin(Stdio::null()).output();
    output.expect("the commands run")
}

/// A chain of three namespaces: A, this shell's as the router, and B, whose server sends a request in its SYN-ACK. The SYN of A passes the
/// other interface of the router, at which nothing answers.
#[test]
fn a_router_approves_what_its_link_has_left() {
    if !can_run("asking::a_router_approves_what_its_link_has_left", &["nginx", "curl", "ip", "nsenter"]) {
        return;
    }
    let folder = folder("quick-start-router");
    std::fs::write(folder.join("page"), noise(20_000)).expect("a file");
    let server = nginx(&folder);
    let out = folder.display();
    let script = format!(
        "F={PROGRAM}; O={out}
        side() {{
            ip link add ${{1}}1 type veth peer name ${{1}}0 netns $2 || exit
            ip addr add 10.78.$3.254/24 dev ${{1}}1; ip link set ${{1}}1 up
            nsenter -t $2 -n sh -c \"ip addr add 10.78.$3.1/24 dev ${{1}}0; ip link set ${{1}}0 up; ip route add default via 10.78.$3.254\"
        }}
        side a $A 1; side b $B 2
        echo 1 >/proc/sys/net/ipv4/ip_forward
        $F kernel router --interface a1 --rate 20mbit --json >$O/router 2>$O/router.err & R=$!
        nsenter -t $A -n $F kernel load quick-start --interface a0 >$O/a & QA=$!
        nsenter -t $B -n $F kernel load quick-start --interface b0 >$O/b & QB=$!
        for file in router.err a b; do until grep -q attached $O/$file; do sleep 0.1; done; done
        nsenter -t $B -n sh -c '{server}' & N=$!
        until nsenter -t $A -n curl -sS -o /dev/null http://10.78.2.1:8080/page 2>/dev/null; do sleep 0.1; done
        sleep 0.2
        kill -TERM $R $QA $QB; wait $R $QA $QB
        kill $N $A $B"
    );
    let output = in_three_namespaces(&script);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let (a, b, router) = (read("a"), read("b"), read("router"));
    let output_of = format!("{a}{b}{router}{}{}", read("router.err"), stderr(&output));
    assert!(a.contains("> 10.78.2.1:8080: a router on the way does not take part"), "{output_of}");
    assert!(b.contains("10.78.2.1:8080 > 10.78.1.1:") && b.contains(": 10.2 Mbit/s approved"), "{output_of}");
    let counts: Value = serde_json::from_str(&router).expect("counts");
    assert_eq!((&counts["asked"], &counts["reduced"]), (&1.into(), &1.into()), "{output_of}");
    assert!(number(&counts, "/packets") > 3, "{output_of}");
}

/// A middlebox between two interfaces. Its first argument sets the treatment of options of IPv4 headers: `strip` makes them no-operations,
/// and `drop` drops the packet.
const MIDDLEBOX: &str = r#"
import select, socket, struct, sys
how, *names = sys.argv[1:]
def sum16(data):
    data = bytes(data) + bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16: total = (total & 0xffff) + (total >> 16)
    return struct.pack("!H", ~total & 0xffff)
def passed(frame):
    frame = bytearray(frame)
    if frame[12:14] != b"\x08\x00": return frame
    end = 14 + 4 * (frame[14] & 15)
    if end > 34 and how == "drop": return None
    frame[34:end] = b"\x01" * (end - 34)
    frame[24:26] = bytes(2)
    frame[24:26] = sum16(frame[14:end])
    tcp = frame[end:14 + struct.unpack("!H", frame[16:18])[0]]
    # Between interfaces of one machine the sum of a segment is left to whoever needs it.
    if frame[23] == 6:
        tcp[16:18] = bytes(2)
        tcp[16:18] = sum16(frame[26:34] + struct.pack("!HH", 6, len(tcp)) + tcp)
    return frame[:end] + tcp
ends = []
for name in names:
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    end.bind((name, 0))
    SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC = 263, 1, 1
    end.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack("iHH8s", socket.if_nametoindex(name), PACKET_MR_PROMISC, 0, b""))
    ends.append(end)
print("attached", flush=True)
while True:
    for end in select.select(ends, [], [])[0]:
        frame, (_, _, kind, *_) = end.recvfrom(65535)
        frame = passed(frame) if kind != socket.PACKET_OUTGOING else None
        if frame: ends[1 - ends.index(end)].send(frame)
"#;

/// Two namespaces, and between them this shell's with the middlebox. Both hosts send requests, A in its SYN and B, which has the data, in
/// its SYN-ACK.
#[test]
fn middlebox_interference_with_the_option_voids_the_request_and_is_reported() {
    let name = "asking::middlebox_interference_with_the_option_voids_the_request_and_is_reported";
    if !can_run(name, &["python3", "ip", "nsenter"]) {
        return;
    }
    let server = "import socket
l=socket.create_server((\"\",8081)); print(\"listening\", flush=True); s,_=l.accept(); s.send(bytes(20000)); s.close()";
    let client = "import socket
s=socket.create_connection((\"10.78.1.2\",8081)); n=0
while d:=s.recv(65536): n+=len(d)
print(n)";
    for (how, told_by_a, told_by_b) in [
        ("strip", ["no answer"; 2], "no answer"),
        // A's second SYN was sent without the request: the middlebox does not reveal which of the two causes applies.
        ("drop", ["no answer", "the SYN with the request was lost"], "the SYN with the request was lost"),
    ] {
        let folder = folder(&format!("quick-start-{how}"));
        std::fs::write(folder.join("box.py"), MIDDLEBOX).expect("a file");
        let out = folder.display();
        let script = format!(
            "F={PROGRAM}; O={out}
            side() {{
                ip link add ${{1}}1 type veth peer name ${{1}}0 netns $2 || exit
                ip link set ${{1}}1 up
                nsenter -t $2 -n sh -c \"ip addr add 10.78.1.$3/24 dev ${{1}}0; ip link set ${{1}}0 gso_max_segs 1; ip link set ${{1}}0 up\"
            }}
            side a $A 1; side b $B 2
            python3 $O/box.py {how} a1 b1 >$O/box & M=$!
            nsenter -t $A -n $F kernel load quick-start --interface a0 >$O/a & QA=$!
            nsenter -t $B -n $F kernel load quick-start --interface b0 >$O/b & QB=$!
            for file in box a b; do until grep -q attached $O/$file; do sleep 0.1; done; done
            nsenter -t $B -n python3 -c '{server}' >$O/server & N=$!
            until grep -q listening $O/server; do sleep 0.1; done
            nsenter -t $A -n python3 -c '{client}' >$O/client; wait $N
            kill -TERM $QA $QB; wait $QA $QB
            kill $M $A $B"
        );
        let output = in_three_namespaces(&script);
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        let (a, b) = (read("a"), read("b"));
        let output_of = format!("{how}: {a}{b}{}", stderr(&output));
        assert_eq!(read("client").trim(), "20000", "{output_of}");
        let from_a = a.lines().find(|line| line.contains("> 10.78.1.2:8081: "));
        assert!(from_a.is_some_and(|line| told_by_a.iter().any(|word| line.contains(word))), "{output_of}");
        let from_b = b.lines().find(|line| line.contains("10.78.1.2:8081 > 10.78.1.1:"));
        assert!(from_b.is_some_and(|line| line.contains(told_by_b)), "{output_of}");
    }
}

/// The client sends 10 kB, at whose end the window is mostly unused, and after a pause as much as the window allows. 34 packets at 10.24
/// Mbit/s never wait before a link of 12 Mbit/s; at twice that, 14 of them would, and the queue has room for 8. The first ten packets are
/// not paced.
#[test]
fn a_window_that_was_not_used_is_sent_at_the_approved_rate() {
    let name = "asking::a_window_that_was_not_used_is_sent_at_the_approved_rate";
    if !can_run(name, &["python3"]) {
        return;
    }
    let client = "import socket,time,sys
s=socket.create_connection((sys.argv[1],8081)); s.send(b'x'*10000); time.sleep(.12); s.send(b'x'*48000); s.shutdown(1); s.recv(1)";
    let server = "import socket
l=socket.create_server(('',8081)); s,_=l.accept()
while s.recv(65536): pass";
    let fixed = "run quick-start --handover reno --sender a --rate 12mbit --rtt 40ms --queue 8p --json --";
    let words: Vec<&str> = fixed.split(' ').collect();
    let output =
        said(&[&words[..], &["python3", "-c", client, "{B}", "--", "python3", "-c", server]].concat());
    let result: Value =
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    assert_eq!(outcome(&result), "approved", "{result}");
    assert_eq!(number(&result, "/forward/dropped/queue"), 0, "{result}");
}

/// Two instances would put two requests into a SYN.
#[test]
fn a_second_quick_start_in_a_namespace_is_refused() {
    if !can_run("asking::a_second_quick_start_in_a_namespace_is_refused", &["unshare"]) {
        return;
    }
    let script = format!(
        "setpriv --pdeathsig KILL {PROGRAM} kernel load quick-start --interface lo >$0 & P=$!
        until grep -qs attached $0; do sleep 0.1; kill -0 $P || exit 9; done
        {PROGRAM} kernel load quick-start --interface lo; S=$?; kill -TERM $P; wait $P; exit $S"
    );
    let out = folder("quick-start-second").join("out");
    let output = Command::new("timeout")
        .args(["30", "unshare", "--net", "sh", "-c", &script])
        .arg(out)
        .stdin(Stdio::null())
        .output()
        .expect("the commands run");
    let err = stderr(&output);
    assert!(err.contains("error: lo: quick-start is attached in this network namespace already"), "{err}");
    assert_eq!((status(&output), err.lines().count()), (2, 1), "{err}");
}

#[test]
fn invalid_quick_start_arguments_are_refused_with_a_reason() {
    if !can_run("asking::invalid_quick_start_arguments_are_refused_with_a_reason", &[]) {
        return;
    }
    for (words, wanted) in [
        (&["load", "quick-start"][..], "--interface NAME is wanted"),
        (&["load", "quick-start", "--interface", "lo", "--pin"], "--pin: quick-start lasts as long as"),
        (&["load", "quick-start", "--interface", "no0"], "there is no interface `no0`"),
        (&["load", "quick-start", "--interface", "lo", "--name", "ff_x"], "--name: quick-start is no"),
        (&["load", "hystart", "--interface", "lo"], "--interface: quick-start alone is attached"),
        (&["load", "quick-start:profile=scharf", "--interface", "lo"], "profile cannot be set in the kernel"),
        (&["run", "quick-start", "--trace", "x", "--", "true", "--", "true"], "--trace: quick-start is no"),
        (&["router", "--interface", "no0", "--rate", "1mbit"], "there is no interface `no0`"),
        (&["router", "--interface", "lo", "--rate", "1"], "--rate: "),
        (&["router", "--interface", "lo", "--rate", "1mbit", "--qs-router", "x=1"], "--qs-router: "),
        (
            &["router", "--interface", "lo", "--rate", "1mbit", "--qs-router", "interval=2s,slots=2"],
            "its interval of measurement is above 1 s",
        ),
        (
            &["run", "quick-start:request=5gbit", "--", "true", "--", "true"],
            "request is 5gbit, allowed is a rate from 0bit to 1.31072gbit",
        ),
        (
            &["router", "--interface", "lo", "--rate", "1mbit", "--queue", "2h"],
            "the queue before its link is above 1 h",
        ),
        (&["router", "--interface", "lo", "--rate", "1mbit", "--queue", "x"], "--queue: "),
    ] {
        let output = said(words);
        let err = stderr(&output);
        assert_eq!(status(&output), 2, "{words:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(wanted), "{words:?}: {err}");
    }
}

/// Returns the numbers of the kernel's links that a process holds: programs at interfaces, and one that observes sockets.
fn links(process: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    let number =
        |text: String| Some(text.lines().find_map(|line| line.strip_prefix("link_id:"))?.trim().to_owned());
    texts.filter_map(number).collect()
}

#[test]
fn nothing_of_quick_start_is_left_when_it_is_killed() {
    if !can_run("asking::nothing_of_quick_start_is_left_when_it_is_killed", &["bpftool"]) {
        return;
    }
    let words = ["load", "quick-start", "--interface", "lo"];
    let mut child: Child = kernel(&words).stdout(Stdio::null()).spawn().expect("setpriv runs");
    comes("it is attached", || links(child.id()).len() == 3);
    let held = links(child.id());
    let is_there = |link: &String| {
        let output = Command::new("bpftool").args(["link", "show", "id", link]).output();
        output.expect("bpftool runs").status.success()
    };
    assert!(held.iter().all(is_there), "{held:?}");
    child.kill().expect("it is there");
    child.wait().expect("it ended");
    comes("it is gone", || !held.iter().any(is_there));
}
