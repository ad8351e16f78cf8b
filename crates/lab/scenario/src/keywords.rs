//! The keywords of a scenario: receivers, loss recoveries, stacks, avoidance laws. Upper and lower case do not differ, nor do `_` and `-`.

use std::borrow::Cow;

use firstflight::Span;
use firstflight::registry::Registry;
use firstflight_tcp::{
    AckPolicy, Growth, InflightLimit, LimitedTransmit, Recovery, RtoFloor, SlowStartCounts, Stack,
};

use crate::host_cpu::HostCpu;
use crate::quantity::{self, Amount, QuantityError, Why, refuse};
use crate::quic::QuicStack;
use crate::suggest::{Elsewhere, LAWS, RECEIVERS, RECOVERIES as OTHER_RECOVERIES, folded, meant};

pub use crate::cross::{Cross, Often, SizeLaw, cross};

/// The size of a full packet, in the unit in which it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Payload bytes of a full segment.
    Mss(u16),
    /// IP bytes of a full packet.
    Ip(u16),
}

/// Reads the initial slow-start threshold: a number of packets or bytes, or `inf` (arbitrarily high, RFC 5681 section 3.1).
///
/// # Errors
/// Every text that [`quantity::amount`] rejects.
pub fn ssthresh(text: &str) -> Result<Option<Amount>, QuantityError> {
    if text.trim() == "inf" {
        return Ok(None);
    }
    quantity::amount(text).map(Some).map_err(|error| QuantityError {
        allowed: "ssthresh is packets (`20000p`), bytes (`64kB`) or `inf`".into(),
        ..error
    })
}

/// Reads a keyword of a table. If the text is a word of another program, the error names the keyword to write.
fn word<T: Copy>(
    text: &str,
    table: &[(&'static str, T)],
    elsewhere: Elsewhere,
    allowed: impl Into<Cow<'static, str>>,
) -> Result<T, QuantityError> {
    let text = text.trim();
    if let Some((_, value)) = table.iter().find(|(name, _)| *name == folded(text)) {
        return Ok(*value);
    }
    let hint = meant(text, elsewhere, table.iter().map(|(name, _)| *name));
    Err(refuse(text, Why::UnknownWord, hint.map_or_else(|| allowed.into(), Cow::Owned)))
}

/// Returns the keywords of a table.
const fn names<T: Copy, const N: usize>(table: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = table[index].0;
        index += 1;
    }
    names
}

const ACKS: [(&str, AckPolicy); 5] = [
    ("every", AckPolicy::Every),
    ("delayed", AckPolicy::Delayed),
    ("linux", AckPolicy::Linux),
    ("freebsd", AckPolicy::FreeBsd),
    ("windows-xp", AckPolicy::WindowsXp),
];

const RECEIVER: &str = "receivers are `every`, `delayed`, `linux`, `freebsd` and `windows-xp`, or acknowledge a number of full segments \
                        or after a time, as in `every:8` or `every:8,10ms`";

/// Reads when the receiver acknowledges: a word, or `every:N`.
///
/// # Errors
/// A word that is none of the five, and a number that is zero or above 1000.
pub fn ack(text: &str) -> Result<AckPolicy, QuantityError> {
    let Some(count) = text.trim().strip_prefix("every:") else {
        return word(text, &ACKS, RECEIVERS, RECEIVER);
    };
    match quantity::count(count).map_err(|error| QuantityError { allowed: RECEIVER.into(), ..error })? {
        count if count <= 1_000 => Ok(AckPolicy::Packets(u16::try_from(count).unwrap_or(u16::MAX))),
        _ => Err(refuse(count, Why::TooLarge, RECEIVER)),
    }
}

/// Reads when the receiver acknowledges, with the delay of an ACK that waits for others: `every:8,10ms`. Without a time the delay is the
/// policy's.
///
/// # Errors
/// Those of [`ack`], a time that cannot be read, and a time after a word.
pub(crate) fn ack_and_delay(text: &str) -> Result<(AckPolicy, Option<Span>), QuantityError> {
    let Some((policy, delay)) = text.split_once(',') else { return ack(text).map(|policy| (policy, None)) };
    let policy = ack(policy)?;
    if !matches!(policy, AckPolicy::Packets(_)) {
        return Err(refuse(text, Why::Conflict, RECEIVER));
    }
    let delay = quantity::span(delay).map_err(|error| QuantityError { allowed: RECEIVER.into(), ..error })?;
    Ok((policy, Some(delay)))
}

/// Returns the text for an ACK policy.
pub fn ack_name(policy: AckPolicy) -> String {
    match policy {
        AckPolicy::Packets(count) => format!("every:{count}"),
        word => ACKS.iter().find(|(_, value)| *value == word).map_or("", |(name, _)| name).to_owned(),
    }
}

/// The keywords of [`ack`].
pub(crate) const ACK_NAMES: [&str; 5] = names(&ACKS);

const RECOVERIES: [(&str, Recovery); 7] = [
    ("rack", Recovery::Rack),
    ("sack", Recovery::Sack),
    ("newreno", Recovery::NewReno),
    ("newreno-steady", Recovery::NewRenoSteady),
    ("reno", Recovery::Reno),
    ("vegas", Recovery::Vegas),
    ("ns2-sack1", Recovery::Ns2Sack1),
];

/// Reads the loss recovery.
///
/// # Errors
/// A word that is none of the seven.
pub fn recovery(text: &str) -> Result<Recovery, QuantityError> {
    const ALLOWED: &str =
        "recoveries are `rack`, `sack`, `newreno`, `newreno-steady`, `reno`, `vegas` and `ns2-sack1`";
    word(text, &RECOVERIES, OTHER_RECOVERIES, ALLOWED)
}

/// Returns the keyword for a recovery.
pub fn recovery_name(recovery: Recovery) -> &'static str {
    RECOVERIES.iter().find(|(_, value)| *value == recovery).map_or("", |(name, _)| name)
}

