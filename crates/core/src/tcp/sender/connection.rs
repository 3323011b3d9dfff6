//! Opening and closing a connection (RFC 9293, sections 3.5 and 3.6), and the format of its segments.

use super::timers::Timers;
use super::{FIRST, Sender};
use crate::ndn::packet::TcpFlags;
use crate::ndn::packet::{Ecn, Header, Kind, Millis, TcpSegment};
use crate::tcp::options::{Segment, SynOptions, TcpOptions, segment_size, stamp};
use crate::tcp::sequence::SequenceSpace;
use crate::units::{ByteCount, Time};

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No SYN has been sent yet.
    Waiting,
    SynSent,
    Open,
    /// Both directions are closed.
    Closed,
}

/// Segments that are due whatever the window and the pacer allow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owed {
    pub(super) syn: bool,
    pub(super) ack: bool,
    /// A segment below what was acknowledged, which the receiver answers with its window.
    pub(super) window_probe: bool,
    /// A tail loss probe, which has data.
    pub(super) tail_probe: bool,
}

/// Whether a SYN-ACK with these flags accepts ECN (RFC 3168, section 6.1.1). One with both flags may only
/// mirror the SYN.
fn grants_ecn(flags: TcpFlags) -> bool {
    flags.has(TcpFlags::ECE) && !flags.has(TcpFlags::CWR)
}

impl Sender {
    /// The segment without data that is due, if any.
    pub(super) fn poll_owed(&mut self, now: Time) -> Option<Segment> {
        if self.stage == Stage::Waiting {
            (self.stage, self.owed.syn) = (Stage::SynSent, true);
        }
        if std::mem::take(&mut self.owed.syn) {
            (self.timers.rto, self.opened) = (Some(now + self.trip.rto()), now);
            // Without the option the receiver may not scale its own windows (RFC 7323, section 2.2). The
            // sender's scale has no effect, as it receives no data.
            let syn = SynOptions { mss: self.settings.mss, window_scale: 0 };
            let options = TcpOptions { syn: Some(syn), ..TcpOptions::default() };
            // RFC 3168, section 6.1.1: an ECN-setup SYN.
            let requests = self.ecn != Ecn::NotCapable;
            let flags = TcpFlags::SYN.with_if(requests, TcpFlags::ECE | TcpFlags::CWR);
            let mut syn = self.segment(now, 0, 0, flags, options);
            self.controller.on_open(&mut syn.header.hop);
            return Some(syn);
        }
        if std::mem::take(&mut self.owed.window_probe) {
            // As in Linux: a position that is acknowledged already makes the receiver answer, and needs no
            // data.
            return Some(self.segment(now, self.board.acked() - 1, 0, TcpFlags::ACK, TcpOptions::default()));
        }
        if std::mem::take(&mut self.owed.ack) {
            return Some(self.segment(now, self.board.next(), 0, TcpFlags::ACK, TcpOptions::default()));
        }
        None
    }

    /// A segment from `position` on.
    pub(super) fn segment(
        &self,
        now: Time,
        position: u64,
        payload: u16,
        flags: TcpFlags,
        options: TcpOptions,
    ) -> Segment {
        let segment = TcpSegment {
            seq: self.own.number(position),
            ack: self.peer.number(self.peer_next),
            timestamp: stamp(now).0,
            echo: self.peer_stamp,
            payload,
            // The receiver sends no data.
            window: 0,
            flags,
            // RFC 3168, sections 6.1.4 and 6.1.5, allow it on new data only; here also on retransmissions, as in Linux for ECT(1)
            // and as a simulation without attackers may.
            ecn: if payload > 0 { self.ecn } else { Ecn::NotCapable },
        };
        let size = segment_size(ByteCount::new(u64::from(payload)), &options);
        Segment { header: Header::new(self.name, Kind::Tcp(segment), size), options }
    }

    /// Handles a SYN-ACK. A repeated one is acknowledged again, because the ACK of the first was lost.
    pub(super) fn on_syn(&mut self, now: Time, segment: &TcpSegment, options: &TcpOptions) {
        // An ACK of something other than the SYN is not acceptable (RFC 9293, section 3.10.7.3).
        if self.own.position(segment.ack, 0) != Some(FIRST) && self.stage == Stage::SynSent {
            return;
        }
        if self.stage == Stage::SynSent {
            self.stage = Stage::Open;
            self.peer = SequenceSpace::new(segment.seq);
            (self.peer_next, self.peer_stamp) = (FIRST, segment.timestamp);
            if let Some(syn) = options.syn {
                self.settings.mss = self.settings.mss.min(syn.mss.max(1));
                // RFC 7323, section 2.3: a larger shift counts as 14.
                self.peer_scale = syn.window_scale.min(14);
            }
            // The window of a segment with SYN is never scaled (RFC 7323, section 2.2).
            self.edge = FIRST + u64::from(segment.window);
            if !grants_ecn(segment.flags) {
                self.ecn = Ecn::NotCapable;
            }
            self.timers.rto = None;
            self.sample_handshake(now, segment);
            self.opened = now;
        }
        self.owed.ack = true;
    }

    /// Takes the round trip of the handshake as a sample (RFC 6298, section 2.2).
    fn sample_handshake(&mut self, now: Time, segment: &TcpSegment) {
        if self.stats.timeouts == 0 {
            self.trip.sample(now.since(self.opened), &self.board.outstanding());
        } else {
            // After a repeated SYN only the echoed stamp shows which of them was answered (Karn's rule).
            let rtt = Millis(stamp(now).0.saturating_sub(segment.echo)).span();
            self.trip.smooth(rtt, &self.board.outstanding());
        }
        self.refresh_view();
    }

    /// The receiver has closed its direction.
    pub(super) fn on_fin(&mut self, segment: &TcpSegment) {
        let Some(position) = self.peer.position(segment.seq, self.peer_next) else { return };
        if position == self.peer_next {
            self.peer_next += 1;
        }
        self.owed.ack = true;
    }

    /// Closed when the receiver has acknowledged the FIN and sent its own.
    pub(super) fn close_if_done(&mut self, now: Time) {
        let Some(end) = self.end() else { return };
        if self.board.acked() < end {
            return;
        }
        self.completed = self.completed.or(Some(now));
        // The receiver sends no data, so a position beyond its SYN is that of its FIN.
        if self.peer_next > FIRST {
            self.stage = Stage::Closed;
            self.timers = Timers::default();
            self.detector.rest();
            self.pacer.rest();
        }
    }

    /// Position after the FIN; `None` for a source without end.
    pub(super) fn end(&self) -> Option<u64> {
        self.source.length().map(|length| FIRST.saturating_add(length).saturating_add(1))
    }

    /// RFC 6298, section 5.5: the SYN leaves again.
    pub(super) fn on_syn_timer(&mut self) {
        self.stats.timeouts += 1;
        self.trip.back_off();
        // `poll_owed` starts the timer again when the SYN leaves.
        self.timers.rto = None;
        self.owed.syn = true;
    }
}
