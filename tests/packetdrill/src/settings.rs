//! The settings that a script can change: packetdrill's options, and the settings of the kernel.

use std::collections::BTreeMap;

/// The current settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `--tolerance_usecs`: by how much an event may be early or late, in microseconds.
    pub(crate) tolerance: i64,
    /// `--tolerance_percent`, in thousandths: the tolerance as a share of the time since the previous event.
    pub(crate) tolerance_per_mille: i64,
    /// `--tcp_ts_tick_usecs`: microseconds per tick of outbound timestamps. With 0, timestamps are not checked.
    pub(crate) timestamp_tick: i64,
    /// `--mtu`: the MTU of the interface.
    pub(crate) mtu: u16,
    /// Bytes of the IP and TCP headers without options: 40, or 60 with `--ip_version=ipv6`.
    pub(crate) headers: u16,
    /// The parameter `hystart_detect` of the module `tcp_cubic`.
    pub(crate) hystart: &'static str,
    /// The queue of the device.
    pub(crate) queue: Queue,
    sysctls: BTreeMap<&'static str, String>,
}

/// How the device handles segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Queue {
    /// `pfifo`: the device sends segments at once.
    Fifo,
    /// `fq`: the device sends segments at the pacing rate that TCP requests.
    Fair,
    /// `pfifo limit 0`: the device drops every segment, and TCP is notified.
    Full,
}

/// A known sysctl with Linux's default. Its full name begins with `net.ipv4.`, or with `net.` if the name begins with `core.`.
struct Sysctl {
    name: &'static str,
    default: &'static str,
    use_: Use,
}

/// The effect of setting a sysctl.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The value takes effect.
    Honoured,
    /// Values up to this maximum take effect. Larger values are an error.
    UpTo(u64),
    /// The value has no effect that a script could observe, for this reason.
    Harmless(&'static str),
    /// Only the default is accepted.
    Fixed,
}

use Use::{Fixed, Harmless, Honoured, UpTo};

const NO_FAST_OPEN: &str = "Fast Open's option and calls are refused";

const SYSCTLS: &[Sysctl] = &[
    of("tcp_congestion_control", "cubic", Honoured),
    of("tcp_early_retrans", "3", UpTo(4)),
    of("tcp_ecn", "2", UpTo(2)),
    of("tcp_frto", "2", UpTo(2)),
    of("tcp_min_tso_segs", "2", Honoured),
    of("tcp_notsent_lowat", "4294967295", Honoured),
    // Since Linux 6.17, RACK is always on (bit 1). Bit 2 forbids window steps that this endpoint does not take anyway.
    of("tcp_recovery", "1", UpTo(3)),
    of("tcp_reordering", "3", Honoured),
    of("tcp_retries2", "15", Honoured),
    of("tcp_rmem", "4096 131072 6291456", Honoured),
    of("tcp_sack", "1", UpTo(1)),
    of("tcp_slow_start_after_idle", "1", UpTo(1)),
    of("tcp_syn_linear_timeouts", "4", Honoured),
    of("tcp_syn_retries", "6", Honoured),
    of("tcp_synack_retries", "5", Honoured),
    of("tcp_timestamps", "1", UpTo(2)),
    of("tcp_tso_win_divisor", "3", Honoured),
    of("tcp_window_scaling", "1", UpTo(1)),
    of("tcp_wmem", "4096 16384 4194304", Honoured),
    of("core.rmem_max", "4194304", Honoured),
    of("core.wmem_max", "4194304", Honoured),
    of("tcp_autocorking", "1", Harmless("nothing waits in the device's queue that TCP would wait for")),
    of("tcp_fack", "0", Harmless("Linux ignores it since 4.15")),
    of("tcp_fastopen", "1", Harmless(NO_FAST_OPEN)),
    of("tcp_fastopen_key", "", Harmless(NO_FAST_OPEN)),
    of("tcp_limit_output_bytes", "4194304", Harmless("a TUN device owns what it is given at once")),
    of("tcp_moderate_rcvbuf", "1", Harmless("the receive buffer stays as it is set")),
    of("tcp_no_metrics_save", "0", Harmless("a script has one connection")),
    of("tcp_syncookies", "1", Harmless("no backlog overflows")),
    of("ip_no_pmtu_disc", "0", Harmless("ICMP is refused")),
    of("tcp_dsack", "1", Fixed),
    of("tcp_ecn_fallback", "1", Fixed),
    of("tcp_fin_timeout", "60", Fixed),
    of("tcp_invalid_ratelimit", "500", Fixed),
    of("tcp_mtu_probing", "0", Fixed),
    of("tcp_pacing_ca_ratio", "120", Fixed),
    of("tcp_pacing_ss_ratio", "200", Fixed),
    of("tcp_shrink_window", "0", Fixed),
    of("tcp_thin_linear_timeouts", "0", Fixed),
];