/// The keywords of [`recovery`].
pub(crate) const RECOVERY_NAMES: [&str; 7] = names(&RECOVERIES);

const STACKS: [(&str, (Stack, Option<QuicStack>)); 4] = [
    ("rfc", (Stack::Rfc, None)),
    ("linux", (Stack::Linux, None)),
    ("noq", (Stack::Rfc, Some(QuicStack::Noq))),
    ("quinn", (Stack::Rfc, Some(QuicStack::Quinn))),
];

/// The keywords of [`stack`].
pub(crate) const STACK_NAMES: [&str; 4] = names(&STACKS);

/// Reads the stack: whose sender behaviour applies where the RFCs and Linux differ, or the QUIC stack in which the flow runs.
///
/// # Errors
/// A word that is none of the four.
pub fn stack(text: &str) -> Result<(Stack, Option<QuicStack>), QuantityError> {
    word(text, &STACKS, &[], "stacks are `rfc`, `linux`, `noq` and `quinn`")
}

/// Returns the keyword for a stack.
pub fn stack_name(stack: Stack) -> &'static str {
    STACKS.iter().find(|(_, value)| *value == (stack, None)).map_or("", |(name, _)| name)
}

/// Returns the keyword for a stack if a result must name it. `None` for the stack that follows the RFCs, which is the default.
pub fn stack_if_not_rfc(stack: Stack) -> Option<&'static str> {
    (stack != Stack::default()).then(|| stack_name(stack))
}

/// Returns the keyword for the stack of a flow if a result must name it: a QUIC stack, or one that does not follow the RFCs.
pub fn stack_of_row(stack: Stack, quic: Option<QuicStack>) -> Option<&'static str> {
    quic.map(QuicStack::name).or_else(|| stack_if_not_rfc(stack))
}

const BLOCKS: [(&str, bool); 2] = [("sent", true), ("withheld", false)];

/// The keywords of [`sack_blocks`].
pub(crate) const BLOCK_NAMES: [&str; 2] = names(&BLOCKS);

/// Reads whether the receiver reports SACK blocks.
///
/// # Errors
/// A word that is neither of the two.
pub fn sack_blocks(text: &str) -> Result<bool, QuantityError> {
    word(text, &BLOCKS, &[], "SACK blocks are `sent` or `withheld`")
}

const HOST_CPUS: [(&str, HostCpu); 3] =
    [("none", HostCpu::None), ("list", HostCpu::List), ("list-hints", HostCpu::ListHints)];

/// The keywords of [`host_cpu`].
pub(crate) const HOST_CPU_NAMES: [&str; 3] = names(&HOST_CPUS);

