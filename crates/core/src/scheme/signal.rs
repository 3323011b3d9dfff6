//! Hop signals: what a router may write on a packet for the next node. They travel in NDNLPv2 header fields.

use crate::units::Span;

/// Signals and state of a packet that are valid on one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopSignals {
    /// Congestion mark: 0 none, 1 congested, higher for graded schemes.
    pub mark: u8,
    /// Queueing class; higher is served first.
    pub class: Class,
    /// Links crossed since the answerer or consumer, saturating at 255.
    pub hops: u8,
    /// Whether Data passed a content store since the answerer; a fact of this process, it does not travel on wires.
    pub passed_store: bool,
    tags: [u8; SLOTS],
    values: [u32; SLOTS],
}

/// Number of signals that fit on one packet in addition to the mark.
const SLOTS: usize = 3;

/// A queueing class; higher is served first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(pub u8);

impl Class {
    /// Ordinary packets.
    pub const BULK: Self = Self(0);
    /// Loss notices.
    pub const NOTICE: Self = Self(1);
    /// Classes a queue can have.
    pub const COUNT: usize = 2;

    /// As an index below [`COUNT`](Self::COUNT); a class above the highest is served as the highest.
    #[inline]
    pub const fn index(self) -> usize {
        let class = self.0 as usize;
        if class < Self::COUNT { class } else { Self::COUNT - 1 }
    }
}

/// Combination of a value with the one that is already on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The smaller stays.
    Min,
    /// The newer stays.
    Last,
}

/// Direction in which a signal travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    /// Copied to each downstream Data.
    Data,
    /// Copied upstream with the Interest.
    Interest,
    /// Copied upstream with the Interest and by the answerer onto the Data.
    Echo,
}

macro_rules! signals {
    ($($(#[$doc:meta])* $name:ident = $tlv:literal, $unit:literal, $merge:ident, $travel:ident;)*) => {
        /// The experimental NDNLPv2 fields; each number is a multiple of four, so legacy nodes ignore it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Signal { $($(#[$doc])* $name),* }

        impl Signal {
            /// Every signal, in TLV order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// NDNLPv2 TLV-TYPE.
            pub const fn tlv_type(self) -> u32 { match self { $(Self::$name => $tlv),* } }

            /// Unit of the value.
            pub const fn unit(self) -> &'static str { match self { $(Self::$name => $unit),* } }

            /// What happens when a node writes over a value.
            pub const fn merge(self) -> Merge { match self { $(Self::$name => Merge::$merge),* } }

            /// Which way it travels.
            pub const fn travel(self) -> Travel { match self { $(Self::$name => Travel::$travel),* } }
        }
    };
}

signals! {
    /// Rate that the routers of the path share out to each TCP flow (RCP).
    SharedRate = 888, "kbit/s", Min, Echo;
    /// Change of the sender's window that the routers of the path ask for (XCP).
    WindowFeedback = 892, "zig-zag bytes", Last, Echo;
    /// Sender's congestion window (XCP).
    FlowWindow = 896, "bytes", Last, Interest;
    /// Explicit rate (MIRCC).
    StampingRate = 904, "milli-Interests/s", Min, Data;
    /// Explicit rate of the secondary class (MIRCC multipath).
    StampingRateSecondary = 908, "milli-Interests/s", Min, Data;
    /// Hash of the path taken (RAAQM, MIRCC multipath).
    PathLabel = 912, "hash", Last, Data;
    /// Node that answered (CCTCP).
    RouterId = 916, "node", Last, Data;
    /// Consumer's clock (CCTCP).
    TimestampEcho = 932, "us", Last, Echo;
    /// Path label that the Interest is to follow; 0 asks for any path, to find new ones (MIRCC multipath).
    PathChoice = 940, "hash", Last, Interest;
    /// Primary or secondary Interest (MIRCC multipath).
    FlowClass = 944, "0 or 1", Last, Interest;
    /// Sender's smoothed round-trip time (RCP, XCP).
    FlowRtt = 952, "us", Last, Interest;
    /// Rate granted to a TCP flow, on its ACKs; 0 on what a sender sends that understands it (BRF). Codes do not compare
    /// as their rates do, so who writes takes the minimum. On a wire it stands in a TCP option.
    GrantedRate = 956, "BRF code", Last, Data;
}

impl HopSignals {
    /// Value of `signal`, if it is on the packet.
    pub fn get(&self, signal: Signal) -> Option<u32> {
        let slot = self.tags.iter().position(|tag| *tag == signal as u8 + 1)?;
        Some(self.values[slot])
    }

    /// Writes `signal`, merged with the value that is present; false if all slots are used.
    pub fn put(&mut self, signal: Signal, value: u32) -> bool {
        let tag = signal as u8 + 1;
        let Some(slot) = self.tags.iter().position(|old| *old == tag || *old == 0) else {
            return false;
        };
        let old = self.values[slot];
        self.values[slot] = match (self.tags[slot] == 0, signal.merge()) {
            (true, _) | (_, Merge::Last) => value,
            (_, Merge::Min) => value.min(old),
        };
        self.tags[slot] = tag;
        true
    }

    /// Raises the mark to `level`.
    #[inline]
    pub fn raise_mark(&mut self, level: u8) {
        self.mark = self.mark.max(level);
    }

    /// Whether any signal is on the packet.
    #[inline]
    pub const fn has_any(&self) -> bool {
        self.tags[0] != 0
    }

    /// Signals of an Interest that return with the Data, whatever node answers; of a TCP segment with its ACK.
    pub fn echoed(&self) -> Self {
        let mut back = Self::default();
        if self.tags[0] == 0 {
            return back;
        }
        for signal in Signal::ALL.iter().filter(|signal| signal.travel() == Travel::Echo) {
            if let Some(value) = self.get(*signal) {
                back.put(*signal, value);
            }
        }
        back
    }

    /// Signals that a router copies from an arriving Interest or Data to the packet it sends.
    #[inline]
    pub fn carried(&self) -> Self {
        Self { class: Class::BULK, hops: self.hops.saturating_add(1), ..*self }
    }
}

/// A round-trip time as [`Signal::FlowRtt`] carries it.
pub fn micros(span: Span) -> u32 {
    u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_stamped_rate_on_the_path_stays() {
        let mut hop = HopSignals::default();
        assert!(hop.put(Signal::StampingRate, 500));
        assert!(hop.put(Signal::StampingRate, 900));
        assert!(hop.put(Signal::StampingRate, 300));
        assert_eq!(hop.get(Signal::StampingRate), Some(300));
        assert_eq!(hop.get(Signal::RouterId), None);
    }

    #[test]
    fn a_fourth_signal_is_refused_and_leaves_the_others() {
        let mut hop = HopSignals::default();
        for signal in [Signal::StampingRate, Signal::PathLabel, Signal::RouterId] {
            assert!(hop.put(signal, 7));
        }
        assert!(!hop.put(Signal::FlowClass, 1));
        assert_eq!(hop.get(Signal::PathLabel), Some(7));
    }

    #[test]
    fn every_field_number_is_ignorable_by_a_legacy_node() {
        for signal in Signal::ALL {
            let tlv = signal.tlv_type();
            assert!((800..960).contains(&tlv) && tlv.is_multiple_of(4), "{signal:?}");
        }
    }
}
