//! Quick-Start, which is attached to interfaces and sockets. The other schemes are congestion controls.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};

use firstflight::RateCode;
use firstflight::registry::{Registry, Value};
use firstflight_emulate::Side;
use firstflight_export::json;
use firstflight_kernel::{
    Asks, Handover, Heard, Interface, KernelError, Outcome, QuickStartOrder, Router, RouterCounts,
    quick_start,
};
use firstflight_scenario::routers::{QuickStartRouter, quick_start_router};
use firstflight_scenario::{Alone, quantity};
use serde::Serialize;

use super::choosing::handover;
use super::options::{Chosen, Law, Load, Routing, Run};
use crate::emulate::{Asked, Beside, emulate_beside};
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;

const NAME: &str = "quick-start";
/// The interface of an emulated host.
const PATH: &str = "path0";
/// Requests on both kinds of connections: those that the sending host opens, and those that it accepts.
const BOTH: Asks = Asks { opened: true, accepted: true };

/// Checks whether the chosen scheme is Quick-Start.
pub(super) fn is_meant(chosen: &Chosen) -> bool {
    chosen.scheme.split([':', ',', '/']).next().unwrap_or_default().trim() == NAME
}

/// Returns the rate to request. The default is the highest rate, because the amount of data that a program will send is unknown when its
/// SYN is sent.
fn request(chosen: &Chosen, registry: Registry, arguments: &[String]) -> Result<RateCode, Failure> {
    let refuse = |message: String| Failure::usage(message).at(Place::argument(arguments, &chosen.scheme));
    if let Some(name) = &chosen.name {
        let message = format!("--name: {NAME} is no congestion control, and has no name in the kernel");
        return Err(Failure::usage(message).at(Place::value(arguments, "--name", name)));
    }
    let alone = Alone::parse(registry, &chosen.scheme).map_err(|error| refuse(error.to_string()))?;
    request_of(alone.settings()).map_err(refuse)
}

/// Returns the rate that the scheme's parameters request.
fn request_of(settings: &[(&'static str, Value)]) -> Result<RateCode, String> {
    let mut rate = RateCode::MAX;
    for (name, value) in settings {
        match (*name, value) {
            ("request", Value::Rate(asked)) if asked.bps() > 0 => rate = RateCode::up(*asked),
            ("request", _) => {}
            (name, _) => {
                return Err(format!(
                    "{NAME}: {name} cannot be set in the kernel, whose own congestion control goes on after the round \
                     trip at the approved rate; request can"
                ));
            }
        }
    }
    Ok(rate)
}

/// Carries out `firstflight kernel load quick-start`.
pub(super) fn load(load: &Load, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let request = request(&load.chosen, registry, arguments)?;
    if load.pin {
        return Err(Failure::usage(format!("--pin: {NAME} lasts as long as the command")));
    }
    if load.dry_run || load.rollout.is_given() {
        let why = "is attached to an interface; --to, --cgroup, --netns, --share and --dry-run are for congestion controls";
        return Err(Failure::usage(format!("{NAME} {why}")));
    }
    let Some(interface) = &load.interface else {
        return Err(Failure::usage(format!(
            "{NAME} is attached to an interface: --interface NAME is wanted"
        )));
    };
    let interrupt = Interrupt::listen();
    let order = QuickStartOrder {
        request,
        asks: BOTH,
        law: load.chosen.handover.map(handover),
        interfaces: &[Interface { process: None, name: interface, asks: true }],
    };
    let attached = quick_start(&order).map_err(Failure::usage)?;
    output::print_words(&format!("{NAME} is attached to {interface}, until this command ends (Ctrl-C)\n"))?;
    let mut failed = None;
    let has_failed = Cell::new(false);
    let take = |heard: Heard| {
        let line = asked(&heard).line() + "\n";
        if heard.outcome != Outcome::Ended
            && let Err(error) = output::print_words(&line)
        {
            failed = Some(error);
            has_failed.set(true);
        }
    };
    attached.follow(take, || interrupt.happened() || has_failed.get()).map_err(Failure::usage)?;
    failed.map_or(Ok(()), Err)
}

/// The counts of a router, as `--json` prints them.
#[derive(Serialize)]
struct Counts {
    asked: u64,
    granted: u64,
    reduced: u64,
    refused: u64,
    packets: u64,
}

/// Carries out `firstflight kernel router`.
pub(super) fn router(router: &Routing, arguments: &[String]) -> Result<(), Failure> {
    let refuse = |option: &str, value: &str, why: &dyn std::fmt::Display| {
        Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, option, value))
    };
    let rate = quantity::rate(&router.rate).map_err(|error| refuse("--rate", &router.rate, &error))?;
    let settings = match &router.qs_router {
        Some(text) => quick_start_router(text).map_err(|error| refuse("--qs-router", text, &error))?,
        None => QuickStartRouter::default(),
    };
    let queue = router
        .queue
        .as_ref()
        .map(|text| quantity::span(text).map_err(|error| refuse("--queue", text, &error)));
    let queue = queue.transpose()?;
    let interrupt = Interrupt::listen();
    let interface = &router.interface;
    let attached = Router::attach(interface, rate, queue, settings.spec()).map_err(Failure::usage)?;
    output::say(&format!("a router is attached to {interface}, until this command ends (Ctrl-C)\n"));
    interrupt.wait();
    let RouterCounts { asked, granted, reduced, refused: denied, packets } =
        attached.counts().map_err(Failure::usage)?;
    if router.json {
        let counts = Counts { asked, granted, reduced, refused: denied, packets };
        return output::print(&json::line(&counts).map_err(Failure::write)?);
    }
    output::print_words(&format!(
        "{asked} requests: {granted} approved, {reduced} approved with a lower rate, {denied} denied; {packets} packets measured\n"
    ))
}

