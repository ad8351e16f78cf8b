//! What an endpoint does with Quick-Start's options (RFC 4782 sections 4.1 to 4.4): it asks, answers the peer's
//! request, judges the response to its own and reports the outcome.

use firstflight::{Rate, RateCode};

use super::{IpOption, Nonce, Response, ttl_diff};

/// The TTL or hop limit of packets that leave (RFC 1340's recommendation, and Linux's default).
const HOP_LIMIT: u8 = 64;

/// Both roles of one endpoint: it may ask, and it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiation {
    secret: u64,
    draws: u64,
    /// The request that is not answered yet.
    pending: Option<Pending>,
    /// The request whose outcome is not reported yet.
    unreported: Option<Nonce>,
    /// What the peer's request is answered with, on the next segment.
    response: Option<Response>,
    /// Whether this connection may not ask again.
    barred: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    rate: RateCode,
    ttl_diff: u8,
    nonce: Nonce,
    /// The response is on the first segment that acknowledges up to here.
    end: u64,
}

impl Negotiation {
    pub(crate) fn new(secret: u64) -> Self {
        Self { secret, draws: 0, pending: None, unreported: None, response: None, barred: false }
    }

    /// Whether a request may be sent: none is on its way, and the connection was not caught cheated on.
    pub(crate) fn may_ask(&self) -> bool {
        !self.barred && self.pending.is_none()
    }

