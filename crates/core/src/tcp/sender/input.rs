//! Processing of an arriving segment of the receiver.

use std::ops::Range;

use super::Sender;
use super::ack_summary::AckSummary;
use super::connection::Stage;
use super::recovery::{ProcessedAck, RecoveryPhase};
use super::tail_loss_probe::ProbeOutcome;
use crate::context::Context;
use crate::ndn::packet::TcpFlags;
use crate::ndn::packet::{Header, Kind, Millis, TcpSegment};
use crate::observe::event::Cause;
use crate::scheme::congestion::{Delivery, Recovery};
use crate::tcp::options::{MAX_SACK_BLOCKS, TcpOptions, stamp};
use crate::units::{ByteCount, Span};

impl Sender {
    /// Processes a segment from the receiver; segments may leave afterwards. Other packets are ignored.
    pub fn on_segment(&mut self, cx: &mut Context<'_>, header: &Header, options: &TcpOptions) {
        let Kind::Tcp(segment) = header.kind else { return };
        let flags = segment.flags;
        if header.hop.has_any() && matches!(self.stage, Stage::SynSent | Stage::Open) {
            self.on_receiver_feedback(cx, header, &segment);
        }
        match self.stage {
            Stage::Waiting => {}
            Stage::SynSent | Stage::Open if flags.has(TcpFlags::SYN | TcpFlags::ACK) => {
                self.on_syn(cx.now, &segment, options);
            }
            Stage::SynSent => {}
            Stage::Open | Stage::Closed if !flags.has(TcpFlags::ACK) => {}
            Stage::Open => {
                self.peer_stamp = self.peer_stamp.max(segment.timestamp);
                if flags.has(TcpFlags::FIN) {
                    self.on_fin(&segment);
                }
                self.on_ack(cx, header, &segment, options);
                self.close_if_done(cx.now);
            }
            // The receiver repeats its FIN only because the ACK of it was lost.
            Stage::Closed => self.owed.ack |= flags.has(TcpFlags::FIN),
        }
    }

    /// Passes the signals of a segment to the controller, whatever it acknowledges, unless a later segment overtook it.
    fn on_receiver_feedback(&mut self, cx: &mut Context<'_>, header: &Header, segment: &TcpSegment) {
        if self.received.is_some_and(|(stamp, ack)| is_overtaken(segment, stamp, ack)) {
            return;
        }
        self.received = Some((segment.timestamp, segment.ack));
        self.notify(cx, Cause("feedback"), |controller, cx, view| {
            controller.on_feedback(cx, &header.hop, view);
        });
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, header: &Header, segment: &TcpSegment, options: &TcpOptions) {
        let before = self.board.acked();
        let Some(acked) = self.own.position(segment.ack, before) else { return };
        // It acknowledges data that were never sent, or less than an earlier ACK (RFC 9293, section 3.10.7.4).
        if acked > self.board.next() || acked < before {
            return;
        }
        self.update_window(acked, segment.window);
        let in_flight_before = self.board.in_flight();
        let echo = (segment.echo != 0).then_some(Millis(segment.echo));
        let summary = &mut AckSummary::default();
        self.take_in(cx, acked, echo, options, summary);
        let summary = &*summary;
        let has_advanced = acked > before;
        self.sample_round_trip(cx, summary, echo.filter(|_| has_advanced));
        self.count_in(summary);
        let dsack = self.on_duplicates(acked, options);
        let is_repetition = dsack.is_some_and(|end| self.repeats.on_dsack(end));
        let is_marked = segment.flags.has(TcpFlags::ECE);
        let ack =
            ProcessedAck { summary, acked, has_advanced, is_repetition, echo, in_flight_before, is_marked };
        let is_empty = summary.delivered() == 0 && options.sack.is_empty();
        // Before `recover`: a recovery that begins with this ACK ends the probe without an outcome.
        let outcome = self.tail.on_ack(acked, dsack.is_some(), is_empty);
        let newly_lost = self.recover(cx, &ack);
        if outcome == ProbeOutcome::Repaired {
            self.answer_repair(cx);
        }
        self.restart_timers(cx, &ack);
        self.on_mark(is_marked);
        if summary.delivered() > 0 || newly_lost > 0 || is_marked {
            let delivery = self.delivery(cx, header, &ack, newly_lost);
            let cause = Cause(if is_marked { "mark" } else { "ack" });
            self.notify(cx, cause, |controller, cx, view| controller.on_delivery(cx, &delivery, view));
        }
    }

