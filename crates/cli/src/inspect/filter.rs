//! `--filter`: selects the senders that are reported.

use std::net::{IpAddr, SocketAddr};

use firstflight_capture::TUNNEL_KINDS;
use firstflight_export::columns::Kind;
use firstflight_export::record::Record;
use firstflight_export::rows;
use firstflight_inspect::{Cause, Found};
use firstflight_scenario::condition::{Comparison, Parts, SIGNS, Sign, parts};
use firstflight_scenario::quantity;
use firstflight_scenario::suggest::closest;
use serde_json::Value;

use crate::failure::Failure;

/// Fields whose values are a few words, each with these words.
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

/// The causes of the end of start-up. `none` is not among them.
const CAUSES: [Cause; 8] = [
    Cause::Loss,
    Cause::Timeout,
    Cause::Mark,
    Cause::Flat,
    Cause::Drain,
    Cause::ReceiverWindow,
    Cause::Application,
    Cause::Reported,
];

/// Names that a filter may use in addition to the fields.
const ENDS: [&str; 2] = ["host", "port"];

/// The word for a number without a value.
const UNDEFINED: &str = "undefined";

/// Addresses with a common prefix, and optionally a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ends {
    address: IpAddr,
    length: u32,
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Debug)]
enum Wanted {
    /// `host`, `from` or `to`: the addresses of one of these ends, by their indices.
    Ends(&'static [usize], Ends),
    /// `port`: the port of either end.
    Port(u16),
    Number(&'static str, f64),
    Word(&'static str, String),
    /// A field that is undefined.
    Undefined(&'static str),
}

/// One condition on a sender.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Filter {
    comparison: Comparison,
    wanted: Wanted,
}

impl Filter {
    /// Reads a condition of the form `NAME OPERATOR VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let shown = quantity::in_a_line(text);
        let refuse = |why: String| Failure::usage(format!("--filter `{shown}`: {why}"));
        let is_condition = |parts: &Parts<'_>| {
            !parts.name.is_empty() && !parts.name.contains('!') && !parts.value.is_empty()
        };
        let Some(Parts { name, comparison, value, rest }) = parts(text, &signs()).filter(is_condition) else {
            return Err(refuse(
                "a filter is a field, one of = != < <= > >=, and a value, as in `bytes_sent>1000000`, \
                 `exit_cause=loss`, `host=10.0.0.0/8`"
                    .to_owned(),
            ));
        };
        if value.starts_with(['=', '!', '<', '>', '~']) {
            return Err(refuse(meant_sign(rest)));
        }
        let wanted = wanted(name, value).map_err(refuse)?;
        let has_order = matches!(wanted, Wanted::Number(..) | Wanted::Port(_));
        if !has_order && comparison.needs_order() {
            return Err(refuse(format!("`{name}` is compared by = and != only")));
        }
        Ok(Self { comparison, wanted })
    }

    /// Returns whether the condition needs the sender's row.
    pub(crate) fn reads_fields(&self) -> bool {
        matches!(self.wanted, Wanted::Number(..) | Wanted::Word(..) | Wanted::Undefined(_))
    }

    /// Checks whether a sender meets the condition. An undefined number is neither equal nor unequal to any number.
    pub(crate) fn takes(&self, found: &Found, row: &Record) -> bool {
        let is = |equal| self.comparison.holds_if(equal);
        let holds = |found, wanted| self.comparison.holds(found, wanted, 0.0);
        let ends = [&found.from, &found.to].map(|end| end.parse::<SocketAddr>().ok());
        match &self.wanted {
            Wanted::Ends(of, wanted) => {
                is(of.iter().filter_map(|end| *ends.get(*end)?).any(|end| wanted.has(end)))
            }
            Wanted::Port(port) => {
                let mut ports = ends.into_iter().flatten().map(|end| f64::from(end.port()));
                match self.comparison {
                    // The condition holds if neither end has the port.
                    Comparison::Unequal => ports.all(|found| holds(found, f64::from(*port))),
                    _ => ports.any(|found| holds(found, f64::from(*port))),
                }
            }
            Wanted::Number(field, wanted) => {
                row.get(*field).and_then(Value::as_f64).is_some_and(|found| holds(found, *wanted))
            }
            Wanted::Word(field, wanted) => match row.get(*field) {
                None | Some(Value::Null) => false,
                // The name of a kind of tunnels, without an identifier, selects all tunnels of that kind.
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

/// Returns the signs of comparisons. `==` is accepted too.
fn signs() -> Vec<Sign> {
    SIGNS.into_iter().chain([("==", Comparison::Equal)]).collect()
}

/// Describes the error if `rest` starts with signs that are not an operator.
fn meant_sign(rest: &str) -> String {
    let end = rest.find(|c| !"=!<>~ ".contains(c)).unwrap_or(rest.len());
    let found: String = rest[..end].split_whitespace().collect();
    if signs().iter().any(|(sign, _)| *sign == found) {
        return format!("`{found}` is written without a space");
    }
    let near = match found.as_str() {
        "=>" | "=>=" | ">==" => "; is `>=` meant?",
        "=<" | "=<=" | "<==" => "; is `<=` meant?",
        "=!" | "<>" | "!==" | "~=" => "; is `!=` meant?",
        "===" => "; is `=` meant?",
        _ => "; there are = != < <= > >=",
    };
    format!("`{found}` is no comparison{near}")
}

impl Ends {
    /// Reads `ADDRESS`, `ADDRESS/LENGTH` or, if a port is allowed, `ADDRESS:PORT`. `None` if the text has another form.
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
        "host" => return Ok(Wanted::Ends(&[0, 1], ends()?)),
        "from" => return Ok(Wanted::Ends(&[0], ends()?)),
        "to" => return Ok(Wanted::Ends(&[1], ends()?)),
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
    if matches!(column.kind, Kind::Whole | Kind::Real) {
        return firstflight_diff::number(column, value).map(|number| Wanted::Number(column.name, number));
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

/// Checks that a tunnel is of a known kind.
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
        // An undefined number is neither equal nor unequal to any.
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
            ("exit_cause=los", "application, reported, none or undefined, never `los`; is `loss` meant?"),
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