/// Reads which operations take CPU time on the hosts.
///
/// # Errors
/// A word that is none of the three.
pub fn host_cpu(text: &str) -> Result<HostCpu, QuantityError> {
    word(text, &HOST_CPUS, &[], "a host's CPU is `none`, `list` or `list-hints`")
}

/// Returns the keyword for the operations that take CPU time on the hosts.
pub fn host_cpu_name(model: HostCpu) -> &'static str {
    HOST_CPUS.iter().find(|(_, value)| *value == model).map_or("", |(name, _)| name)
}

const RTO_FLOORS: [(&str, Option<RtoFloor>); 4] = [
    ("stack", None),
    ("timeout", Some(RtoFloor::Timeout)),
    ("variation", Some(RtoFloor::Variation)),
    ("ns2", Some(RtoFloor::Ns2)),
];

/// The keywords of [`rto_floor`].
pub(crate) const RTO_FLOOR_NAMES: [&str; 4] = names(&RTO_FLOORS);

/// Reads the value that the minimum RTO bounds; `None` for the stack's rule.
///
/// # Errors
/// A word that is none of the four.
pub fn rto_floor(text: &str) -> Result<Option<RtoFloor>, QuantityError> {
    const ALLOWED: &str = "min-rto bounds the `timeout`, its `variation`, the timeout as `ns2`, or what the `stack` has it bound";
    word(text, &RTO_FLOORS, &[], ALLOWED)
}

/// Returns the keyword for the value that the minimum RTO bounds.
pub fn rto_floor_name(floor: Option<RtoFloor>) -> &'static str {
    RTO_FLOORS.iter().find(|(_, value)| *value == floor).map_or("", |(name, _)| name)
}

const INFLIGHT_LIMITS: [(&str, InflightLimit); 2] =
    [("none", InflightLimit::None), ("freebsd", InflightLimit::FreeBsd)];

/// The keywords of [`inflight_limit`].
pub(crate) const INFLIGHT_LIMIT_NAMES: [&str; 2] = names(&INFLIGHT_LIMITS);

/// Reads the limit of the flight that applies in addition to the congestion window and the receive window.
///
/// # Errors
/// A word that is neither of the two.
pub fn inflight_limit(text: &str) -> Result<InflightLimit, QuantityError> {
    word(
        text,
        &INFLIGHT_LIMITS,
        &[],
        "the flight is limited by `none` or as in `freebsd`, in addition to the windows",
    )
}

/// Returns the keyword for the limit of the flight that applies in addition to the congestion window and the receive window.
pub fn inflight_limit_name(limit: InflightLimit) -> &'static str {
    INFLIGHT_LIMITS.iter().find(|(_, value)| *value == limit).map_or("", |(name, _)| name)
}

const GROWTHS: [(&str, Option<Growth>); 6] = [
    ("stack", None),
    ("rfc7661", Some(Growth::Validated)),
    ("linux", Some(Growth::Used)),
    ("ns2", Some(Growth::Always)),
    ("ns2-reno", Some(Growth::AlwaysHalved)),
    ("ns2-vegas", Some(Growth::NearlyFull)),
];

/// The keywords of [`growth`].
pub(crate) const GROWTH_NAMES: [&str; 6] = names(&GROWTHS);

/// Reads the rule by which the window grows while the application limits it; `None` for the stack's rule.
///
/// # Errors
/// A word that is none of the six.
pub fn growth(text: &str) -> Result<Option<Growth>, QuantityError> {
    const ALLOWED: &str = "growth while the application limits is as of `rfc7661`, `linux`, `ns2`, `ns2-reno`, `ns2-vegas`, `stack`";
    word(text, &GROWTHS, &[], ALLOWED)
}

/// Returns the keyword for the rule by which the window grows while the application limits it.
pub fn growth_name(growth: Option<Growth>) -> &'static str {
    GROWTHS.iter().find(|(_, value)| *value == growth).map_or("", |(name, _)| name)
}

const LIMITED_TRANSMITS: [(&str, LimitedTransmit); 2] =
    [("rfc3042", LimitedTransmit::New), ("ns2", LimitedTransmit::Next)];

/// The keywords of [`limited_transmit`].
pub(crate) const LIMITED_TRANSMIT_NAMES: [&str; 2] = names(&LIMITED_TRANSMITS);

