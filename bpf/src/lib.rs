//! The start-up schemes as functions for BPF: `NAME.on` and `NAME.plan` for each scheme of the registry.
//!
//! Both functions take scheme, event and path by address, so the compiler knows nothing of their contents: every event
//! of every kind, and every setting of the scheme, stays possible. `.ci/bpf` builds one object a scheme from this crate.
#![no_std]

use core::mem::MaybeUninit;

use firstflight::schemes::{QuickStart, SlowStart};
use firstflight::{Event, Path, Plan, Startup, Step};

/// A scheme that panics stays where it is: there is nobody to tell.
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
