//! Behaviour of a TCP window that is the same under every growth law: slow start, reductions, timeouts, idle times.
//!
//! Sources: RFC 5681, sections 3.1 and 4.1; RFC 3465 (growth by the segments acknowledged); RFC 6928; RFC 3168,
//! section 6.1.2; RFC 4015. A segment counts when it is acknowledged, cumulatively or selectively; the window does
//! not grow while the source or the receiver is the limit, or in fast recovery.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::once_per_flight::OncePerFlight;

/// Minimum slow-start threshold, segments (RFC 5681 eq. 4).
const MIN_SSTHRESH: f64 = 2.0;
/// Window after a timeout, segments (RFC 5681, section 3.1, LW).
const LOSS_WINDOW: f64 = 1.0;

/// Change of the window by a change of the recovery state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChange {
    /// The window did not change.
    None,
    /// The window was reduced because of losses.
    Reduced,
    /// A timeout set the window to one segment.
    TimedOut,
    /// The last reduction was undone.
    Restored,
}

/// Recovery state of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecoveryState {
    Open,
    Fast,
    Timeout,
}

/// Window and threshold of one sender.
#[derive(Clone, Debug)]
pub struct TcpWindow {
    initial: f64,
    cwnd: f64,
    ssthresh: f64,
    phase: RecoveryState,
    /// Window and threshold before the last reduction by losses.
    before: Option<(f64, f64)>,
    /// Whether no segment was delivered since the last timeout.
    is_silent: bool,
    marks: OncePerFlight,
    last_sent: Option<Time>,
    /// Segments acknowledged towards the next segment of window (RFC 3465, section 2.1).
    credit: f64,
}

impl TcpWindow {
    /// A window of `initial` segments in slow start without a threshold.
    pub fn new(initial: f64) -> Self {
        Self {
            initial,
            cwnd: initial,
            ssthresh: f64::INFINITY,
            phase: RecoveryState::Open,
            before: None,
            is_silent: false,
            marks: OncePerFlight::default(),
            last_sent: None,
            credit: 0.0,
        }
    }

