//! Handling of the packets that reach a consumer.

use super::Consumer;
use super::outstanding::{SegmentState, Slot};
use super::profile::{NoticeReaction, ProfileOptions, TimeoutReading, Tracking};
use crate::context::Context;
use crate::ndn::name::{Name, Segment};
use crate::ndn::packet::{Data, Header, Kind, NackReason};
use crate::observe::event::{Cause, Event};
use crate::scheme::congestion::{Delivery, Loss, LossSignal};
use crate::units::{ByteCount, Span, Time};

/// Classification of a packet that reached the consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A segment for the first time.
    New {
        /// Number of the segment, from 0.
        segment: u32,
    },
    /// A segment that had arrived before or was given up.
    Duplicate,
    /// A notice that the Data overflowed a queue and will come later.
    Notice,
    /// A Nack for an outstanding Interest.
    Refused,
    /// A packet for which the consumer has no outstanding Interest.
    Unasked,
}

impl Consumer {
    /// Processes a packet; Interests may leave afterwards.
    pub fn on_packet(&mut self, cx: &mut Context<'_>, header: &Header) -> Arrived {
        let arrived = self.take_in(cx, header);
        if self.clock.flushes_on_arrival() {
            self.flushed_at = cx.now;
            self.on_wake(cx);
        }
        arrived
    }

    #[inline]
    fn take_in(&mut self, cx: &mut Context<'_>, header: &Header) -> Arrived {
        let Name { prefix, segment: Segment(segment) } = header.name;
        if prefix != self.prefix {
            return Arrived::Unasked;
        }
        if self.requests.is_some() {
            return self.on_object_packet(cx, header, segment);
        }
        if segment >= self.view.next_segment {
            return Arrived::Unasked;
        }
        self.count_mark(header);
        self.on_packet_for(cx, header, segment, true)
    }

    /// Passes the packet to every request that waits for the segment. Only the first of them has waited for a
    /// whole round trip, so only its time is a sample.
    #[cold]
    fn on_object_packet(&mut self, cx: &mut Context<'_>, header: &Header, segment: u32) -> Arrived {
        let Some(requests) = &self.requests else { return Arrived::Unasked };
        // Collected, because every Data that is taken in removes its number from `requests`.
        let waiting: Vec<u32> = requests.waiting_for(segment).collect();
        self.count_mark(header);
        let mut arrived = Arrived::Unasked;
        if waiting.is_empty() && matches!(header.kind, Kind::Data(_)) {
            self.stats.duplicates += 1;
            arrived = Arrived::Duplicate;
        }
        for (place, number) in waiting.into_iter().enumerate() {
            let this = self.on_packet_for(cx, header, number, place == 0);
            if let (Arrived::New { .. }, Some(requests)) = (this, &mut self.requests) {
                requests.end_wait(number);
            }
            arrived = this;
        }
        arrived
    }

    #[inline]
    fn count_mark(&mut self, header: &Header) {
        let is_marked = header.hop.mark > 0 && matches!(header.kind, Kind::Data(_));
        self.stats.marks += u64::from(is_marked);
    }

