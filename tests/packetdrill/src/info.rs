//! The names that code can read: the fields of `TCP_INFO` (`tcp_get_info` in Linux), and Linux's constants.

use firstflight_tcp::{Info, Trouble};

use crate::code::Names;
use crate::kernel::{self, Kernel, Traffic};

/// The value of `TCP_INFINITE_SSTHRESH`.
const NO_THRESHOLD: i64 = 0x7fff_ffff;

/// The state of the connection under test.
pub(crate) struct InfoNames {
    info: Option<Info>,
    traffic: Traffic,
    /// The current time in microseconds.
    now: i64,
    advertised: i64,
}

impl InfoNames {
    fn milliseconds_since(&self, micros: i64) -> i64 {
        (self.now - micros) / 1_000
    }

    pub(crate) fn of(kernel: &Kernel) -> Self {
        let connection = kernel.under_test();
        Self {
            info: connection.map(kernel::Connection::info),
            traffic: connection.map(kernel::Connection::traffic).unwrap_or_default(),
            now: kernel.now(),
            advertised: connection.map_or(0, kernel::Connection::advertised),
        }
    }
}

impl Names for InfoNames {
    fn value(&self, name: &str) -> Option<i64> {
        let Some(field) = name.strip_prefix("tcpi_") else { return kernel::named(name) };
        let info = self.info.as_ref()?;
        let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let micros = |span: firstflight::Span| count(span.nanos() / 1_000);
        let mss = u64::from(info.mss.max(1));
        Some(match field {
            "ca_state" => match info.trouble {
                Trouble::None => 0,
                Trouble::Disorder => 1,
                Trouble::Reduction => 2,
                Trouble::Recovery => 3,
                Trouble::Loss => 4,
            },
            "snd_cwnd" => count(info.cwnd.get() / mss),
            "snd_ssthresh" => info.ssthresh.map_or(NO_THRESHOLD, |bytes| count(bytes.get() / mss)),
            "snd_mss" => i64::from(info.mss),
            "snd_wnd" => count(info.send_window),
            // An unacknowledged SYN counts as a segment.
            "unacked" => count(info.outstanding) + i64::from(matches!(info.state, 2 | 3)),
            "sacked" => count(info.sacked),
            "lost" => count(info.lost),
            "retrans" => count(info.resent),
            "total_retrans" => count(info.retransmissions),
            "reordering" => count(info.reordering),
            "reord_seen" => count(info.reorderings_seen),
            "retransmits" => count(info.timeouts_in_a_row),
            "backoff" => count(info.backoff),
            "rto" => micros(info.rto),
            "rtt" => micros(info.srtt.unwrap_or_default()),
            "rttvar" => micros(info.rtt_variation),
            "min_rtt" => info.min_rtt.map_or(i64::from(u32::MAX), micros),
            "bytes_acked" => count(info.acknowledged),
            "bytes_received" => count(info.received),
            "notsent_bytes" => count(info.unsent),
            "data_segs_out" => count(info.data_segments),
            "dsack_dups" => count(info.duplicates_reported),
            "state" => i64::from(info.state),
            "advmss" => self.advertised,
            "segs_in" => count(self.traffic.segments_in),
            "segs_out" => count(self.traffic.segments_out),
            "data_segs_in" => count(self.traffic.data_segments_in),
            "last_data_sent" => self.milliseconds_since(self.traffic.last_data_sent),
            "last_data_recv" => self.milliseconds_since(self.traffic.last_data_received),
            "last_ack_recv" => self.milliseconds_since(self.traffic.last_ack_received),
            _ => return None,
        })
    }
}
