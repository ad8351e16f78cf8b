//! Crossed classes: the paths that meet several conditions at once.

use std::fmt;

use firstflight_scenario::quantity;

use super::class::{ACKS, CROSSES, QUEUE_KINDS};
use crate::sweep::{Bottleneck, PathFacts, share_bps};

/// Conditions on a path, all of which it must meet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter(Vec<Condition>);

/// One condition: a fact of the path, a comparison, a value.
#[derive(Clone, PartialEq, Debug)]
struct Condition {
    fact: Fact,
    comparison: Comparison,
    value: Value,
    /// The condition as the user wrote it.
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Is,
    IsNot,
}

/// The longer signs come first: `<=` begins with `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::IsNot),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Is),
];

#[derive(Clone, PartialEq, Debug)]
enum Value {
    Number(f64),
    Word(String),
}

/// A fact of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fact {
    Rate,
    Rtt,
    /// Packets of the bandwidth-delay product.
    Bdp,
    /// The queue's limit in bandwidth-delay products.
    Queue,
    Size,
    /// The size in bandwidth-delay products.
    SizeInBdp,
    Loss,
    Cross,
    /// The share of the rate that is the cross traffic's.
    Share,
    Receiver,
    QueueKind,
    Jitter,
    PacingTimer,
    Gso,
    /// The rate of the way back over the path's.
    WayBack,
    /// 1 if ACKs are batched, else 0.
    Batched,
    /// The time between releases of ACKs, zero without batches; not of batches by number.
    BatchTime,
    /// The ACKs of a batch, zero without batches; not of batches by time.
    BatchNumber,
}

const FACTS: [(&str, Fact); 15] = [
    ("rate", Fact::Rate),
    ("rtt", Fact::Rtt),
    ("bdp", Fact::Bdp),
    ("queue", Fact::Queue),
    ("size", Fact::Size),
    ("loss", Fact::Loss),
    ("cross", Fact::Cross),
    ("share", Fact::Share),
    ("ack", Fact::Receiver),
    ("queue-kind", Fact::QueueKind),
    ("jitter", Fact::Jitter),
    ("pacing-timer", Fact::PacingTimer),
    ("gso", Fact::Gso),
    ("way-back", Fact::WayBack),
    ("ack-aggregation", Fact::Batched),
];

/// Why a filter cannot be read, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilterError(String);

impl Filter {
    /// Reads conditions with commas between them: `loss<=0.1%,cross=none`.
    ///
    /// # Errors
    /// An unknown fact, a comparison that the fact does not have, a value that cannot be read.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        text.split(',').map(condition).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a path meets all conditions. A path without the fact of a condition does not meet it.
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
    let signs =
        COMPARISONS.iter().filter_map(|(sign, comparison)| Some((text.find(sign)?, *sign, *comparison)));
    // The first sign in the text, and of those that begin there the longest.
    let found = signs.min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
    let Some((at, sign, comparison)) = found else { return Err(refuse("it compares nothing")) };
    let (name, value) = (text[..at].trim(), text[at + sign.len()..].trim());
    let Some((_, fact)) = FACTS.iter().find(|(known, _)| *known == name) else {
        return Err(refuse(&format!("there is no fact `{name}`")));
    };
    let words = words(*fact);
    if words.is_some() && !matches!(comparison, Comparison::Is | Comparison::IsNot) {
        return Err(refuse(&format!("`{name}` is a word, which is = or != another")));
    }
    let number = |read: Result<f64, quantity::QuantityError>| {
        read.map(Value::Number).map_err(|error| refuse(&error.to_string()))
    };
    if let Some(words) = words {
        if !words.contains(&value) {
            return Err(refuse(&format!("`{name}` is not `{value}` but one of {}", words.join(", "))));
        }
        let value = Value::Word(value.to_owned());
        return Ok(Condition { fact: *fact, comparison, value, text: text.to_owned() });
    }
    let (fact, value) = match fact {
        Fact::Size if value.ends_with("bdp") => (Fact::SizeInBdp, number(products(value))?),
        Fact::Queue => (*fact, number(products(value))?),
        Fact::Batched if !matches!(value, "0" | "none") => match quantity::count(value) {
            Ok(_) => (Fact::BatchNumber, number(plain(Fact::BatchNumber, value))?),
            Err(_) => (Fact::BatchTime, number(plain(Fact::BatchTime, value))?),
        },
        fact => (*fact, number(plain(*fact, value))?),
    };
    Ok(Condition { fact, comparison, value, text: text.to_owned() })
}

/// The words that a fact may be; `None` if the fact is a number.
fn words(fact: Fact) -> Option<&'static [&'static str]> {
    match fact {
        Fact::Cross => Some(&CROSSES),
        Fact::Receiver => Some(&ACKS),
        Fact::QueueKind => Some(&QUEUE_KINDS),
        _ => None,
    }
}

/// Reads a number of bandwidth-delay products: `0.25bdp`, or `0.25`.
fn products(text: &str) -> Result<f64, quantity::QuantityError> {
    quantity::number(text.strip_suffix("bdp").unwrap_or(text)).map(quantity::Decimal::to_f64)
}