    /// Handles a packet for the flow's segment `segment`; `is_sample`: its time is a round-trip sample.
    #[inline]
    fn on_packet_for(
        &mut self,
        cx: &mut Context<'_>,
        header: &Header,
        segment: u32,
        is_sample: bool,
    ) -> Arrived {
        match &header.kind {
            Kind::Data(data) => self.on_data(cx, header, data, segment, is_sample),
            Kind::Nack(nack) => self.on_nack(cx, segment, nack.reason),
            Kind::LossNotice(_) => self.on_notice(cx, segment),
            Kind::Interest(_) | Kind::Tcp(_) => Arrived::Unasked,
        }
    }

    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        header: &Header,
        data: &Data,
        segment: u32,
        is_sample: bool,
    ) -> Arrived {
        let in_flight_before = self.view.in_flight;
        let Some(slot) = self.outstanding.receive(segment) else {
            // A forwarder's PIT holds the second Data of a segment back, so that no program counts it out.
            self.stats.duplicates += 1;
            return Arrived::Duplicate;
        };
        self.count_out(&slot);
        let last_delay = cx.now.since(slot.last_sent);
        let rtt = if is_sample { self.sample(cx.now, &slot) } else { None };
        let delivery = Delivery {
            segment,
            size: header.size(),
            rtt,
            full_delay: cx.now.since(slot.first_sent),
            sent_at: slot.last_sent,
            retransmissions: u32::from(slot.retransmissions),
            delivered_at_send: u64::from(slot.delivered_at_send),
            in_flight_before,
            mark: header.hop.mark,
            hop: header.hop,
            newly_acked: 1,
            newly_sacked: 0,
            newly_lost: 0,
            rate: None,
            is_source_limited: false,
        };
        self.count_in(cx.now, &delivery, last_delay, data);
        self.note_completion(cx.now);
        self.notify_delivery(cx, &delivery, last_delay);
        Arrived::New { segment }
    }

    /// Removes the Interest of a segment that arrived from the outstanding ones.
    fn count_out(&mut self, slot: &Slot) {
        let was_queued = slot.state == SegmentState::Queued;
        self.queued -= u32::from(was_queued);
        // A queued segment left the flight when its Interest was lost; ndnSIM counts every Data out again.
        if !was_queued || self.profile.tracking == Tracking::Loose {
            self.view.in_flight = self.view.in_flight.saturating_sub(1);
        }
    }

    /// Round-trip sample, by Karn's rule: only for a segment that was requested once.
    fn sample(&mut self, now: Time, slot: &Slot) -> Option<Span> {
        // In ndnSIM the Data of a segment that timed out gives no sample (`Tracking::Loose`).
        let is_late = slot.state == SegmentState::Queued && self.profile.tracking == Tracking::Loose;
        if slot.retransmissions > 0 || is_late {
            return None;
        }
        let (before, rtt) = (self.view.rto, now.since(slot.last_sent));
        self.estimator.sample(rtt, self.view.in_flight);
        self.view.rto = self.estimator.rto();
        self.view.smoothed_rtt = self.estimator.smoothed_rtt();
        // A timeout read at the sweep may now end earlier than it was looked for.
        if self.profile.reading == TimeoutReading::AtSweep && self.view.rto < before {
            self.rearm_sweep(now);
        }
        Some(rtt)
    }

    fn count_in(&mut self, now: Time, delivery: &Delivery, last_delay: Span, data: &Data) {
        self.stats.delivered += 1;
        self.stats.last_delivery = now;
        self.stats.delivered_payload += ByteCount::new(u64::from(data.payload));
        self.stats.add_delays(delivery.full_delay, last_delay, delivery.retransmissions > 0);
        self.view.delivered += 1;
        self.view.remaining = self.view.remaining.map(|remaining| remaining.saturating_sub(1));
        self.view.highest_received = self.view.highest_received.max(delivery.segment);
        // A mark begins a window of data, too: a loss in it causes no further backoff.
        if delivery.mark > 0 && self.view.highest_received > self.recovery_point {
            self.recovery_point = self.view.highest_sent;
        }
        // Segments of requests have consecutive numbers of the flow, not those of their names.
        if data.final_segment != Segment::NONE && self.requests.is_none() {
            self.learn_end(data.final_segment.0);
        }
    }

    /// Sets the object's last segment to `last` and cancels later segments. A `last`
    /// below a segment that has arrived is an error of the producer and ignored.
    #[inline]
    fn learn_end(&mut self, last: u32) {
        if last >= self.view.highest_received && last + 1 < self.end {
            self.end = last + 1;
            let (in_flight, queued) = self.outstanding.truncate(self.end);
            self.queued -= queued;
            self.view.in_flight = self.view.in_flight.saturating_sub(in_flight);
            self.view.next_segment = self.outstanding.next_segment();
            self.view.remaining = Some(u64::from(self.end).saturating_sub(self.view.delivered));
        }
    }

    fn notify_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, last_delay: Span) {
        cx.record(Event::DataReceived {
            flow: self.flow,
            name: self.name_of(delivery.segment),
            full_delay: delivery.full_delay,
            last_delay,
            mark: delivery.mark,
            retransmissions: delivery.retransmissions.min(u32::from(u16::MAX)) as u16,
            hops: delivery.hop.hops,
        });
        let cause = Cause(if delivery.mark > 0 { "mark" } else { "data" });
        self.notify(cx, cause, |controller, cx, view| controller.on_delivery(cx, delivery, view));
    }

    #[cold]
    fn on_nack(&mut self, cx: &mut Context<'_>, segment: u32, reason: NackReason) -> Arrived {
        self.stats.nacks += 1;
        let is_pending = |slot: &&Slot| slot.state == SegmentState::InFlight;
        let Some(slot) = self.outstanding.get(segment).filter(is_pending) else { return Arrived::Refused };
        let (signal, options) = (LossSignal::Nack(reason), self.profile.options);
        // Refused in the instant of sending, it would be refused for ever in that instant: its timer decides.
        let is_instant = slot.last_sent == cx.now;
        match reason {
            _ if !options.has(ProfileOptions::NACK_IS_LOSS) => {}
            NackReason::Duplicate => {}
            NackReason::Congestion if is_instant || options.has(ProfileOptions::NACK_WAITS) => {
                let loss = Loss { segment, sent_at: slot.last_sent, signal, since: None };
                self.outstanding.refuse(segment);
                self.record_loss(cx, &loss);
                self.answer_loss(cx, &loss);
            }
            NackReason::Congestion => {
                self.outstanding.lose(segment);
                self.lose_alone(cx, segment, signal);
            }
            NackReason::NoRoute if is_instant || !options.has(ProfileOptions::NO_ROUTE_IS_FINAL) => {}
            NackReason::NoRoute => {
                self.view.in_flight = self.view.in_flight.saturating_sub(1);
                self.abandon(segment);
            }
        }
        Arrived::Refused
    }

    /// The Interest stays pending and its timer runs on: a router will send the Data later.
    #[cold]
    fn on_notice(&mut self, cx: &mut Context<'_>, segment: u32) -> Arrived {
        self.stats.loss_notices += 1;
        let pending = self.outstanding.get(segment).filter(|slot| slot.state == SegmentState::InFlight);
        let Some(slot) = pending else { return Arrived::Notice };
        let loss = Loss { segment, sent_at: slot.last_sent, signal: LossSignal::Notice, since: None };
        self.record_loss(cx, &loss);
        if self.profile.notice == NoticeReaction::Reduce {
            self.is_new_event(segment);
            self.notify_loss(cx, &loss);
        }
        Arrived::Notice
    }
}