/// Reads the rule of limited transmit.
///
/// # Errors
/// A word that is neither of the two.
pub fn limited_transmit(text: &str) -> Result<LimitedTransmit, QuantityError> {
    word(text, &LIMITED_TRANSMITS, &[], "limited transmit is as of `rfc3042` or `ns2`")
}

/// Returns the keyword for the rule of limited transmit.
pub fn limited_transmit_name(rule: LimitedTransmit) -> &'static str {
    LIMITED_TRANSMITS.iter().find(|(_, value)| *value == rule).map_or("", |(name, _)| name)
}

const COUNTS: [(&str, Option<SlowStartCounts>); 3] =
    [("stack", None), ("acks", Some(SlowStartCounts::Acks)), ("bytes", Some(SlowStartCounts::Bytes))];

/// The keywords of [`slow_start_counts`].
pub(crate) const COUNT_NAMES: [&str; 3] = names(&COUNTS);

/// Reads the unit that slow start counts in an ACK; `None` for the stack's rule.
///
/// # Errors
/// A word that is none of the three.
pub fn slow_start_counts(text: &str) -> Result<Option<SlowStartCounts>, QuantityError> {
    word(text, &COUNTS, &[], "slow start counts `acks` or `bytes`, or as the `stack` has it")
}

/// Returns the keyword for the unit that slow start counts in an ACK.
pub fn slow_start_counts_name(counts: Option<SlowStartCounts>) -> &'static str {
    COUNTS.iter().find(|(_, value)| *value == counts).map_or("", |(name, _)| name)
}

/// Reads the name of an avoidance law of the registry.
///
/// # Errors
/// An unknown law.
pub fn avoidance(registry: Registry, text: &str) -> Result<&'static str, QuantityError> {
    let laws: Vec<_> = registry.laws().map(|law| (law.name, law.name)).collect();
    let names: Vec<_> = laws.iter().map(|(name, _)| format!("`{name}`")).collect();
    let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
    word(text, &laws, LAWS, format!("avoidance laws are {} and {last}", others.join(", ")))
}

/// An application that writes periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct App {
    /// The size of a write.
    pub write: Amount,
    /// The time from one write to the next.
    pub every: Span,
}

/// Reads when the application writes: `all` at once, or size and interval of its writes, as in `64kB,200ms`.
///
/// # Errors
/// Every text that [`quantity::amount`] or [`quantity::span`] rejects.
pub fn app(text: &str) -> Result<Option<App>, QuantityError> {
    const ALLOWED: &str = "an application writes `all` at once, or periodically: size and interval, as in \
                           `64kB,200ms` or `10p,1s`";
    let text = text.trim();
    if text == "all" {
        return Ok(None);
    }
    let allowed = |error: QuantityError| QuantityError { allowed: ALLOWED.into(), ..error };
    let (write, every) = text.split_once(',').ok_or_else(|| refuse(text, Why::Part, ALLOWED))?;
    let write = quantity::amount(write).map_err(allowed)?;
    Ok(Some(App { write, every: quantity::span(every).map_err(allowed)? }))
}

/// The routers of a path that take part in Quick-Start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QuickStartHops {
    /// All routers.
    #[default]
    All,
    /// No router.
    None,
    /// This many routers, from the sender's side.
    First(u32),
}

impl std::fmt::Display for QuickStartHops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::None => f.write_str("none"),
            Self::First(hops) => write!(f, "{hops}"),
        }
    }
}

