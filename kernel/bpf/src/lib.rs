//! The start-up schemes as functions for BPF: `NAME.on` and `NAME.plan` for each scheme of the registry.
//!
//! Both functions take scheme, event and path by address, so the compiler knows nothing about their contents: it must
//! allow every event and every setting of the scheme. `kernel/build` builds the objects from this crate.
#![no_std]

pub mod facts;
pub mod hosted;
pub mod resident;

use core::mem::MaybeUninit;

use firstflight::schemes::{QuickStart, SlowStart};
use firstflight::{Event, Path, Plan, Startup, Step};

/// Loops for ever, because a scheme that panics cannot report it to anyone.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

macro_rules! entry_points {
    ($($name:literal: $module:ident, $entry:ident, $scheme:ty;)+) => {$(
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

firstflight::for_each_plain_scheme!(entry_points);
entry_points! { "quick-start": quick_start, QUICK_START, QuickStart<SlowStart>; }

macro_rules! hosted_entry_points {
    ($($name:literal: $module:ident, $scheme:ty, $make:expr;)+) => {$(
        mod $module {
            use firstflight::registry::Numbers;
            use firstflight::schemes::*;
            use crate::facts::{Facts, Decision};
            use crate::hosted::Hosted;
            use core::mem::MaybeUninit;

            /// The length of this array is the number of bytes that the state takes.
            #[used]
            #[unsafe(export_name = concat!($name, ".state"))]
            static STATE: [u8; size_of::<Hosted<$scheme>>()] = [0; size_of::<Hosted<$scheme>>()];

            #[unsafe(export_name = concat!($name, ".begin"))]
            extern "C" fn begin(
                place: &mut MaybeUninit<Hosted<$scheme>>,
                numbers: &Numbers,
                facts: &Facts,
                decision: &mut Decision,
            ) {
                let (hosted, step) = Hosted::begin($make, numbers, facts);
                place.write(hosted);
                decision.step(step, facts);
            }

            #[unsafe(export_name = concat!($name, ".acked"))]
            extern "C" fn acked(hosted: &mut Hosted<$scheme>, facts: &Facts, decision: &mut Decision) {
                decision.step(hosted.acked(facts), facts);
            }

            #[unsafe(export_name = concat!($name, ".event"))]
            extern "C" fn on_event(hosted: &mut Hosted<$scheme>, kind: u32, facts: &Facts, decision: &mut Decision) {
                decision.step(hosted.on_event(kind, facts), facts);
            }

            #[unsafe(export_name = concat!($name, ".answer"))]
            extern "C" fn answer(hosted: &mut Hosted<$scheme>, facts: &Facts, decision: &mut Decision) {
                *decision = hosted.answer(facts);
            }
        }
    )+};
}

macro_rules! resident_entry_points {
    ($($name:literal: $module:ident, $policy:ty, $make:expr;)+) => {$(
        mod $module {
            use firstflight::registry::Numbers;
            use firstflight::restart::*;
            use crate::facts::{Facts, Decision};
            use crate::resident::Resident;
            use core::mem::MaybeUninit;

            /// The length of this array is the number of bytes that the state takes.
            #[used]
            #[unsafe(export_name = concat!($name, ".state"))]
            static STATE: [u8; size_of::<Resident<$policy>>()] = [0; size_of::<Resident<$policy>>()];

            /// Marks a policy that runs in addition to a law; its reader in C differs.
            #[used]
            #[unsafe(export_name = concat!($name, ".resident"))]
            static RESIDENT: u8 = 1;

            #[unsafe(export_name = concat!($name, ".begin"))]
            extern "C" fn begin(
                place: &mut MaybeUninit<Resident<$policy>>,
                numbers: &Numbers,
                facts: &Facts,
                decision: &mut Decision,
            ) {
                place.write(Resident::begin($make, numbers, facts));
                *decision = Decision::default();
            }

            #[unsafe(export_name = concat!($name, ".acked"))]
            extern "C" fn acked(resident: &mut Resident<$policy>, facts: &Facts, decision: &mut Decision) {
                decision.step(resident.acked(facts), facts);
            }

            #[unsafe(export_name = concat!($name, ".event"))]
            extern "C" fn on_event(resident: &mut Resident<$policy>, kind: u32, facts: &Facts, decision: &mut Decision) {
                decision.step(resident.on_event(kind, facts), facts);
            }

            #[unsafe(export_name = concat!($name, ".answer"))]
            extern "C" fn answer(resident: &mut Resident<$policy>, facts: &Facts, decision: &mut Decision) {
                *decision = resident.answer(facts);
            }
        }
    )+};
}

mod in_kernel {
    use crate::{for_each_hosted_scheme, for_each_resident_policy};

    for_each_hosted_scheme!(hosted_entry_points);
    for_each_resident_policy!(resident_entry_points);
}
