//! Cross traffic with its own start, stop, direction or ends: the entries of the key `cross`.

use std::fmt;

use firstflight::registry::Registry;
use firstflight::{Bytes, Span};

use crate::bulk_flows;
use crate::cross::{Cross, cross};
use crate::population::{instant, show_instant};
use crate::quantity::{self, QuantityError, Why, humane_span, refuse, show_bytes, show_span};

/// An entry of cross traffic. Its times count from the SYN of the measured flow. With a population, they count from the beginning of the
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The traffic.
    pub cross: Cross,
    /// When the traffic begins; `None` for the beginning of the run, before the measured flow.
    pub start: Option<Span>,
    /// When the traffic ends: from then on no datagram is sent, no transfer begins, and bulk TCP flows stop writing.
    pub stop: Option<Span>,
    /// Whether the traffic flows in the reverse direction, against the data of the measured flow.
    pub reverse: bool,
    /// The shortest and the longest base RTT of TCP traffic; `None` for the path's base RTT.
    pub rtt: Option<(Span, Span)>,
    /// The receive buffer of TCP traffic; `None` for the scenario's receive buffer.
    pub rwnd: Option<Bytes>,
    /// The scheme of transfers, users and web pages; `None` for slow start. The scheme of bulk flows is in [`Beside::cross`].
    pub scheme: Option<&'static str>,
    /// The avoidance law that follows the scheme. `None` for the path's law, or for the scheme's own law if the path has none.
    pub law: Option<&'static str>,
}

/// The words of an entry other than its traffic, in the order in which they are shown.
const WORDS: [&str; 7] = ["start", "stop", "way", "rtt", "rwnd", "scheme", "law"];

/// Maximum number of entries.
const MOST: usize = 100;

const ENTRY: &str = "an entry of cross traffic is its traffic and any of start=TIME, stop=TIME, way=forward or way=reverse, and \
                     for TCP rtt=TIME or rtt=TIME..TIME and rwnd=SIZE, for transfers, users and web pages scheme=SCHEME and law=LAW, \
                     as in `40mbit,start=600ms,stop=5s`; several have a `;` between them, at most 100";

impl Beside {
    /// Traffic of the whole run in the direction of the measured flow.
    pub const fn steady(cross: Cross) -> Self {
        Self {
            cross,
            start: None,
            stop: None,
            reverse: false,
            rtt: None,
            rwnd: None,
            scheme: None,
            law: None,
        }
    }

    /// Returns the scheme and the law of the entry's TCP flows, in the form of a list of schemes.
    pub fn choice(&self) -> String {
        match self.cross {
            Cross::Tcp(bulk) => bulk.choice(),
            _ => bulk_flows::choice(self.scheme.unwrap_or(bulk_flows::PLAIN), self.law),
        }
    }

    /// Returns the base RTT of the `index`-th of `count` hosts. The range from the shortest to the longest RTT is divided into `count`
    /// equal parts, and each host has the middle of one part. Returns `path` if the entry has no range.
    pub fn rtt_of(&self, index: u32, count: u32, path: Span) -> Span {
        let (least, most) = self.rtt.unwrap_or((path, path));
        let step = u128::from((most - least).nanos()) * (2 * u128::from(index) + 1);
        let step = step / (2 * u128::from(count.max(1)));
        least + Span::from_nanos(u64::try_from(step).unwrap_or(0))
    }

    /// Returns the entry in words, for titles.
    pub(crate) fn describe(&self) -> String {
        let mut words = self.cross.describe();
        if self.reverse {
            words = words.replacen(" across", " against it", 1);
        }
        let from = self.start.map(|at| format!(" from {}", humane_span(at)));
        let until = self.stop.map(|at| format!(" until {}", humane_span(at)));
        let rtt = self.rtt.map(|(least, most)| {
            if least == most {
                format!(" with a base RTT of {}", humane_span(least))
            } else {
                format!(" with base RTTs of {} to {}", humane_span(least), humane_span(most))
            }
        });
        let rwnd = self.rwnd.map(|rwnd| format!(" and receive buffers of {}", quantity::humane_bytes(rwnd)));
        let ends = self.scheme.or(self.law).map(|_| {
            let law = self.law.map_or_else(String::new, |law| format!(" and {law}"));
            format!(" by {}{law}", self.scheme.unwrap_or(bulk_flows::PLAIN))
        });
        [ends, from, until, rtt, rwnd].into_iter().flatten().fold(words, |words, more| words + &more)
    }

