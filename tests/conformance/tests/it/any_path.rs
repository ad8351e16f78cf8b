//! Draws any path for a host from a seed.

use firstflight::registry;

/// Options as on the command line.
pub(crate) type Given = Vec<(&'static str, &'static str)>;

/// Draws any path and ends. The cases that are hardest for a host come up often.
pub(crate) fn any_path(draw: &mut Draw) -> Given {
    let mut given: Given = Vec::new();
    let mut set = |key, value| given.push((key, value));
    set("rate", draw.one(&["300kbit", "1mbit", "5mbit", "20mbit", "200mbit"]));
    set("rtt", draw.one(&["1ms", "10ms", "40ms", "200ms"]));
    set(
        "queue",
        draw.one(&["3p", "10p", "0.3bdp", "1bdp", "200p", "codel:50p,ecn", "red:30p,ecn", "fq-codel:50p"]),
    );
    set("mss", draw.one(&["536", "1000", "1460", "8000"]));
    set("iw", draw.one(&["1p", "3p", "10p", "40p"]));
    set("ack", draw.one(&["every", "delayed", "linux", "freebsd", "windows-xp"]));
    match draw.below(6) {
        0 => {
            set("size", draw.one(&["6kB", "24kB"]));
            set("rounds", "3");
            set("idle", draw.one(&["50ms", "3s"]));
            set(
                "restart",
                draw.one(&["rfc5681", "cwv", "nssr", "ssr", "rbp-cwnd", "rbp-rate", "quick-start"]),
            );
        }
        1 => {
            set("size", "120kB");
            set("app", draw.one(&["3kB,20ms", "10kB,100ms", "1kB,1s"]));
        }
        _ => set("size", draw.one(&["700B", "30kB", "150kB", "500kB"])),
    }
    let maybe: [(&str, &[&'static str]); 15] = [
        ("loss", &["0.5%", "3%", "10%"]),
        ("jitter", &["1ms", "20ms"]),
        ("recovery", &["rack", "sack", "newreno", "newreno-steady", "reno", "ns2-sack1"]),
        ("rwnd", &["2p", "8p", "30p"]),
        ("min-rto", &["10ms", "200ms", "1s"]),
        ("timestamps", &["true"]),
        ("ecn", &["true"]),
        ("ssthresh", &["4p", "20p"]),
        ("ack-aggregation", &["5ms", "8"]),
        ("reverse-rate", &["50kbit", "1mbit"]),
        ("reverse-jitter", &["1ms", "20ms"]),
        ("pacing-timer", &["50us", "1ms"]),
        ("gso", &["3kB", "64kB"]),
        ("access-rate", &["500kbit", "10mbit"]),
        ("policer", &["2mbit,20kB"]),
    ];
    for (key, values) in maybe {
        if draw.below(3) == 0 {
            set(key, draw.one(values));
        }
    }
    set("limit", "600s");
    if draw.below(3) == 0 {
        let laws: Vec<&str> = registry::laws().iter().map(|law| law.name).collect();
        given.push(("avoidance", draw.one(&laws)));
    }
    given
}

/// Returns the command that repeats the run.
pub(crate) fn command(given: &Given, scheme: &str, seed: u64) -> String {
    let option = |(key, value): &(&str, &str)| match *value {
        "true" => format!(" --{key}"),
        value => format!(" --{key} {value}"),
    };
    let options: String = given.iter().map(option).collect();
    format!("firstflight race{options} --seed {seed} --schemes {scheme}")
}

/// Draws from a seed (`SplitMix64`).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD129_0D3A_7B5C_9F1D))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).expect("below the end")
    }

    pub(crate) fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}
