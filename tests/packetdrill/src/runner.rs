//! Runs a script: processes its events in order, in virtual time (google/packetdrill `run.c`).

use firstflight_tcp::{Flags, Segment};

use crate::code::{Code, Fault};
use crate::commands;
use crate::info::InfoNames;
use crate::kernel::{Kernel, Left, Outcome, named};
use crate::matcher::{self, Sent, TimestampCheck};
use crate::options;
use crate::parser::LONGEST;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::show;
use crate::syntax::{Action, Call, EcnField, Errno, Event, Expression, Packet, Script, ScriptOption, When};

/// Maximum time that `*` waits for a segment, in microseconds.
const LONGEST_WAIT: i64 = 3_600_000_000;

/// The state of a running script.
pub(crate) struct Runner {
    kernel: Kernel,
    code: Code,
    /// The time and kind of the previous event.
    before: Option<Before>,
    /// A blocking call that has not returned.
    blocked: Option<Blocked>,
    numbers: Numbers,
    /// The endpoint's timestamp clock minus the script's; `None` until the script names a timestamp.
    ahead: Option<u32>,
}

/// The sequence numbers of the script (google/packetdrill `socket.h`). The sequence number of a SYN is absolute. All others count from the
/// initial sequence number of the host that sends the bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// The endpoint's initial sequence number. The script's number for it minus this number follows.
    local: u32,
    named: u32,
    /// The initial sequence number of the script's side, once a SYN has defined it.
    remote: Option<u32>,
}

impl Numbers {
    /// Returns the number to add to an endpoint's sequence number to get the script's. It depends on whether the segment has a SYN.
    fn of_local(self, syn: bool) -> u32 {
        if syn { self.named } else { self.local.wrapping_neg() }
    }

    /// Returns the number to add to a sequence number of the script's side to get the number on the wire.
    fn of_remote(self, syn: bool) -> u32 {
        if syn { 0 } else { self.remote.unwrap_or(0) }
    }

    /// Converts the acknowledgements in a segment from the endpoint to the script's numbers.
    fn for_script(self, mut segment: Segment) -> Segment {
        let ahead = self.of_remote(segment.flags.has(Flags::SYN));
        if segment.flags.has(Flags::ACK) {
            segment.ack = segment.ack.wrapping_sub(ahead);
        }
        let count = usize::from(segment.sack_count);
        for block in segment.sack.iter_mut().take(count) {
            block.start = block.start.wrapping_sub(ahead);
            block.end = block.end.wrapping_sub(ahead);
        }
        segment
    }
}

#[derive(Clone, Copy)]
struct Before {
    at: i64,
    inbound: bool,
}

struct Blocked {
    call: Call,
    line: usize,
    until: i64,
}

impl Runner {
    /// Creates a runner, and applies the script's options.
    pub(crate) fn new(script: &Script) -> Result<Self, Problem> {
        let mut settings = Settings::default();
        for option in &script.options {
            set(&mut settings, option)?;
        }
        Ok(Self {
            kernel: Kernel::new(settings),
            code: Code::default(),
            before: None,
            blocked: None,
            numbers: Numbers::default(),
            ahead: None,
        })
    }

    /// Runs the whole script.
    pub(crate) fn run(mut self, script: &Script) -> Result<(), Problem> {
        for event in &script.events {
            self.event(event)?;
        }
        self.await_blocked()
    }

    fn event(&mut self, event: &Event) -> Result<(), Problem> {
        let line = event.line;
        let inbound = matches!(event.action, Action::Inbound(_));
        let (from, to) = self.window(event.when, inbound);
        if from > LONGEST {
            return Err(Problem::unreadable(line, "a script that lasts longer than a century"));
        }
        if self.before.is_some_and(|before| matches!(event.when, When::At(at) if at < before.at)) {
            return Err(Problem::unreadable(line, "time goes backwards"));
        }
        match &event.action {
            Action::Outbound(packet) => {
                let at = self.expect(line, packet, event.when, from, to)?;
                self.before = Some(Before { at, inbound });
                return Ok(());
            }
            Action::Inbound(packet) => {
                self.wait_until(line, from)?;
                self.note_remote(packet);
                let segment = self.incoming(line, packet)?;
                self.kernel.inject(line, &segment)?;
            }
            Action::Call(call) => {
                self.await_blocked()?;
                self.wait_until(line, from)?;
                self.call(line, call, from)?;
            }
            Action::Command(text) => {
                self.wait_until(line, from)?;
                commands::interpret(text, self.kernel.settings())
                    .map_err(|(at, what)| Problem::unsupported(line + at, what))?;
            }
            Action::Code(text) => {
                self.wait_until(line, from)?;
                let info = InfoNames::of(&self.kernel);
                self.code.run(text, line, &info).map_err(|(at, fault)| match fault {
                    Fault::Failed(what) => Problem::mismatch(at, what),
                    Fault::Unsupported(what) => Problem::unsupported(at, what),
                })?;
            }
        }
        self.look_at_blocked()?;
        self.before = Some(Before { at: from, inbound });
        Ok(())
    }

