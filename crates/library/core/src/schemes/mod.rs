//! The start-up schemes, one file each.

/// The events that a scheme leaves to the slow start inside, as a pattern: for schemes that change only the growth of
/// slow start, or its end. Further events are given in brackets. Every event is named, so that a new event is a
/// compile error until it is assigned.
macro_rules! left_to_slow_start {
    ($($others:pat_param),+) => {
        $($others)|+
            | Event::Sent(_)
            | Event::Lost(_)
            | Event::Marked { .. }
            | Event::TimedOut { .. }
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged
    };
}

mod adaptive;
pub(crate) mod bbr;
mod careful_resume;
mod hystart;
mod hystart_linux;
mod hystart_plus;
mod initial;
mod leap;
mod limited;
mod paced;
mod packet_pair;
mod quick_start;
mod rapid_start;
mod search;
pub(crate) mod slow_start;
mod suss;
mod vegas;

pub use crate::vegas::Variant as VegasVariant;
pub use adaptive::Adaptive;
pub use bbr::Bbr;
pub use careful_resume::CarefulResume;
pub use hystart::HyStart;
pub use hystart_linux::HyStartLinux;
pub use hystart_plus::HyStartPlus;
pub use initial::{Initial, SavedPath};
pub use leap::Leap;
pub use limited::Limited;
pub use paced::Paced;
pub use packet_pair::PacketPair;
pub use quick_start::{QuickStart, QuickStartConfig};
pub use rapid_start::RapidStart;
pub use search::Search;
pub use slow_start::SlowStart;
pub use suss::Suss;
pub use vegas::VegasStart;

pub(crate) use adaptive::ADAPTIVE;
pub(crate) use bbr::BBR;
pub(crate) use careful_resume::CAREFUL_RESUME;
pub(crate) use hystart::HYSTART;
pub(crate) use hystart_linux::HYSTART_LINUX;
pub(crate) use hystart_plus::HYSTART_PLUS;
pub(crate) use leap::{LEAP, LEAP_SAVED};
pub(crate) use limited::LIMITED;
pub(crate) use paced::PACED;
pub(crate) use packet_pair::PACKET_PAIR;
pub(crate) use quick_start::{AROUND, QUICK_START, QUICK_START_AGAIN};
pub(crate) use rapid_start::RAPID_START;
pub(crate) use search::SEARCH;
pub(crate) use slow_start::{SLOW_START, SLOW_START_PACED};
pub(crate) use suss::SUSS;
pub(crate) use vegas::VEGAS;
