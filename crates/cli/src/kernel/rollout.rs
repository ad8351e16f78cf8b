//! Rollouts of `firstflight kernel load`: the conditions on the command line, what would be touched, and the lines of `list`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::PathBuf;

use firstflight_kernel::{
    ALL_PEERS, KernelError, Namespace, Precedence, Prefix, Rolled, Route, Scope, Share, Socket, cgroup_at,
    cgroups_in, rollouts, routes, sockets,
};
use firstflight_scenario::quantity;
use firstflight_trace::in_a_line;
use serde::Serialize;

use super::options::Rollout;
use crate::failure::{Failure, Place};
use crate::output;

/// The congestion control of sockets that choose none, in the thread's network namespace.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Number of listeners and routes that are shown one by one.
const SHOWN: usize = 8;

/// A rollout as given on the command line.
pub(super) struct Plan {
    pub(super) scope: Scope,
    /// The network namespace; `None` if connections in all of them are meant.
    namespace: Option<Namespace>,
}

impl Plan {
    /// Reads the conditions; `None` if there are none.
    pub(super) fn of(given: &Rollout, arguments: &[String]) -> Result<Option<Self>, Failure> {
        let Rollout { to, cgroup, netns, share } = given;
        if !given.is_given() {
            return Ok(None);
        }
        let refuse = |option: &'static str, text: &str, why: &dyn fmt::Display| {
            Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, option, text))
        };
        let prefix = |text: &String| text.parse().map_err(|error: KernelError| refuse("--to", text, &error));
        let to: Vec<Prefix> = to.iter().map(prefix).collect::<Result<_, _>>()?;
        let share = match share {
            Some(text) => share_of(text).map_err(|why| refuse("--share", text, &why))?,
            None => Share::ALL,
        };
        let group = |path: &PathBuf| {
            cgroup_at(path).map_err(|error| refuse("--cgroup", &path.display().to_string(), &error))
        };
        let group = cgroup.as_ref().map(group).transpose()?;
        let namespace = match netns.as_ref().map(Option::as_deref) {
            Some(Some("")) => {
                let why = "a name is missing, as in --netns=web; --netns alone is this network namespace";
                return Err(refuse("--netns", "", &why));
            }
            Some(Some(name)) => {
                Some(Namespace::named(name).map_err(|error| refuse("--netns", name, &error))?)
            }
            None if group.is_some() => None,
            None | Some(None) => Some(Namespace::own().map_err(Failure::usage)?),
        };
        let cgroup = group.flatten();
        let number = namespace.as_ref().map(Namespace::cookie).transpose().map_err(Failure::usage)?;
        let label = namespace.as_ref().and_then(Namespace::label);
        let label = label.map(|path| path.display().to_string()).unwrap_or_default();
        Ok(Some(Self { scope: Scope { to, namespace: number, label, cgroup, share }, namespace }))
    }
}

/// Reads a share: `5%`, or a range as `5%..10%`. The bounds are percentages, because 1 could be one percent or all, and begin with a digit,
/// because of `0%...10%`.
fn share_of(text: &str) -> Result<Share, String> {
    let whole = "a share is above 0% and at most 100%, as in 5%, or a range of it, as in 5%..10%";
    let millionths = |text: &str| {
        let percent = Some(text).filter(|text| text.ends_with('%') && !text.starts_with('.'));
        let fraction = percent.and_then(|text| quantity::fraction(text).ok());
        let fraction = fraction.ok_or_else(|| format!("`{text}`: {whole}"))?;
        let millionths = fraction.times(u64::from(ALL_PEERS)).and_then(|number| u32::try_from(number).ok());
        millionths.filter(|number| *number <= ALL_PEERS).ok_or_else(|| format!("`{text}`: {whole}"))
    };
    let (first, end) = match text.split_once("..") {
        Some((first, end)) => (millionths(first)?, millionths(end)?),
        None => (0, millionths(text)?),
    };
    let count = end.checked_sub(first).filter(|count| *count > 0);
    count.map(|count| Share { first, count }).ok_or_else(|| format!("`{text}`: {whole}"))
}

/// Describes the connections: `to 192.0.2.0/24, 5% of the peers, in this network namespace`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&described(&self.scope, self.scope.namespace))
    }
}

