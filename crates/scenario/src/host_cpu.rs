//! What the hosts' processors take time for (docs/host-cpu.md).

use firstflight::Span;

/// What the hosts' processors take time for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostCpu {
    /// What hosts do takes no time.
    #[default]
    None,
    /// Lists of packets are walked for SACK blocks and for what arrives out of order, as Linux did before 2.6.15.
    List,
    /// As [`HostCpu::List`], but for the blocks of an ACK there is one walk, as in Linux 2.6.24.
    ListHints,
}

impl HostCpu {
    /// The default of [`crate::Scenario::cpu_packet`]: what a packet takes in a walk over a list of ten thousand, in memory one after the
    /// other (docs/host-cpu.md).
    pub const PACKET: Span = Span::from_nanos(2);
    /// The default of [`crate::Scenario::cpu_segment`]: what a packet takes a kernel that hands over 64 kB at once (docs/host-cpu.md). It
    /// is less than any kernel takes that does not.
    pub const SEGMENT: Span = Span::from_nanos(150);
}
