//! The cross traffic of a port: sources whose datagrams share its link and are not returned to the host.

use firstflight::Time;

use firstflight_tcp::Role;

use super::spec::Cross;
use crate::link::Link;
use crate::on_off::{OnOff, OnOffEvent};
use crate::packet::{FlowId, FlowKey};
use crate::source::Cbr;

/// A datagram that enters the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram {
    /// The number of the datagram's source.
    pub(super) source: u32,
    pub(super) flow: FlowKey,
    /// IP bytes.
    pub(super) wire: u32,
}

/// The sources whose datagrams the link does not admit itself.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    list: Vec<Source>,
    /// Time of the next event of any source.
    next: Option<Time>,
}

#[derive(Clone, Debug)]
enum Source {
    Cbr(Box<Cbr>),
    OnOff(Box<OnOff>, Option<Time>),
}

impl Sources {
    /// Returns the sources at time zero. The link takes on each constant-rate source that it can.
    pub(super) fn new(cross: &[Cross], seed: u64, link: &mut Link) -> Self {
        let source = |(id, cross): (u32, &Cross)| match cross {
            Cross::Cbr(spec) => {
                let source = Cbr::new(FlowId(id), *spec, Time::ZERO, seed);
                let left = match link {
                    Link::DropTail(link) => link.take_on(source).err(),
                    Link::Other(_) => Some(source),
                };
                left.map(|source| Source::Cbr(Box::new(source)))
            }
            Cross::OnOff(spec) => {
                let (source, first) = OnOff::new(FlowId(id), *spec, Time::ZERO, seed);
                Some(Source::OnOff(Box::new(source), first))
            }
        };
        let mut sources = Self { list: (0..).zip(cross).filter_map(source).collect(), next: None };
        sources.refresh();
        sources
    }

    /// Returns the time of the next event of a source.
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Handles the next event, which is at `now`. Returns the datagram that is sent; `None` if none is.
    pub(super) fn take(&mut self, now: Time) -> Option<Datagram> {
        let source = self.list.iter_mut().find(|source| source.next() == Some(now));
        let sent = source.and_then(|source| source.happen(now));
        self.refresh();
        sent
    }

    fn refresh(&mut self) {
        self.next = self.list.iter().filter_map(Source::next).min();
    }
}

impl Source {
    fn next(&self) -> Option<Time> {
        match self {
            Self::Cbr(source) => source.next(),
            Self::OnOff(_, next) => *next,
        }
    }

    fn happen(&mut self, now: Time) -> Option<Datagram> {
        let packet = match self {
            Self::Cbr(source) => {
                let packet = source.packet();
                source.advance();
                Some(packet)
            }
            Self::OnOff(source, next) => {
                let happened = source.on_timer(now);
                *next = source.next();
                match happened {
                    OnOffEvent::Sends(packet) => Some(packet),
                    OnOffEvent::Offers(_) => None,
                }
            }
        }?;
        let flow = FlowKey::of(packet.flow, Role::Client);
        Some(Datagram { source: packet.flow.0, flow, wire: packet.wire })
    }
}