    /// Congestion window of the sender, segments.
    pub fn get(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold, segments; infinite before the first reduction.
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Whether the window is below the threshold, so that it grows by the segments acknowledged.
    pub fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether a fast recovery is under way.
    pub fn is_in_fast_recovery(&self) -> bool {
        self.phase == RecoveryState::Fast
    }

    /// Ends slow start at the present window.
    pub fn leave_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    /// Segments by which this ACK may increase the window; `None` if it must not grow, for example because the ACK
    /// carries a mark (RFC 3168, section 6.1.2). Called once per ACK.
    pub fn counts(&mut self, delivery: &Delivery) -> Option<f64> {
        let delivered = delivery.newly_acked + delivery.newly_sacked;
        // Recorded before any return: every delivery, marked or not, ends the run of timeouts.
        self.is_silent &= delivered == 0;
        let is_free = self.phase != RecoveryState::Fast && !delivery.is_source_limited;
        let may_grow = is_free && delivery.mark == 0 && delivered > 0;
        may_grow.then(|| f64::from(delivered))
    }

    /// Slow start with `acked` segments, at most `limit` of them, one after a timeout (RFC 3465, section 2.3).
    /// Returns the segments that are left once the window has reached the threshold.
    pub fn slow_start(&mut self, acked: f64, limit: f64) -> f64 {
        if !self.is_slow_start() {
            return acked;
        }
        // After a timeout one ACK can cover many segments that arrived before it; counting them all would
        // send a burst (RFC 3465, section 2.3).
        let limit = if self.phase == RecoveryState::Timeout { 1.0 } else { limit };
        let acked = acked.min(limit);
        let step = acked.min(self.ssthresh - self.cwnd);
        self.cwnd += step;
        acked - step
    }

    /// A segment more for each window acknowledged (RFC 3465, section 2.1).
    pub fn avoid(&mut self, acked: f64) {
        self.credit += acked;
        if self.credit >= self.cwnd {
            // Subtracted before the window grows: the credit was collected against the old one (RFC 3465,
            // section 2.1).
            self.credit -= self.cwnd;
            self.cwnd += 1.0;
        }
    }

    /// Raises the window to `window` segments; a smaller value changes nothing.
    pub fn raise(&mut self, window: f64) {
        self.cwnd = self.cwnd.max(window);
    }

    /// Changes the window by `by` segments, to at least one.
    pub fn change(&mut self, by: f64) {
        self.cwnd = (self.cwnd + by).max(LOSS_WINDOW);
    }

    /// Applies a change of the recovery state. `ssthresh` computes the reduced window from the segments in flight,
    /// without those that limited transmit sent beyond the window (RFC 5681, section 3.2).
    pub fn on_recovery(
        &mut self,
        now: Time,
        recovery: Recovery,
        ssthresh: impl FnOnce(f64) -> f64,
    ) -> WindowChange {
        // Limited transmit sends up to two segments beyond the window; RFC 5681, section 3.2, excludes them
        // from the flight.
        let flown = |flight: u32| f64::from(flight).min(self.cwnd);
        match recovery {
            Recovery::Enter { flight } => {
                let ssthresh = ssthresh(flown(flight)).max(MIN_SSTHRESH);
                self.before = Some((self.cwnd, self.ssthresh));
                self.phase = RecoveryState::Fast;
                self.shrink(now, ssthresh, ssthresh);
                WindowChange::Reduced
            }
            // RFC 5681, section 3.1: a segment that times out again holds the threshold.
            Recovery::Timeout { .. } if self.is_silent => WindowChange::None,
            Recovery::Timeout { flight } => {
                let mut ssthresh = ssthresh(flown(flight)).max(MIN_SSTHRESH);
                if self.phase != RecoveryState::Open {
                    // What was in flight before the reduction is still counted.
                    ssthresh = ssthresh.min(self.ssthresh);
                }
                self.before = Some((self.cwnd, self.ssthresh));
                (self.phase, self.is_silent) = (RecoveryState::Timeout, true);
                self.shrink(now, LOSS_WINDOW, ssthresh);
                WindowChange::TimedOut
            }
            Recovery::Exit => {
                self.phase = RecoveryState::Open;
                WindowChange::None
            }
            Recovery::Spurious => self.restore(),
        }
    }

    /// Returns whether a mark on this ACK reduces the window: once per window of data, and not during a recovery,
    /// whose loss has reduced it already.
    pub fn admits_mark(&mut self, now: Time, delivery: &Delivery) -> bool {
        delivery.mark > 0 && self.phase == RecoveryState::Open && self.marks.admits(now, delivery.sent_at)
    }

    /// Reduces to `window` because of a mark (RFC 9438, section 4.6: to one segment at least).
    pub fn reduce_by_mark(&mut self, now: Time, window: f64) {
        self.shrink(now, window.max(LOSS_WINDOW), window.max(MIN_SSTHRESH));
    }

    /// Records that a segment is sent. After an idle time of more than one RTO the window is the initial one again
    /// (RFC 5681, section 4.1); returns whether that happened.
    pub fn on_sent(&mut self, sent: &Sent, flow: &FlowView) -> bool {
        let last = self.last_sent.replace(sent.at);
        let rested = last.is_some_and(|last| sent.at.since(last) > flow.rto);
        // At most the segment just sent is in flight, and no recovery is under way: only then has the ACK
        // clock stopped.
        let restarts =
            rested && flow.in_flight <= 1 && self.phase == RecoveryState::Open && self.cwnd > self.initial;
        if restarts {
            (self.cwnd, self.credit) = (self.initial, 0.0);
        }
        restarts
    }

    fn shrink(&mut self, now: Time, window: f64, ssthresh: f64) {
        (self.cwnd, self.ssthresh, self.credit) = (window, ssthresh, 0.0);
        // What left before cannot reduce again by a mark.
        self.marks.admits(now, Time::MAX);
    }

    fn restore(&mut self) -> WindowChange {
        self.phase = RecoveryState::Open;
        let Some((window, ssthresh)) = self.before.take() else { return WindowChange::None };
        // The window may have grown past the old one while the loss was thought real; an undo never decreases
        // it.
        self.cwnd = self.cwnd.max(window);
        self.ssthresh = ssthresh;
        WindowChange::Restored
    }
}
