use firstflight::Time;
use proptest::prelude::*;

use super::{Incoming, Receiver};
use crate::config::Config;

proptest! {
    /// It is made only when something has changed.
    #[test]
    fn the_window_offered_is_what_it_would_be_if_it_were_made_anew(
        receive_buffer in 0u64..200_000,
        shift in 0u8..5,
        steps in prop::collection::vec((0u8..5, 0u64..4_000), 1..60),
    ) {
        let config = Config { receive_buffer, reads_at_once: false, ..Config::default() };
        let mut receiver = Receiver::new(&config);
        receiver.establish(1_000, true);
        for (what, number) in steps {
            match what {
                0 => {
                    if receiver.takes_next(number) {
                        receiver.take_next(Time::ZERO, number);
                    }
                }
                1 => {
                    receiver.read(number);
                }
                2 => receiver.acknowledged(),
                _ => {
                    let start = receiver.next() + if what == 3 { 0 } else { number };
                    let (fin, ce, cwr, closing) = (false, false, false, false);
                    receiver.on_data(Time::ZERO, &Incoming { start, len: number / 3, fin, ce, cwr, closing });
                }
            }
            let mut anew = receiver.clone();
            let window = anew.new_window(shift);
            prop_assert_eq!((receiver.window(shift), receiver.edge), (window, anew.edge));
        }
    }
}
