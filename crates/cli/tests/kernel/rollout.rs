//! Rollouts: which connections get a scheme, what is shown before, and what is left after any end.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use firstflight_kernel::{Keeper, Namespace, Prefix, Share, Socket, list, rollouts, sockets};
use serde_json::Value;

use super::{can_run, comes, is_registered, kernel, loaded, said, shell};
use crate::common::{status, stderr, stdout};

/// A network namespace that ends with the test.
struct Place(Child);

impl Place {
    fn new() -> Self {
        let mut command = Command::new("setpriv");
        command.args([
            "--pdeathsig",
            "KILL",
            "unshare",
            "--net",
            "sh",
            "-c",
            "ip link set lo up && echo && exec sleep 1000",
        ]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("unshare runs");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("piped");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a line");
        Self(child)
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.0.id())
    }

    fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        Namespace::named(&self.path()).and_then(|namespace| namespace.within(act)).expect("root may enter")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).ok();
    }
}

/// Connects to a listener at each address, and returns the sockets that connected, in the order of the addresses.
fn connected(addresses: &[IpAddr]) -> Vec<Socket> {
    let listener = TcpListener::bind("[::]:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let streams: Vec<TcpStream> =
        addresses.iter().map(|address| TcpStream::connect((*address, port)).expect("it listens")).collect();
    let all = sockets().expect("a list");
    let own = |stream: &TcpStream| {
        let local = stream.local_addr().expect("an address");
        let is_own = |socket: &&Socket| socket.local == local && !socket.listens;
        all.iter().find(is_own).expect("it is listed").clone()
    };
    streams.iter().map(own).collect()
}

fn end(mut child: Child, name: &str) {
    child.kill().expect("it is there");
    child.wait().expect("it ended");
    comes("it is unregistered", || !is_registered(name));
}

#[test]
fn connections_get_a_scheme_by_prefix_and_others_keep_the_default() {
    if !can_run("connections_get_a_scheme_by_prefix_and_others_keep_the_default", &["ip"]) {
        return;
    }
    let (place, name) = (Place::new(), "ff_test_to");
    let netns = format!("--netns={}", place.path());
    let words = ["load", "slow-start", "--name", name, "--to", "127.0.0.8/29", "--to", "::1", &netns];
    let child = loaded(&words).expect("it loads");
    let to: Vec<Prefix> = ["127.0.0.8/29", "::1"].map(|text| text.parse().expect("a prefix")).to_vec();
    let mut addresses: Vec<IpAddr> = (1..=16).map(|last| IpAddr::from([127, 0, 0, last])).collect();
    addresses.push("::1".parse().expect("an address"));
    for (address, socket) in addresses.iter().zip(place.within(|| connected(&addresses))) {
        let is_meant = to.iter().any(|prefix| prefix.contains(*address));
        assert_eq!(socket.law == name, is_meant, "{socket:?}");
    }
    // Elsewhere nothing is changed.
    let elsewhere = Place::new();
    assert!(elsewhere.within(|| connected(&addresses)).iter().all(|socket| socket.law != name));
    let listed = stdout(&said(&["list", "--json"]));
    let line = listed.lines().find(|line| line.contains(&format!("\"{name}\""))).expect(&listed);
    let line: Value = serde_json::from_str(line).expect("JSON");
    let rollout = &line["rollout"];
    assert_eq!((&rollout["to"][1], &rollout["acts"]), (&"::1/128".into(), &true.into()), "{line}");
    // An accepted socket's peer is 127.0.0.1 for connections to 127.0.0.0/8, and ::1 for the one to ::1.
    assert_eq!(rollout["given"], 8 + 2, "{line}");
    end(child, name);
}

#[test]
fn a_share_of_the_peers_gets_a_scheme_and_always_the_same_peers() {
    if !can_run("a_share_of_the_peers_gets_a_scheme_and_always_the_same_peers", &["ip"]) {
        return;
    }
    let place = Place::new();
    let netns = format!("--netns={}", place.path());
    let names = ["ff_test_low", "ff_test_high"];
    let shares = [Share { first: 0, count: 300_000 }, Share { first: 300_000, count: 700_000 }];
    let mut children = Vec::new();
    for (name, share) in names.iter().zip(["30%", "30%..100%"]) {
        children.push(
            loaded(&["load", "slow-start", "--name", name, "--share", share, &netns]).expect("it loads"),
        );
    }
    let addresses: Vec<IpAddr> = (0..=99).map(|last| IpAddr::from([127, 0, 3, last])).collect();
    for _ in 0..2 {
        let all = place.within(|| connected(&addresses));
        let low = all.iter().filter(|socket| socket.law == names[0]).count();
        for socket in &all {
            let which = shares.iter().position(|share| share.has(socket.remote.ip())).expect("they are all");
            assert_eq!(socket.law, names[which], "{socket:?}");
        }
        assert!((15..45).contains(&low), "{low} of 100");
    }
    for (child, name) in children.into_iter().zip(names) {
        end(child, name);
    }
}

#[test]
fn the_choice_of_a_program_and_of_an_earlier_rollout_is_kept() {
    if !can_run("the_choice_of_a_program_and_of_an_earlier_rollout_is_kept", &["ip", "iperf3"]) {
        return;
    }
    let place = Place::new();
    let netns = format!("--netns={}", place.path());
    let first = loaded(&["load", "slow-start", "--name", "ff_test_first", &netns]).expect("it loads");
    let second = loaded(&["load", "limited", "--name", "ff_test_second", &netns]).expect("it loads");
    let address = [IpAddr::from([127, 0, 0, 1])];
    assert_eq!(place.within(|| connected(&address))[0].law, "ff_test_first");
    let transfer =
        "iperf3 -s -1 -p 5999 >/dev/null & sleep 0.3; iperf3 -c 127.0.0.1 -p 5999 -n 10K -C reno -J";
    let output = place.within(|| Command::new("sh").args(["-c", transfer]).output().expect("sh runs"));
    assert!(stdout(&output).contains("\"sender_tcp_congestion\":\t\"reno\""), "{}", stdout(&output));
    let of = |name: &str| {
        rollouts().expect("a list").into_iter().find(|one| one.name == name).expect("it is there")
    };
    // The mark of a program's choice, which the first rollout sets too, is what the second one finds.
    let (first_counts, second_counts) = (of("ff_test_first"), of("ff_test_second"));
    assert_eq!((second_counts.given, second_counts.own), (0, first_counts.given), "{second_counts:?}");
    end(second, "ff_test_second");
    end(first, "ff_test_first");
}

#[test]
fn a_cgroup_limits_a_rollout_to_the_connections_of_its_processes() {
    let name = "a_cgroup_limits_a_rollout_to_the_connections_of_its_processes";
    if !can_run(name, &["ip", "iperf3"]) {
        return;
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    let root = mounts
        .lines()
        .find_map(|line| line.contains(" cgroup2 ").then(|| line.split(' ').nth(1)))
        .flatten()
        .expect("cgroup2")
        .to_owned();
    let group = format!("{root}/firstflight-test-{}", std::process::id());
    std::fs::create_dir(&group).expect("a cgroup");
    let place = Place::new();
    let child =
        loaded(&["load", "slow-start", "--name", "ff_test_group", "--cgroup", &group]).expect("it loads");
    let law = |enter: &str| {
        let script = format!(
            "iperf3 -s -1 -p 5998 >/dev/null & sleep 0.3; {enter} iperf3 -c 127.0.0.1 -p 5998 -n 10K -J"
        );
        let output = place.within(|| Command::new("sh").args(["-c", &script]).output().expect("sh runs"));
        let result: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        result["end"]["sender_tcp_congestion"].as_str().map(str::to_owned)
    };
    let inside = law(&format!("echo $$ >{group}/cgroup.procs;"));
    let outside = law("");
    let wrong = said(&["load", "slow-start", "--cgroup", "/no/such", "--dry-run"]);
    end(child, "ff_test_group");
    comes("the cgroup is empty", || std::fs::remove_dir(&group).is_ok());
    assert_eq!(inside.as_deref(), Some("ff_test_group"));
    assert_ne!(outside.as_deref(), Some("ff_test_group"));
    assert!(
        stderr(&wrong).starts_with("error: --cgroup: `/no/such` is no cgroup of cgroup2"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn a_dry_run_shows_what_is_there_and_changes_nothing() {
    if !can_run("a_dry_run_shows_what_is_there_and_changes_nothing", &["ip"]) {
        return;
    }
    let place = Place::new();
    let route = "ip route add 192.0.2.0/24 dev lo congctl lock reno && ip route add 198.51.100.0/24 dev lo congctl cubic";
    let netns = format!("--netns={}", place.path());
    let before = rollouts().expect("a list").len();
    let words = [
        "load",
        "hystart",
        "--name",
        "ff_test_dry",
        "--to",
        "127.0.0.0/8",
        "--to",
        "192.0.2.0/25",
        &netns,
        "--dry-run",
    ];
    let (output, listener) = place.within(|| {
        assert!(Command::new("sh").args(["-c", route]).status().expect("sh runs").success());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here: SocketAddr = listener.local_addr().expect("an address");
        let _stream = TcpStream::connect(here).expect("it listens");
        (said(&words), here)
    });
    let shown = stdout(&output);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let default = place
        .within(|| std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("a default"));
    let default = default.trim();
    for wanted in [
        "Nothing is changed. ff_test_dry would be registered: hystart, then cubic; new connections to 127.0.0.0/8 or 192.0.2.0/25",
        &format!("the default is {default}"),
        &format!("connections that match now, and keep theirs: 2 {default}"),
        &format!("listeners, for connections that match: {listener} ({default})"),
        "192.0.2.0/24 congctl reno (locked: keeps its own)",
    ] {
        assert!(shown.replace('\n', " ").contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains("198.51.100.0"), "that route is for other peers: {shown}");
    assert!(!is_registered("ff_test_dry") && rollouts().expect("a list").len() == before);
}

#[test]
fn wrong_conditions_of_a_rollout_are_refused_in_one_line() {
    if !can_run("wrong_conditions_of_a_rollout_are_refused_in_one_line", &[]) {
        return;
    }
    for (words, wanted) in [
        (
            &["--to", "192.0.2.1/24"][..],
            "--to: `192.0.2.1/24` is no prefix of addresses: it has bits after the prefix; 192.0.2.0/24 has none",
        ),
        (&["--share", "5"], "--share: `5`: a share is above 0% and at most 100%"),
        (&["--share", "1"], "--share: `1`: a share is above 0% and at most 100%"),
        (&["--share", "0%...10%"], "--share: `.10%`: a share is above 0% and at most 100%"),
        (&["--netns="], "--netns: a name is missing, as in --netns=web"),
        (&["--netns=none-of-this-name"], "--netns: there is no network namespace `none-of-this-name`"),
        (&["--cgroup", "/etc"], "--cgroup: `/etc` is no cgroup of cgroup2"),
    ] {
        let output = said(&[&["load", "hystart", "--name", "ff_test_wrong"][..], words].concat());
        let err = stderr(&output);
        assert_eq!(status(&output), 2, "{words:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(wanted), "{words:?}: {err}");
    }
    let output = said(&["load", "quick-start", "--interface", "lo", "--share", "5%"]);
    assert!(stderr(&output).contains("quick-start is attached to an interface"), "{}", stderr(&output));
    assert!(!is_registered("ff_test_wrong"));
}

#[test]
fn a_pinned_rollout_outlives_its_loader_until_it_is_undone() {
    if !can_run("a_pinned_rollout_outlives_its_loader_until_it_is_undone", &["ip"]) {
        return;
    }
    let place = Place::new();
    let script = format!(
        "$F kernel load slow-start --name ff_test_keep --netns={} --share 100% --pin && $F kernel list --json && \
         nsenter --net={} $F kernel list && $F kernel undo ff_test_keep && ls -A /sys/fs/bpf && \
         ! $F kernel undo ff_test_keep",
        place.path(),
        place.path()
    );
    let output = shell(&script);
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(status(&output), 0, "{out}{err}");
    assert!(
        err.starts_with("error: no scheme is loaded as `ff_test_keep`; ") && err.lines().count() == 1,
        "{err}"
    );
    assert!(
        out.contains(
            "/sys/fs/bpf/firstflight/ff_test_keep keeps it until `firstflight kernel undo ff_test_keep`"
        ),
        "{out}"
    );
    assert!(
        out.contains("\"file\":\"/sys/fs/bpf/firstflight/ff_test_keep\"") && out.contains("\"acts\":true"),
        "{out}"
    );
    assert!(out.contains("ff_test_keep is unloaded") && !out.contains("\nfirstflight\n"), "{out}");
    assert!(
        !is_registered("ff_test_keep")
            && rollouts().expect("a list").iter().all(|one| one.name != "ff_test_keep")
    );
}

#[test]
fn what_a_kill_left_by_half_is_listed_and_removed_by_undo_and_by_the_next_load() {
    if !can_run("what_a_kill_left_by_half_is_listed_and_removed_by_undo_and_by_the_next_load", &["ip"]) {
        return;
    }
    let place = Place::new();
    let name = "ff_test_left";
    let load = format!("$F kernel load slow-start --name {name} --netns={} --share 50% --pin", place.path());
    let pins = format!("/sys/fs/bpf/firstflight/{name}");
    // A kill after the first of two files, before the second is removed, and before the folder is.
    let script = format!(
        "{load} && rm {pins}/rollout && $F kernel list --json | grep '\"{name}\"' && $F kernel list | grep 'a killed command' && \
         {load} && rm {pins}/scheme && $F kernel undo {name} && mkdir -p {pins} && $F kernel undo {name} && \
         [ ! -e /sys/fs/bpf/firstflight ] && echo nothing is left"
    );
    let output = shell(&script);
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!((status(&output), err.as_str()), (0, ""), "{out}");
    assert!(out.contains("\"unfinished\":true") && out.contains("; `kernel undo` removes it"), "{out}");
    assert!(out.ends_with("nothing is left\n"), "{out}");
    assert!(!is_registered(name) && rollouts().expect("a list").iter().all(|one| one.name != name));
}

#[test]
fn an_empty_folder_that_a_kill_left_does_not_block_a_pinned_load() {
    if !can_run("an_empty_folder_that_a_kill_left_does_not_block_a_pinned_load", &[]) {
        return;
    }
    let script = "mkdir -p /sys/fs/bpf/firstflight/ff_test_empty && $F kernel load slow-start --name ff_test_empty --pin && \
                  [ -f /sys/fs/bpf/firstflight/ff_test_empty ] && $F kernel undo ff_test_empty && [ ! -e /sys/fs/bpf/firstflight ]";
    let output = shell(script);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{}", stdout(&output));
}

#[test]
fn of_pinned_loads_after_a_killed_one_one_wins_and_stays() {
    if !can_run("of_pinned_loads_after_a_killed_one_one_wins_and_stays", &["ip"]) {
        return;
    }
    let (place, name) = (Place::new(), "ff_test_again");
    let load = format!("$F kernel load slow-start --name {name} --netns={} --share 50% --pin", place.path());
    let script = format!(
        "{load} >/dev/null && rm /sys/fs/bpf/firstflight/{name}/rollout && for n in 1 2 3; do ({load} >/dev/null 2>&1 && echo won) & done; \
         wait; $F kernel list --json | grep '\"{name}\"' | grep -c '\"acts\":true'; $F kernel undo {name}; [ ! -e /sys/fs/bpf/firstflight ]"
    );
    let output = shell(&script);
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!((status(&output), err.as_str()), (0, ""), "{out}");
    assert_eq!(out, format!("won\n1\n{name} is unloaded\n"));
}

#[test]
fn a_rollout_whose_cgroup_is_removed_says_that_it_no_longer_acts() {
    if !can_run("a_rollout_whose_cgroup_is_removed_says_that_it_no_longer_acts", &[]) {
        return;
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    let line = mounts.lines().find(|line| line.contains(" cgroup2 ")).expect("cgroup2");
    let root = line.split(' ').nth(1).expect("a path");
    let (group, name) = (format!("{root}/firstflight-gone-{}", std::process::id()), "ff_test_gone");
    std::fs::create_dir(&group).expect("a cgroup");
    let child = loaded(&["load", "slow-start", "--name", name, "--cgroup", &group]).expect("it loads");
    let acts = || rollouts().expect("a list").iter().any(|one| one.name == name && one.acts());
    let acted = acts();
    std::fs::remove_dir(&group).expect("it is empty");
    assert!(acted);
    comes("the kernel detaches it", || !acts());
    let (json, table) = (stdout(&said(&["list", "--json"])), stdout(&said(&["list"])));
    end(child, name);
    let line = json.lines().find(|line| line.contains(name)).expect(&json);
    assert!(line.contains("\"acts\":false") && line.contains("a removed cgroup"), "{line}");
    assert!(table.contains("its cgroup is gone; load it again"), "{table}");
}

#[test]
fn of_two_loads_at_one_moment_one_wins_and_the_other_says_so() {
    if !can_run("of_two_loads_at_one_moment_one_wins_and_the_other_says_so", &[]) {
        return;
    }
    let name = "ff_test_race";
    for _ in 0..5 {
        let start = || {
            let words = ["load", "slow-start", "--name", name];
            kernel(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("setpriv runs")
        };
        let children: Vec<Child> = (0..4).map(|_| start()).collect();
        comes("one is registered", || is_registered(name));
        // The losers end by themselves; the winner is then ended.
        std::thread::sleep(Duration::from_millis(600));
        assert!(said(&["unload", name]).status.success());
        let ends: Vec<_> =
            children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
        let winners = ends.iter().filter(|output| output.status.success()).count();
        assert_eq!(winners, 1, "{ends:?}");
        for loser in ends.iter().filter(|output| !output.status.success()) {
            let wanted = format!(
                "error: the kernel has a congestion control `{name}` already; another name can be given\n"
            );
            assert_eq!(stderr(loser), wanted);
        }
    }
}

/// Kills `load`, `load --pin` and `undo` with rollouts at random moments, in a mount namespace with a separate BPF file system.
/// `FIRSTFLIGHT_KILLS` sets how often.
#[test]
fn whatever_kills_a_load_or_undo_nothing_acts_by_half_and_undo_leaves_nothing() {
    let test = "whatever_kills_a_load_or_undo_nothing_acts_by_half_and_undo_leaves_nothing";
    if !can_run(test, &["timeout", "ip"]) {
        return;
    }
    let kills: u32 =
        std::env::var("FIRSTFLIGHT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let place = Place::new();
    let name = "ff_test_half";
    let netns = format!("--netns={}", place.path());
    let killed = "setpriv --pdeathsig KILL timeout -s KILL";
    let load =
        format!("setpriv --pdeathsig KILL $F kernel load slow-start --name {name} {netns} --share 50%");
    // The moments are spread over the time that a command takes here, and somewhat more.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test measures how long a command takes on this machine"
    )]
    let began = Instant::now();
    let whole = shell(&format!("{load} --pin >/dev/null && $F kernel undo {name} >/dev/null"));
    assert_eq!((status(&whole), stderr(&whole)), (0, String::new()));
    let most = began.elapsed().as_secs_f64() * 0.7;
    let moment = |kill: u32| 0.001 + f64::from((kill * 7919) % 1000) / 1000.0 * most;
    let mut script = format!(
        "state() {{ $F kernel list --json | grep '\"{name}\"' | sed 's/.*\"unfinished\":\\([a-z]*\\).*/\\1/' | sort | uniq -c | tr -s ' ' | tr '\\n' ';'; }}; "
    );
    for kill in 0..kills {
        let at = moment(kill);
        let line = match kill % 3 {
            0 => format!("{killed} {at} {load} >/dev/null 2>&1; echo load: $(state); "),
            1 => format!("{killed} {at} {load} --pin >/dev/null 2>&1; echo pin: $(state); "),
            _ => format!(
                "{load} --pin >/dev/null || exit 9; {killed} {at} $F kernel undo {name} >/dev/null 2>&1; echo undo: $(state); "
            ),
        };
        let undo =
            format!("$F kernel undo {name} >/dev/null 2>&1; [ ! -e /sys/fs/bpf/firstflight ] || exit 7; ");
        script.extend([line, undo]);
    }
    let output = shell(&script.replace("; echo", "; sleep 0.02; echo"));
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!((status(&output), err.as_str()), (0, ""), "{out}");
    println!(
        "{kills} kills; states after them, with the number of schemes and whether they were unfinished:"
    );
    let mut states: Vec<&str> = out.lines().collect();
    states.sort_unstable();
    for chunk in states.chunk_by(|a, b| a == b) {
        println!("{:>5} {}", chunk.len(), chunk[0]);
    }
    // A killed command without --pin leaves nothing even before `undo`.
    assert!(out.lines().filter(|line| line.starts_with("load:")).all(|line| line == "load:"), "{out}");
    assert!(!is_registered(name));
    assert!(rollouts().expect("a list").iter().all(|one| one.name != name));
    assert!(list().expect("a list").iter().all(|one| one.name != name || one.keeper == Keeper::Sockets));
}
