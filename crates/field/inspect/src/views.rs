//! Handles a connection that was captured at several places: at both ends, on two interfaces of a router or a host, or before and after a
//! device that splits segments. Each place has a separate view of the connection. A sender is described by the view nearest to it, with the
//! handshake as it passed at that place.
//!
//! Packets show their capture point (TTL and interface), which differs between the two directions. A place therefore is a pair of points,
//! one for the packets of each host. If host 0's SYN passes at a point for the first time, this point is a new place, even if the packet is
//! a retransmission. Host 1's points are assigned to places when all its points were seen, or when a segment without SYN ends the
//! handshake. Its SYNs and SYN-ACKs are gathered until then.

use std::cmp::Reverse;

use firstflight_tcp::Flags;

use crate::connection::{Connection, Points, Views};
use crate::handshake::Host;
use crate::packet::{Packet, Point};
use crate::recent::LONGEST_WAY;
use crate::trace::Trace;

/// The maximum number of places that are distinguished.
const MAX_PLACES: usize = 8;
/// The maximum number of packets that are gathered.
const MAX_GATHERED: usize = 32;
/// Time without another SYN-ACK after which no more SYN-ACKs are expected. A SYN-ACK is retransmitted after one second and then after two
/// (RFC 6298 sections 2.1 and 5.5).
const LAST_GATHERED: u64 = 4 * LONGEST_WAY;

impl Connection {
    /// Processes a packet of this connection, captured at any place.
    pub(crate) fn packet(&mut self, packet: &Packet) {
        if self.is_of_complete_place(packet) {
            self.deliver(packet);
        } else if !packet.segment.flags.has(Flags::SYN) {
            self.release(Some(packet));
            self.deliver(packet);
        } else if !self.gathered.is_empty() || self.is_of_unknown_place(packet) {
            self.gathered.push(packet.clone());
            if self.are_places_known() || self.gathered.len() == MAX_GATHERED {
                self.release(None);
            }
        } else {
            if self.opens_place(packet) {
                self.arrange(&[packet.point], &[], None);
            }
            self.deliver(packet);
        }
    }

