//! Processes Quick-Start's options for an endpoint (RFC 4782 sections 4.1 to 4.4): sends requests, answers the peer's requests, checks the
//! responses, and reports the outcome to the routers.

use firstflight::{Rate, RateCode};

use super::{IpOption, Nonce, Response, ttl_diff};

/// The TTL or hop limit of sent packets (RFC 1340's recommendation, and Linux's default).
const HOP_LIMIT: u8 = 64;

/// The Quick-Start state of an endpoint, which may send requests and answers the peer's requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiation {
    secret: u64,
    draws: u64,
    /// The request that is not answered yet.
    pending: Option<Pending>,
    /// The request whose outcome is not reported yet.
    unreported: Option<Nonce>,
    /// The response to the peer's request, for the next segment.
    response: Option<Response>,
    /// Whether this connection must not send another request.
    barred: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    rate: RateCode,
    ttl_diff: u8,
    nonce: Nonce,
    /// Stream offset: the response is on the first segment that acknowledges up to it.
    end: u64,
}

impl Negotiation {
    pub(crate) fn new(secret: u64) -> Self {
        Self { secret, draws: 0, pending: None, unreported: None, response: None, barred: false }
    }

    /// Checks whether a request may be sent: no request is unanswered, and no cheating was detected on this connection.
    pub(crate) fn may_ask(&self) -> bool {
        !self.barred && self.pending.is_none()
    }

    /// Checks whether no request, response or report is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.is_none() && self.unreported.is_none() && self.response.is_none()
    }

    /// Checks whether a request has not been answered yet.
    pub(crate) fn waits(&self) -> bool {
        self.pending.is_some()
    }

    /// Creates a request for `rate`. It is sent on a packet that an acknowledgement up to the stream offset `end` answers.
    pub(crate) fn request(&mut self, rate: Rate, end: u64) -> IpOption {
        let random = self.draw();
        let [ttl, _, _, _, low @ ..] = random.to_be_bytes();
        let nonce = Nonce::new(u32::from_be_bytes(low));
        let rate = RateCode::up(rate);
        self.pending = Some(Pending { rate, ttl_diff: ttl_diff(HOP_LIMIT, ttl), nonce, end });
        IpOption::Request { rate, ttl, hop_limit: HOP_LIMIT, nonce }
    }

    /// Processes the Quick-Start option of an arriving IP header. Returns whether it requires a response. A request for rate zero does not
    /// (section 4.3); routers set this rate when they deny a request.
    pub(crate) fn heard(&mut self, option: IpOption) -> bool {
        let IpOption::Request { rate, ttl, hop_limit, nonce } = option else { return false };
        if rate.is_denied() {
            return false;
        }
        self.response = Some(Response { rate, ttl_diff: ttl_diff(hop_limit, ttl), nonce });
        true
    }

    /// Checks whether the next segment must carry a response.
    pub(crate) fn owes_response(&self) -> bool {
        self.response.is_some()
    }

    /// Returns the response for the segment that is sent now, if one is due. A response is never retransmitted (section 4.3).
    pub(crate) fn take_response(&mut self) -> Option<Response> {
        self.response.take()
    }

    /// Processes an acknowledgement up to `una`. If it answers the request, returns the approved rate (`None` inside if nothing was
    /// approved). Returns `None` if it does not answer it.
    ///
    /// Nothing is approved without a response, or if the response has a wrong TTL Diff, a rate above the requested one, or a nonce that
    /// does not agree (section 4.4). Only a wrong nonce prevents further requests on this connection (choice-19).
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

    /// Checks whether an outcome must still be reported.
    pub(crate) fn owes_report(&self) -> bool {
        self.unreported.is_some()
    }

    /// Returns the report with the request's nonce: the approved rate, or no rate (section 4.4). Returns `None` if it was already returned.
    pub(crate) fn report(&mut self, approved: Rate) -> Option<IpOption> {
        let nonce = self.unreported.take()?;
        Some(IpOption::Report { rate: RateCode::down(approved), nonce })
    }

    /// Returns 64 bits that cannot be guessed from earlier ones without the secret: the output of `SplitMix64` on the secret.
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

    /// Returns the response of a receiver that is `hops` routers away. They granted the request with the rate `rate`.
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
    fn a_fully_approved_request_is_approved_and_reported_with_its_nonce() {
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
    fn a_lowered_rate_is_approved_if_the_remaining_nonce_pairs_agree() {
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
    fn an_ack_of_the_request_without_response_denies_unlike_older_acks() {
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
    fn a_denied_request_gets_no_response_and_responses_are_sent_once() {
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
