//! WLDR: a node reports gaps in the labels of received frames, and its neighbour retransmits the missing frames.
//!
//! Paper: Carofiglio, Muscariello, Papalini, Rozhnova, Zeng, "Leveraging ICN in-network control for loss detection
//! and recovery in wireless mobile networks", ICN 2016; rules from hicn's `wldr`. No timers and no acknowledgements:
//! a loss is detected when the next frame arrives; losses of the last frames before an idle time are never detected.

use std::collections::VecDeque;

use tidegate_core::link::service::{Labels, Part};
use tidegate_core::prelude::*;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "wldr",
    summary: "WLDR: frames carry labels, the neighbour reports gaps, and missing frames are retransmitted",
    paper: "hicn wldr",
    provenance: Provenance::Source,
    deviations: &[
        "Labels number frames, where hicn's number packets; hicn has no frames.",
        "A label that arrives after a later one, on a link that reorders, is ignored; hicn treats it as a gap.",
        "A duplicate frame is discarded at the link.",
        "A gap that extends past the last label is retransmitted like others; hicn retransmits none of it.",
    ],
    params: Params::TABLE,
    link_service: Some(|settings| Ok(Box::new(Wldr::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Number of frames kept for retransmission.
    buffer: u32 = 8_192, "frames", 1..=32_767;
    /// Maximum number of retransmissions of a frame.
    retries: u32 = 3, "times", 0..=100;
}

/// Bytes of a label: type 3, length 1, number 2.
const LABEL: u32 = 6;
/// Bytes of a notification: type 3, length 1, two numbers.
const NOTIFICATION: u32 = 8;
/// Number of labels, from 1 on; 0 means "off".
const LABELS: u64 = 65_535;

/// The label after this one.
fn after(label: u64) -> u64 {
    // The label 0 means "off", so 65 535 is followed by 1.
    label % LABELS + 1
}

/// Distance from `from` forward to `to`.
fn distance(from: u64, to: u64) -> u64 {
    (to + LABELS - from) % LABELS
}

/// One end of a link.
#[derive(Debug)]
struct Wldr {
    params: Params,
    /// Label of the next frame.
    next: u64,
    /// The last frames sent, one label after the other up to `next`; `None`: it was sent again under another label.
    kept: VecDeque<Option<Part>>,
    expected: u64,
    gaps: VecDeque<(u64, u64)>,
}

impl Wldr {
    fn new(params: Params) -> Self {
        Self { params, next: 1, kept: VecDeque::new(), expected: 1, gaps: VecDeque::new() }
    }

    /// The frame with a label, if it is still stored.
    fn take(&mut self, label: u64) -> Option<Part> {
        let back = distance(label, self.next) as usize;
        let place = self.kept.len().checked_sub(back)?;
        self.kept.get_mut(place)?.take()
    }

    /// Retransmits the gap that the peer reported; nothing if its first frame is no longer stored.
    fn resend(&mut self, (expected, received): (u64, u64), actions: &mut LinkActions) {
        let gap = distance(expected, received);
        // The distance to `next` bounds the age of the first missing frame; the gap itself is checked as well
        // because a peer may report one that extends past the last label.
        if gap.max(distance(expected, self.next)) > self.kept.len() as u64 {
            return;
        }
        let mut label = expected;
        for _ in 0..gap {
            if let Some(part) = self.take(label) {
                // `take` leaves `None` behind, so a gap that is reported twice retransmits each frame once.
                let again = u32::from(part.resends) < self.params.retries;
                let list = if again { &mut actions.resends } else { &mut actions.releases };
                list.push(part);
            }
            label = after(label);
        }
    }

    /// Records a gap before `label`, unless the peer restarted.
    fn receive(&mut self, label: u64, actions: &mut LinkActions) {
        let ahead = distance(self.expected, label);
        // A label in the second half of the circle is an older one: the link reordered it, which is not a
        // loss.
        if ahead > LABELS / 2 && label != 1 {
            return;
        }
        // A peer that restarts begins with label 1: what it sent before cannot be retransmitted, so there is
        // no gap to report.
        if ahead != 0 && label != 1 {
            self.gaps.push_back((self.expected, label));
            actions.notices += 1;
        }
        self.expected = after(label);
    }
}

impl LinkService for Wldr {
    fn label_bytes(&self) -> ByteCount {
        ByteCount::new(u64::from(LABEL))
    }

    fn on_send(&mut self, _: Time, part: Option<Part>, _: u32, actions: &mut LinkActions) -> Labels {
        let Some(part) = part else {
            let gap = self.gaps.pop_front();
            return Labels { gap, bytes: NOTIFICATION, ..Labels::default() };
        };
        let label = self.next;
        self.next = after(label);
        self.kept.push_back(Some(part));
        if self.kept.len() > self.params.buffer as usize {
            actions.releases.extend(self.kept.pop_front().flatten());
        }
        Labels { number: Some(label), bytes: LABEL, ..Labels::default() }
    }

    fn on_receive(
        &mut self,
        _: Time,
        _: Option<u64>,
        labels: &Labels,
        actions: &mut LinkActions,
    ) -> bool {
        if let Some(gap) = labels.gap {
            self.resend(gap, actions);
        }
        if let Some(label) = labels.number {
            self.receive(label, actions);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(packet: u64) -> Part {
        Part { packet, index: 0, sequence: packet, bytes: 100, resends: 0 }
    }

    fn wldr(buffer: u32, retries: u32) -> Wldr {
        Wldr::new(Params { buffer, retries })
    }

    /// Sends a part; the labels.
    fn send(end: &mut Wldr, part: Part, actions: &mut LinkActions) -> Labels {
        end.on_send(Time::ZERO, Some(part), 1400, actions)
    }

    fn take_in(end: &mut Wldr, labels: &Labels) -> LinkActions {
        let mut actions = LinkActions::default();
        assert!(end.on_receive(Time::ZERO, Some(0), labels, &mut actions));
        actions
    }

    fn number(label: u64) -> Labels {
        Labels { number: Some(label), bytes: LABEL, ..Labels::default() }
    }

    #[test]
    fn what_is_in_a_gap_is_sent_again_under_new_labels_as_often_as_may_be() {
        let [mut near, mut far] = [wldr(8, 2), wldr(8, 2)];
        let mut actions = LinkActions::default();
        let sent: Vec<Labels> = (0..4).map(|packet| send(&mut near, part(packet), &mut actions)).collect();
        assert_eq!(sent.iter().filter_map(|labels| labels.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(take_in(&mut far, &sent[0]), LinkActions::default());
        assert_eq!(take_in(&mut far, &sent[3]).notices, 1);
        let word = far.on_send(Time::ZERO, None, 1400, &mut actions);
        assert_eq!((word.gap, word.bytes, word.number), (Some((2, 4)), 8, None));
        let again = take_in(&mut near, &word).resends;
        assert_eq!(again, [part(1), part(2)]);
        // Both get new labels, and are lost once more, and again; then they are given up.
        for (resends, labels) in [(1, 5), (2, 7)] {
            for packet in [1, 2] {
                send(&mut near, Part { resends, ..part(packet) }, &mut actions);
            }
            let gap = Labels { gap: Some((labels, labels + 2)), ..Labels::default() };
            let arrived = take_in(&mut near, &gap);
            assert_eq!((arrived.resends.len(), arrived.releases.len()), if resends == 1 { (2, 0) } else { (0, 2) });
        }
        assert_eq!(actions, LinkActions::default());
        // The report comes a second time: nothing is stored under these labels.
        assert_eq!(take_in(&mut near, &word), LinkActions::default());
    }

    #[test]
    fn gaps_are_reported_in_their_order() {
        let mut far = wldr(8, 3);
        let notices: u32 = [2, 5].into_iter().map(|label| take_in(&mut far, &number(label)).notices).sum();
        let mut reported = || far.on_send(Time::ZERO, None, 1400, &mut LinkActions::default()).gap;
        assert_eq!((notices, reported(), reported(), reported()), (2, Some((1, 2)), Some((3, 5)), None));
    }

    #[test]
    fn a_full_buffer_lets_the_oldest_go() {
        let mut near = wldr(2, 3);
        let mut actions = LinkActions::default();
        for packet in 0..4 {
            send(&mut near, part(packet), &mut actions);
        }
        assert_eq!(actions.releases, [part(0), part(1)]);
        let gap = Labels { gap: Some((1, 5)), ..Labels::default() };
        assert_eq!(take_in(&mut near, &gap).resends, []);
        let gap = Labels { gap: Some((2, 5)), ..Labels::default() };
        assert_eq!(take_in(&mut near, &gap).resends, [], "nothing of a gap that is kept in part");
        let gap = Labels { gap: Some((3, 5)), ..Labels::default() };
        assert_eq!(take_in(&mut near, &gap).resends, [part(2), part(3)]);
    }

    #[test]
    fn labels_go_round_past_zero_and_one_begins_anew() {
        assert_eq!((after(65_535), after(1), distance(65_534, 2), distance(3, 1)), (1, 2, 3, 65_533));
        let mut far = wldr(8, 3);
        // (label, expected afterwards, gaps reported)
        let steps = [(65_535, 1, 0), (3, 4, 1), (2, 4, 0), (4, 5, 0), (1, 2, 0), (2, 3, 0), (32_770, 32_771, 1)];
        far.expected = 65_535;
        for (label, expected, gaps) in steps {
            let arrived = take_in(&mut far, &number(label));
            assert_eq!((far.expected, arrived.notices), (expected, gaps), "label {label}");
        }
    }
}
