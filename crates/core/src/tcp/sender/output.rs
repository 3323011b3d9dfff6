//! Selection of the next segment to send.

use super::connection::Stage;
use super::recovery::RecoveryPhase;
use super::sack_loss::Extra;
use super::scoreboard::Record;
use super::{FIRST, Sender};
use crate::context::Context;
use crate::ndn::packet::TcpFlags;
use crate::observe::event::Cause;
use crate::scheme::congestion::{Pacing, SendOrder, Sent};
use crate::tcp::options::{Segment, TcpOptions, stamp};
use crate::units::{ByteCount, Span, Time};

/// Maximum number of segments in flight whatever the window, so that an unbounded window cannot fill the
/// memory.
const MAX_IN_FLIGHT: u32 = 1 << 20;

/// A new segment that could leave.
#[derive(Clone, Copy, Debug)]
struct New {
    payload: u16,
    has_fin: bool,
}

/// Candidate for the next segment.
#[derive(Clone, Copy, Debug)]
enum Next {
    Lost(u64),
    New(New),
    Extra(Extra),
}

impl Sender {
    /// The next segment that may leave now.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        if cx.now < self.start || cx.now >= self.stop {
            return None;
        }
        if let Some(segment) = self.poll_owed(cx.now) {
            return Some(segment);
        }
        // Only control segments are sent before the connection is open and after it is closed.
        if self.stage != Stage::Open {
            return None;
        }
        if std::mem::take(&mut self.owed.tail_probe) {
            return self.send_tail_probe(cx);
        }
        self.poll_window(cx)
    }

    fn poll_window(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        self.awaits_write = false;
        if !self.window_is_open() || self.gathers_burst() {
            // The congestion window is the limit here, not the source.
            self.is_source_limited = false;
            return self.rest();
        }
        let Some(next) = self.next_segment(cx.now) else {
            self.note_source_limit(cx.now);
            return self.rest();
        };
        // Without `rest`: the pacer keeps its credit and wakes the sender when the segment is due.
        if !self.pacer_admits(cx.now) {
            return None;
        }
        match next {
            Next::New(new) => Some(self.send_new(cx, new)),
            Next::Lost(number) => self.send_in_order(cx, number),
            Next::Extra(Extra::Hole(number)) => {
                self.board.double(number);
                self.send_in_order(cx, number)
            }
            Next::Extra(Extra::Rescue(number)) => {
                // Not `send_in_order`: a rescue retransmission leaves HighRxt as it is (RFC 6675, section 4).
                self.detector.on_rescue();
                self.stats.rescues += 1;
                self.send_again(cx, number)
            }
        }
    }

    /// `NextSeg` of RFC 6675, section 4.
    fn next_segment(&self, now: Time) -> Option<Next> {
        let new = self.next_new(now);
        let lost = self.board.next_lost(|number| !self.controller.holds_back(number as u32));
        let new_first = || self.controller.order() == SendOrder::NewFirst;
        match (lost, new) {
            (Some(number), new) if new.is_none() || !new_first() => Some(Next::Lost(number)),
            (_, Some(new)) => Some(Next::New(new)),
            // Rules 3 and 4 of `NextSeg` apply during a recovery only.
            _ if matches!(self.phase, RecoveryPhase::Fast { .. }) => {
                self.detector.extra(&self.board).map(Next::Extra)
            }
            _ => None,
        }
    }

    fn send_in_order(&mut self, cx: &mut Context<'_>, number: u64) -> Option<Segment> {
        self.detector.on_retransmission(number);
        self.send_again(cx, number)
    }

    fn rest(&mut self) -> Option<Segment> {
        self.pacer.rest();
        self.burst_left = 0;
        None
    }

    /// Whether an unpaced sender with segmentation offload waits until it may send a burst, or a third of its window if that
    /// is less (Linux' `tcp_tso_should_defer` with its divisor of 3). It waits only while an ACK is outstanding.
    fn gathers_burst(&self) -> bool {
        if self.settings.burst <= 1 || self.burst_left > 0 || self.phase != RecoveryPhase::Open {
            return false;
        }
        let in_flight = self.board.in_flight();
        let required = f64::from(self.settings.burst).min(self.window / 3.0);
        let is_paced = self.controller.pacing() != Pacing::Unpaced;
        !is_paced && in_flight > 0 && self.window - f64::from(in_flight) < required
    }

    fn window_is_open(&self) -> bool {
        // Below one segment nothing would be sent, and no ACK could open the window again.
        let window = self.prr.as_ref().map_or(self.window, |prr| prr.window()).max(1.0);
        let in_flight = self.board.in_flight();
        f64::from(in_flight) + 1.0 <= window && in_flight < MAX_IN_FLIGHT
    }

    /// A burst is admitted as a whole; each segment of it moves the pacer on, so the rate stays.
    fn pacer_admits(&mut self, now: Time) -> bool {
        if self.burst_left == 0 {
            if !self.pacer.admits(self.clock.ticked(now), self.controller.pacing()) {
                return false;
            }
            self.burst_left = self.settings.burst.max(self.controller.burst()).max(1);
        }
        self.burst_left -= 1;
        self.pacer.depart(now);
        true
    }

    /// The new segment that the source and the receiver's window allow.
    fn next_new(&self, now: Time) -> Option<New> {
        let new = self.written(now)?;
        let room = self.edge.saturating_sub(self.board.next());
        if u64::from(new.payload) <= room {
            return Some(new);
        }
        // Less than a segment only into a window that nothing else will open (RFC 9293, section 3.8.6.2.1).
        let is_last_resort = room > 0 && self.board.numbers().is_empty();
        // `room` is below the payload here, which fits 16 bits.
        is_last_resort.then_some(New { payload: room as u16, has_fin: false })
    }

    /// The new segment that the source has written.
    fn written(&self, now: Time) -> Option<New> {
        let (next, mss) = (self.board.next(), self.settings.mss);
        let chunk = ByteCount::new(u64::from(mss));
        let end = FIRST.saturating_add(self.source.written(now.since(self.opened), chunk));
        let fin_at = self.source.length().map(|length| FIRST.saturating_add(length));
        // At the end of a file the FIN may still have to leave by itself; beyond it everything has left.
        if next > end || (next == end && fin_at != Some(next)) {
            return None;
        }
        let payload = (end - next).min(u64::from(mss));
        Some(New { payload: payload as u16, has_fin: fin_at == Some(next + payload) })
    }

    /// Time of the next write of the source, if the sender waits for it.
    pub(super) fn next_write(&self) -> Option<Time> {
        let left = self.board.next() - FIRST;
        self.awaits_write.then(|| self.source.next_write(self.opened, left)).flatten()
    }

    /// Handles an open window into which nothing can be sent: there is no data, or the receiver's window is
    /// closed and must be probed.
    fn note_source_limit(&mut self, now: Time) {
        self.is_source_limited = true;
        let has_data = self.written(now).is_some();
        self.awaits_write = !has_data;
        // While retransmissions are due, the network limits the rate and not the application.
        if !has_data && !self.board.has_lost() {
            self.meter.note_app_limited(self.board.in_flight());
        }
        // As long as segments are outstanding, their ACKs will bring the window.
        if has_data && self.board.numbers().is_empty() && self.timers.persist.is_none() {
            self.timers.persist = Some(now + self.persist_wait());
        }
    }

    fn persist_wait(&self) -> Span {
        // The exponent is limited before the product is, so that the shift cannot overflow.
        let doubled = self.trip.rto() * (1 << self.persisted.min(16));
        doubled.min(self.settings.timeout.max)
    }

    /// Probes a closed window of the receiver (RFC 9293, section 3.8.6.1).
    pub(super) fn on_persist_timer(&mut self, now: Time) {
        self.owed.window_probe = true;
        self.persisted = self.persisted.saturating_add(1);
        self.timers.persist = Some(now + self.persist_wait());
    }

    fn send_new(&mut self, cx: &mut Context<'_>, new: New) -> Segment {
        let position = self.board.next();
        // Before the segment itself counts as in flight: an empty flight begins a new rate sample.
        let snapshot = self.meter.on_sent(cx.now, self.board.in_flight());
        let length = new.payload + u16::from(new.has_fin);
        let number = self.board.send_new(cx.now, length, snapshot);
        let flags = TcpFlags::ACK
            .with_if(new.has_fin, TcpFlags::FIN)
            // RFC 3168, section 6.1.2: on the first new data after the reduction, never on a retransmission.
            .with_if(std::mem::take(&mut self.owes_cwr), TcpFlags::CWR);
        let segment = self.segment(cx.now, position, new.payload, flags, TcpOptions::default());
        (self.timers.persist, self.persisted) = (None, 0);
        let sent = Sent { segment: number as u32, at: cx.now, is_retransmission: false };
        let segment = self.depart(cx, segment, sent);
        self.arm_probe(cx.now);
        segment
    }

    /// Sends segment `number` again; nothing if it is not outstanding.
    pub(super) fn send_again(&mut self, cx: &mut Context<'_>, number: u64) -> Option<Segment> {
        let Record { end, length, .. } = *self.board.get(number)?;
        let snapshot = self.meter.on_sent(cx.now, self.board.in_flight());
        self.board.send_again(cx.now, number, snapshot);
        self.stats.retransmissions += 1;
        self.restart_rto_with_head(cx.now, number);
        if self.phase != RecoveryPhase::Open {
            self.repeats.on_retransmission(end);
            if number == self.board.numbers().start {
                self.eifel.on_retransmission(stamp(cx.now));
            }
        }
        let has_fin = self.end() == Some(end);
        let flags = TcpFlags::ACK.with_if(has_fin, TcpFlags::FIN);
        let payload = length - u16::from(has_fin);
        let segment = self.segment(cx.now, end - u64::from(length), payload, flags, TcpOptions::default());
        let sent = Sent { segment: number as u32, at: cx.now, is_retransmission: true };
        Some(self.depart(cx, segment, sent))
    }

    /// Updates the state for every segment with data that is sent.
    fn depart(&mut self, cx: &mut Context<'_>, mut segment: Segment, sent: Sent) -> Segment {
        self.stats.segments += 1;
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
        // RFC 6298, section 5.1: a timer that runs is not restarted by further segments.
        if self.timers.rto.is_none() {
            self.restart_rto(cx.now);
        }
        self.refresh_view();
        let hop = &mut segment.header.hop;
        self.notify(cx, Cause("sent"), |controller, cx, view| controller.on_sent(cx, &sent, hop, view));
        segment
    }

    /// A tail loss probe, whatever the window: new data if there is any, else the last segment again (RFC 8985, section 7.3).
    fn send_tail_probe(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        let new = self.next_new(cx.now);
        let last = self.board.next_number().checked_sub(1)?;
        let segment = match new {
            Some(new) => Some(self.send_new(cx, new)),
            None => self.send_again(cx, last),
        }?;
        self.stats.probes += 1;
        // After the departure, because TLP.end_seq is SND.NXT with the probe (RFC 8985, section 7.3).
        self.tail.begin(self.board.next(), new.is_none());
        self.timers.probe = None;
        self.restart_rto(cx.now);
        Some(segment)
    }
}