    /// Returns the earliest and the latest expected time of an event, without tolerance, in microseconds since the script began. If the
    /// previous event and this one are inbound segments, the time counts from the previous event, otherwise from now.
    fn window(&self, when: When, inbound: bool) -> (i64, i64) {
        let since = match self.before {
            Some(before) if before.inbound && inbound => before.at,
            _ => self.kernel.now(),
        };
        match when {
            When::Aside => (self.kernel.now(), self.kernel.now()),
            When::Any => (since, since.saturating_add(LONGEST_WAIT)),
            When::At(at) => (at, at),
            When::After(span) => (since + span, since + span),
            When::Between(from, to) => (from, to),
            When::Within(from, to) => (since + from, since + to),
        }
    }

    /// Returns by how much an event at `at` may be early or late.
    fn tolerance(&self, at: i64) -> i64 {
        let settings = self.kernel.settings_ref();
        let since = self.before.map_or(0, |before| at - before.at);
        settings.tolerance.max(since * settings.tolerance_per_mille / 1_000)
    }

    fn wait_until(&mut self, line: usize, at: i64) -> Result<(), Problem> {
        let late = self.kernel.now() - at;
        if late > self.tolerance(at) {
            let what = format!(
                "timing: this was to happen at {}, and it is {}",
                seconds(at),
                seconds(self.kernel.now())
            );
            return Err(Problem::mismatch(line, what));
        }
        while self.kernel.step(at) {
            self.look_at_blocked()?;
        }
        self.kernel.set_now(at);
        Ok(())
    }

    /// Waits for the segment that the script expects. Returns the time at which the script continues.
    fn expect(
        &mut self,
        line: usize,
        packet: &Packet,
        when: When,
        from: i64,
        to: i64,
    ) -> Result<i64, Problem> {
        let slack = self.tolerance(from);
        let deadline = to.saturating_add(slack);
        let Some(mut sent) = self.next_sent(deadline)? else {
            let what = format!(
                "expected a segment by {}, none was sent\n  expected: > {}",
                seconds(deadline),
                show::packet(packet)
            );
            return Err(Problem::mismatch(line, what));
        };
        // A burst is one segment for the device. If it is longer than the script's segment, the whole burst is compared.
        let mut part = sent.segment.len;
        while sent.len < u32::from(packet.len) || sent.more {
            let Some(next) = self.kernel.peek_sent(deadline) else { break };
            let last = sent.len + u32::from(next.segment.len) >= u32::from(packet.len);
            if next.segment.len == 0 || !sent.join(&next, part, last) {
                break;
            }
            part = next.segment.len;
            self.kernel.take_sent();
        }
        let syn = sent.segment.flags.has(Flags::SYN);
        if packet.flags & Flags::SYN.0 != 0 && syn {
            self.numbers.local = sent.segment.seq;
            self.numbers.named = packet.seq.wrapping_sub(sent.segment.seq);
        }
        let seq = sent.segment.seq.wrapping_add(self.numbers.of_local(syn));
        sent.segment = self.numbers.for_script(sent.segment);
        self.synchronise_timestamps(packet, &sent.segment);
        let tick = self.kernel.settings_ref().timestamp_tick;
        let check = TimestampCheck {
            tolerance: (tick > 0).then(|| {
                u32::try_from(self.kernel.settings_ref().tolerance / tick.max(1)).unwrap_or(u32::MAX)
            }),
            ahead: self.ahead.unwrap_or(0),
        };
        let mut fault = matcher::difference(packet, &sent, seq, check);
        if fault.is_none() && when != When::Any && (sent.at < from - slack || sent.at > deadline) {
            fault = Some(format!(
                "timing: expected at {}",
                if from == to { seconds(from) } else { format!("{} to {}", seconds(from), seconds(to)) }
            ));
        }
        if let Some(fault) = fault {
            let what = format!(
                "{fault}\n  expected: > {}\n  sent:     > {} at {}",
                show::packet(packet),
                show::segment(&sent.segment, seq, sent.len),
                seconds(sent.at)
            );
            return Err(Problem::mismatch(line, what));
        }
        Ok(self.kernel.now())
    }