    /// Returns the view of each place that has one. The first place comes first.
    fn each_view(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.views.iter().flat_map(|views| &views.views))
    }

    /// Returns the points of all places: first those with a view, in the order of [`Self::each_view`], then the others.
    fn spots(&self) -> impl Iterator<Item = Points> {
        let others = self.views.iter().flat_map(|views| views.others.iter().copied());
        self.each_view().map(|view| view.points).chain(others)
    }

    /// Checks whether the packet passed at a place of which both points are known. Gathered packets belong to other places.
    fn is_of_complete_place(&self, packet: &Packet) -> bool {
        let host = self.host_of(packet);
        self.spots().any(|points| points[host] == Some(packet.point) && points[1 - host].is_some())
    }

    /// Checks whether the packet is a known SYN at a point where no packet of its host passed before. In this case the point is a new
    /// place.
    fn opens_place(&self, packet: &Packet) -> bool {
        let host = self.host_of(packet);
        !packet.segment.flags.has(Flags::ACK)
            && self.each_view().any(|view| view.hosts[host].has_syn(&packet.segment))
            && self.points[host].is_some()
            && self.is_new_point(host, packet.point)
    }

    /// Checks whether later packets are needed to find the place of this SYN. This is so for a SYN-ACK at a new point if a place lacks a
    /// point of its host. It is also so for a SYN of host 1: if SYNs cross, either may pass first.
    fn is_of_unknown_place(&self, packet: &Packet) -> bool {
        let host = self.host_of(packet);
        if !packet.segment.flags.has(Flags::ACK) {
            let is_first = self.hosts[0].saw_syn && !self.hosts[1].saw_syn;
            return host == 1 && (is_first || self.opens_place(packet));
        }
        let lacks_point = |points: Points| points[host].is_none();
        self.views.is_some() && self.is_new_point(host, packet.point) && self.spots().any(lacks_point)
    }

    fn is_new_point(&self, host: Host, point: Point) -> bool {
        self.spots().count() < MAX_PLACES && self.spots().all(|points| points[host] != Some(point))
    }

    /// Returns the new points of a host among the gathered packets, in the order of the packets.
    fn new_points(&self, host: Host) -> Vec<Point> {
        let mut new = Vec::new();
        for packet in self.gathered.iter().filter(|packet| self.host_of(packet) == host) {
            if !new.contains(&packet.point) && self.is_new_point(host, packet.point) {
                new.push(packet.point);
            }
        }
        new
    }

    /// Checks whether host 1 has as many new points as places lack. Crossed SYNs always wait for the end of the handshake, because at a
    /// place host 1's SYN may pass first.
    fn are_places_known(&self) -> bool {
        let is_crossed = |packet: &Packet| !packet.segment.flags.has(Flags::ACK) && self.host_of(packet) == 1;
        let lacking = self.spots().filter(|points| points[1].is_none()).count();
        !self.gathered.iter().any(is_crossed) && self.new_points(1).len() >= lacking
    }

    /// Delivers the gathered packets to their places. `next` is the segment that ends the handshake, if there is one.
    fn release(&mut self, next: Option<&Packet>) {
        if self.gathered.is_empty() {
            return;
        }
        let (first, second) = (self.new_points(0), self.new_points(1));
        let answer = next.and_then(|next| self.answer(next));
        self.arrange(&first, &second, answer);
        for packet in &*std::mem::take(&mut self.gathered) {
            self.deliver(packet);
        }
    }

    /// Returns both points of the place at which the segment that ends the handshake passed, if one is known and only one other is
    /// possible. The packet that this segment answers must have passed this place before it.
    fn answer(&self, next: &Packet) -> Option<(Point, Point)> {
        let is_answer = |packet: &&Packet| packet.segment.flags.has(Flags::ACK) && self.host_of(packet) == 1;
        let mut lacking = self.spots().filter(|points| points[1].is_none());
        if self.host_of(next) == 1 {
            let first = lacking.next().filter(|_| lacking.next().is_none() && self.new_points(0).is_empty());
            return Some((first?[0]?, next.point));
        }
        let mut answers: Vec<_> = self.gathered.iter().filter(is_answer).map(|packet| packet.point).collect();
        answers.dedup();
        let is_lacking = lacking.any(|points| points[0] == Some(next.point));
        (is_lacking && answers.len() == 1).then(|| (next.point, answers[0]))
    }

    /// Adds the places that the new points of host 0 (`first`) and host 1 (`second`) show. `answer` are the points of a place for which
    /// both are known.
    fn arrange(&mut self, first: &[Point], second: &[Point], answer: Option<(Point, Point)>) {
        let mut places: Vec<Points> = self.spots().collect();
        let with_view = self.each_view().count();
        let mut first = first.iter().map(|point| Some(*point));
        for points in places.iter_mut().filter(|points| points[0].is_none()) {
            points[0] = first.next().flatten();
        }
        places.extend(first.map(|point| [point, None]));
        let more = pair(&mut places, second.to_vec(), answer);
        places.extend(more.into_iter().map(|point| [None, Some(point)]));
        if places.len() == 1 {
            self.points = places[0];
            return;
        }
        let mut views = self.views.take().unwrap_or_default();
        let new = places.split_off(with_view + views.others.len());
        views.others = places.split_off(with_view);
        for (view, points) in std::iter::once(&mut *self).chain(&mut views.views).zip(places) {
            view.points = points;
        }
        views.views.extend(new.into_iter().map(|points| {
            let mut view = Self::between(self.ends, self.is_drawn(), self.seen_at);
            view.points = points;
            view
        }));
        self.views = Some(views);
    }

    /// Passes the packet to the view of its place. If its point is unknown, passes it to the view that lacks a point of its host, or else
    /// to the first view.
    fn deliver(&mut self, packet: &Packet) {
        let Some(mut views) = self.views.take() else {
            self.take(packet);
            return;
        };
        let host = self.host_of(packet);
        let is_here = |points: Points| points[host] == Some(packet.point);
        let all = || std::iter::once(self.points).chain(views.views.iter().map(|view| view.points));
        let place = all().position(is_here).or_else(|| {
            let is_elsewhere = views.others.iter().any(|points| is_here(*points));
            let lacks = || all().position(|points| points[host].is_none()).unwrap_or(0);
            (!is_elsewhere).then(lacks)
        });
        for (at, view) in std::iter::once(&mut *self).chain(&mut views.views).enumerate() {
            if Some(at) == place {
                view.take(packet);
            } else {
                view.hosts[host].sender.counts.duplicates += 1;
            }
        }
        if views.views.len() > 1 {
            self.keep_nearest(&mut views);
        }
        self.views = Some(views);
    }

    /// Discards the views that are not the nearest to either host, once the handshake passed at each place.
    fn keep_nearest(&mut self, views: &mut Views) {
        let nearest = |host: Host| {
            let all = std::iter::once(&*self).chain(&views.views).enumerate();
            all.min_by_key(|(_, view)| view.distance(host)).map_or(0, |(at, _)| at)
        };
        let is_complete = |view: &Self| view.handshake.parts().is_some();
        if !is_complete(self) || !views.views.iter().all(is_complete) {
            return;
        }
        let kept = match [nearest(0), nearest(1)] {
            [0, 0] => None,
            [0, one] | [one, 0] => Some(one),
            [one, other] => {
                std::mem::swap(self, &mut views.views[one - 1]);
                (one != other).then_some(other)
            }
        };
        for (at, view) in std::mem::take(&mut views.views).into_iter().enumerate() {
            if Some(at + 1) == kept {
                views.views.push(view);
            } else {
                views.others.push(view.points);
            }
        }
    }

    /// Returns a comparable value for the distance from the place to the host. The nearer place is the one where the host's packets have
    /// more hops left. If there is no router between two places, it is the one with the shorter time to the host and back in the handshake.
    fn distance(&self, host: Host) -> impl Ord + use<> {
        let part = self.handshake.parts().map(|parts| parts[1 - host]);
        (Reverse(self.points[host].map(|point| point.hops)), part.is_none(), part)
    }

    /// Checks whether packets wait until their places are known. After some seconds of silence, delivers them, so that none waits.
    pub(crate) fn is_gathering(&mut self, now: u64) -> bool {
        if self.gathered.last().is_some_and(|last| now.saturating_sub(last.at) > LAST_GATHERED) {
            self.release(None);
        }
        !self.gathered.is_empty()
    }
}