    /// The receiver's window; its right edge never moves back.
    fn update_window(&mut self, acked: u64, window: u16) {
        let edge = acked + (u64::from(window) << self.peer_scale);
        if edge > self.edge {
            self.edge = edge;
            // The window is open again: probing ends, and its backoff is reset.
            (self.timers.persist, self.persisted) = (None, 0);
        }
    }

    /// Processes the acknowledgements of the ACK, segment by segment.
    fn take_in(
        &mut self,
        cx: &Context<'_>,
        acked: u64,
        echo: Option<Millis>,
        options: &TcpOptions,
        summary: &mut AckSummary,
    ) {
        let (now, min) = (cx.now, self.trip.min());
        let blocks = (!options.sack.is_empty()).then(|| self.blocks(acked, options));
        let Self { board, meter, detector, .. } = self;
        board.acknowledge(acked, |number, record| {
            summary.add(now, number, record, false);
            meter.on_delivered(now, record);
            detector.on_delivered(now, record, echo, min);
        });
        if let Some(blocks) = blocks {
            board.select_all(blocks, |number, record| {
                summary.add(now, number, record, true);
                meter.on_delivered(now, record);
                detector.on_delivered(now, record, echo, min);
            });
        }
    }

    /// The SACK blocks in ascending order, as step 3 of RFC 8985, section 6.2, requires; otherwise blocks
    /// that arrive together would look like reordering. Invalid blocks are empty.
    fn blocks(&self, acked: u64, options: &TcpOptions) -> [Range<u64>; MAX_SACK_BLOCKS] {
        let mut blocks: [Range<u64>; MAX_SACK_BLOCKS] = Default::default();
        for (slot, (first, end)) in blocks.iter_mut().zip(options.sack.iter()) {
            let position = |number| self.own.position(number, acked).unwrap_or(0);
            *slot = position(first)..position(end);
        }
        blocks.sort_by_key(|block| block.start);
        blocks
    }

    /// The end of the first SACK block if it reports a duplicate (RFC 2883).
    fn on_duplicates(&mut self, acked: u64, options: &TcpOptions) -> Option<u64> {
        let mut blocks = options.sack.iter().map(|(first, end)| {
            (self.own.position(first, acked).unwrap_or(0), self.own.position(end, acked).unwrap_or(0))
        });
        let first = blocks.next()?;
        let is_inside = blocks.next().is_some_and(|next| next.0 <= first.0 && first.1 <= next.1);
        // RFC 2883, section 4: a duplicate lies below the acknowledgement number or inside the block that
        // follows.
        if first.1 > acked && !is_inside {
            return None;
        }
        self.detector.on_dsack(acked, self.board.next());
        Some(first.1)
    }

    /// Takes a sample from segments sent once (Karn's rule), else from the time stamp of an ACK that advances
    /// SND.UNA (RFC 7323, section 4).
    fn sample_round_trip(&mut self, cx: &Context<'_>, summary: &AckSummary, echo: Option<Millis>) {
        let outstanding = self.board.outstanding();
        if let Some((longest, latest)) = summary.trips() {
            self.trip.note_min(latest);
            self.trip.sample(longest, &outstanding);
        // In milliseconds: precise enough for the timeout, too coarse for the minimum.
        } else if let Some(echo) = echo {
            let rtt = Millis(stamp(cx.now).0.saturating_sub(echo.0)).span();
            self.trip.smooth(rtt, &outstanding);
        }
    }

