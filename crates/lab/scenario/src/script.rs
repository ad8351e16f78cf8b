//! Scripted flows as text: `scheme=hystart,start=10s,end=70s`, with `;` between flows. A scenario file has a table `[[flow]]` for each
//! flow.

use std::fmt;

use firstflight::Span;
use firstflight::registry::Registry;
use firstflight_sim::HostName;
use firstflight_tcp::AckPolicy;

use crate::keywords;
use crate::population::{instant, show_instant};
use crate::quantity::{self, Amount, QuantityError, Why, refuse};
use crate::restart::{self, RestartChoice};
use crate::suggest::meant;

/// One flow of a script. The scenario's value applies to each field that is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptedFlow {
    /// The flow's scheme with parameters, as in a list of schemes. `None` means the row's scheme. [`crate::Scenario::cast`] reads the text.
    pub scheme: Option<String>,
    /// The time of the flow's SYN, counted from the beginning of the run.
    pub start: Span,
    /// Payload to transfer.
    pub size: Option<Amount>,
    /// The time at which the flow's application stops writing, counted from the beginning of the run.
    pub end: Option<Span>,
    /// The host that sends: its router, and its place at the router. If it is `None`, [`crate::Scenario::script_hosts`] selects one.
    pub from: Option<HostName>,
    /// The host that receives. If it is `None`, [`crate::Scenario::script_hosts`] selects one.
    pub to: Option<HostName>,
    /// When the flow's receiver acknowledges.
    pub ack: Option<AckPolicy>,
    /// The restart policy of the flow's sender.
    pub restart: Option<RestartChoice>,
}

/// The words of a flow, in the order in which they are shown.
pub(crate) const WORDS: [&str; 8] = ["start", "size", "end", "from", "to", "ack", "restart", "scheme"];

/// Maximum number of flows of a script.
const MOST: usize = 1_000;

const FLOW: &str = "a flow is as in `scheme=hystart,start=10s,end=70s`, of scheme, start, size or end, from, to, ack and \
                    restart, all of which may be left out; several have a `;` between them, at most 1000";

/// Reads a script. `none` is a script without flows.
///
/// # Errors
/// An unknown word, a value that cannot be read, a repeated word, an end that is not after the start, or too many flows.
pub(crate) fn script(registry: Registry, text: &str) -> Result<Vec<ScriptedFlow>, QuantityError> {
    if ["none", "0"].contains(&text.trim()) {
        return Ok(Vec::new());
    }
    let flows = text.split(';').map(|text| flow(registry, text)).collect::<Result<Vec<_>, _>>()?;
    if flows.len() > MOST {
        return Err(refuse(&format!("{} flows", flows.len()), Why::TooLarge, FLOW));
    }
    Ok(flows)
}

fn flow(registry: Registry, text: &str) -> Result<ScriptedFlow, QuantityError> {
    let mut items: Vec<(&str, String)> = Vec::new();
    for item in text.split(',').map(str::trim) {
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        let is_word = WORDS.contains(&name.trim()) && item.contains('=');
        // A word that is not one of a flow's words is a parameter of the scheme.
        match items.iter_mut().find(|(name, _)| *name == "scheme").filter(|_| !is_word) {
            Some((_, scheme)) => {
                let sign = if scheme.contains(':') { "," } else { ":" };
                scheme.push_str(sign);
                scheme.push_str(item);
            }
            None if !item.contains('=') => return Err(refuse(item, Why::UnknownWord, FLOW)),
            None if !is_word => return Err(unknown(name.trim())),
            None => items.push((name.trim(), value.trim().to_owned())),
        }
    }
    let mut flow = ScriptedFlow::default();
    for (index, (name, value)) in items.iter().enumerate() {
        if items.iter().take(index).any(|(before, _)| before == name) {
            return Err(refuse(
                &format!("{name}={value}"),
                Why::Conflict,
                format!("{name} is said once; {FLOW}"),
            ));
        }
        flow.set(registry, name, value)?;
    }
    flow.check()?;
    Ok(flow)
}

/// Returns the error of a word that a flow does not have.
pub(crate) fn unknown(name: &str) -> QuantityError {
    let hint = meant(name, &[], WORDS).unwrap_or_else(|| FLOW.to_owned());
    refuse(name, Why::UnknownWord, hint)
}

impl ScriptedFlow {
    /// Sets one word of the flow.
    ///
    /// # Errors
    /// An unknown word, or a value that cannot be read. The text of the error begins with the word.
    pub(crate) fn set(&mut self, registry: Registry, name: &str, text: &str) -> Result<(), QuantityError> {
        match name {
            "scheme" => self.scheme = Some(scheme(text)?),
            "start" => self.start = instant(text)?,
            "size" => self.size = Some(quantity::amount(text)?),
            "end" => self.end = Some(quantity::span(text)?),
            "from" => self.from = Some(host(text)?),
            "to" => self.to = Some(host(text)?),
            "ack" => self.ack = Some(keywords::ack(text)?),
            "restart" => self.restart = Some(policy(registry, text)?),
            other => return Err(unknown(other)),
        }
        Ok(())
    }