/// Carries out `firstflight kernel run quick-start`.
pub(super) fn run(run: &Run, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let request = request(&run.chosen, registry, arguments)?;
    if let Some(folder) = &run.trace {
        let message = format!("--trace: {NAME} is no congestion control, and has no trace");
        let folder = folder.to_string_lossy();
        return Err(Failure::usage(message).at(Place::value(arguments, "--trace", &folder)));
    }
    let law = handover(run.chosen.handover.unwrap_or(Law::Cubic));
    let hosts = Hosts::new(request, law);
    emulate_beside(&run.emulate, registry, arguments, &hosts)
}

/// Quick-Start at the two hosts of an emulated path.
pub(crate) struct Hosts {
    request: RateCode,
    law: Handover,
    following: RefCell<Option<Following>>,
}

/// The thread that collects the observed requests.
struct Following {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Heard>, KernelError>>,
}

impl Hosts {
    fn new(request: RateCode, law: Handover) -> Self {
        Self { request, law, following: RefCell::new(None) }
    }

    /// Checks whether the scheme of this name is Quick-Start.
    pub(crate) fn are_meant(scheme: &str) -> bool {
        scheme == NAME
    }

    /// Creates Quick-Start with these parameters. `law` is the kernel's congestion control that takes over after start-up.
    pub(crate) fn of(settings: &[(&'static str, Value)], law: Handover) -> Result<Self, String> {
        Ok(Self::new(request_of(settings)?, law))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // The programs stay attached as long as the thread runs.
        let _ = self.outcomes();
    }
}

impl Beside for Hosts {
    fn attach(&self, processes: [u32; 2], sender: Side) -> Result<(), String> {
        let host = |side: Side| Interface {
            process: Some(processes[side as usize]),
            name: PATH,
            asks: side == sender,
        };
        let order = QuickStartOrder {
            request: self.request,
            asks: BOTH,
            law: Some(self.law),
            interfaces: &Side::BOTH.map(host),
        };
        let attached = quick_start(&order).map_err(|error| error.to_string())?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let thread = spawn(move || {
            let mut all = Vec::new();
            attached.follow(|heard| all.push(heard), || ended.load(Ordering::Relaxed))?;
            Ok(all)
        });
        *self.following.borrow_mut() = Some(Following { is_over, thread });
        Ok(())
    }

    fn outcomes(&self) -> Result<Vec<Asked>, String> {
        let Some(Following { is_over, thread }) = self.following.take() else { return Ok(Vec::new()) };
        is_over.store(true, Ordering::Relaxed);
        let heard = thread.join().map_err(|_| "the answers to Quick-Start were not collected".to_owned())?;
        Ok(connections(&heard.map_err(|error| error.to_string())?))
    }
}

/// Returns the connections that requested a rate, each with its packets in the round trip at the approved rate.
fn connections(heard: &[Heard]) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for one in heard {
        let now = asked(one);
        let before =
            all.iter_mut().rev().find(|asked| asked.local == now.local && asked.remote == now.remote);
        match (one.outcome, before) {
            (Outcome::Ended, Some(before)) => {
                before.round_packets = now.round_packets;
                before.round_retransmitted = now.round_retransmitted;
            }
            (Outcome::Lapsed, Some(before)) => before.outcome = now.outcome,
            _ => all.push(now),
        }
    }
    all
}

fn asked(heard: &Heard) -> Asked {
    let is_over = heard.outcome == Outcome::Ended;
    let bps = |code: RateCode| u32::try_from(code.rate().bps()).unwrap_or(u32::MAX);
    Asked {
        local: heard.local.to_string(),
        remote: heard.remote.to_string(),
        outcome: heard.outcome.name(),
        requested_bps: bps(heard.asked),
        approved_bps: bps(heard.approved),
        window_packets: (heard.window > 0).then_some(heard.window),
        rtt_ms: f64::from(heard.rtt_us) / 1000.0,
        round_packets: is_over.then_some(heard.segments),
        round_retransmitted: is_over.then_some(heard.retransmitted),
    }
}