/// Reads the routers that take part in Quick-Start: `all`, `none`, or the number of routers from the sender's side.
///
/// # Errors
/// Anything else, zero, or more than a thousand.
pub fn quick_start_hops(text: &str) -> Result<QuickStartHops, QuantityError> {
    const ALLOWED: &str = "hops that take part in Quick-Start are `all`, `none`, or how many of the first, as in `1` \
                           (at most 1000)";
    match text.trim() {
        "all" => Ok(QuickStartHops::All),
        "none" => Ok(QuickStartHops::None),
        text => match text.parse::<u32>() {
            Ok(0) => Err(refuse(text, Why::Zero, ALLOWED)),
            Ok(hops) if hops <= 1_000 => Ok(QuickStartHops::First(hops)),
            Ok(_) => Err(refuse(text, Why::TooLarge, ALLOWED)),
            Err(_) => Err(refuse(text, Why::UnknownWord, ALLOWED)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_writes_all_at_once_or_so_much_so_often() {
        assert_eq!(app("all"), Ok(None));
        let write = Amount::Bytes(firstflight::Bytes::new(64_000));
        assert_eq!(app("64kB,200ms"), Ok(Some(App { write, every: Span::from_millis(200) })));
        for (text, why) in [
            ("64kB", Why::Part),
            ("0B,1s", Why::Zero),
            ("64kB,0s", Why::Zero),
            ("64kB,1s,1s", Why::UnknownUnit("s,1s".into())),
        ] {
            let error = app(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("`64kB,200ms`"), "{error}");
        }
    }

    #[test]
    fn a_receiver_may_acknowledge_a_number_of_segments() {
        let delay = Some(Span::from_millis(10));
        assert_eq!(ack_and_delay("every:8"), Ok((AckPolicy::Packets(8), None)));
        assert_eq!(ack_and_delay("every:8, 10ms"), Ok((AckPolicy::Packets(8), delay)));
        assert_eq!(ack_and_delay("linux"), Ok((AckPolicy::Linux, None)));
        for (text, why) in [
            ("every:0", Why::Zero),
            ("every:1001", Why::TooLarge),
            ("every:8,0ms", Why::Zero),
            ("linux,10ms", Why::Conflict),
        ] {
            let error = ack_and_delay(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("`every:8,10ms`"), "{error}");
        }
    }

    #[test]
    fn quick_start_hops_are_all_none_or_a_number() {
        assert_eq!(quick_start_hops("all"), Ok(QuickStartHops::All));
        assert_eq!(quick_start_hops("none"), Ok(QuickStartHops::None));
        assert_eq!(quick_start_hops("2"), Ok(QuickStartHops::First(2)));
        for (text, why) in [("0", Why::Zero), ("1001", Why::TooLarge), ("-1", Why::UnknownWord)] {
            assert_eq!(quick_start_hops(text).expect_err(text).why, why, "{text}");
        }
    }

    #[test]
    fn every_word_reads_back_as_what_it_names() {
        for (name, value) in ACKS {
            assert_eq!((ack(name), ack_name(value)), (Ok(value), name.to_owned()));
        }
        for (name, value) in RECOVERIES {
            assert_eq!((recovery(name), recovery_name(value)), (Ok(value), name));
        }
        for (name, value) in STACKS {
            assert_eq!((stack(name), stack_of_row(value.0, value.1).unwrap_or("rfc")), (Ok(value), name));
        }
        for (name, value) in RTO_FLOORS {
            assert_eq!((rto_floor(name), rto_floor_name(value)), (Ok(value), name));
        }
        for (name, value) in INFLIGHT_LIMITS {
            assert_eq!((inflight_limit(name), inflight_limit_name(value)), (Ok(value), name));
        }
        for (name, value) in GROWTHS {
            assert_eq!((growth(name), growth_name(value)), (Ok(value), name));
        }
        for (name, value) in LIMITED_TRANSMITS {
            assert_eq!((limited_transmit(name), limited_transmit_name(value)), (Ok(value), name));
        }
        for (name, value) in COUNTS {
            assert_eq!((slow_start_counts(name), slow_start_counts_name(value)), (Ok(value), name));
        }
    }

    #[test]
    fn foreign_words_are_answered_with_the_local_word_ignoring_case() {
        let law = |text| avoidance(Registry::builtin(), text);
        assert_eq!((recovery("NewReno"), law("CUBIC_Linux")), (Ok(Recovery::NewReno), Ok("cubic-linux")));
        for (error, says) in [
            (recovery("tlp").expect_err("a part"), "`tlp` is not known; write `rack`"),
            (recovery("newrno").expect_err("a typo"), "`newrno` is not known; is `newreno` meant?"),
            (ack("1").expect_err("a number"), "`1` is not known; write `every`"),
            (law("newreno").expect_err("another name"), "`newreno` is not known; write `reno`"),
            (
                law("bbr2").expect_err("another version"),
                "`bbr2` is not known; write `bbr`, which is BBRv3: earlier versions are not here",
            ),
        ] {
            assert_eq!(error.to_string(), says);
        }
        assert!(recovery("zzzzz").expect_err("no word").to_string().contains("recoveries are `rack`"));
    }
}
