//! The scenario with a scheme's own options.

use crate::choice::SchemeChoice;
use crate::scenario::Scenario;

impl Scenario {
    /// Returns the scenario with the options that this scheme sets for its own flows.
    pub fn for_scheme(&self, choice: &SchemeChoice) -> Self {
        let own = &choice.own;
        let ssthresh = own
            .ssthresh
            .map_or(self.ssthresh, |amount| amount.and_then(|amount| amount.in_bytes(u64::from(self.mss))));
        Scenario {
            iw: own.iw.unwrap_or(self.iw),
            ssthresh,
            avoidance: own.avoidance.unwrap_or(self.avoidance),
            recovery: own.recovery.unwrap_or(self.recovery),
            stack: own.stack.unwrap_or(self.stack),
            quic: if own.stack.is_some() { own.quic } else { self.quic },
            // A scheme's stack has its own minimum RTO. It applies unless the path's minimum RTO differs from that of the path's stack. The
            // canonical text states the minimum RTO but not whether it was set, so a value equal to that of the path's stack counts as
            // unset. A scheme's `min-rto` overrules both.
            min_rto: own.min_rto.unwrap_or(match own.stack {
                Some(stack) if self.min_rto == self.stack.min_rto() => stack.min_rto(),
                _ => self.min_rto,
            }),
            restart: own.restart_or(&self.restart),
            ..own.over(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use firstflight::Span;

    use crate::controller::sender_config;
    use crate::{Options, Scenario, parse_choices};

    /// Returns the minimum RTO of a scheme on a path with these options.
    fn least_timeout(options: &[(&str, &str)], scheme: &str) -> Span {
        let mut given = Options::default();
        for (key, value) in options {
            given.set(key, value).expect("an option");
        }
        let scenario = Scenario::resolve(&given).expect("a scenario");
        let choices = parse_choices(scheme).expect("a scheme");
        sender_config(&scenario.for_scheme(&choices[0])).min_rto
    }

    #[test]
    fn minimum_rto_follows_the_stack_unless_path_or_scheme_sets_it() {
        let linux = "slow-start:stack=linux";
        assert_eq!(least_timeout(&[], linux), Span::from_millis(200));
        assert_eq!(least_timeout(&[("min-rto", "300ms")], linux), Span::from_millis(300));
        assert_eq!(least_timeout(&[("stack", "linux")], "slow-start:stack=rfc"), Span::from_secs(1));
        assert_eq!(least_timeout(&[], "slow-start:stack=linux,min-rto=1s"), Span::from_secs(1));
        assert_eq!(
            least_timeout(&[("stack", "linux"), ("min-rto", "200ms")], "slow-start:min-rto=200ms,stack=rfc"),
            Span::from_millis(200)
        );
    }

    #[test]
    fn linuxs_syns_are_sent_again_by_the_second_at_first() {
        let syns = |stack| {
            let mut options = Options::default();
            options.set("stack", stack).expect("an option");
            sender_config(&Scenario::resolve(&options).expect("a scenario")).linear_syns
        };
        assert_eq!((syns("rfc"), syns("linux")), (0, 4));
    }
}
