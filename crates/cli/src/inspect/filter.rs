//! `--filter`: which senders are told of.

use std::net::{IpAddr, SocketAddr};

use firstflight_inspect::{Cause, Found, TUNNEL_KINDS};
use firstflight_report::columns::{Column, Kind};
use firstflight_report::inspected::rows;
use firstflight_report::record::Record;
use firstflight_scenario::quantity::{self, QuantityError};
use firstflight_scenario::suggest::closest;
use serde_json::Value;

use crate::failure::Failure;

/// The words of fields that have few.
const WORDS: [(&str, &[&str]); 8] = [
    ("role", &["client", "server"]),
    ("vantage", &["sender", "receiver", "between"]),
    ("sack", &["true", "false"]),
    ("timestamps", &["true", "false"]),
    ("ecn", &["true", "false"]),
    ("ecn_feedback", &["rfc3168", "accecn"]),
    ("initial_window_limit", &["window", "receiver-window", "application"]),
    ("pacing", &["ack-clocked", "paced", "mixed"]),
];

/// Why start-up may have ended, beside `none`.
const CAUSES: [Cause; 7] = [
    Cause::Loss,
    Cause::Timeout,
    Cause::Mark,
    Cause::Flat,
    Cause::Drain,
    Cause::ReceiverWindow,
    Cause::Application,
];

/// Names beside the fields.
const ENDS: [&str; 2] = ["host", "port"];

/// The word for a number that is not there.
const UNDEFINED: &str = "undefined";

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Longer ones before those that they begin with.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Addresses that begin alike, and a port if one was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ends {
    address: IpAddr,
    length: u32,
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Debug)]
enum Wanted {
    /// `host`: either end.
    Host(Ends),
    /// `from` or `to`.
    End(&'static str, Ends),
    /// `port`: of either end.
    Port(u16),
    Number(&'static str, f64),
    Word(&'static str, String),
    /// A field that is undefined.
    Undefined(&'static str),
}

/// One condition on a sender.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Filter {
    operator: Operator,
    wanted: Wanted,
}

impl Filter {
    /// Reads `NAME OPERATOR VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let shown = quantity::in_a_line(text);
        let refuse = |why: String| Failure::usage(format!("--filter `{shown}`: {why}"));
        let at = text.find(['=', '!', '<', '>']);
        let found = at.and_then(|at| {
            let (sign, operator) = OPERATORS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
            Some((text[..at].trim(), *operator, text[at + sign.len()..].trim()))
        });
        let Some((name, operator, value)) =
            found.filter(|(name, _, value)| !name.is_empty() && !value.is_empty())
        else {
            return Err(refuse(
                "a filter is a field, one of = != < <= > >=, and a value, as in `bytes_sent>1000000`, \
                 `exit_cause=loss`, `host=10.0.0.0/8`"
                    .to_owned(),
            ));
        };
        if value.starts_with(['=', '!', '<', '>', '~']) {
            return Err(refuse(meant_sign(&text[at.unwrap_or(0)..])));
        }
        let wanted = wanted(name, value).map_err(refuse)?;
        let has_order = matches!(wanted, Wanted::Number(..) | Wanted::Port(_));
        if !has_order && !matches!(operator, Operator::Equal | Operator::Unequal) {
            return Err(refuse(format!("`{name}` is compared by = and != only")));
        }
        Ok(Self { operator, wanted })
    }

    /// Whether the sender's row is needed.
    pub(crate) fn reads_fields(&self) -> bool {
        matches!(self.wanted, Wanted::Number(..) | Wanted::Word(..) | Wanted::Undefined(_))
    }

    /// Whether the sender is one of those wanted. A number that is undefined is neither equal nor unequal to any.
    pub(crate) fn takes(&self, found: &Found, row: &Record) -> bool {
        let is = |equal: bool| equal == (self.operator == Operator::Equal);
        let ends = [&found.from, &found.to].map(|end| end.parse::<SocketAddr>().ok());
        match &self.wanted {
            Wanted::Host(host) => is(ends.into_iter().flatten().any(|end| host.has(end))),
            Wanted::End(field, wanted) => {
                let end = if *field == "from" { ends[0] } else { ends[1] };
                is(end.is_some_and(|end| wanted.has(end)))
            }
            Wanted::Port(port) => {
                let mut ports = ends.into_iter().flatten().map(|end| f64::from(end.port()));
                match self.operator {
                    // No end has it.
                    Operator::Unequal => ports.all(|found| self.operator.holds(found, f64::from(*port))),
                    _ => ports.any(|found| self.operator.holds(found, f64::from(*port))),
                }
            }
            Wanted::Number(field, wanted) => row
                .get(*field)
                .and_then(Value::as_f64)
                .is_some_and(|found| self.operator.holds(found, *wanted)),
            Wanted::Word(field, wanted) => match row.get(*field) {
                None | Some(Value::Null) => false,
                // A kind of tunnels alone means all of that kind, whatever their identifiers.
                Some(Value::String(found)) if *field == "tunnel" => {
                    is(found == wanted || found.split(' ').next() == Some(wanted))
                }
                Some(Value::String(found)) => is(found == wanted),
                Some(other) => {
                    is(other.as_bool().is_some_and(|found| wanted == if found { "true" } else { "false" }))
                }
            },
            Wanted::Undefined(field) => is(row.get(*field).is_none_or(Value::is_null)),
        }
    }
}

/// What is wrong with the signs that `rest` begins with, which are no operator.
fn meant_sign(rest: &str) -> String {
    let end = rest.find(|c| !"=!<>~ ".contains(c)).unwrap_or(rest.len());
    let signs: String = rest[..end].split_whitespace().collect();
    if OPERATORS.iter().any(|(sign, _)| *sign == signs) {
        return format!("`{signs}` is written without a space");
    }
    let near = match signs.as_str() {
        "=>" | "=>=" | ">==" => "; is `>=` meant?",
        "=<" | "=<=" | "<==" => "; is `<=` meant?",
        "=!" | "<>" | "!==" | "~=" => "; is `!=` meant?",
        "===" => "; is `=` meant?",
        _ => "; there are = != < <= > >=",
    };
    format!("`{signs}` is no comparison{near}")
}

impl Operator {
    #[expect(clippy::float_cmp, reason = "a number is compared with the one that was printed")]
    fn holds(self, found: f64, wanted: f64) -> bool {
        match self {
            Self::Equal => found == wanted,
            Self::Unequal => found != wanted,
            Self::Less => found < wanted,
            Self::AtMost => found <= wanted,
            Self::Greater => found > wanted,
            Self::AtLeast => found >= wanted,
        }
    }
}

impl Ends {
    /// Reads an address, `ADDRESS/LENGTH` or, where a port may be, `ADDRESS:PORT`.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(end) = text.parse::<SocketAddr>() {
            return Some(Self { address: end.ip(), length: bits(end.ip()), port: Some(end.port()) });
        }
        let (address, length) = text.split_once('/').map_or((text, None), |(at, length)| (at, Some(length)));
        let address: IpAddr = address.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
        let length = length.map_or(Some(bits(address)), |length| length.parse().ok())?;
        (length <= bits(address)).then_some(Self { address, length, port: None })
    }