    /// Whether nothing is asked for, to be answered or to be reported.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.is_none() && self.unreported.is_none() && self.response.is_none()
    }

    /// Whether a request is on its way.
    pub(crate) fn waits(&self) -> bool {
        self.pending.is_some()
    }

    /// The request for `rate`, on a packet that an acknowledgement up to the offset `end` answers.
    pub(crate) fn request(&mut self, rate: Rate, end: u64) -> IpOption {
        let random = self.draw();
        let [ttl, _, _, _, low @ ..] = random.to_be_bytes();
        let nonce = Nonce::new(u32::from_be_bytes(low));
        let rate = RateCode::up(rate);
        self.pending = Some(Pending { rate, ttl_diff: ttl_diff(HOP_LIMIT, ttl), nonce, end });
        IpOption::Request { rate, ttl, hop_limit: HOP_LIMIT, nonce }
    }

    /// A segment arrived with an option in its IP header. Says whether it calls for an answer: a request for no
    /// rate, which is what routers make of one that they deny, does not (section 4.3).
    pub(crate) fn heard(&mut self, option: IpOption) -> bool {
        let IpOption::Request { rate, ttl, hop_limit, nonce } = option else { return false };
        if rate.is_denied() {
            return false;
        }
        self.response = Some(Response { rate, ttl_diff: ttl_diff(hop_limit, ttl), nonce });
        true
    }

    /// Whether the next segment carries a response.
    pub(crate) fn owes_response(&self) -> bool {
        self.response.is_some()
    }

    /// The response for the segment that leaves now. It is never sent again (section 4.3).
    pub(crate) fn take_response(&mut self) -> Option<Response> {
        self.response.take()
    }

    /// A segment arrived that acknowledges up to `una`. If it answers the request, what was approved.
    ///
    /// Section 4.4: without a response, with the wrong TTL Diff, with more than was asked for or with a nonce
    /// that does not agree nothing is approved; choice-19: only the last bars the connection from asking again.
    #[expect(clippy::option_option, reason = "no answer yet, an answer that approves nothing, an answer")]
    pub(crate) fn answer(&mut self, una: u64, response: Option<Response>) -> Option<Option<RateCode>> {
        let asked = self.pending.filter(|pending| pending.end <= una)?;
        self.pending = None;
        self.unreported = Some(asked.nonce);
        let Some(response) = response else { return Some(None) };
        let plausible = response.ttl_diff == asked.ttl_diff && response.rate <= asked.rate;
        if plausible && !asked.nonce.agrees(response.nonce, response.rate) {
            self.barred = true;
            return Some(None);
        }
        Some(Some(response.rate).filter(|rate| plausible && !rate.is_denied()))
    }

    /// Whether an outcome is still to be reported.
    pub(crate) fn owes_report(&self) -> bool {
        self.unreported.is_some()
    }

    /// The report, once: what was approved, or no rate, with the request's nonce (section 4.4).
    pub(crate) fn report(&mut self, approved: Rate) -> Option<IpOption> {
        let nonce = self.unreported.take()?;
        Some(IpOption::Report { rate: RateCode::down(approved), nonce })
    }

    /// 64 bits that nobody without the secret can guess from the ones before: `SplitMix64` over it.
    fn draw(&mut self) -> u64 {
        self.draws += 1;
        let mut z = self.secret.wrapping_add(self.draws.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Rate = Rate::from_bps(5_120_000);

    fn code(number: u8) -> RateCode {
        RateCode::new(number).unwrap()
    }

    /// What a receiver `hops` routers away answers to a request that they granted as `rate`.
    fn answered(request: IpOption, hops: u8, rate: RateCode) -> Response {
        let IpOption::Request { ttl, hop_limit, nonce, .. } = request else { panic!("a request") };
        let (ttl, hop_limit) = (ttl.wrapping_sub(hops), hop_limit - hops);
        let mut receiver = Negotiation::new(0);
        assert!(receiver.heard(IpOption::Request { rate, ttl, hop_limit, nonce }));
        receiver.take_response().unwrap()
    }

    fn asking() -> (Negotiation, IpOption) {
        let mut sender = Negotiation::new(7);
        let request = sender.request(ASKED, 0);
        (sender, request)
    }

    #[test]
    fn a_request_that_every_router_approved_is_approved_and_reported_with_its_nonce() {
        let (mut sender, request) = asking();
        let IpOption::Request { rate, nonce, .. } = request else { panic!("a request") };
        assert_eq!(rate, code(7));
        assert!(sender.waits() && !sender.may_ask());
        assert_eq!(sender.answer(0, Some(answered(request, 5, code(7)))), Some(Some(code(7))));
        assert!(sender.owes_report());
        assert_eq!(sender.report(ASKED), Some(IpOption::Report { rate: code(7), nonce }));
        assert_eq!(sender.report(ASKED), None);
        assert!(sender.may_ask());
    }

    #[test]
    fn a_lower_rate_is_approved_if_the_pairs_of_the_steps_left_agree() {
        let (mut sender, request) = asking();
        let mut response = answered(request, 2, code(5));
        response.nonce = response.nonce.lowered(code(7), code(5), !response.nonce.get());
        assert_eq!(sender.answer(0, Some(response)), Some(Some(code(5))));
    }

    #[test]
    fn a_router_that_did_not_take_part_shows_in_the_ttl_diff() {
        let (mut sender, request) = asking();
        let IpOption::Request { rate, ttl, hop_limit, nonce } = request else { panic!("a request") };
        let passed = IpOption::Request { rate, ttl: ttl.wrapping_sub(2), hop_limit: hop_limit - 3, nonce };
        let mut receiver = Negotiation::new(0);
        assert!(receiver.heard(passed));
        assert_eq!(sender.answer(0, receiver.take_response()), Some(None));
        assert!(sender.may_ask(), "choice-19");
    }

    #[test]
    fn more_than_was_asked_for_is_not_approved() {
        let (mut sender, request) = asking();
        assert_eq!(sender.answer(0, Some(answered(request, 1, code(8)))), Some(None));
    }

    #[test]
    fn a_nonce_that_does_not_agree_bars_the_connection_from_asking_again() {
        let (mut sender, request) = asking();
        let mut response = answered(request, 1, code(7));
        response.nonce = Nonce::new(response.nonce.get() ^ 1 << 13);
        assert_eq!(sender.answer(0, Some(response)), Some(None));
        assert!(!sender.may_ask());
    }

    #[test]
    fn an_acknowledgement_without_a_response_denies_and_one_of_older_data_does_not() {
        let mut sender = Negotiation::new(7);
        sender.request(ASKED, 1_460);
        assert_eq!(sender.answer(1_459, None), None);
        assert_eq!(sender.answer(1_460, None), Some(None));
        assert_eq!(sender.answer(1_460, None), None);
        assert_eq!(
            sender
                .report(Rate::ZERO)
                .map(|report| matches!(report, IpOption::Report { rate, .. } if rate.is_denied())),
            Some(true)
        );
    }

    #[test]
    fn a_request_for_no_rate_gets_no_response_and_a_response_is_sent_once() {
        let mut receiver = Negotiation::new(0);
        let denied =
            IpOption::Request { rate: RateCode::DENIED, ttl: 0, hop_limit: 60, nonce: Nonce::default() };
        assert!(!receiver.heard(denied));
        assert_eq!(receiver.take_response(), None);
        let (_, request) = asking();
        assert!(receiver.heard(request));
        assert!(receiver.take_response().is_some());
        assert_eq!(receiver.take_response(), None);
    }
}
