//! Hop signals: fields that a router may write on a packet for the next node. They travel in NDNLPv2 header fields.

/// Signals and state of a packet that are valid on one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopSignals {
    /// Congestion mark: 0 none, 1 congested, higher for graded schemes.
    pub mark: u8,
    /// Queueing class; higher is served first.
    pub class: Class,
    /// Links crossed since the answerer or consumer, saturating at 255.
    pub hops: u8,
    /// Whether Data passed a content store since the answerer; known to this process only, as it is not
    /// encoded.
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
    /// Class of ordinary packets, served last.
    pub const BULK: Self = Self(0);
    /// Class of loss notices, served first.
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
    /// The minimum is kept.
    Min,
    /// The latest value replaces the one before.
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

/// A number that routers and ends write on packets for each other, in an experimental NDNLPv2 field.
///
/// A scheme declares its signals as constants. Nodes that do not implement the scheme carry them.
///
/// A packet has room for three signals in addition to its mark, those of all schemes together.
/// [`put`](HopSignals::put) and [`set`](HopSignals::set) write nothing and return false if another does not fit.
///
/// ```
/// use tidegate_core::scheme::signal::{HopSignals, Merge, Signal};
///
/// /// Free places in the smallest queue of the path, packets.
/// const ROOM: Signal = Signal::new(872, Merge::Min);
///
/// let mut hop = HopSignals::default();
/// hop.put(ROOM, 12);
/// hop.put(ROOM, 20);
/// assert_eq!(hop.get(ROOM), Some(12));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Place of the number among those of signals, from 1; 0 stands for an empty slot.
    tag: u8,
    merge: Merge,
}

impl Signal {
    /// Lowest number; NDNLPv2 has assigned those below.
    const MIN_TYPE: u32 = 852;
    /// Highest number that a node ignores if it does not implement it.
    const MAX_TYPE: u32 = 956;
    /// One bit for every number of a signal that travels upstream, from the lowest on.
    const UPSTREAM: u32 = bits(&[864, 868, 896, 940, 944, 952]);
    /// One bit for every number of a signal that the answerer returns, from the lowest on.
    const ECHOED: u32 = bits(&[856, 860, 888, 892, 932]);

    /// Rate that the routers of the path grant, in thousandths of an Interest per second; several schemes report it.
    pub const STAMPING_RATE: Self = Self::new(904, Merge::Min);

    /// The signal with this TLV-TYPE number.
    ///
    /// The number decides the direction, so that a node carries and returns signals of schemes that it does not
    /// implement: 864, 868, 896, 940, 944 and 952 travel with the Interest; 856, 860, 888, 892 and 932 with the
    /// Interest, and the answerer returns them; all others travel with Data. Schemes that run in the same network need
    /// different numbers.
    ///
    /// # Panics
    /// If the number is no multiple of 4 in 852..=956; in a constant, this is a compiler error.
    pub const fn new(tlv_type: u32, merge: Merge) -> Self {
        let signal = Self::with_type(tlv_type);
        Self { merge, ..signal.expect("a signal has a number in 852..=956 that is a multiple of 4") }
    }

    /// The signal of a received field; `None` if the number is not one of signals.
    #[inline]
    pub const fn with_type(tlv_type: u32) -> Option<Self> {
        if tlv_type < Self::MIN_TYPE || tlv_type > Self::MAX_TYPE || !tlv_type.is_multiple_of(4) {
            return None;
        }
        Some(Self { tag: place(tlv_type) as u8 + 1, merge: Merge::Last })
    }

    /// TLV-TYPE number of its NDNLPv2 field.
    #[inline]
    pub const fn tlv_type(self) -> u32 {
        Self::MIN_TYPE + 4 * (self.tag as u32 - 1)
    }

    /// Direction in which it travels, which its number decides.
    #[inline]
    pub const fn travel(self) -> Travel {
        let bit = 1 << (self.tag - 1);
        if Self::ECHOED & bit != 0 {
            Travel::Echo
        } else if Self::UPSTREAM & bit != 0 {
            Travel::Interest
        } else {
            Travel::Data
        }
    }
}

/// Place of a number among those of signals, from 0.
const fn place(tlv_type: u32) -> u32 {
    (tlv_type - Signal::MIN_TYPE) / 4
}

/// A set with the places of these numbers.
const fn bits(numbers: &[u32]) -> u32 {
    let (mut set, mut at) = (0, 0);
    while at < numbers.len() {
        set |= 1 << place(numbers[at]);
        at += 1;
    }
    set
}