    fn has(self, end: SocketAddr) -> bool {
        let shift = bits(self.address) - self.length;
        let prefix = |address| number(address).checked_shr(shift).unwrap_or(0);
        self.address.is_ipv4() == end.is_ipv4()
            && prefix(self.address) == prefix(end.ip())
            && self.port.is_none_or(|port| port == end.port())
    }
}

fn bits(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn wanted(name: &str, value: &str) -> Result<Wanted, String> {
    let names = || rows::columns().map(|column| column.name).filter(|name| *name != UNDEFINED).chain(ENDS);
    let ends = || {
        Ends::parse(value).ok_or_else(|| {
            format!("`{value}` is no address; there are 10.0.0.1, 10.0.0.0/8, 2001:db8::/32, 10.0.0.1:443, [2001:db8::1]:443")
        })
    };
    match name {
        "host" => return Ok(Wanted::Host(ends()?)),
        "from" => return Ok(Wanted::End("from", ends()?)),
        "to" => return Ok(Wanted::End("to", ends()?)),
        "port" => {
            let port = value.parse().map_err(|_| format!("`{value}` is no port; a port is 0 to 65535"))?;
            return Ok(Wanted::Port(port));
        }
        _ => {}
    }
    let Some(column) = rows::columns().find(|column| column.name == name && name != UNDEFINED) else {
        let name = name.replace('-', "_");
        let near = closest(&name, names());
        let near = near.or_else(|| names().find(|known| known.contains(&name) && name.len() > 2));
        return Err(match near {
            Some(near) => format!("there is no field `{name}`; is `{near}` meant?"),
            None => {
                format!("there is no field `{name}`; there are {}", names().collect::<Vec<_>>().join(", "))
            }
        });
    };
    if value == UNDEFINED {
        return Ok(Wanted::Undefined(column.name));
    }
    if column.kind != Kind::Text {
        return measure(column, value).map(|number| Wanted::Number(column.name, number));
    }
    if name == "tunnel" {
        return tunnel(value).map(|()| Wanted::Word(column.name, value.to_owned()));
    }
    let words = if name == "exit_cause" {
        Some(CAUSES.map(Cause::name).into_iter().chain(["none"]).collect::<Vec<_>>())
    } else {
        WORDS.iter().find(|(field, _)| *field == name).map(|(_, words)| words.to_vec())
    };
    match words {
        Some(words) if !words.contains(&value) => {
            let near = closest(value, words.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; is `{near}` meant?"));
            Err(format!("`{name}` is {} or undefined, never `{value}`{near}", words.join(", ")))
        }
        _ => Ok(Wanted::Word(column.name, value.to_owned())),
    }
}

/// That a tunnel is of a kind that there is.
fn tunnel(value: &str) -> Result<(), String> {
    let kind = value.split(' ').next().unwrap_or_default();
    if TUNNEL_KINDS.contains(&kind) {
        return Ok(());
    }
    let near = closest(kind, TUNNEL_KINDS).map_or_else(String::new, |near| format!("; is `{near}` meant?"));
    let kinds = TUNNEL_KINDS.join(", ");
    Err(format!(
        "a tunnel is one of {kinds}, with its identifier or without, as in `vxlan 5`, or undefined, never `{value}`{near}"
    ))
}

/// A number as it is printed, or with a unit.
fn measure(column: &Column, value: &str) -> Result<f64, String> {
    if let Ok(number) = value.parse::<f64>() {
        return if number.is_finite() { Ok(number) } else { Err(format!("`{value}` is no number")) };
    }
    let failed = |error: QuantityError| error.to_string();
    #[expect(clippy::cast_precision_loss, reason = "what is compared is a double, too")]
    match column.unit {
        "s" => Ok(quantity::span(value).map_err(failed)?.nanos() as f64 / 1e9),
        "bytes" => Ok(quantity::bytes(value).map_err(failed)?.get() as f64),
        "bit/s" => Ok(quantity::rate(value).map_err(failed)?.bps() as f64),
        _ => Err(format!("`{value}` is no number, as `{}` is", column.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender() -> Found {
        Found {
            from: "10.1.2.3:40000".to_owned(),
            to: "[2001:db8::5]:443".to_owned(),
            role: Some("client"),
            bytes_sent: Some(2_000_000),
            handshake_rtt_s: Some(0.05),
            later_rate_bps: Some(1e7),
            sack: Some(true),
            ..Found::default()
        }
    }

    fn takes(text: &str) -> bool {
        let mut found = sender();
        let row = rows::row("a.pcap", &mut found).expect("a row");
        Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).takes(&found, &row)
    }

    #[test]
    fn a_tunnel_is_chosen_by_its_kind_or_with_its_identifier() {
        let found = Found { tunnel: Some("gre 7".to_owned()), ..sender() };
        let takes = |text: &str, mut found: Found| {
            let row = rows::row("a.pcap", &mut found).expect("a row");
            Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).takes(&found, &row)
        };
        for text in ["tunnel=gre", "tunnel=gre 7", "tunnel!=vxlan", "tunnel!=undefined"] {
            assert!(takes(text, found.clone()), "{text}");
            assert!(!takes(text, sender()), "{text}: without a tunnel");
        }
        let labels = Found { tunnel: Some("mpls 16/32".to_owned()), ..sender() };
        for text in ["tunnel=mpls", "tunnel=mpls 16/32", "tunnel!=mpls 16"] {
            assert!(takes(text, labels.clone()), "{text}");
        }
        assert!(takes("tunnel=pppoe 17", Found { tunnel: Some("pppoe 17".to_owned()), ..sender() }));
        for text in ["tunnel=gre 8", "tunnel=mpls", "tunnel!=gre", "tunnel=undefined"] {
            assert!(!takes(text, found.clone()), "{text}");
        }
    }

    #[test]
    fn ends_are_chosen_by_address_prefix_and_port() {
        for text in [
            "host=10.1.2.3",
            "host = 10.1.0.0/16",
            "host=2001:db8::/32",
            "host=0.0.0.0/0",
            "host=10.1.2.3:40000",
            "host=[2001:db8::5]:443",
            "from=10.1.2.3",
            "to=2001:db8::5",
            "port=443",
            "port=40000",
            "port!=80",
            "host!=10.1.2.4",
            "from!=2001:db8::5",
            "port>=40000",
            "host=[2001:db8::5]",
        ] {
            assert!(takes(text), "{text}");
        }
        for text in [
            "host=10.1.2.4",
            "host=10.2.0.0/16",
            "host=10.1.2.3:443",
            "host!=10.1.2.3",
            "to=10.1.2.3",
            "port=80",
            "port!=443",
            "host=8000::/1",
            "port>40000",
        ] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn fields_are_compared_as_they_are_printed_or_with_units() {
        for text in [
            "bytes_sent>1000000",
            "bytes_sent>=2MB",
            "bytes_sent=2000000",
            "handshake_rtt_s<=50ms",
            "handshake_rtt_s=0.05",
            "later_rate_bps>9mbit",
            "role=client",
            "role!=server",
            "exit_cause=undefined",
            "role!=undefined",
            "sack=true",
            "file=a.pcap",
            "connection<1",
        ] {
            assert!(takes(text), "{text}");
        }
        // What is undefined is neither equal nor unequal to anything.
        for text in [
            "bytes_sent<2MB",
            "exit_cause=loss",
            "exit_cause!=loss",
            "exit_time_s<5",
            "exit_time_s!=5",
            "sack=false",
        ] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn a_wrong_filter_is_one_line_with_what_may_be_meant() {
        for (text, words) in [
            ("byte_sent>1", "there is no field `byte_sent`; is `bytes_sent` meant?"),
            ("exit-caus=loss", "is `exit_cause` meant?"),
            ("hst=10.0.0.1", "is `host` meant?"),
            ("rtt<1", "is `handshake_rtt_s` meant?"),
            ("elephants>1", "there are file, connection, from, to, tunnel"),
            ("exit_cause=los", "application, none or undefined, never `los`; is `loss` meant?"),
            ("exit_cause=flt", "never `flt`; is `flat` meant?"),
            ("tunnel=ppoe 5", "gtp-u, ip, pppoe, mpls, with its identifier or without"),
            ("tunnel=ppoe 5", "never `ppoe 5`; is `pppoe` meant?"),
            ("role=boss", "`role` is client, server or undefined, never `boss`"),
            ("bytes_sent=>3", "`=>` is no comparison; is `>=` meant?"),
            ("bytes_sent =< 3", "`=<` is no comparison; is `<=` meant?"),
            ("exit_cause=!loss", "is `!=` meant?"),
            ("exit_cause<>loss", "is `!=` meant?"),
            ("exit_cause===loss", "is `=` meant?"),
            ("host=~10.0", "`=~` is no comparison; there are = != < <= > >="),
            ("port> =5", "`>=` is written without a space"),
            ("role>client", "`role` is compared by = and != only"),
            ("bytes_sent>many", "does not begin with a decimal number"),
            ("bytes_sent>nan", "is no number"),
            ("connection=1s", "is no number"),
            ("handshake_rtt_s<5furlongs", "unknown unit"),
            ("host=10.0.0.1/33", "is no address"),
            ("host=example.org", "is no address"),
            ("port=https", "is no port"),
            ("bytes_sent", "a filter is a field"),
            ("=5", "a filter is a field"),
            ("bytes_sent>", "a filter is a field"),
            ("bytes_sent!5", "a filter is a field"),
            ("undefined=x", "there is no field"),
        ] {
            let error = Filter::parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(!error.contains("?;") && !error.contains("?."), "a question stands last: {error}");
        }
    }

    #[test]
    fn every_word_of_a_field_is_in_its_meaning() {
        for (field, words) in WORDS {
            let column = rows::columns().find(|column| column.name == field).expect(field);
            let is_told = |word: &&&str| ["true", "false"].contains(word) || column.meaning.contains(**word);
            assert!(words.iter().all(|word| is_told(&word)), "{field}");
        }
        let meaning = rows::columns().find(|column| column.name == "exit_cause").expect("a field").meaning;
        assert!(CAUSES.iter().all(|cause| meaning.contains(cause.name())));
    }
}
