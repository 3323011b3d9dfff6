//! How large the datagrams to one peer may be, found out by probes (RFC 8899 in its spirit): a probe is a padded frame that carries
//! nothing, and the peer confirms it. Without IO and clocks.
//!
//! Nothing is sent before a packet would profit from larger frames. A peer is first asked by a probe of 14 bytes, so that a forged
//! source address attracts nothing large, and peers that do not know probes get no more than three of those every ten minutes.
//! Only sizes that were confirmed are used. While they are in use they are confirmed again every five seconds; if that fails,
//! the path has become narrower without an error (a black hole), and the base size is used.

use tidegate_core::rng::Rng;
use tidegate_core::units::{Span, Time};
use tidegate_wire::MAX_PACKET;

/// Time after which a probe counts as lost (RFC 8899 section 5.1.1: at least a second).
const PROBE_TIMEOUT: Span = Span::from_secs(1);

/// Number of lost probes of one size after which the size counts as too large (RFC 8899 section 5.1.2, MAX_PROBES).
const MAX_PROBES: u32 = 3;

/// Number of lost probes after which a size that was confirmed earlier counts as too large: more, since random losses must not
/// take a size away.
const MAX_CONFIRMATIONS: u32 = 5;

/// Interval between confirmations of a size in use.
const CONFIRM_INTERVAL: Span = Span::from_secs(5);

/// Interval between searches for larger sizes, and between questions to a peer that has never answered (RFC 8899 section 5.1.1,
/// PMTU_RAISE_TIMER: 600 s).
const RAISE_INTERVAL: Span = Span::from_secs(600);

/// Interval between questions to a peer that has answered before.
const ASK_AGAIN: Span = Span::from_secs(60);

/// Sizes of UDP payloads over Ethernet, IPv4 and IPv6, which are tried before others.
const COMMON: [usize; 2] = [1472, 1452];

/// Minimum difference between two sizes that are told apart, bytes.
const MIN_STEP: usize = 16;

/// Step of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No packet needed a larger frame yet.
    Unused,
    /// A small probe shows whether the peer confirms probes.
    Asking,
    /// Probes of larger sizes are sent.
    Searching,
    /// The largest size is known; the search begins again at this time.
    Settled { search_at: Time },
    /// The peer does not confirm probes.
    Silent,
}

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Number that the peer returns.
    pub number: u64,
    /// Bytes of the frame; 0 for the smallest possible.
    pub size: usize,
}

/// The search for the largest datagram size of one path.
#[derive(Debug)]
pub(crate) struct PathMtu {
    base: usize,
    /// Largest size that the network of this machine carries, bytes.
    ceiling: usize,
    /// Size in use: the base, or a confirmed one.
    mtu: usize,
    /// Smallest size that did not pass; `usize::MAX` for none.
    failed: usize,
    phase: Phase,
    /// The probe that may still be confirmed.
    outstanding: Option<Probe>,
    /// Whether it has not been sent yet.
    is_due: bool,
    /// Number of times it was lost.
    losses: u32,
    /// Whether larger frames than the base were of use since the last confirmation began.
    is_used: bool,
    has_answered: bool,
    /// Time of the next step.
    at: Time,
    /// Random, so that only who received a probe can confirm it.
    numbers: Rng,
}

impl PathMtu {
    /// A search that begins at `base` bytes, with random `numbers` for its probes.
    pub fn new(base: usize, numbers: Rng) -> Self {
        Self {
            base,
            ceiling: MAX_PACKET.max(base),
            mtu: base,
            failed: usize::MAX,
            phase: Phase::Unused,
            outstanding: None,
            is_due: false,
            losses: 0,
            is_used: false,
            has_answered: false,
            at: Time::ZERO,
            numbers,
        }
    }

    /// Maximum size of a frame at present, bytes.
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Size that is used without probes, bytes.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Sets the largest datagram that the network of this machine carries on this path, bytes. It bounds the sizes that are
    /// tried. One in use stays until the system refuses it or the peer does not confirm it.
    pub fn set_ceiling(&mut self, ceiling: usize) {
        self.ceiling = ceiling.clamp(self.base, MAX_PACKET.max(self.base));
    }

    /// A packet needed several frames of the base size, or one frame that is larger.
    #[inline]
    pub fn on_use(&mut self, now: Time) {
        if std::mem::replace(&mut self.is_used, true) || self.phase != Phase::Unused {
            return;
        }
        self.begin_question(now);
    }

    /// The system refused a datagram as too large for its network, whose limit is the ceiling now.
    pub fn on_refusal(&mut self, now: Time) {
        let is_tried = self.outstanding.is_some_and(|probe| probe.size > self.mtu);
        if self.mtu > self.ceiling {
            // A size below one that was confirmed.
            self.mtu = self.ceiling;
            self.outstanding = None;
            self.continue_search(now);
        } else if is_tried {
            self.give_up_size(now);
        } else if self.mtu > self.base {
            self.fall_back(now);
        }
    }

