//! The JSON form of the connection's state at a call.

use firstflight::{Bytes, Path, SendLimit, Span, Time};

use super::names;
use crate::delta::delta;

delta! {
    /// State of the connection, without the time of the call.
    PathShape, PathDelta {
        plain {
            mss: u64,
            wire: u64,
            cwnd: u64,
            flight: u64,
            pipe: u64,
            rwnd: u64,
            delivered: u64,
            una: u64,
            nxt: u64,
            rto_ns: u64,
            limit: LimitShape,
            recovering: bool,
        }
        maybe {
            srtt_ns: u64,
            latest_rtt_ns: u64,
            min_rtt_ns: u64,
            backlog: u64,
            last_sent_ns: u64,
            last_received_ns: u64,
            wake_ns: u64,
        }
    }
}

names! { LimitShape of SendLimit { App, Window, Pacing, Receiver } }

impl From<&Path> for PathShape {
    fn from(path: &Path) -> Self {
        Self {
            mss: path.mss.get(),
            wire: path.wire.get(),
            cwnd: path.cwnd.get(),
            flight: path.flight.get(),
            pipe: path.pipe.get(),
            rwnd: path.rwnd.get(),
            delivered: path.delivered.get(),
            una: path.una,
            nxt: path.nxt,
            rto_ns: path.rto.nanos(),
            limit: path.limit.into(),
            recovering: path.recovering,
            srtt_ns: path.srtt.map(Span::nanos),
            latest_rtt_ns: path.latest_rtt.map(Span::nanos),
            min_rtt_ns: path.min_rtt.map(Span::nanos),
            backlog: path.backlog.map(Bytes::get),
            last_sent_ns: path.last_sent.map(Time::nanos),
            last_received_ns: path.last_received.map(Time::nanos),
            wake_ns: path.wake.map(Time::nanos),
        }
    }
}

impl PathShape {
    pub(crate) fn at(&self, now: Time) -> Path {
        let mut path = Path::new(now, Bytes::new(self.mss), Bytes::new(self.wire));
        path.cwnd = Bytes::new(self.cwnd);
        path.flight = Bytes::new(self.flight);
        path.pipe = Bytes::new(self.pipe);
        path.srtt = self.srtt_ns.map(Span::from_nanos);
        path.latest_rtt = self.latest_rtt_ns.map(Span::from_nanos);
        path.min_rtt = self.min_rtt_ns.map(Span::from_nanos);
        path.rwnd = Bytes::new(self.rwnd);
        path.backlog = self.backlog.map(Bytes::new);
        path.delivered = Bytes::new(self.delivered);
        path.una = self.una;
        path.nxt = self.nxt;
        path.rto = Span::from_nanos(self.rto_ns);
        path.limit = self.limit.into();
        path.recovering = self.recovering;
        path.last_sent = self.last_sent_ns.map(Time::from_nanos);
        path.last_received = self.last_received_ns.map(Time::from_nanos);
        path.wake = self.wake_ns.map(Time::from_nanos);
        path
    }
}
