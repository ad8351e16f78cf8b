//! Filters: the paths that meet several conditions at once.

use std::fmt;

use firstflight_scenario::condition::{Comparison, Parts, SIGNS, Unit, parts};
use firstflight_scenario::quantity::{self, QuantityError};

use super::class::{ACKS, CROSSES, QUEUE_KINDS};
use crate::sweep::{Bottleneck, PathFacts, share_bps};

/// Conditions on a path, all of which it must meet.
#[derive(Clone, Debug, Default)]
pub struct Filter(Vec<Condition>);

/// One condition: a fact of the path, a comparison and a value.
#[derive(Clone, Debug)]
struct Condition {
    /// The name of the fact.
    name: &'static str,
    comparison: Comparison,
    wanted: Wanted,
    /// The condition as the user wrote it.
    text: String,
}

/// Returns a fact that is a number; `None` if the path does not have it.
type Number = fn(&PathFacts) -> Option<f64>;

#[derive(Clone, Debug)]
enum Wanted {
    Number(Number, f64),
    Word(fn(&PathFacts) -> &str, String),
}

/// A fact of a path: how its value is written, and what it is on a path.
#[derive(Clone, Copy)]
enum Fact {
    Number(Unit, Number),
    /// A word, with all words that it may be.
    Word(&'static [&'static str], fn(&PathFacts) -> &str),
    /// The size of the transfer, in bytes or in bandwidth-delay products.
    Size,
    /// The batches of ACKs: none, or by time, or by number. Paths with batches by number have no batches by time, and the other way round.
    Batches,
}

/// The unit of a number of bandwidth-delay products.
const PRODUCTS: Unit = Unit::Of("bdp");

const FACTS: [(&str, Fact); 15] = [
    ("rate", Fact::Number(Unit::Rate, |path| by_rate(path, path.path_rate_bps))),
    ("rtt", Fact::Number(Unit::Time, |path| Some(path.path_rtt_s))),
    ("bdp", Fact::Number(Unit::Of("p"), |path| by_rate(path, path.path_bdp_packets))),
    ("queue", Fact::Number(PRODUCTS, |path| by_rate(path, path.path_queue_bdp))),
    ("size", Fact::Size),
    ("loss", Fact::Number(Unit::Share, |path| Some(path.path_loss))),
    ("cross", Fact::Word(&CROSSES, |path| &path.path_cross)),
    ("share", Fact::Number(Unit::Share, cross_share)),
    ("ack", Fact::Word(&ACKS, |path| &path.path_ack)),
    ("queue-kind", Fact::Word(&QUEUE_KINDS, |path| &path.path_queue_kind)),
    ("jitter", Fact::Number(Unit::Time, |path| Some(path.path_jitter_s))),
    ("pacing-timer", Fact::Number(Unit::Time, |path| Some(path.path_pacing_timer_s))),
    ("gso", Fact::Number(Unit::Bytes, |path| Some(to_f64(path.path_gso_bytes)))),
    ("way-back", Fact::Number(Unit::Share, |path| Some(path.path_reverse_share))),
    ("ack-aggregation", Fact::Batches),
];

/// Returns a fact that depends on the bottleneck's rate; `None` if the rate is not constant.
fn by_rate(path: &PathFacts, number: f64) -> Option<f64> {
    (path.bottleneck() == Bottleneck::Constant).then_some(number)
}

/// Returns the share of the rate that cross traffic takes.
fn cross_share(path: &PathFacts) -> Option<f64> {
    path.path_cross_share.or((path.path_cross == "none").then_some(0.0))
}

/// Returns the size of the transfer in bandwidth-delay products.
fn size_in_products(path: &PathFacts) -> Option<f64> {
    by_rate(path, to_f64(path.path_size_bytes?) * 8.0 / path.path_rate_bps / path.path_rtt_s)
}

fn is_batched(path: &PathFacts) -> bool {
    path.path_ack_batch_s.is_some() || path.path_ack_batch_packets.is_some()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
fn to_f64(bytes: u64) -> f64 {
    bytes as f64
}

/// Why a filter cannot be read, in one line of text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilterError(String);

impl Filter {
    /// Reads conditions that are separated by commas: `loss<=0.1%,cross=none`.
    ///
    /// # Errors
    /// Fails for an unknown fact, a comparison that the fact does not have, and a value that cannot be read.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        text.split(',').map(condition).collect::<Result<_, _>>().map(Self)
    }

    /// Checks whether a path meets all conditions. A path that does not have the fact of a condition does not meet it.
    pub fn takes(&self, path: &PathFacts) -> bool {
        self.0.iter().all(|condition| condition.is_met(path))
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|condition| condition.text.as_str()).collect();
        f.write_str(&texts.join(", "))
    }
}

