//! The schemes that are not built around another.

use crate::registry::entry::SchemeEntry;
use crate::schemes;

/// Calls the macro `$take` with a line for each scheme that is not built around another, in the order in which lists show them: name, name
/// as an identifier, entry, type. It generates the entries of the registry and the entry points of `kernel/bpf`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_plain_scheme {
    ($take:ident) => {
        $take! {
            "slow-start": slow_start, SLOW_START, $crate::schemes::SlowStart;
            "slow-start-paced": slow_start_paced, SLOW_START_PACED, $crate::schemes::SlowStart;
            "limited": limited, LIMITED, $crate::schemes::Limited;
            "vegas": vegas, VEGAS, $crate::schemes::VegasStart;
            "packet-pair": packet_pair, PACKET_PAIR, $crate::schemes::PacketPair;
            "adaptive": adaptive, ADAPTIVE, $crate::schemes::Adaptive;
            "paced": paced, PACED, $crate::schemes::Paced;
            "hystart": hystart, HYSTART, $crate::schemes::HyStart;
            "hystart-linux": hystart_linux, HYSTART_LINUX, $crate::schemes::HyStartLinux;
            "hystart++": hystart_plus_plus, HYSTART_PLUS, $crate::schemes::HyStartPlus;
            "suss": suss, SUSS, $crate::schemes::Suss;
            "rapid-start": rapid_start, RAPID_START, $crate::schemes::RapidStart;
            "search": search, SEARCH, $crate::schemes::Search;
            "bbr": bbr, BBR, $crate::schemes::Bbr;
            "careful-resume": careful_resume, CAREFUL_RESUME, $crate::schemes::CarefulResume;
            "leap": leap, LEAP, $crate::schemes::Leap;
            "leap-saved": leap_saved, LEAP_SAVED, $crate::schemes::Leap;
        }
    };
}

macro_rules! entries {
    ($($name:literal: $word:ident, $entry:ident, $scheme:ty;)+) => { &[$(schemes::$entry),+] };
}

/// The schemes that are not built around another, in the order in which lists show them.
pub(crate) const PLAIN: &[SchemeEntry] = for_each_plain_scheme!(entries);
