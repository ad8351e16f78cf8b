//! State that governs a connection fits a socket's private area (104 bytes in Linux).

use firstflight::Controller;
use firstflight::avoidance::{Cubic, Reno};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{HyStart, Limited, Paced, SlowStart};

const PRIVATE_AREA: usize = 104;

macro_rules! fits {
    ($scheme:ty, $law:ty) => {
        assert!(
            Controller::<$scheme, Rfc5681, $law>::STATE_SIZE <= PRIVATE_AREA,
            "{} with {}: {} bytes",
            stringify!($scheme),
            stringify!($law),
            Controller::<$scheme, Rfc5681, $law>::STATE_SIZE
        );
    };
}

#[test]
fn every_scheme_with_reno_fits_a_sockets_private_area() {
    fits!(SlowStart, Reno);
    fits!(Limited, Reno);
    fits!(HyStart, Reno);
    fits!(Paced, Reno);
}

#[test]
fn slow_start_limited_and_hystart_fit_with_cubic_too() {
    fits!(SlowStart, Cubic);
    fits!(Limited, Cubic);
    fits!(HyStart, Cubic);
}
