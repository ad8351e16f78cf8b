//! TCP operations that cost CPU time on the hosts (docs/reference/host-cpu.md).

use firstflight::Span;

/// Which TCP operations cost CPU time on the hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostCpu {
    /// No operation takes CPU time.
    #[default]
    None,
    /// The host walks lists of packets for SACK blocks and for segments that arrive out of order, as Linux before 2.6.15.
    List,
    /// As [`HostCpu::List`], but one walk handles all blocks of an ACK, as in Linux 2.6.24.
    ListHints,
}

impl HostCpu {
    /// The default of [`crate::Scenario::cpu_packet`]: the CPU time for each packet of a walk. It holds for a list of ten thousand packets
    /// that are contiguous in memory (docs/reference/host-cpu.md).
    pub const PACKET: Span = Span::from_nanos(2);
    /// The default of [`crate::Scenario::cpu_segment`]: the CPU time for each packet in a kernel that processes 64 kB at once
    /// (docs/reference/host-cpu.md). A kernel that processes single packets takes longer.
    pub const SEGMENT: Span = Span::from_nanos(150);
}