    fn set(&mut self, registry: Registry, name: &str, text: &str) -> Result<(), QuantityError> {
        let unknown = || bulk_flows::unknown(registry, text);
        match name {
            "scheme" => self.scheme = Some(bulk_flows::scheme(registry, text)?.ok_or_else(unknown)?),
            "law" => self.law = Some(registry.law(text).ok_or_else(unknown)?.name),
            "start" => self.start = Some(instant(text)?),
            "stop" => self.stop = Some(quantity::span(text)?),
            "way" => {
                self.reverse = match text {
                    "forward" => false,
                    "reverse" => true,
                    _ => return Err(refuse(text, Why::UnknownWord, "a way is `forward` or `reverse`")),
                };
            }
            "rtt" => {
                let (least, most) = text.split_once("..").unwrap_or((text, text));
                let (least, most) = (quantity::span(least)?, quantity::span(most)?);
                if least > most {
                    return Err(refuse(
                        text,
                        Why::OutOfRange,
                        "the shortest comes first, as in `rtt=50ms..200ms`",
                    ));
                }
                self.rtt = Some((least, most));
            }
            _ => self.rwnd = Some(quantity::bytes(text)?),
        }
        Ok(())
    }

    /// Returns an error if words of the entry conflict.
    fn check(&self, text: &str) -> Result<(), QuantityError> {
        let is_datagrams = matches!(self.cross, Cross::None | Cross::Cbr(_) | Cross::OnOff { .. });
        if is_datagrams && (self.rtt.is_some() || self.rwnd.is_some()) {
            return Err(refuse(
                text,
                Why::Conflict,
                "rtt and rwnd are of TCP traffic, and no one answers datagrams",
            ));
        }
        let arrives = matches!(self.cross, Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_));
        if !arrives && (self.scheme.is_some() || self.law.is_some()) {
            return Err(refuse(
                text,
                Why::Conflict,
                "scheme and law are of transfers, users and web pages; bulk flows have them behind their number, as in \
                 `tcp:4,hystart,cubic`, and datagrams have none",
            ));
        }
        let start = self.start.unwrap_or(Span::ZERO);
        match self.stop.filter(|stop| *stop <= start) {
            Some(stop) => {
                let after = format!("traffic that starts at {} stops after that", show_instant(start));
                Err(refuse(&show_span(stop), Why::OutOfRange, after))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cross.fmt(f)?;
        let rtt = |(least, most)| {
            if least == most {
                show_span(least)
            } else {
                format!("{}..{}", show_span(least), show_span(most))
            }
        };
        let items = [
            ("start", self.start.map(show_instant)),
            ("stop", self.stop.map(show_span)),
            ("way", self.reverse.then(|| "reverse".to_owned())),
            ("rtt", self.rtt.map(rtt)),
            ("rwnd", self.rwnd.map(show_bytes)),
            ("scheme", self.scheme.map(str::to_owned)),
            ("law", self.law.map(str::to_owned)),
        ];
        items
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)))
            .try_for_each(|(name, text)| write!(f, ",{name}={text}"))
    }
}

/// Reads the key `cross`. Returns the first traffic that lasts for the whole run in the direction of the measured flow, and all other
/// entries.
///
/// # Errors
/// Traffic or a word that cannot be read, a repeated word, a stop that is not after the start, or too many entries.
pub(crate) fn entries(registry: Registry, text: &str) -> Result<(Cross, Vec<Beside>), QuantityError> {
    let count = text.split(';').count();
    if count > MOST {
        return Err(refuse(&format!("{count} entries"), Why::TooLarge, ENTRY));
    }
    let mut steady = Cross::None;
    let mut others = Vec::new();
    for text in text.split(';') {
        let entry = entry(registry, text)?;
        match entry.cross {
            Cross::None => {}
            found if steady == Cross::None && entry == Beside::steady(found) => steady = found,
            _ => others.push(entry),
        }
    }
    Ok((steady, others))
}