const fn of(name: &'static str, default: &'static str, use_: Use) -> Sysctl {
    Sysctl { name, default, use_ }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 4_000,
            tolerance_per_mille: 125,
            timestamp_tick: 0,
            mtu: 1_500,
            headers: 40,
            hystart: "both",
            queue: Queue::Fifo,
            sysctls: SYSCTLS.iter().map(|sysctl| (sysctl.name, sysctl.default.to_owned())).collect(),
        }
    }
}

impl Settings {
    /// Sets a sysctl, by its name with dots or slashes.
    ///
    /// # Errors
    /// The name or value that is not supported.
    pub(crate) fn set_sysctl(&mut self, name: &str, value: &str) -> Result<(), String> {
        let dotted = name.trim_start_matches("/proc/sys/").replace('/', ".");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        // The simulated kernel has no MPTCP, so its settings have no effect.
        if dotted.starts_with("net.mptcp.") {
            return Ok(());
        }
        let known = dotted
            .strip_prefix("net.ipv4.")
            .or_else(|| dotted.strip_prefix("net.").filter(|name| name.starts_with("core.")))
            .and_then(|name| SYSCTLS.iter().find(|sysctl| sysctl.name == name));
        let Some(known) = known else { return Err(format!("the sysctl `{dotted}`")) };
        if known.use_ == Fixed && value != known.default {
            return Err(format!("`{dotted}={value}`: only {} can be had", known.default));
        }
        if let UpTo(most) = known.use_
            && value.parse::<u64>().is_ok_and(|value| value > most)
        {
            return Err(format!("`{dotted}={value}`: 0 to {most} can be had"));
        }
        if let "tcp_congestion_control" = known.name
            && !matches!(value.as_str(), "cubic" | "reno")
        {
            return Err(format!("`{dotted}={value}`: cubic and reno can be had"));
        }
        let whole = |text: &str| text.parse::<u64>().is_ok() || text.starts_with("0x");
        let worded = matches!(known.name, "tcp_congestion_control" | "tcp_fastopen_key");
        if !worded && !value.split(' ').all(whole) {
            return Err(format!("`{dotted}={value}`: not a number"));
        }
        self.sysctls.insert(known.name, value);
        Ok(())
    }

    /// Returns the value of a sysctl under `net.ipv4.` as text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.sysctls.get(name).map_or("", String::as_str)
    }

    /// Returns the value of a sysctl under `net.ipv4.` as a number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.part(name, 0)
    }

    /// Returns one of the numbers of a sysctl such as `tcp_rmem` or `tcp_wmem`, which have three.
    pub(crate) fn part(&self, name: &str, index: usize) -> u64 {
        self.text(name).split(' ').nth(index).and_then(|part| part.parse().ok()).unwrap_or(0)
    }

    /// Applies the settings of the public suite's `defaults.sh`.
    pub(crate) fn suite_defaults(&mut self) {
        for (name, value) in SUITE_DEFAULTS {
            self.sysctls.insert(name, (*value).to_owned());
        }
        self.queue = Queue::Fifo;
    }
}

/// The settings of `gtests/net/common/defaults.sh` as of 2024. Linux's copy of the file has the same settings.
const SUITE_DEFAULTS: &[(&str, &str)] = &[
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 262144 4194304"),
    ("tcp_timestamps", "1"),
    ("tcp_syn_retries", "5"),
    ("tcp_synack_retries", "5"),
    ("tcp_frto", "2"),
    ("tcp_sack", "1"),
    ("tcp_dsack", "1"),
    ("tcp_reordering", "3"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_slow_start_after_idle", "0"),
    ("tcp_early_retrans", "4"),
    ("tcp_recovery", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_ecn", "0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sysctl_is_known_by_dots_and_by_slashes() {
        let mut settings = Settings::default();
        for name in ["net.ipv4.tcp_sack", "net/ipv4/tcp_sack", "/proc/sys/net/ipv4/tcp_sack"] {
            settings.sysctls.insert("tcp_sack", "1".to_owned());
            assert_eq!(settings.set_sysctl(name, "0"), Ok(()));
            assert_eq!(settings.number("tcp_sack"), 0);
        }
    }

    #[test]
    fn ineffective_sysctls_have_a_reason() {
        let mut settings = Settings::default();
        for sysctl in SYSCTLS {
            if let Harmless(reason) = sysctl.use_ {
                assert!(!reason.is_empty());
                assert_eq!(settings.set_sysctl(&format!("net.ipv4.{}", sysctl.name), "1"), Ok(()));
            }
        }
    }

    #[test]
    fn unavailable_sysctls_are_named() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("net.ipv4.tcp_unheard_of", "1"),
            ("net.ipv4.tcp_congestion_control", "bbr"),
            ("net.ipv4.tcp_dsack", "0"),
            ("net.ipv4.tcp_sack", "yes"),
            ("net.ipv4.tcp_ecn", "3"),
            ("net.ipv4.tcp_recovery", "5"),
            ("net.ipv4.tcp_pacing_ss_ratio", "100"),
        ] {
            assert!(settings.set_sysctl(name, value).is_err_and(|what| what.contains(name)), "{name}");
        }
    }
}