    fn next_sent(&mut self, deadline: i64) -> Result<Option<Sent>, Problem> {
        loop {
            if let Some(Left { at, segment, more }) = self.kernel.take_sent() {
                return Ok(Some(Sent { segment, len: u32::from(segment.len), at, more }));
            }
            if !self.kernel.step(deadline.saturating_add(1)) {
                return Ok(None);
            }
            self.look_at_blocked()?;
        }
    }

    /// Computes the difference of the two clocks from the first timestamp that the script names.
    fn synchronise_timestamps(&mut self, packet: &Packet, segment: &Segment) {
        let named = packet.options.iter().flatten().find_map(|option| match option {
            crate::syntax::TcpOption::Timestamps { value, .. } => Some(*value),
            _ => None,
        });
        if let (Some(named), Some(stamp)) = (named, segment.timestamps) {
            self.ahead.get_or_insert(stamp.value.wrapping_sub(named));
            self.kernel.note_timestamp(named, stamp.value);
        }
    }

    /// Records the initial sequence number of an injected SYN that starts a connection or answers the endpoint's SYN.
    fn note_remote(&mut self, packet: &Packet) {
        let begins = packet.flags & Flags::ACK.0 == 0 && !self.kernel.is_busy();
        if packet.flags & Flags::SYN.0 != 0 && (begins || self.numbers.remote.is_none()) {
            self.numbers.remote = Some(packet.seq);
        }
    }

    /// Converts a segment that the script injects to the endpoint's form and numbers.
    fn incoming(&self, line: usize, packet: &Packet) -> Result<Segment, Problem> {
        let flags = Flags(packet.flags);
        if flags.has(Flags::URG) || packet.urgent != 0 {
            return Err(Problem::unsupported(line, "urgent data"));
        }
        let Some(window) = packet.window else {
            return Err(Problem::unreadable(line, "an inbound segment needs a window"));
        };
        let syn = flags.has(Flags::SYN);
        let local = self.numbers.of_local(syn);
        let mut segment = Segment {
            seq: packet.seq.wrapping_add(self.numbers.of_remote(syn)),
            ack: if flags.has(Flags::ACK) { packet.ack.wrapping_sub(local) } else { 0 },
            len: packet.len,
            window,
            flags,
            ecn: match packet.ecn {
                None | Some(EcnField::None | EcnField::Either) => firstflight_tcp::Ecn::NotCapable,
                Some(EcnField::Ect0) => firstflight_tcp::Ecn::Ect0,
                Some(EcnField::Ect1) => firstflight_tcp::Ecn::Ect1,
                Some(EcnField::Ce) => firstflight_tcp::Ecn::Ce,
            },
            ..Segment::default()
        };
        options::apply(packet.options.as_deref().unwrap_or_default(), &mut segment);
        let count = usize::from(segment.sack_count);
        for block in &mut segment.sack[..count] {
            block.start = block.start.wrapping_sub(local);
            block.end = block.end.wrapping_sub(local);
        }
        if let Some(stamp) = &mut segment.timestamps {
            stamp.echo = self.kernel.timestamp_of(stamp.echo);
        }
        Ok(segment)
    }

    fn call(&mut self, line: usize, call: &Call, begun: i64) -> Result<(), Problem> {
        let until = call.blocks_for.map(|span| begun + span);
        let before = self.kernel.connection_count();
        let answer = self.kernel.call(line, call)?;
        if self.kernel.connection_count() > before {
            // The peer's SYN has not arrived yet.
            self.numbers.remote = None;
        }
        match (answer, until) {
            (Outcome::Done { result, errno }, None) => verify(line, call, result, errno),
            (Outcome::Blocks, None) => Err(Problem::mismatch(line, format!("`{}` would block", call.name))),
            (Outcome::Done { result, errno }, Some(until)) if until - begun <= self.tolerance(until) => {
                verify(line, call, result, errno)
            }
            (Outcome::Done { .. }, Some(until)) => {
                let what =
                    format!("`{}` returned at {}, not at {}", call.name, seconds(begun), seconds(until));
                Err(Problem::mismatch(line, what))
            }
            (Outcome::Blocks, Some(until)) => {
                self.blocked = Some(Blocked { call: call.clone(), line, until });
                Ok(())
            }
        }
    }