impl Connection {
    /// Returns the view that describes `host` as a sender: of the places where its data passed, the one nearest to it.
    pub(crate) fn view_of(&self, host: Host) -> &Self {
        let has_no_data = |view: &Self| view.hosts[host].sender.instants.first_data.is_none();
        self.each_view().min_by_key(|view| (has_no_data(view), view.distance(host))).unwrap_or(self)
    }

    /// Removes and returns the time series of the view that describes `host` as a sender.
    pub(crate) fn take_trace(&mut self, host: Host) -> Option<Trace> {
        let at = self.each_view().position(|view| std::ptr::eq(view, self.view_of(host)))?;
        let view = if at == 0 { self } else { self.other_views().nth(at - 1)? };
        view.hosts[host].sender.drawn.trace.take().map(|tracing| tracing.into_trace())
    }

    /// Returns the views of the places other than the first.
    fn other_views(&mut self) -> impl Iterator<Item = &mut Self> {
        self.views.iter_mut().flat_map(|views| &mut views.views)
    }

    /// Discards the data kept for plots.
    pub(crate) fn forget_traces(&mut self) {
        self.hosts
            .iter_mut()
            .for_each(|side| (side.sender.drawn.trace, side.sender.drawn.path) = (None, None));
        self.other_views().for_each(Self::forget_traces);
    }

    /// Records that a SYN with the same ends opened another connection.
    pub(crate) fn replace(&mut self) {
        self.is_replaced = !self.is_closed();
        self.other_views().for_each(Self::replace);
    }

    /// Checks whether every view may be packed until its next packet.
    pub(crate) fn may_rest(&mut self, now: u64) -> bool {
        self.rest(now);
        self.other_views().for_each(|view| view.rest(now));
        !self.is_gathering(now)
    }

    /// Ends the analysis of the connection when the capture ends.
    pub(crate) fn finish(&mut self) {
        self.release(None);
        self.hosts.iter_mut().for_each(|side| side.sender.finish());
        self.other_views().for_each(Self::finish);
    }
}

/// Assigns host 1's new points to the places that lack one. Returns the points that are left.
fn pair(places: &mut [Points], mut points: Vec<Point>, answer: Option<(Point, Point)>) -> Vec<Point> {
    // If only one place has an interface, a point with this interface belongs to that place.
    let interfaces: Vec<_> = places.iter().map(|[first, _]| first.map(|first| first.interface)).collect();
    let count = |interface| interfaces.iter().filter(|one| **one == interface).count();
    for ([_, second], interface) in places.iter_mut().zip(&interfaces).filter(|(place, _)| place[1].is_none())
    {
        let is_it = |point: &Point| Some(point.interface) == *interface;
        if let Some(at) = points.iter().position(is_it)
            && points.iter().filter(|point| is_it(point)).count() == 1
            && count(*interface) == 1
            && interfaces.len() > 1
        {
            *second = Some(points.remove(at));
        }
    }
    let mut lacking: Vec<_> = places.iter_mut().filter(|[_, second]| second.is_none()).collect();
    if let Some((near, far)) = answer
        && let Some(place) = lacking.iter().position(|[first, _]| *first == Some(near))
        && let Some(at) = points.iter().position(|point| *point == far)
    {
        lacking.remove(place)[1] = Some(points.remove(at));
    }
    // The further packets are from their host, the fewer hops they have left. The SYN passed the places in one order, and the SYN-ACK in
    // the opposite order, also if the hops are equal.
    lacking.sort_by_key(|[first, _]| Reverse(first.map(|point| point.hops)));
    points.sort_by_key(|point| Reverse(point.hops));
    let more = points.split_off(lacking.len().min(points.len()));
    for (place, point) in lacking.into_iter().rev().zip(points) {
        place[1] = Some(point);
    }
    more
}