/// Entries as the key `cross` has them.
pub(crate) fn show(steady: Cross, others: &[Beside]) -> String {
    let steady = Some(steady).filter(|cross| *cross != Cross::None || others.is_empty());
    let all = steady.map(|cross| cross.to_string()).into_iter().chain(others.iter().map(ToString::to_string));
    all.collect::<Vec<_>>().join(";")
}

fn entry(registry: Registry, text: &str) -> Result<Beside, QuantityError> {
    let is_word = |item: &str| item.split_once('=').is_some_and(|(name, _)| WORDS.contains(&name.trim()));
    let (words, traffic): (Vec<&str>, Vec<&str>) = text.split(',').partition(|item| is_word(item));
    if words.is_empty() {
        return cross(registry, text).map(Beside::steady);
    }
    let mut entry = Beside::steady(cross(registry, &traffic.join(","))?);
    let mut said: Vec<&str> = Vec::new();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let (name, value) = (name.trim(), value.trim());
        if said.contains(&name) {
            return Err(refuse(word, Why::Conflict, format!("{name} is said once; {ENTRY}")));
        }
        said.push(name);
        entry.set(registry, name, value)?;
    }
    entry.check(text)?;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Cross, Vec<Beside>), String> {
        entries(Registry::builtin(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_read_back_as_what_they_show() {
        for text in [
            "none",
            "40mbit",
            "40mbit,start=600ms",
            "40mbit;tcp:2,hystart,cubic,start=0s,stop=5s,way=reverse",
            "onoff:40mbit,1s,1s,pareto=1.5,start=2s;web:0.3,stop=4s",
            "poisson:50mbit,100p,pareto=1.5,rtt=50ms..200ms,rwnd=64kB",
            "poisson:5,100p,exponential,way=reverse,rtt=50ms",
            "tcp:1;20mbit",
            "users:3,10kB,pareto=1.1,way=reverse,scheme=paced",
            "poisson:5,100p,exponential,scheme=hystart,law=cubic;web:0.3,law=cubic",
        ] {
            let (steady, others) = read(text).expect(text);
            assert_eq!(show(steady, &others), text);
        }
    }

    #[test]
    fn words_may_stand_anywhere_and_the_default_way_is_not_shown() {
        let (steady, others) = read("start=1s,way=forward,10mbit").expect("an entry");
        assert_eq!(show(steady, &others), "10mbit,start=1s");
        assert_eq!(read("none,start=1s;0"), Ok((Cross::None, Vec::new())));
    }

    #[test]
    fn invalid_cross_entries_are_refused_in_one_line() {
        for (text, says) in [
            ("40mbit,strat=1s", "`40mbit,strat=1s`"),
            ("40mbit,start=1s,start=2s", "`start=2s`"),
            ("40mbit,start=2s,stop=2s", "`2s` is out of range; traffic that starts at 2s stops after that"),
            ("40mbit,way=back", "`back` is not known; a way is"),
            ("40mbit,rtt=1s", "`40mbit,rtt=1s`"),
            ("tcp:1,rtt=2s..1s", "`2s..1s` is out of range"),
            ("tcp:1,rwnd=0", "`0` is zero"),
            ("start=1s", "``"),
            ("users:3,10kB,scheme=pacde", "`pacde` is not known; is `paced` meant?"),
            ("users:3,10kB,law=cubci", "`cubci` is not known; is `cubic` meant?"),
            ("users:3,10kB,scheme=quick-start", "`quick-start` is out of range; a scheme of cross traffic"),
            ("tcp:4,scheme=paced", "`tcp:4,scheme=paced` conflicts"),
            ("40mbit,law=cubic", "`40mbit,law=cubic` conflicts"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(says) && !error.contains('\n'), "{text}: {error}");
        }
        let many = vec!["1mbit,start=1s"; 101].join(";");
        assert!(read(&many).expect_err("many").starts_with("`101 entries` is too large"));
    }

    #[test]
    fn hosts_have_round_trip_times_in_equal_steps() {
        let (_, others) = read("tcp:1,rtt=100ms..300ms").expect("an entry");
        let of = |index| others[0].rtt_of(index, 2, Span::from_millis(1));
        assert_eq!([of(0), of(1)], [Span::from_millis(150), Span::from_millis(250)]);
        let plain = Beside::steady(Cross::None);
        assert_eq!(plain.rtt_of(3, 4, Span::from_millis(7)), Span::from_millis(7));
    }
}
