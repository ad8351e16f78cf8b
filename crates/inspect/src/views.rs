//! A connection that was captured at two places: at both ends, on two interfaces of a router or a host, before and behind what
//! cuts segments. Each place is a view of its own, and the nearest to a host tells of it as a sender.

use serde::{Deserialize, Serialize};

use crate::connection::{Connection, Host};
use crate::packet::{Packet, Point};
use crate::trace::Trace;

/// More places are not told apart.
const MOST_PLACES: usize = 8;

/// What there is besides the view that is nearest to the opener.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Views {
    /// The view that is nearest to the host that answers.
    pub(crate) far: Connection,
    /// Places in between, by host.
    others: Vec<(Host, Point)>,
    /// Sightings of the answer, until their order is known.
    #[serde(skip)]
    held: Vec<Packet>,
}

impl Views {
    /// Whether sightings of the answer wait for their order.
    pub(crate) fn is_held(&self) -> bool {
        !self.held.is_empty()
    }
}

impl Connection {
    /// A packet of this connection passed, at whichever place.
    pub(crate) fn packet(&mut self, packet: &Packet) {
        if self.is_syn_elsewhere(packet) {
            self.open_view(packet);
            return;
        }
        let Some(mut views) = self.views.take() else {
            self.take(packet);
            return;
        };
        self.route(&mut views, packet);
        self.views = Some(views);
    }

    /// Takes a packet of a connection that was captured at several places.
    fn route(&mut self, views: &mut Views, packet: &Packet) {
        let host = self.host_of(packet);
        let point = packet.point;
        let [near_point, far_point] = [&*self, &views.far].map(|view| view.points[host]);
        let is_answer = host == 1 && near_point.is_none() && far_point.is_none();
        if !is_answer {
            self.release(views);
        } else if views.held.iter().all(|held| held.point != point) && views.held.len() < MOST_PLACES {
            views.held.push(*packet);
            if views.held.len() == views.others.iter().filter(|other| other.0 == 0).count() + 2 {
                self.release(views);
            }
            return;
        }
        let [near_point, far_point] = [&*self, &views.far].map(|view| view.points[host]);
        if near_point == Some(point) {
            self.take(packet);
            views.far.passed_elsewhere(host);
        } else if far_point == Some(point) || far_point.is_none() && near_point.is_some() {
            views.far.take(packet);
            self.passed_elsewhere(host);
        } else if views.others.contains(&(host, point)) {
            self.passed_elsewhere(host);
            views.far.passed_elsewhere(host);
        } else {
            self.take(packet);
        }
    }

    /// The sightings of the answer go to their views: it passes the far place first, with more hops left.
    fn release(&mut self, views: &mut Views) {
        let mut held = std::mem::take(&mut views.held);
        held.sort_by_key(|packet| std::cmp::Reverse(packet.point.hops));
        let Some((last, before)) = held.split_last() else { return };
        self.take(last);
        match before.split_first() {
            Some((first, between)) => {
                views.far.take(first);
                views.others.extend(between.iter().map(|packet| (1, packet.point)));
            }
            // It was seen at one place only: which one, nothing tells.
            None => views.far.take(last),
        }
        for view in [self, &mut views.far] {
            (1..held.len()).for_each(|_| view.passed_elsewhere(1));
        }
    }

    /// Whether this is the opener's SYN at a place where it was not seen before.
    fn is_syn_elsewhere(&self, packet: &Packet) -> bool {
        let is_known = |point: Option<Point>| point.is_none_or(|point| point == packet.point);
        let (near, views) = (self.points[0], self.views.as_deref());
        !is_known(near)
            && self.is_syn_again(packet)
            && views.is_none_or(|views| {
                !is_known(views.far.points[0])
                    && !views.others.contains(&(0, packet.point))
                    && views.others.len() < MOST_PLACES
            })
    }

    fn open_view(&mut self, packet: &Packet) {
        let mut view = Self::new(packet, self.before, self.is_drawn(), self.seen_at);
        view.take(packet);
        let is_nearer = self.points[0].is_some_and(|point| packet.point.hops > point.hops);
        match &mut self.views {
            None => {
                if is_nearer {
                    std::mem::swap(self, &mut view);
                }
                self.passed_elsewhere(0);
                view.passed_elsewhere(0);
                self.views = Some(Box::new(Views { far: view, others: Vec::new(), held: Vec::new() }));
            }
            Some(views) => {
                let is_farther = views.far.points[0].is_some_and(|point| packet.point.hops <= point.hops);
                if is_farther && !is_nearer && views.far.hosts[1].syn.is_none() {
                    std::mem::swap(&mut views.far, &mut view);
                }
                views.others.extend(view.points[0].map(|point| (0, point)));
                views.far.passed_elsewhere(0);
                self.passed_elsewhere(0);
            }
        }
    }

    fn passed_elsewhere(&mut self, host: Host) {
        self.hosts[host].sender.counts.duplicates += 1;
    }

    /// The view that tells of `host` as a sender: the one nearest to it.
    pub(crate) fn view_of(&self, host: Host) -> &Self {
        match &self.views {
            Some(views) if host == 1 => &views.far,
            _ => self,
        }
    }

    /// What is drawn of that.
    pub(crate) fn take_trace(&mut self, host: Host) -> Option<Trace> {
        let tracing = match &mut self.views {
            Some(views) if host == 1 => views.far.hosts[host].sender.trace.take(),
            _ => self.hosts[host].sender.trace.take(),
        };
        tracing.map(|tracing| tracing.into_trace())
    }

    /// Nothing of it is to be drawn.
    pub(crate) fn forget_traces(&mut self) {
        self.hosts.iter_mut().for_each(|side| (side.sender.trace, side.sender.path) = (None, None));
        if let Some(views) = &mut self.views {
            views.far.forget_traces();
        }
    }

    /// The capture is over.
    pub(crate) fn finish(&mut self) {
        if let Some(mut views) = self.views.take() {
            self.release(&mut views);
            views.far.finish();
            self.views = Some(views);
        }
        self.hosts.iter_mut().for_each(|side| side.sender.finish());
    }
}
