//! Packet sizes and demand at one face.

use tidegate_core::prelude::*;

use super::rate::Load;

/// Weight of a new size in a mean.
const GAIN: f64 = 1.0 / 8.0;

/// A mean size, bytes: an assumed value until the first packet, whose size replaces it.
#[derive(Clone, Copy, Debug)]
struct Size {
    mean: f64,
    is_expected: bool,
}

impl Size {
    const fn expected(bytes: f64) -> Self {
        Self { mean: bytes, is_expected: true }
    }

    fn add(&mut self, bytes: f64) {
        self.mean = if self.is_expected { bytes } else { self.mean + GAIN * (bytes - self.mean) };
        self.is_expected = false;
    }
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    packets: f64,
    bytes: f64,
}

impl Count {
    fn add(&mut self, bytes: f64) {
        self.packets += 1.0;
        self.bytes += bytes;
    }

    fn less(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// The meter of one face.
#[derive(Debug)]
pub(super) struct FaceMeter {
    face: FaceId,
    interval: Span,
    interest_out: Size,
    interest_in: Size,
    data_out: Size,
    data_in: Size,
    /// Data and Nacks received, which are not demand of the other end.
    answers: Count,
    /// Interests received when the demand was last computed.
    requested: Count,
    reckoned_at: Time,
    /// Rate of arriving Interests, bit/s.
    demand: f64,
}

impl FaceMeter {
    pub(super) fn new(face: FaceId, interval: Span) -> Self {
        Self {
            face,
            interval,
            interest_out: Size::expected(40.0),
            interest_in: Size::expected(40.0),
            data_out: Size::expected(1_100.0),
            data_in: Size::expected(1_100.0),
            answers: Count::default(),
            requested: Count::default(),
            reckoned_at: Time::ZERO,
            demand: 0.0,
        }
    }

    /// Records an Interest that leaves.
    pub(super) fn see_interest_out(&mut self, bytes: f64) {
        self.interest_out.add(bytes);
    }

    /// Records Data that leaves.
    pub(super) fn see_data_out(&mut self, bytes: f64) {
        self.data_out.add(bytes);
    }

    /// Records Data that arrives.
    pub(super) fn see_data_in(&mut self, bytes: f64) {
        self.data_in.add(bytes);
        self.answers.add(bytes);
    }

    /// Records a Nack that arrives, which carries its Interest.
    pub(super) fn see_nack_in(&mut self) {
        // A Nack has about the size of the Interest it returns; its own size is not reported here.
        self.answers.add(self.interest_out.mean);
    }

    /// Rate of arriving Interests, bit/s; updated at the end of each interval.
    pub(super) fn demand(&mut self, cx: &Context<'_>) -> f64 {
        let elapsed = cx.now.since(self.reckoned_at);
        if elapsed >= self.interval {
            let face = cx.face(self.face);
            let received =
                Count { packets: face.received_packets() as f64, bytes: face.received_bytes().get() as f64 };
            let requested = received.less(self.answers);
            let new = requested.less(self.requested);
            // The difference of estimates may be slightly negative, when a Nack was counted with the mean
            // size.
            if new.packets >= 1.0 && new.bytes > 0.0 {
                self.interest_in.add(new.bytes / new.packets);
            }
            self.demand = (8.0 * new.bytes / elapsed.as_secs_f64()).max(0.0);
            (self.requested, self.reckoned_at) = (requested, cx.now);
        }
        self.demand
    }

    /// The link as it is now.
    pub(super) fn load(&self, cx: &Context<'_>) -> Load {
        let face = cx.face(self.face);
        Load {
            out: face.rate().as_bps() as f64,
            incoming: face.incoming_rate().as_bps() as f64,
            data_in: self.data_in.mean / self.interest_out.mean,
            data_out: self.data_out.mean / self.interest_in.mean,
        }
    }
}