    /// The peer confirmed the probe of this number.
    pub fn on_reply(&mut self, now: Time, number: u64) {
        let Some(probe) = self.outstanding.filter(|probe| probe.number == number) else { return };
        self.outstanding = None;
        self.is_due = false;
        self.has_answered = true;
        match self.phase {
            Phase::Asking => self.phase = Phase::Searching,
            Phase::Searching => self.mtu = self.mtu.max(probe.size),
            Phase::Settled { search_at } => {
                self.at = (now + CONFIRM_INTERVAL).min(search_at);
                return;
            }
            Phase::Unused | Phase::Silent => return,
        }
        self.continue_search(now);
    }

    /// Time of the next call to [`on_wake`](Self::on_wake); `None` for never.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        let is_needed = match self.phase {
            Phase::Unused => false,
            Phase::Asking | Phase::Searching => true,
            Phase::Settled { .. } | Phase::Silent => self.is_used || self.outstanding.is_some(),
        };
        is_needed.then_some(self.at)
    }

    /// Takes the step that is due, if any; [`take_probe`](Self::take_probe) then returns what is to be sent.
    pub fn on_wake(&mut self, now: Time) {
        if self.next_wake().is_none_or(|at| at > now) {
            return;
        }
        match (self.outstanding, self.phase) {
            (Some(probe), _) => self.on_loss(now, probe),
            (None, Phase::Settled { search_at }) if now >= search_at => {
                self.is_used = false;
                self.failed = usize::MAX;
                self.continue_search(now);
            }
            (None, Phase::Settled { .. }) if self.mtu > self.base => {
                self.is_used = false;
                self.begin_probe(now, self.mtu);
            }
            (None, Phase::Settled { search_at }) => self.at = search_at,
            (None, Phase::Silent) => self.begin_question(now),
            (None, Phase::Unused | Phase::Asking | Phase::Searching) => {}
        }
    }

    /// Whether [`take_probe`](Self::take_probe) returns one.
    #[inline]
    pub fn has_due(&self) -> bool {
        self.is_due
    }

    /// The probe to send now.
    pub fn take_probe(&mut self) -> Option<Probe> {
        let is_due = std::mem::replace(&mut self.is_due, false);
        self.outstanding.filter(|_| is_due)
    }

    fn begin_question(&mut self, now: Time) {
        self.phase = Phase::Asking;
        self.begin_probe(now, 0);
    }

    /// Sends the first probe of a size.
    fn begin_probe(&mut self, now: Time, size: usize) {
        self.outstanding = Some(Probe { number: self.numbers.bits(), size });
        self.losses = 0;
        self.repeat_probe(now);
    }

    fn repeat_probe(&mut self, now: Time) {
        self.is_due = true;
        self.at = now + PROBE_TIMEOUT;
    }

    fn on_loss(&mut self, now: Time, probe: Probe) {
        self.losses += 1;
        match self.phase {
            // What the network of this machine has come to refuse needs no further probes.
            Phase::Searching if self.losses >= MAX_PROBES || probe.size > self.ceiling => {
                self.give_up_size(now);
            }
            Phase::Settled { .. } if self.losses >= MAX_CONFIRMATIONS => self.fall_back(now),
            Phase::Asking if self.losses >= MAX_PROBES => {
                self.phase = Phase::Silent;
                self.outstanding = None;
                self.is_used = false;
                // Nothing passed, so that sizes were not the reason.
                self.failed = usize::MAX;
                self.at = now + if self.has_answered { ASK_AGAIN } else { RAISE_INTERVAL };
            }
            _ => self.repeat_probe(now),
        }
    }

    /// The size that is tried does not pass.
    fn give_up_size(&mut self, now: Time) {
        if let Some(probe) = self.outstanding.take() {
            self.failed = self.failed.min(probe.size);
        }
        self.continue_search(now);
    }

    /// The size in use does not pass any more.
    fn fall_back(&mut self, now: Time) {
        self.failed = self.mtu;
        self.mtu = self.base;
        self.begin_question(now);
    }

    /// Tries the next size, or settles.
    fn continue_search(&mut self, now: Time) {
        self.is_due = false;
        match self.next_size() {
            Some(size) => {
                self.phase = Phase::Searching;
                self.begin_probe(now, size);
            }
            None => {
                self.phase = Phase::Settled { search_at: now + RAISE_INTERVAL };
                self.at = now + CONFIRM_INTERVAL;
            }
        }
    }

    /// The next size to try: the largest possible one, then a common one, then the middle.
    fn next_size(&self) -> Option<usize> {
        let largest = self.ceiling.min(self.failed.saturating_sub(1));
        if self.failed > self.ceiling {
            return Some(largest).filter(|largest| *largest > self.mtu);
        }
        if largest < self.mtu + MIN_STEP.max(self.mtu / 32) {
            return None;
        }
        let common = COMMON.into_iter().find(|size| (self.mtu + 1..=largest).contains(size));
        Some(common.unwrap_or((self.mtu + largest).div_ceil(2)))
    }
}

#[cfg(test)]
mod tests;