    /// Returns an error if words of the flow conflict.
    pub(crate) fn check(&self) -> Result<(), QuantityError> {
        let Some(end) = self.end else { return Ok(()) };
        if self.size.is_some() {
            let both = "a flow has a size, or an end before which it never lacks data";
            return Err(refuse(&self.to_string(), Why::Conflict, both));
        }
        if end <= self.start {
            let after = format!("a flow that starts at {} ends after that", show_instant(self.start));
            return Err(refuse(&show_instant(end), Why::OutOfRange, after));
        }
        Ok(())
    }
}

/// Reads the text of one scheme, without checking it. The scheme's name and parameters are checked later, when the row's scheme is known.
fn scheme(text: &str) -> Result<String, QuantityError> {
    const ONE: &str = "one scheme is wanted, as in `paced:first=4`";
    if text.trim().is_empty() || text.contains(';') {
        return Err(refuse(text, Why::UnknownWord, ONE));
    }
    let names = text.split(',').map(|item| item.split('=').next().unwrap_or_default().trim());
    if let Some(word) = names.into_iter().find(|name| WORDS.contains(name)) {
        return Err(refuse(text, Why::Conflict, format!("{word} belongs to the flow, next to its scheme")));
    }
    Ok(text.split(',').map(str::trim).collect::<Vec<_>>().join(","))
}

/// Reads a host: `router/place`, both from zero.
pub(crate) fn host(text: &str) -> Result<HostName, QuantityError> {
    const HOST: &str = "a host is its router and its place at the router, both from 0, as in `0/3`";
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let both = text.split_once('/').and_then(|(router, place)| Some((number(router)?, number(place)?)));
    both.ok_or_else(|| refuse(text, Why::UnknownWord, HOST))
}

/// Returns a host as text.
pub(crate) fn show_host((router, place): HostName) -> String {
    format!("{router}/{place}")
}

fn policy(registry: Registry, text: &str) -> Result<RestartChoice, QuantityError> {
    let mut policies = restart::parse(registry, text)?;
    let policy = policies.pop().filter(|_| policies.is_empty());
    policy.ok_or_else(|| refuse(text, Why::Conflict, "a flow has one restart policy"))
}

impl fmt::Display for ScriptedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start={}", show_instant(self.start))?;
        let items = [
            ("size", self.size.map(|size| size.to_string())),
            ("end", self.end.map(show_instant)),
            ("from", self.from.map(show_host)),
            ("to", self.to.map(show_host)),
            ("ack", self.ack.map(keywords::ack_name)),
            ("restart", self.restart.as_ref().map(ToString::to_string)),
            ("scheme", self.scheme.clone()),
        ];
        items
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)))
            .try_for_each(|(name, text)| write!(f, ",{name}={text}"))
    }
}

/// Returns a script as text that reads back.
pub(crate) fn show_script(flows: &[ScriptedFlow]) -> String {
    flows.iter().map(ToString::to_string).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ScriptedFlow>, String> {
        script(Registry::builtin(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_script_reads_back_as_what_it_shows() {
        for text in [
            "start=0s",
            "start=10s,end=70s,scheme=hystart",
            "start=0s,size=64kB,from=0/3,to=1/2,ack=linux,restart=rbp-rate/after=cut,scheme=paced:first=4,iw=10p,as=x",
            "start=1500ms,size=50p;start=2s,scheme=slow-start",
        ] {
            assert_eq!(show_script(&read(text).expect(text)), text);
        }
        assert_eq!(read("none"), Ok(Vec::new()));
    }

    #[test]
    fn unknown_flow_words_are_parameters_of_the_scheme() {
        let written = read("scheme=paced,first=4,start=3s,as=x").expect("a flow");
        assert_eq!(written, read("start=3s,scheme=paced:first=4,as=x").expect("a flow"));
        assert_eq!(written[0].scheme.as_deref(), Some("paced:first=4,as=x"));
        assert_eq!(written[0].start, Span::from_secs(3));
    }

    #[test]
    fn words_of_a_flow_differ_from_all_scheme_parameters() {
        for entry in firstflight::registry::schemes() {
            for parameter in entry.parameters {
                assert!(!WORDS.contains(&parameter.name), "{} {}", entry.name, parameter.name);
            }
        }
    }

    #[test]
    fn errors_in_a_flow_are_reported_in_one_line() {
        for (text, says) in [
            ("strat=10s", "`strat` is not known; is `start` meant?"),
            ("hystart", "`hystart` is not known; a flow is as in `scheme=hystart,start=10s"),
            ("", "`` is not known; a flow is as in"),
            ("start=1s;", "`` is not known; a flow is as in"),
            ("start=1s,start=2s", "`start=2s`"),
            ("start=-1s", "`-1s` is negative"),
            ("size=0", "`0` is zero"),
            ("size=0B", "`0B` is zero"),
            ("start=10s,end=10s", "`10s` is out of range; a flow that starts at 10s ends after that"),
            ("size=1MB,end=10s", "`start=0s,size=1MB,end=10s`"),
            ("from=3", "`3` is not known; a host is its router and its place"),
            ("to=0/-1", "`0/-1` is not known; a host is"),
            ("ack=never", "`never` is not known"),
            ("restart=ssr/since=x", "`x`"),
            ("scheme=", "`` is not known; one scheme is wanted"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(says) && !error.contains('\n'), "{text}: {error}");
        }
        let many = vec!["start=0s"; 1_001].join(";");
        assert!(read(&many).expect_err("many").starts_with("`1001 flows` is too large"));
    }
}
