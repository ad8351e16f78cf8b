//! Converts TCP options between the endpoint's segments and the script's lists. The layout is Linux's (`tcp_syn_options`,
//! `tcp_established_options`, `tcp_options_write`).

use core::num::NonZeroU16;

use firstflight_tcp::{Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};

use crate::syntax::TcpOption;

/// Returns the options of a segment in the order on the wire, including padding.
pub(crate) fn list(segment: &Segment) -> Vec<TcpOption> {
    let mut list = Vec::new();
    let stamp = segment.timestamps.map(|Timestamps { value, echo }| TcpOption::Timestamps { value, echo });
    if segment.flags.has(Flags::SYN) {
        list.extend(segment.mss.map(|mss| TcpOption::Mss(mss.get())));
        match (segment.sack_permitted, stamp) {
            (true, None) => list.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted]),
            (true, Some(stamp)) => list.extend([TcpOption::SackPermitted, stamp]),
            (false, Some(stamp)) => list.extend([TcpOption::Nop, TcpOption::Nop, stamp]),
            (false, None) => {}
        }
        if let Some(scale) = segment.window_scale {
            list.extend([TcpOption::Nop, TcpOption::WindowScale(scale)]);
        }
        return list;
    }
    if let Some(stamp) = stamp {
        list.extend([TcpOption::Nop, TcpOption::Nop, stamp]);
    }
    let blocks = segment.sack_blocks();
    if !blocks.is_empty() {
        let blocks = blocks.iter().map(|block| (block.start, block.end)).collect();
        list.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks)]);
    }
    list
}

/// Puts a script's options into a segment.
pub(crate) fn apply(list: &[TcpOption], segment: &mut Segment) {
    for option in list {
        match option {
            TcpOption::Nop => {}
            TcpOption::End => return,
            TcpOption::Mss(mss) => segment.mss = NonZeroU16::new(*mss),
            TcpOption::WindowScale(scale) => segment.window_scale = Some(*scale),
            TcpOption::SackPermitted => segment.sack_permitted = true,
            TcpOption::Timestamps { value, echo } => {
                segment.timestamps = Some(Timestamps { value: *value, echo: *echo });
            }
            TcpOption::Sack(blocks) => {
                for (slot, &(start, end)) in segment.sack.iter_mut().zip(blocks) {
                    *slot = SackBlock { start, end };
                }
                segment.sack_count = u8::try_from(blocks.len().min(MAX_SACK_BLOCKS)).unwrap_or(0);
            }
        }
    }
}
