//! Segments of a flow over time, thinned so that rare events are complete.

use tidegate_core::units::Time;

/// Kind of a point in the segment diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// The consumer sent the first Interest of a segment, or a TCP sender the segment.
    Interest,
    /// The consumer retransmitted an Interest, or a TCP sender a segment.
    Retransmission,
    /// Data of the segment arrived without a congestion mark.
    Data,
    /// Data arrived with a congestion mark.
    MarkedData,
    /// A queue dropped a packet of the segment.
    Drop,
    /// The wire lost a packet of the segment.
    WireLoss,
    /// The consumer or TCP sender took the segment for lost: timeout, lifetime, gap or Nack.
    Loss,
    /// A router notified the consumer that it stored the Data (PLR).
    Notice,
    /// A content store answered.
    CacheHit,
}

impl PointKind {
    /// Every kind, in the order of the legend.
    pub const ALL: [Self; 9] = [
        Self::Interest,
        Self::Data,
        Self::Retransmission,
        Self::MarkedData,
        Self::Drop,
        Self::WireLoss,
        Self::Loss,
        Self::Notice,
        Self::CacheHit,
    ];

    /// Name of the kind, for a TCP connection or a consumer.
    pub const fn word(self, is_tcp: bool) -> &'static str {
        match self {
            Self::Interest if is_tcp => "segment sent",
            Self::Retransmission if is_tcp => "segment retransmitted",
            Self::Data if is_tcp => "segment received",
            Self::Loss if is_tcp => "sender detected a loss",
            Self::Interest => "Interest sent",
            Self::Retransmission => "Interest retransmitted",
            Self::Data => "Data received",
            Self::MarkedData => "marked Data received",
            Self::Drop => "dropped by a queue",
            Self::WireLoss => "lost on a link",
            Self::Loss => "consumer detected a loss",
            Self::Notice => "loss notice received",
            Self::CacheHit => "satisfied by a content store",
        }
    }

    /// Kinds that occur with every segment; all others are signs of congestion or loss.
    const fn is_common(self) -> bool {
        matches!(self, Self::Interest | Self::Data | Self::CacheHit)
    }
}

/// An event of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPoint {
    /// Time of the change.
    pub at: Time,
    /// Segment number; for TCP the offset of its first byte from the first byte of the connection.
    pub segment: u32,
}

/// Points of one kind: every `stride`-th of all `found`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentPoints {
    kinds: Vec<Thinned>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thinned {
    points: Vec<SegmentPoint>,
    found: u64,
    stride: u64,
}

impl Default for SegmentPoints {
    fn default() -> Self {
        let none = Thinned { points: Vec::new(), found: 0, stride: 1 };
        Self { kinds: vec![none; PointKind::ALL.len()] }
    }
}

impl Thinned {
    /// Removes every second of the stored points.
    fn halve(&mut self) {
        self.stride *= 2;
        let mut place = 0;
        self.points.retain(|_| {
            place += 1;
            place % 2 == 1
        });
    }
}

impl SegmentPoints {
    /// Adds a point; if its kind has `max` points, every second one is removed first.
    pub(super) fn add(&mut self, kind: PointKind, point: SegmentPoint, max: usize) {
        let of = &mut self.kinds[kind as usize];
        if of.found.is_multiple_of(of.stride) {
            if of.points.len() >= max {
                of.halve();
            }
            // `halve` has doubled the stride, so that this point may no longer be one of those that stay.
            if of.found.is_multiple_of(of.stride) {
                of.points.push(point);
            }
        }
        of.found += 1;
    }

    /// Thins until at most `max` points are left: the most frequent common kind first, other kinds only once
    /// each common kind has less than an eighth of `max`.
    pub(super) fn finish(&mut self, max: usize) {
        while self.kinds.iter().map(|of| of.points.len()).sum::<usize>() > max {
            let size = |kind: &PointKind| {
                let length = self.kinds[*kind as usize].points.len();
                (kind.is_common() && length > max / 8, length)
            };
            let Some(max) = PointKind::ALL.into_iter().max_by_key(size) else { return };
            self.kinds[max as usize].halve();
        }
    }

    /// Stored points of a kind, in order of time.
    pub fn points(&self, kind: PointKind) -> &[SegmentPoint] {
        &self.kinds[kind as usize].points
    }

    /// Number of points per stored one.
    pub fn stride(&self, kind: PointKind) -> u64 {
        self.kinds[kind as usize].stride
    }

    /// Number of points, including those that are not stored.
    pub fn found(&self, kind: PointKind) -> u64 {
        self.kinds[kind as usize].found
    }
}