fn condition(text: &str) -> Result<Condition, FilterError> {
    let text = text.trim();
    let refuse = |what: &str| {
        let facts: Vec<&str> = FACTS.iter().map(|(name, _)| *name).collect();
        FilterError(format!(
            "`{text}`: {what}; a condition is a fact, one of <, <=, =, !=, >=, > and a value, as in `loss<=0.1%`, and facts are {}",
            facts.join(", ")
        ))
    };
    let Some(Parts { name, comparison, value, .. }) = parts(text, &SIGNS) else {
        return Err(refuse("it compares nothing"));
    };
    let Some((name, fact)) = FACTS.iter().find(|(known, _)| *known == name) else {
        return Err(refuse(&format!("there is no fact `{name}`")));
    };
    let wanted = if let Fact::Word(words, of) = *fact {
        if comparison.needs_order() {
            return Err(refuse(&format!("`{name}` is a word, which is = or != another")));
        }
        if !words.contains(&value) {
            return Err(refuse(&format!("`{name}` is not `{value}` but one of {}", words.join(", "))));
        }
        Wanted::Word(of, value.to_owned())
    } else {
        let (of, wanted) = number(*fact, value).map_err(|error| refuse(&error.to_string()))?;
        Wanted::Number(of, wanted)
    };
    Ok(Condition { name, comparison, wanted, text: text.to_owned() })
}

/// Reads the value of a fact that is a number. A zero needs no unit, except for a queue.
fn number(fact: Fact, value: &str) -> Result<(Number, f64), QuantityError> {
    let (unit, of): (Unit, Number) = match fact {
        Fact::Number(unit, of) => (unit, of),
        Fact::Size if value.ends_with("bdp") => (PRODUCTS, size_in_products),
        Fact::Size => (Unit::Bytes, |path| path.path_size_bytes.map(to_f64)),
        Fact::Batches if matches!(value, "0" | "none") => {
            (Unit::Count, |path| Some(f64::from(u8::from(is_batched(path)))))
        }
        Fact::Batches if quantity::count(value).is_ok() => {
            (Unit::Count, |path| path.path_ack_batch_packets.or((!is_batched(path)).then_some(0.0)))
        }
        Fact::Batches | Fact::Word(..) => {
            (Unit::Time, |path| path.path_ack_batch_s.or((!is_batched(path)).then_some(0.0)))
        }
    };
    let is_zero = unit != PRODUCTS && matches!(value, "0" | "none");
    Ok((of, if is_zero { 0.0 } else { unit.read(value)? }))
}

