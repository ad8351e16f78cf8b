//! For any bytes: an inspection, or one line with place and error; never a panic, never an endless loop.

use firstflight_inspect::inspect;
use proptest::prelude::*;

use crate::made::{Form, PLAIN, frames, pcap, pcapng};

fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    match inspect(bytes, true) {
        Ok(inspection) => {
            for one in &inspection.senders {
                let line = serde_json::to_string(&one.found).expect("numbers");
                // JSON would say null.
                let numbers = format!("{:?}", one.found);
                let none = ["NaN", "inf,", "(inf)"].iter().any(|word| numbers.contains(word));
                prop_assert!(!none, "{}", numbers);
                // What has no number has a reason.
                for field in
                    ["handshake_rtt_s", "mss_bytes", "initial_window_bytes", "exit_time_s", "later_rate_bps"]
                {
                    let is_null = line.contains(&format!("\"{field}\":null"));
                    let has_data = one.found.bytes_sent.is_none_or(|bytes| bytes > 0);
                    prop_assert!(
                        !is_null || !has_data || one.found.undefined.contains_key(field),
                        "{}: {}",
                        field,
                        line
                    );
                }
            }
        }
        Err(error) => {
            let line = error.to_string();
            prop_assert!(line.starts_with("byte ") && line.lines().count() == 1, "{}", line);
        }
    }
    Ok(())
}

fn captures() -> impl Strategy<Value = Vec<u8>> {
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec![0_u16, 1, 101, 113, 276]),
        30_usize..120,
    )
        .prop_map(|(is_big, is_ng, is_ipv6, link, snap)| {
            let form = Form { is_big, link, snap, ..PLAIN };
            let frames = frames(link, false, is_ipv6);
            if is_ng { pcapng(form, &frames) } else { pcap(form, &frames) }
        })
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        holds(&bytes)?;
    }

    #[test]
    fn arbitrary_bytes_behind_a_header(bytes in prop::collection::vec(any::<u8>(), 0..400), capture in captures()) {
        let start = if capture.starts_with(&[0x0A]) { 72 } else { 24 };
        holds(&[&capture[..start.min(capture.len())], &bytes].concat())?;
    }

    #[test]
    fn a_capture_with_bytes_changed(
        mut capture in captures(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        for (place, value) in changes {
            let place = place.index(capture.len());
            capture[place] = value;
        }
        holds(&capture)?;
    }

    #[test]
    fn a_capture_cut_anywhere(capture in captures(), place in any::<prop::sample::Index>()) {
        let cut = &capture[..place.index(capture.len())];
        holds(cut)?;
        if let Ok(inspection) = inspect(cut, false) {
            prop_assert!(inspection.cut.is_some() || inspection.tally.packets <= 14);
        }
    }

    #[test]
    fn packets_in_any_order_and_at_any_time(
        order in prop::collection::vec((0_usize..14, any::<u64>()), 0..60),
    ) {
        let upload = frames(101, false, false);
        let at = |time: u64| time % (u64::from(u32::MAX) * 1_000_000_000);
        let shuffled: Vec<_> = order.into_iter().map(|(index, time)| (at(time), upload[index].1.clone())).collect();
        holds(&pcapng(PLAIN, &shuffled))?;
    }
}