/// Describes a scope, for a process in the network namespace with this number.
fn described(scope: &Scope, own: Option<u64>) -> String {
    let mut parts = Vec::new();
    if !scope.to.is_empty() {
        let (first, rest) = scope.to.split_at(scope.to.len().min(4));
        let mut text = first.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        if !rest.is_empty() {
            write!(text, " or {} other prefixes", rest.len()).ok();
        }
        parts.push(format!("to {text}"));
    }
    if scope.share != Share::ALL {
        parts.push(format!("with {} of the peers", scope.share));
    }
    if let Some(group) = &scope.cgroup {
        parts.push(format!("of processes in {}", group.display()));
    }
    parts.push(match scope.namespace {
        None => "in every network namespace".to_owned(),
        Some(number) => match label(scope) {
            Some(label) => format!("in {label}"),
            None if Some(number) == own => "in this network namespace".to_owned(),
            None => format!("in network namespace {number}"),
        },
    });
    parts.join(", ")
}

/// Returns the path by which a scope's network namespace was named, if it is still at that path.
fn label(scope: &Scope) -> Option<&str> {
    let is_there = || Namespace::named(&scope.label).and_then(|found| found.cookie()).ok() == scope.namespace;
    (!scope.label.is_empty() && is_there()).then_some(scope.label.as_str())
}

/// A rollout in `list --json`.
#[derive(Serialize)]
pub(super) struct Line {
    to: Vec<String>,
    share: String,
    cgroup: Option<String>,
    /// The number of the network namespace, and the path by which it was named if it is still there.
    netns_cookie: Option<u64>,
    netns: Option<String>,
    acts: bool,
    given: u64,
    own_choice: u64,
    refused: u64,
}

impl Line {
    pub(super) fn of(one: &Rolled) -> Self {
        let Scope { to, namespace, cgroup, share, .. } = &one.scope;
        Self {
            to: to.iter().map(ToString::to_string).collect(),
            share: share.to_string(),
            cgroup: cgroup.as_ref().map(|path| path.display().to_string()),
            netns_cookie: *namespace,
            netns: label(&one.scope).map(str::to_owned),
            acts: one.acts(),
            given: one.given,
            own_choice: one.own,
            refused: one.refused,
        }
    }
}

/// Returns the lines of a rollout in `list`.
pub(super) fn lines(one: &Rolled) -> String {
    let own = Namespace::own().and_then(|own| own.cookie()).ok();
    let Rolled { given, own: chosen, refused, .. } = one;
    let counts = format!(
        "given to {given} connections; {chosen} kept their program's or an earlier rollout's choice, {refused} were refused by the kernel"
    );
    let gone = if one.is_gone { "  its cgroup is gone; load it again\n" } else { "" };
    format!("  {}\n{gone}  {counts}\n", in_a_line(&described(&one.scope, own)))
}

/// Shows what a scheme with this plan would do now. Changes nothing.
pub(super) fn show(name: &str, said: &str, plan: Option<&Plan>) -> Result<(), Failure> {
    let mut text = format!("Nothing is changed. {name} would be registered: {said}\n");
    let every =
        if plan.is_some_and(|plan| plan.namespace.is_none()) { Namespace::every() } else { Ok(Vec::new()) };
    let every = every.map_err(Failure::usage)?;
    let own = Namespace::own().map_err(Failure::usage)?;
    let some: Vec<&Namespace> = match plan {
        Some(Plan { namespace: Some(namespace), .. }) => vec![namespace],
        Some(_) => every.iter().collect(),
        None => vec![&own],
    };
    let everything =
        Scope { to: Vec::new(), namespace: None, label: String::new(), cgroup: None, share: Share::ALL };
    let scope = plan.map_or(&everything, |plan| &plan.scope);
    let groups = scope.cgroup.as_deref().map(cgroups_in);
    for namespace in some {
        let label = namespace
            .label()
            .map_or_else(|| "this network namespace".to_owned(), |path| path.display().to_string());
        let found = namespace.within(|| Found::of(scope, groups.as_deref()));
        match found.and_then(|found| found) {
            // Of many namespaces only those with something to say are shown.
            Ok(found) if every.is_empty() || found.matches() => text += &found.lines(&label, plan.is_some()),
            Ok(_) => {}
            Err(error) => {
                writeln!(text, "{label}: not seen: {error}").ok();
            }
        }
    }
    if plan.is_some() {
        match rollouts() {
            Ok(all) => {
                let own = own.cookie().ok();
                for other in all.iter().filter(|other| other.acts()) {
                    let what = match scope.precedence(&other.scope) {
                        Some(Precedence::Earlier) => "decides before it, and keeps those that both match",
                        Some(Precedence::Later) => "decides after it, and loses those that both match",
                        None => continue,
                    };
                    writeln!(text, "{} {what}: {}", other.name, described(&other.scope, own)).ok();
                }
            }
            Err(error) => {
                writeln!(text, "Other rollouts are not seen: {error}").ok();
            }
        }
        text += "A program that sets TCP_CONGESTION keeps its choice, which the kernel does not show.\n";
    } else {
        text += "No connection gets it unless a program, a route or the default names it; or --to, --cgroup, --netns, --share.\n";
    }
    output::print_words(&text)
}