    fn count_in(&mut self, summary: &AckSummary) {
        self.stats.delivered += ByteCount::new(summary.length);
        self.view.delivered = self.meter.delivered();
        self.view.remaining =
            self.view.remaining.map(|left| left.saturating_sub(u64::from(summary.delivered())));
        self.view.highest_received = self.view.highest_received.max(summary.highest as u32);
        self.refresh_view();
    }

    /// Restarts the retransmission timer (RFC 6298, sections 5.2 and 5.3) and that of the probe.
    fn restart_timers(&mut self, cx: &Context<'_>, ack: &ProcessedAck<'_>) {
        if ack.has_advanced || self.is_head_young(ack.summary) {
            let is_busy = !self.board.numbers().is_empty();
            self.timers.rto = is_busy.then_some(cx.now + self.trip.rto());
        }
        if ack.summary.delivered() > 0 {
            // A probe that has not left yet would request an ACK that has now arrived.
            self.owed.tail_probe = false;
            self.arm_probe(cx.now);
        }
    }

    /// Sets CWR once per window after a reaction to a mark (RFC 3168, section 6.1.2).
    fn on_mark(&mut self, is_marked: bool) {
        self.stats.marks += u64::from(is_marked);
        if is_marked && self.board.acked() >= self.reduced_until {
            self.reduced_until = self.board.next();
            self.owes_cwr = true;
            if self.phase == RecoveryPhase::Open {
                // The reduction of the last recovery is not undone once a mark has reduced the window, too.
                self.repeats.forget();
            }
        }
    }

    /// Notifies the controller of a loss that the probe repaired, as of any other (RFC 8985, section 7.4.2).
    fn answer_repair(&mut self, cx: &mut Context<'_>) {
        self.stats.recoveries += 1;
        // The loss is repaired already, so the recovery ends as it begins; only the reduction of the window
        // remains.
        for recovery in [Recovery::Enter { flight: self.flight() }, Recovery::Exit] {
            self.notify(cx, Cause("probe"), |controller, cx, view| {
                controller.on_recovery(cx, recovery, view)
            });
        }
    }

    fn delivery(
        &mut self,
        cx: &Context<'_>,
        header: &Header,
        ack: &ProcessedAck<'_>,
        newly_lost: u32,
    ) -> Delivery {
        let rate = self.meter.sample(self.trip.min());
        let summary = ack.summary;
        let newest = summary.newest;
        self.newest_sent = newest.map_or(self.newest_sent, |newest| newest.sent_at);
        if let Some(newest) = newest {
            self.full_delays.add(cx.now.since(newest.first_sent));
        }
        let rtt = summary.trips().map(|(_, latest)| latest);
        if let Some(rtt) = rtt {
            self.last_delays.add(rtt);
        }
        // An ACK with a mark or losses alone delivers nothing; it is reported with the latest state.
        let last = newest.map_or(self.view.highest_received, |newest| newest.number as u32);
        Delivery {
            segment: last,
            size: ByteCount::new(summary.length),
            rtt,
            full_delay: newest.map_or(Span::ZERO, |newest| cx.now.since(newest.first_sent)),
            sent_at: self.newest_sent,
            retransmissions: newest.map_or(0, |newest| u32::from(newest.retransmissions)),
            delivered_at_send: newest.map_or(self.view.delivered, |newest| newest.delivered_at_send),
            in_flight_before: ack.in_flight_before,
            mark: u8::from(ack.is_marked),
            hop: header.hop,
            newly_acked: summary.acked,
            newly_sacked: summary.sacked,
            newly_lost,
            rate,
            is_source_limited: self.is_source_limited,
        }
    }
}

/// Whether `segment` was sent before the one with this time stamp and acknowledgement number. Time stamps
/// decide, in units of a millisecond or of a coarse clock's tick, then ACK numbers. Both wrap around (RFC
/// 9293, section 3.4; RFC 7323, section 5.2).
fn is_overtaken(segment: &TcpSegment, stamp: u32, ack: u32) -> bool {
    let is_before = |left: u32, right: u32| (left.wrapping_sub(right) as i32) < 0;
    is_before(segment.timestamp, stamp) || (segment.timestamp == stamp && is_before(segment.ack, ack))
}