    /// Checks whether a blocking call has returned. If so, compares its result with the script's.
    fn look_at_blocked(&mut self) -> Result<(), Problem> {
        let Some(blocked) = self.blocked.take() else { return Ok(()) };
        match self.kernel.retry(blocked.line, &blocked.call)? {
            Outcome::Blocks => {
                self.blocked = Some(blocked);
                Ok(())
            }
            Outcome::Done { result, errno } => {
                let now = self.kernel.now();
                if (now - blocked.until).abs() > self.tolerance(blocked.until) {
                    let what = format!(
                        "`{}` returned at {}, not at {}",
                        blocked.call.name,
                        seconds(now),
                        seconds(blocked.until)
                    );
                    return Err(Problem::mismatch(blocked.line, what));
                }
                verify(blocked.line, &blocked.call, result, errno)
            }
        }
    }

    /// Waits until the blocking call has returned. A further call cannot be made before, because one thread makes all calls.
    fn await_blocked(&mut self) -> Result<(), Problem> {
        while let Some(blocked) = &self.blocked {
            let (line, name) = (blocked.line, blocked.call.name.clone());
            let deadline = blocked.until + self.tolerance(blocked.until);
            if !self.kernel.step(deadline.saturating_add(1)) {
                let what = format!("`{name}` has not returned by {}", seconds(deadline));
                return Err(Problem::mismatch(line, what));
            }
            self.look_at_blocked()?;
        }
        Ok(())
    }
}

/// Compares a call's result with the script's.
fn verify(line: usize, call: &Call, result: i64, errno: Option<&str>) -> Result<(), Problem> {
    let expected = match &call.result {
        Expression::Ellipsis => return Ok(()),
        Expression::Integer(value) => *value,
        Expression::Or(_) | Expression::Word(_) => crate::kernel::constant(line, &call.result)?,
        _ => return Err(Problem::unsupported(line, "a result that is not a number")),
    };
    let name = &call.name;
    if expected != result {
        let got = errno.map_or_else(String::new, |errno| format!(" {errno}"));
        return Err(Problem::mismatch(line, format!("`{name}` returned {result}{got}, expected {expected}")));
    }
    let (Some(expected), -1) = (&call.errno, result) else { return Ok(()) };
    // Two names may represent one number, as EAGAIN and EWOULDBLOCK do.
    let number = match expected {
        Errno::Number(number) => *number,
        Errno::Named(name) => {
            named(name).ok_or_else(|| Problem::unsupported(line, format!("the error `{name}`")))?
        }
    };
    if errno.and_then(named) == Some(number) {
        return Ok(());
    }
    let got = errno.unwrap_or("nothing");
    Err(Problem::mismatch(line, format!("`{name}` failed with {got}, expected {expected}")))
}

fn set(settings: &mut Settings, option: &ScriptOption) -> Result<(), Problem> {
    let ScriptOption { name, value, line } = option;
    let wrong = || Problem::unreadable(*line, format!("`--{name}={value}`"));
    let number = |least: i64, most: i64| {
        value.parse::<i64>().ok().filter(|value| (least..=most).contains(value)).ok_or_else(wrong)
    };
    match name.as_str() {
        "tolerance_usecs" => settings.tolerance = number(1, 1_000_000_000)?,
        "tolerance_percent" => {
            let percent: f64 = value.parse().map_err(|_| wrong())?;
            if !(0.0..=100.0).contains(&percent) {
                return Err(wrong());
            }
            #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1000")]
            let per_mille = (percent * 10.0) as i64;
            settings.tolerance_per_mille = per_mille;
        }
        "tcp_ts_tick_usecs" => settings.timestamp_tick = number(0, 1_000_000)?,
        "mtu" => settings.mtu = u16::try_from(number(576, 65_535)?).unwrap_or(u16::MAX),
        "ip_version" => match value.as_str() {
            "ipv4" | "ipv4-mapped-ipv6" | "ipv4_mapped_ipv6" => settings.headers = 40,
            "ipv6" => settings.headers = 60,
            _ => return Err(wrong()),
        },
        // These options have no effect, because there are no addresses, ports or devices, and segments are not fragmented.
        "define" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port" | "connect_port"
        | "mss" | "verbose" | "v" | "speed" | "no_cleanup" => {}
        _ => return Err(Problem::unsupported(*line, format!("the option `--{name}`"))),
    }
    Ok(())
}

/// Returns a number of microseconds as seconds, for messages.
fn seconds(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    format!("{sign}{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
}