/// What a rollout finds in a network namespace.
struct Found {
    default: String,
    /// The connections that match, by congestion control.
    connections: BTreeMap<String, usize>,
    listeners: Vec<Socket>,
    routes: Vec<Route>,
}

impl Found {
    /// Looks at this thread's network namespace.
    fn of(scope: &Scope, groups: Option<&[u64]>) -> Result<Self, KernelError> {
        let default = fs::read_to_string(DEFAULT).unwrap_or_default().trim().to_owned();
        let is_in = |socket: &Socket| groups.is_none_or(|groups| groups.contains(&socket.cgroup));
        let (listeners, connections): (Vec<Socket>, Vec<Socket>) =
            sockets()?.into_iter().filter(is_in).partition(|socket| socket.listens);
        let is_to = |socket: &Socket| {
            let peer = socket.remote.ip();
            (scope.to.is_empty() || scope.to.iter().any(|to| to.contains(peer))) && scope.share.has(peer)
        };
        let mut laws = BTreeMap::new();
        for socket in connections.into_iter().filter(is_to) {
            *laws.entry(socket.law).or_insert(0) += 1;
        }
        let is_near = |route: &Route| scope.to.is_empty() || scope.to.iter().any(|to| to.overlaps(route.to));
        let routes = routes()?.into_iter().filter(is_near).collect();
        Ok(Self { default, connections: laws, listeners, routes })
    }

    fn matches(&self) -> bool {
        !self.connections.is_empty() || !self.listeners.is_empty()
    }

    /// Returns the lines about it.
    fn lines(&self, label: &str, is_rolled: bool) -> String {
        let Self { default, connections, listeners, routes } = self;
        let mut text = format!("{label}: the default is {default}\n");
        let laws: Vec<String> = connections.iter().map(|(law, count)| format!("{count} {law}")).collect();
        let laws = if laws.is_empty() { "none".to_owned() } else { laws.join(", ") };
        writeln!(text, "  connections that match now, and keep theirs: {laws}").ok();
        let shown = |all: Vec<String>| {
            let more = all.len().saturating_sub(SHOWN);
            let mut text = all.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            if more > 0 {
                write!(text, ", and {more} others").ok();
            }
            if text.is_empty() { "none".to_owned() } else { text }
        };
        let listeners = listeners.iter().map(|one| format!("{} ({})", one.local, one.law)).collect();
        writeln!(text, "  listeners, for connections that match: {}", shown(listeners)).ok();
        let effect = |route: &Route| match (is_rolled, route.is_locked) {
            (true, false) => "replaced for connections that match",
            (true, true) => "locked: keeps its own",
            (false, _) => "takes precedence over the default",
        };
        let routes =
            routes.iter().map(|one| format!("{} congctl {} ({})", one.to, one.law, effect(one))).collect();
        writeln!(text, "  routes with a congestion control: {}", shown(routes)).ok();
        text
    }
}

/// Warns of network namespaces whose default is a scheme that is gone.
pub(super) fn warn_of_defaults(name: Option<&str>, kept: &[(String, i32)]) -> Result<(), Failure> {
    for namespace in Namespace::every().map_err(Failure::usage)? {
        let default =
            namespace.within(|| fs::read_to_string(DEFAULT).unwrap_or_default()).unwrap_or_default();
        let default = default.trim();
        let is_kept = kept.iter().any(|(name, _)| name == default);
        if !is_kept && name.map_or(default.starts_with("ff_"), |name| name == default) {
            let label = namespace
                .label()
                .map_or_else(|| "this network namespace".to_owned(), |path| path.display().to_string());
            output::note(&[format!(
                "{label}: net.ipv4.tcp_congestion_control is still {default}, which keeps it; `load` did not set it: set another"
            )]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_part_or_a_range_of_the_peers() {
        for (text, first, count) in [
            ("5%", 0, 50_000),
            ("1%", 0, 10_000),
            ("0.5%..1%", 5_000, 5_000),
            ("100%", 0, 1_000_000),
            ("50%..100%", 500_000, 500_000),
            ("5%..10%", 50_000, 50_000),
        ] {
            assert_eq!(share_of(text), Ok(Share { first, count }), "{text}");
        }
        for text in [
            "",
            "0%",
            "5",
            "1",
            "0.05",
            "101%",
            "-5%",
            "10%..5%",
            "5%..5%",
            "5%..",
            "x",
            "0.0000001%",
            "0%...10%",
            "5..10%",
            "5%..1",
        ] {
            let why = share_of(text).expect_err(text);
            assert!(why.contains("5%..10%") && !why.contains('\n'), "{why}");
        }
    }
}