impl Condition {
    fn is_met(&self, path: &PathFacts) -> bool {
        match &self.wanted {
            Wanted::Word(of, wanted) => self.comparison.holds_if(of(path) == wanted),
            Wanted::Number(of, wanted) => of(path).is_some_and(|found| {
                let (found, wanted, rounding) = match self.name {
                    // The rate was declared as a share of the path's rate and rounded to four digits.
                    "share" if path.path_cross == "cbr" => {
                        (found * path.path_rate_bps, share_bps(path.path_rate_bps, *wanted), 0.5)
                    }
                    // A queue declared in bandwidth-delay products was rounded to whole bytes.
                    "queue" => (found, *wanted, 0.5 / (path.path_rate_bps * path.path_rtt_s / 8.0)),
                    _ => (found, *wanted, 0.0),
                };
                self.comparison.holds(found, wanted, (wanted.abs() * 1e-9).max(rounding))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_sweep;

    /// Returns whether each path of a sweep over `options` meets the conditions.
    fn of(options: &str, filter: &str) -> Vec<bool> {
        let sweep = parse_sweep(&format!("[path]\n{options}")).expect(options);
        let filter = Filter::parse(filter).unwrap_or_else(|error| panic!("{error}"));
        let path = |path| PathFacts::of(path, &sweep.scenario(path).expect("a path"));
        (0..sweep.paths()).map(|index| filter.takes(&path(index))).collect()
    }

    #[test]
    fn a_path_is_taken_if_it_meets_every_condition() {
        let paths = "rate = \"10mbit\"\nrtt = \"80ms\"\nloss = [\"0\", \"0.1%\", \"1%\"]\ncross = [\"none\", \"4mbit\", \"tcp:3\"]\n";
        let yes = |wanted: [u8; 9]| wanted.map(|one| one == 1).to_vec();
        assert_eq!(of(paths, "loss<=0.1%,cross=none"), yes([1, 0, 0, 1, 0, 0, 0, 0, 0]));
        assert_eq!(of(paths, " loss < 0.1% , cross != tcp"), yes([1, 1, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(of(paths, "loss>0"), yes([0, 0, 0, 1, 1, 1, 1, 1, 1]));
        assert_eq!(of(paths, "share>=40%,loss=1%"), yes([0, 0, 0, 0, 0, 0, 0, 1, 1]));
    }

    #[test]
    fn each_fact_is_read_in_the_units_of_its_key() {
        let path = "rate = \"10mbit\"\nrtt = \"80ms\"\nsize = \"1MB\"\nqueue = \"codel:0.5bdp\"\njitter = \"2ms\"\n\
                    pacing-timer = \"1ms\"\ngso = \"64kB\"\nreverse-rate = \"100kbit\"\nack = \"linux\"\n";
        for met in [
            "rate=10mbit",
            "rate<1gbit",
            "rtt=80ms",
            "rtt>=50ms",
            "bdp>=66p",
            "bdp<67",
            "queue=0.5bdp",
            "queue<1",
            "size=1MB",
            "size=10bdp",
            "jitter=2ms",
            "pacing-timer<=1ms",
            "gso>16kB",
            "way-back=1%",
            "ack=linux",
            "queue-kind=codel",
            "loss=0",
            "share=0",
        ] {
            assert_eq!(of(path, met), [true], "{met}");
        }
        for not in [
            "rate>10mbit",
            "rtt<80ms",
            "bdp>67",
            "size<1MB",
            "size>10bdp",
            "jitter=none",
            "ack=every",
            "queue-kind!=codel",
        ] {
            assert_eq!(of(path, not), [false], "{not}");
        }
    }

    #[test]
    fn batches_of_acks_are_none_by_time_or_by_number() {
        let paths = "rtt = \"80ms\"\nack-aggregation = [\"none\", \"5ms\", \"16\"]\n";
        for (filter, taken) in [
            ("ack-aggregation=none", [true, false, false]),
            ("ack-aggregation!=none", [false, true, true]),
            ("ack-aggregation>=3ms", [false, true, false]),
            ("ack-aggregation<8ms", [true, true, false]),
            ("ack-aggregation>10", [false, false, true]),
        ] {
            assert_eq!(of(paths, filter), taken, "{filter}");
        }
    }

    #[test]
    fn a_queue_is_what_was_declared_though_it_was_rounded_to_bytes() {
        let path = "rate = \"7.777mbit\"\nrtt = \"37ms\"\npacket = 200\nqueue = \"0.25bdp\"\n";
        assert_eq!([of(path, "queue=0.25bdp"), of(path, "queue<0.25bdp")].concat(), [true, false]);
    }

    #[test]
    fn a_share_is_what_was_declared_though_its_rate_was_rounded() {
        let path = "rate = \"7.777mbit\"\nrtt = \"37ms\"\ncross = [{ cbr = \"30%\" }, { cbr = \"60%\" }]\n";
        assert_eq!(of(path, "share>=30%,share<60%"), [true, false]);
        assert_eq!(of(path, "share=60%"), [false, true]);
    }

    #[test]
    fn a_path_whose_share_is_not_known_meets_no_condition_on_it() {
        let path = "rate = \"10mbit\"\nrtt = \"37ms\"\ncross = [\"none\", \"onoff:5mbit,1s,1s\"]\n";
        assert_eq!([of(path, "share<30%"), of(path, "share>=30%")].concat(), [true, false, false, false]);
    }

    #[test]
    fn a_path_without_one_rate_meets_no_condition_on_it() {
        let path = "rate-trace = \"0s=1mbit,5s=10mbit\"\nrtt = \"20ms\"\n";
        assert_eq!(
            [of(path, "rate>0"), of(path, "rate<=0"), of(path, "rtt=20ms")].concat(),
            [false, false, true]
        );
    }

    #[test]
    fn invalid_filters_are_refused_with_the_allowed_form() {
        for (text, says) in [
            ("", "compares nothing"),
            ("loss", "compares nothing"),
            ("los<1%", "no fact `los`"),
            ("loss<1%,", "compares nothing"),
            ("loss<fast", "`fast`"),
            ("rtt<80", "`80`"),
            ("cross<none", "is a word"),
            ("cross=", "`cross` is not ``"),
            ("cross!=tpc", "`cross` is not `tpc`"),
            ("ack!=evry", "`ack` is not `evry`"),
            ("queue-kind!=drop_tail", "one of drop-tail, red"),
        ] {
            let error = Filter::parse(text).expect_err(text).to_string();
            assert!(
                error.contains(says) && error.contains("as in `loss<=0.1%`") && !error.contains('\n'),
                "{text}: {error}"
            );
        }
        assert_eq!(
            Filter::parse("loss<=0.1%, cross=none").expect("two").to_string(),
            "loss<=0.1%, cross=none"
        );
    }
}
