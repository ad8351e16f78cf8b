//! The start-up schemes as functions for BPF: `NAME.on` and `NAME.plan` for each scheme of the registry.
//!
//! Both functions take scheme, event and path by address, so the compiler knows nothing of their contents: every event
//! of every kind, and every setting of the scheme, stays possible. `.ci/bpf` builds one object a scheme from this crate.
#![no_std]

use core::mem::MaybeUninit;

use firstflight::schemes::{
    Adaptive, Bbr, CarefulResume, HyStart, HyStartLinux, HyStartPlus, Limited, Paced, PacketPair, QuickStart,
    Search, SlowStart, Suss, VegasStart,
};
use firstflight::{Event, Path, Plan, Startup, Step};

/// A scheme that panics stays where it is: there is nobody to tell.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

macro_rules! entry_points {
    ($($name:literal: $module:ident, $scheme:ty;)+) => {$(
        mod $module {
            use super::*;

            #[unsafe(export_name = concat!($name, ".on"))]
            extern "C" fn on(scheme: &mut $scheme, event: &Event<'_>, path: &Path, step: &mut MaybeUninit<Step>) {
                step.write(scheme.on(event, path));
            }

            #[unsafe(export_name = concat!($name, ".plan"))]
            extern "C" fn plan(scheme: &$scheme, path: &Path, plan: &mut MaybeUninit<Plan>) {
                plan.write(scheme.plan(path));
            }
        }
    )+};
}

// A test of `firstflight` compares these names with the registry's.
entry_points! {
    "slow-start": slow_start, SlowStart;
    "slow-start-paced": slow_start_paced, SlowStart;
    "limited": limited, Limited;
    "vegas": vegas, VegasStart;
    "packet-pair": packet_pair, PacketPair;
    "adaptive": adaptive, Adaptive;
    "paced": paced, Paced;
    "hystart": hystart, HyStart;
    "hystart-linux": hystart_linux, HyStartLinux;
    "hystart++": hystart_plus_plus, HyStartPlus;
    "suss": suss, Suss;
    "search": search, Search;
    "bbr": bbr, Bbr;
    "careful-resume": careful_resume, CarefulResume;
    "quick-start": quick_start, QuickStart<SlowStart>;
}
