//! Random races, each determined by a number: a path, the ends, a scheme and a law.

use std::fmt;

use firstflight::registry;
use firstflight_scenario::{Options, Scenario, SchemeChoice, parse_choices};

/// One race of one scheme.
pub(crate) struct Drawn {
    /// Keys of the path, as on the command line.
    options: Vec<(&'static str, String)>,
    scheme: &'static str,
}

impl Drawn {
    /// The race of a number.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
        let scheme = draw.one(registry::schemes()).name;
        let mut options = path(&mut draw);
        options.extend(ends(&mut draw, scheme));
        options.extend(troubles(&mut draw));
        options.push(("seed", draw.between(0, 1_000_000).to_string()));
        Self { options, scheme }
    }

    /// Returns the value of this key, if it is set.
    pub(crate) fn set(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| *name == key).map(|(_, text)| text.as_str())
    }

    /// The scheme's name.
    pub(crate) fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Resolves the scenario and the scheme.
    ///
    /// # Errors
    /// A path that the program refuses.
    pub(crate) fn resolve(&self) -> Result<(Scenario, SchemeChoice), String> {
        let mut set = Options::default();
        for (key, text) in &self.options {
            set.set(key, text).map_err(|error| error.to_string())?;
        }
        let scenario = Scenario::resolve(&set).map_err(|error| error.to_string())?;
        let choice = parse_choices(self.scheme).map_err(|error| error.to_string())?.remove(0);
        Ok((scenario, choice))
    }
}

impl fmt::Display for Drawn {
    /// Writes the command that repeats the race.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("firstflight race")?;
        for (key, text) in &self.options {
            match text.as_str() {
                "true" => write!(f, " --{key}")?,
                text => write!(f, " --{key} {text}")?,
            }
        }
        write!(f, " --schemes {}", self.scheme)
    }
}

type Given = Vec<(&'static str, String)>;

/// Draws the rate, RTT, queue, size and the behaviour of the application.
fn path(draw: &mut Draw) -> Given {
    let mss = draw.weighted(&[(6, 1460), (1, 536), (1, 960), (1, 1200), (1, 1340), (1, 8960)]);
    let rate = draw.logarithmic(1_000, 1_000_000);
    let rtt = draw.logarithmic(2_000, 600_000);
    let bdp = (rate * rtt / 8_000 / (mss + 40)).max(1);
    let limit = match draw.below(4) {
        0 => format!("{}p", draw.logarithmic(3, 2_000)),
        _ => format!("{}.{:02}bdp", draw.between(0, 3), draw.between(10, 99)),
    };
    let marks = draw.weighted(&[(1, ""), (1, ",ecn")]);
    let queue = match draw.below(8) {
        0 => format!("codel:{limit}{marks}"),
        1 => format!("fq-codel:{limit}{marks}"),
        2 => format!("pie:{limit}{marks}"),
        3 => format!("red:{}p{marks}", draw.logarithmic(20, 1_000)),
        _ => limit,
    };
    // Enough data to leave start-up in most races, and not more than a test has time for.
    let packets = match draw.below(5) {
        0 => draw.logarithmic(4, 400),
        _ => (bdp * draw.between(2, 12)).clamp(150, 6_000),
    };
    let size = packets * mss;
    let mut given = vec![
        ("rate", format!("{rate}kbit")),
        ("rtt", format!("{rtt}us")),
        ("queue", queue),
        ("mss", mss.to_string()),
        ("limit", "1h".to_owned()),
    ];
    match draw.below(12) {
        0 => {
            let rounds = draw.between(2, 4);
            given.extend([
                ("size", format!("{}B", (size / rounds).max(mss))),
                ("rounds", rounds.to_string()),
                ("idle", format!("{}ms", draw.logarithmic(50, 20_000))),
            ]);
        }
        1 => {
            let write = (size / draw.between(4, 60)).max(1);
            let every = draw.logarithmic(1_000, 2_000_000);
            given.extend([("size", format!("{size}B")), ("app", format!("{write}B,{every}us"))]);
        }
        _ => given.push(("size", format!("{size}B"))),
    }
    given
}

/// Draws the options on which the ends agree, and how they acknowledge and repair.
fn ends(draw: &mut Draw, scheme: &str) -> Given {
    let mut given =
        vec![("ack", draw.one(&["every", "delayed", "linux", "freebsd", "windows-xp"]).to_string())];
    if draw.chance(2) {
        given.push((
            "iw",
            format!("{}p", draw.weighted(&[(2, 2), (2, 3), (2, 4), (4, 10), (1, 20), (1, 32), (1, 50)])),
        ));
    }
    if draw.chance(2) && scheme != "bbr" {
        let law = draw.one(registry::laws()).name;
        if law != "bbr" {
            given.push(("avoidance", law.to_owned()));
        }
    }
    if draw.chance(3) {
        given.push(("stack", "linux".to_owned()));
        if draw.chance(4) {
            given.push(("recovery", "newreno".to_owned()));
        }
    } else if draw.chance(4) {
        given.push(("recovery", draw.one(&["sack", "newreno", "reno", "ns2-sack1"]).to_string()));
    }
    if draw.chance(8) {
        given.push(("rwnd", format!("{}p", draw.logarithmic(4, 400))));
    }
    if draw.chance(8) {
        given.push(("ssthresh", format!("{}p", draw.logarithmic(4, 400))));
    }
    if draw.chance(3) {
        given.push(("timestamps", "true".to_owned()));
    }
    if draw.chance(2) {
        given.push(("ecn", "true".to_owned()));
    }
    given
}

/// Draws the path's impairments.
fn troubles(draw: &mut Draw) -> Given {
    let mut given = Given::new();
    if draw.chance(8) {
        given.push(("loss", format!("0.{:02}%", draw.logarithmic(1, 99))));
    }
    if draw.chance(12) {
        given.push(("ack-loss", format!("{}%", draw.logarithmic(1, 20))));
    }
    if draw.chance(8) {
        given.push(("jitter", format!("{}us", draw.logarithmic(50, 20_000))));
    }
    if draw.chance(6) {
        given.push(("reverse-rtt-share", format!("{}%", draw.between(5, 95))));
    }
    if draw.chance(12) {
        given.push(("reverse-rate", format!("{}kbit", draw.logarithmic(500, 100_000))));
    }
    if draw.chance(12) {
        given.push(("ack-aggregation", format!("{}us", draw.logarithmic(200, 20_000))));
    }
    if draw.chance(8) {
        given.push((
            "cross",
            match draw.below(3) {
                0 => format!("{}kbit", draw.logarithmic(100, 900)),
                1 => format!("tcp:{}", draw.between(1, 3)),
                _ => format!("web:{}%", draw.between(5, 50)),
            },
        ));
    }
    given
}

/// Numbers that follow from a number: `SplitMix64`.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Draws a number that is equally likely in each power of two.
    fn logarithmic(&mut self, least: u64, most: u64) -> u64 {
        let doublings = u64::from((most / least).ilog2()) + 1;
        let from = least << self.below(doublings);
        self.between(from, (2 * from).min(most).max(from))
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).expect("a place in a list")]
    }

    fn weighted<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let each: Vec<T> = of.iter().flat_map(|(weight, what)| std::iter::repeat_n(*what, *weight)).collect();
        *self.one(&each)
    }
}