impl HopSignals {
    /// Value of `signal`, if it is on the packet.
    #[inline]
    pub fn get(&self, signal: Signal) -> Option<u32> {
        let slot = self.tags.iter().position(|tag| *tag == signal.tag)?;
        Some(self.values[slot])
    }

    /// Writes `signal`, merged with the value that is present; false if all slots are used.
    pub fn put(&mut self, signal: Signal, value: u32) -> bool {
        match self.get(signal) {
            Some(old) if signal.merge == Merge::Min => self.set(signal, value.min(old)),
            _ => self.set(signal, value),
        }
    }

    /// Writes `signal` over the value that is present, whatever its merge rule; false if all slots are used.
    pub fn set(&mut self, signal: Signal, value: u32) -> bool {
        // Slots are filled from the first on and never freed, so an empty one ends the used ones.
        let Some(slot) = self.tags.iter().position(|old| *old == signal.tag || *old == 0) else {
            return false;
        };
        (self.tags[slot], self.values[slot]) = (signal.tag, value);
        true
    }

    /// Numbers and values of the signals on the packet, in the order of their numbers.
    pub fn fields(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let mut slots: [_; SLOTS] = std::array::from_fn(|slot| (self.tags[slot], self.values[slot]));
        // Equal sets of signals encode equally, whatever the order in which they were written.
        slots.sort_unstable();
        let used = slots.into_iter().filter(|(tag, _)| *tag != 0);
        used.map(|(tag, value)| (Signal { tag, merge: Merge::Last }.tlv_type(), value))
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
    #[inline]
    pub fn echoed(&self) -> Self {
        // Most packets have no signal.
        if self.has_any() { self.returned() } else { Self::default() }
    }

    fn returned(&self) -> Self {
        let mut back = Self::default();
        for (tag, value) in self.tags.into_iter().zip(self.values).take_while(|(tag, _)| *tag != 0) {
            let signal = Signal { tag, merge: Merge::Last };
            if signal.travel() == Travel::Echo {
                back.set(signal, value);
            }
        }
        back
    }

    /// Signals that a router copies from an arriving Interest or Data to the packet it sends.
    #[inline]
    pub fn carried(&self) -> Self {
        // The class is a matter of each queue, and a packet starts as bulk on every link.
        Self { class: Class::BULK, hops: self.hops.saturating_add(1), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: Signal = Signal::new(912, Merge::Last);
    const ASKED: Signal = Signal::new(944, Merge::Last);
    const RETURNED: Signal = Signal::new(932, Merge::Last);

    #[test]
    fn the_smallest_stamped_rate_on_the_path_stays_unless_it_is_set() {
        let mut hop = HopSignals::default();
        assert!(hop.put(Signal::STAMPING_RATE, 500));
        assert!(hop.put(Signal::STAMPING_RATE, 900));
        assert_eq!(hop.get(Signal::STAMPING_RATE), Some(500));
        assert!(hop.put(Signal::STAMPING_RATE, 300));
        assert_eq!(hop.get(Signal::STAMPING_RATE), Some(300));
        assert!(hop.set(Signal::STAMPING_RATE, 800));
        assert_eq!((hop.get(Signal::STAMPING_RATE), hop.get(LABEL)), (Some(800), None));
    }

    #[test]
    fn a_fourth_signal_is_refused_and_leaves_the_others() {
        let mut hop = HopSignals::default();
        for signal in [RETURNED, LABEL, Signal::STAMPING_RATE] {
            assert!(hop.put(signal, 7));
        }
        assert!(!hop.put(ASKED, 1));
        assert_eq!(hop.get(LABEL), Some(7));
        assert_eq!(hop.fields().collect::<Vec<_>>(), [(904, 7), (912, 7), (932, 7)]);
    }

    #[test]
    fn a_number_decides_the_direction_and_only_echoed_signals_return() {
        assert_eq!(
            [LABEL, ASKED, RETURNED].map(Signal::travel),
            [Travel::Data, Travel::Interest, Travel::Echo]
        );
        let mut hop = HopSignals::default();
        for signal in [LABEL, RETURNED, ASKED] {
            hop.put(signal, signal.tlv_type());
        }
        assert_eq!(hop.echoed().fields().collect::<Vec<_>>(), [(932, 932)]);
    }

    #[test]
    fn every_field_number_is_ignorable_by_a_legacy_node_and_is_not_one_of_ndnlpv2() {
        let numbers: Vec<u32> = (0..2000).filter(|number| Signal::with_type(*number).is_some()).collect();
        assert_eq!(numbers, (852..960).step_by(4).collect::<Vec<_>>());
        assert!(
            numbers.iter().all(|number| Signal::with_type(*number).map(Signal::tlv_type) == Some(*number))
        );
    }
}
