//! State that governs a connection fits a socket's private area (104 bytes in Linux).

use firstflight::Controller;
use firstflight::avoidance::{BbrCruise, Cubic, ProbeBw, Reno, Vegas, Westwood};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{
    Adaptive, Bbr, CarefulResume, HyStart, HyStartLinux, HyStartPlus, Leap, Limited, Paced, PacketPair,
    QuickStart, RapidStart, Search, SlowStart, Suss, VegasStart,
};

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
    fits!(HyStartLinux, Reno);
    fits!(HyStartPlus, Reno);
    fits!(VegasStart, Reno);
    fits!(PacketPair, Reno);
    fits!(Suss, Reno);
    fits!(RapidStart, Reno);
    fits!(QuickStart<SlowStart>, Reno);
}

#[test]
fn all_but_paced_fit_with_cubic_too() {
    fits!(SlowStart, Cubic);
    fits!(Limited, Cubic);
    fits!(HyStart, Cubic);
    fits!(HyStartLinux, Cubic);
    fits!(HyStartPlus, Cubic);
    fits!(VegasStart, Cubic);
    fits!(PacketPair, Cubic);
    fits!(RapidStart, Cubic);
}

#[test]
fn each_scheme_has_the_size_that_its_page_states() {
    assert_eq!(size_of::<HyStartPlus>(), 36);
    assert_eq!(size_of::<HyStartLinux>(), 36);
    assert_eq!(size_of::<VegasStart>(), 40);
    assert_eq!(size_of::<Paced>(), 64);
    assert_eq!(size_of::<PacketPair>(), 40);
    assert_eq!(size_of::<Suss>(), 60);
    assert_eq!(size_of::<RapidStart>(), 28);
    assert_eq!(size_of::<Bbr>(), 176);
    assert_eq!(size_of::<ProbeBw>(), 640);
    assert_eq!(size_of::<BbrCruise>(), 56);
    assert_eq!(size_of::<CarefulResume>(), 72);
    assert_eq!(size_of::<QuickStart<SlowStart>>(), 64);
    assert_eq!(size_of::<Search>(), 304);
    assert_eq!(size_of::<Leap>(), 336);
    assert_eq!(size_of::<Adaptive>(), 568);
    assert_eq!(size_of::<Westwood>(), 560);
    assert_eq!(size_of::<Vegas>(), 40);
}