/// Reads a fact's number in the unit of [`PathFacts`]. A zero has no unit.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn plain(fact: Fact, text: &str) -> Result<f64, quantity::QuantityError> {
    if matches!(text, "0" | "none") {
        return Ok(0.0);
    }
    match fact {
        Fact::Rate => quantity::rate(text).map(|rate| rate.bps() as f64),
        Fact::Rtt | Fact::Jitter | Fact::PacingTimer | Fact::BatchTime => {
            quantity::span(text).map(|span| span.nanos() as f64 / 1e9)
        }
        Fact::Size | Fact::Gso => quantity::bytes(text).map(|bytes| bytes.get() as f64),
        Fact::Loss | Fact::Share | Fact::WayBack => quantity::fraction(text).map(quantity::Decimal::to_f64),
        Fact::Bdp => quantity::number(text.strip_suffix('p').unwrap_or(text)).map(quantity::Decimal::to_f64),
        Fact::Batched | Fact::BatchNumber => quantity::count(text).map(|acks| acks as f64),
        Fact::Queue | Fact::SizeInBdp | Fact::Cross | Fact::Receiver | Fact::QueueKind => products(text),
    }
}

impl Condition {
    fn is_met(&self, path: &PathFacts) -> bool {
        match (&self.value, self.fact) {
            // The rate was declared as a share and rounded to four digits.
            (Value::Number(wanted), Fact::Share) if path.path_cross == "cbr" => {
                let rate = path.path_rate_bps;
                let found = number(path, Fact::Share).map(|share| share * rate);
                found.is_some_and(|found| self.holds(found, share_bps(rate, *wanted), 0.5))
            }
            (Value::Number(wanted), fact) => {
                number(path, fact).is_some_and(|found| self.holds(found, *wanted, rounding(path, fact)))
            }
            (Value::Word(wanted), Fact::Cross) => self.is_word(&path.path_cross, wanted),
            (Value::Word(wanted), Fact::Receiver) => self.is_word(&path.path_ack, wanted),
            (Value::Word(wanted), _) => self.is_word(&path.path_queue_kind, wanted),
        }
    }

    fn is_word(&self, found: &str, wanted: &str) -> bool {
        (found == wanted) == (self.comparison == Comparison::Is)
    }

    /// Numbers that differ by rounding alone are equal.
    fn holds(&self, found: f64, wanted: f64, rounding: f64) -> bool {
        let equal = (found - wanted).abs() <= (wanted.abs() * 1e-9).max(rounding);
        match self.comparison {
            Comparison::Less => found < wanted && !equal,
            Comparison::AtMost => found < wanted || equal,
            Comparison::More => found > wanted && !equal,
            Comparison::AtLeast => found > wanted || equal,
            Comparison::Is => equal,
            Comparison::IsNot => !equal,
        }
    }
}

/// A fact that is a number; `None` where the path has none. What depends on the bottleneck's rate needs a constant one.
fn number(path: &PathFacts, fact: Fact) -> Option<f64> {
    let by_rate = |number: f64| (path.bottleneck() == Bottleneck::Constant).then_some(number);
    match fact {
        Fact::Rate => by_rate(path.path_rate_bps),
        Fact::Rtt => Some(path.path_rtt_s),
        Fact::Bdp => by_rate(path.path_bdp_packets),
        Fact::Queue => by_rate(path.path_queue_bdp),
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
        Fact::Size => path.path_size_bytes.map(|bytes| bytes as f64),
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
        Fact::SizeInBdp => by_rate(path.path_size_bytes? as f64 * 8.0 / path.path_rate_bps / path.path_rtt_s),
        Fact::Loss => Some(path.path_loss),
        Fact::Share => path.path_cross_share.or((path.path_cross == "none").then_some(0.0)),
        Fact::Jitter => Some(path.path_jitter_s),
        Fact::PacingTimer => Some(path.path_pacing_timer_s),
        #[expect(clippy::cast_precision_loss, reason = "bursts are at most 64 KiB")]
        Fact::Gso => Some(path.path_gso_bytes as f64),
        Fact::WayBack => Some(path.path_reverse_share),
        Fact::Batched => Some(f64::from(u8::from(is_batched(path)))),
        Fact::BatchTime => path.path_ack_batch_s.or((!is_batched(path)).then_some(0.0)),
        Fact::BatchNumber => path.path_ack_batch_packets.or((!is_batched(path)).then_some(0.0)),
        Fact::Cross | Fact::Receiver | Fact::QueueKind => None,
    }
}

/// How far a fact may be from what was declared: a queue in bandwidth-delay products was rounded to whole bytes.
fn rounding(path: &PathFacts, fact: Fact) -> f64 {
    let bdp_bytes = path.path_rate_bps * path.path_rtt_s / 8.0;
    if fact == Fact::Queue { 0.5 / bdp_bytes } else { 0.0 }
}

fn is_batched(path: &PathFacts) -> bool {
    path.path_ack_batch_s.is_some() || path.path_ack_batch_packets.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_sweep;

    /// Whether each path of a sweep over `options` meets the conditions.
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
    fn what_cannot_be_read_is_said_with_what_may_be_written() {
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
