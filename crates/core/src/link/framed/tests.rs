//! Frames under a service that the tests steer.

use super::*;
use crate::link::line::LossPlan;
use crate::rng::Seed;
use crate::units::Span;

/// Passes a packet of `size` to the line; its number is its size.
fn push(line: &mut FramedLine, size: u64) {
    line.push(PacketId::numbered(size as u32), ByteCount::new(size));
}

/// 8 Mbit/s and 10 ms with frames of 1500 bytes; the service resends what is acknowledged by number.
fn line(service: Option<Box<dyn LinkService>>) -> FramedLine {
    let setup = LineSetup {
        rate: BitRate::from_mbps(8.0),
        delay: Span::from_millis(10),
        jitter: Span::ZERO,
        reorder: false,
        loss: LossPlan::None,
    };
    FramedLine::new(&setup, Some(ByteCount::new(1500)), service, |what| Rng::stream(Seed(1), what))
}

fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

fn counts(line: &FramedLine) -> (u64, u64, u64) {
    (line.lost(), line.in_flight(), line.delivered())
}

/// Takes all waiting frames out at `now`.
fn frames(line: &mut FramedLine, now: Time) -> Vec<Frame> {
    std::iter::from_fn(|| line.next_frame(now)).collect()
}

/// Labels frames from 1; an ack asks for the part to be sent again, a gap gives up or releases.
#[derive(Debug, Default)]
struct Steered {
    sent: Vec<Part>,
}

impl LinkService for Steered {
    fn label_bytes(&self) -> ByteCount {
        ByteCount::new(12)
    }

    fn on_send(&mut self, _: Time, part: Option<Part>, room: u32, _: &mut LinkActions) -> Labels {
        assert!(part.is_none_or(|part| part.bytes + room == 1500), "{part:?}, {room}");
        self.sent.extend(part);
        Labels { number: Some(self.sent.len() as u64), bytes: 12, ..Labels::default() }
    }

    fn on_receive(&mut self, _: Time, sequence: Option<u64>, labels: &Labels, act: &mut LinkActions) -> bool {
        act.resends.extend(labels.acks.iter().map(|number| self.sent[*number as usize - 1]));
        match labels.gap {
            Some((0, packet)) => act.given_up.push(packet),
            Some((_, number)) => act.releases.push(self.sent[number as usize - 1]),
            None => {}
        }
        act.notices += u32::from(labels.number == Some(99));
        sequence != Some(7)
    }
}

/// What the peer says.
fn word(acks: &[u64], gap: Option<(u64, u64)>) -> Frame {
    let labels = Labels { acks: acks.to_vec(), gap, ..Labels::default() };
    Frame { part: None, labels, size: ByteCount::new(20) }
}

#[test]
fn a_packet_in_frames_is_whole_with_its_last_part_in_any_order() {
    let mut line = line(None);
    push(&mut line, 4000);
    push(&mut line, 100);
    let sent = frames(&mut line, ms(0));
    let sizes: Vec<u64> = sent.iter().map(|frame| frame.size().get()).collect();
    assert_eq!(sizes, [1500, 1500, 1048 + 24, 100]);
    assert_eq!(counts(&line), (0, 2, 0));
    for (place, whole) in [(3, Some(100)), (2, None), (0, None), (1, Some(4000))] {
        let found = line.reassemble(ms(20), &sent[place], true);
        assert_eq!(found, whole.map(PacketId::numbered), "frame {place}");
    }
    assert_eq!(counts(&line), (0, 0, 2));
    assert_eq!(line.counts(), FrameCounts { sent: 4, lost: 0, resent: 0, bytes: 4172 });
}

#[test]
fn a_packet_is_lost_with_the_last_of_its_frames_when_one_of_them_was() {
    let mut line = line(None);
    push(&mut line, 4000);
    let sent = frames(&mut line, ms(0));
    line.lose_frame(&sent[1]);
    assert!(line.reassemble(ms(10), &sent[0], true).is_none());
    assert_eq!((counts(&line), line.take_lost().count()), ((0, 1, 0), 0));
    assert!(line.reassemble(ms(11), &sent[2], true).is_none());
    assert_eq!((counts(&line), line.take_lost().count()), ((1, 0, 0), 1));
}

#[test]
fn a_pause_of_half_a_second_between_parts_loses_the_packet() {
    for (pause, lost) in [(499, 0), (500, 1)] {
        let mut line = line(None);
        push(&mut line, 2000);
        let sent = frames(&mut line, ms(0));
        assert!(line.reassemble(ms(10), &sent[0], true).is_none());
        assert_eq!(line.reassemble(ms(10 + pause), &sent[1], true).is_none(), lost == 1);
        assert_eq!(line.lost(), lost);
    }
    // It is the pause that counts, not the age.
    let mut line = line(None);
    push(&mut line, 4000);
    let sent = frames(&mut line, ms(0));
    let whole: Vec<bool> =
        (0..3).map(|index| line.reassemble(ms(400 * index), &sent[index as usize], true).is_some()).collect();
    assert_eq!(whole, [false, false, true]);
}

#[test]
fn a_service_has_parts_sent_again_before_others_until_it_releases_or_gives_them_up() {
    let mut line = line(Some(Box::<Steered>::default()));
    push(&mut line, 2000);
    push(&mut line, 100);
    let sent = frames(&mut line, ms(0));
    // Sequence and labels in every frame: 100 + 2 + 10 + 2 and 12 bytes.
    let sizes: Vec<u64> = sent.iter().map(|frame| frame.size().get()).collect();
    assert_eq!(sizes, [1500, 2000 - (1476 - 12) + 24 + 12, 126]);
    line.lose_frame(&sent[1]);
    assert!(line.reassemble(ms(10), &sent[0], true).is_none());
    assert_eq!(counts(&line), (0, 2, 0), "the service keeps a copy");
    push(&mut line, 50);
    line.receive(ms(20), &word(&[1, 2], None));
    let again = frames(&mut line, ms(20));
    let parts: Vec<_> = again.iter().map(|frame| frame.part.expect("a part")).collect();
    assert_eq!(
        parts.iter().map(|part| (part.packet, part.index, part.resends)).collect::<Vec<_>>(),
        [(0, 0, 1), (0, 1, 1), (2, 0, 0)]
    );
    assert_eq!(line.counts().resent, 2);
    // A part that came before adds nothing; the missing one completes the packet.
    assert!(line.reassemble(ms(30), &again[0], true).is_none());
    assert_eq!(line.reassemble(ms(30), &again[1], true), Some(PacketId::numbered(2000)));
    // Released with no copy on the way: lost.
    line.lose_frame(&sent[2]);
    assert_eq!(counts(&line), (0, 2, 1));
    line.receive(ms(40), &word(&[], Some((1, 3))));
    assert_eq!((counts(&line), line.take_lost().count()), ((1, 1, 1), 1));
    // Given up with its only part on the way, which arrives.
    line.receive(ms(40), &word(&[], Some((0, 2))));
    assert_eq!(line.reassemble(ms(41), &again[2], true), Some(PacketId::numbered(50)));
    assert_eq!((counts(&line), line.take_lost().count()), ((1, 0, 2), 0));
}

#[test]
fn what_waits_of_a_packet_given_up_goes_once_and_is_not_kept() {
    for arrive in [false, true] {
        let mut line = line(Some(Box::<Steered>::default()));
        push(&mut line, 4000);
        let first = line.next_frame(ms(0)).expect("it waits");
        line.lose_frame(&first);
        // One part waits to be sent again, two for the first time; then the packet is given up.
        line.receive(ms(20), &word(&[1], None));
        line.receive(ms(21), &word(&[], Some((0, 0))));
        assert_eq!(counts(&line), (0, 1, 0));
        let left = frames(&mut line, ms(21));
        let parts: Vec<u32> = left.iter().map(|frame| frame.part.expect("a part").index).collect();
        assert_eq!(parts, [0, 1, 2]);
        for frame in &left[..2] {
            assert!(line.reassemble(ms(30), frame, true).is_none());
        }
        if arrive {
            assert_eq!(line.reassemble(ms(31), &left[2], true), Some(PacketId::numbered(4000)));
        } else {
            line.lose_frame(&left[2]);
        }
        assert_eq!(counts(&line), if arrive { (0, 0, 1) } else { (1, 0, 0) });
    }
}

#[test]
fn a_line_that_is_cut_keeps_no_packet_for_a_part_that_waited_to_be_sent_again() {
    let mut line = line(Some(Box::<Steered>::default()));
    push(&mut line, 100);
    let sent = line.next_frame(ms(0)).expect("it waits");
    line.lose_frame(&sent);
    line.receive(ms(20), &word(&[1], None));
    assert_eq!(counts(&line), (0, 1, 0));
    let labels = Labels { number: Some(99), ..Labels::default() };
    line.receive(ms(20), &Frame { part: None, labels, size: ByteCount::new(20) });
    line.cut(ms(21));
    assert_eq!((counts(&line), line.take_lost().count()), ((1, 0, 0), 1));
    // The service's word is still to be sent.
    let left: Vec<bool> = frames(&mut line, ms(30)).iter().map(|frame| frame.part.is_some()).collect();
    assert_eq!(left, [false]);
}

#[test]
fn what_is_not_new_to_the_service_is_not_taken_and_notices_go_first() {
    let mut line = line(Some(Box::<Steered>::default()));
    push(&mut line, 100);
    let sent = frames(&mut line, ms(0));
    assert!(line.reassemble(ms(10), &sent[0], false).is_none());
    assert_eq!(counts(&line), (0, 1, 0));
    push(&mut line, 200);
    let labels = Labels { number: Some(99), ..Labels::default() };
    let part = Part { packet: 0, index: 0, sequence: 7, bytes: 100, resends: 0 };
    let frame = Frame { part: Some(part), labels, size: ByteCount::new(100) };
    assert!(!line.receive(ms(10), &frame));
    let sent = frames(&mut line, ms(10));
    assert_eq!(sent.iter().map(|frame| frame.part.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(sent[0].size().get(), 4 + 12);
    // The frame that was not new is no longer on the way.
    line.receive(ms(20), &word(&[], Some((1, 1))));
    assert_eq!((counts(&line), line.take_lost().count()), ((1, 1, 0), 1));
}

/// A link service that collects an acknowledgement for each received frame and sends all of them at once.
#[derive(Debug, Default)]
struct Brief {
    acks: Vec<u64>,
}

impl LinkService for Brief {
    fn label_bytes(&self) -> ByteCount {
        ByteCount::new(12)
    }

    fn on_send(&mut self, _: Time, _: Option<Part>, _: u32, _: &mut LinkActions) -> Labels {
        let acks = std::mem::take(&mut self.acks);
        Labels { bytes: 12 * acks.len() as u32, acks, ..Labels::default() }
    }

    fn on_receive(&mut self, _: Time, _: Option<u64>, _: &Labels, act: &mut LinkActions) -> bool {
        self.acks.push(1);
        act.notices += 1;
        true
    }
}

#[test]
fn a_frame_with_nothing_in_it_is_not_sent() {
    let mut line = line(Some(Box::<Brief>::default()));
    line.receive(ms(0), &word(&[], None));
    line.receive(ms(0), &word(&[], None));
    push(&mut line, 100);
    let sizes: Vec<u64> = frames(&mut line, ms(0)).iter().map(|frame| frame.size().get()).collect();
    assert_eq!(sizes, [4 + 2 * 12, 114]);
    assert_eq!(line.counts(), FrameCounts { sent: 2, lost: 0, resent: 0, bytes: 142 });
}

#[test]
fn a_packet_may_have_any_number_of_parts() {
    let mut line = line(None);
    push(&mut line, 300_000);
    let sent = frames(&mut line, ms(0));
    assert_eq!(sent.len(), 204);
    for (index, frame) in sent.iter().enumerate() {
        assert_eq!(line.reassemble(ms(10), frame, true).is_some(), index == 203, "{index}");
    }
}

#[test]
fn a_line_that_is_cut_loses_its_frames_but_not_what_the_service_keeps() {
    for (service, left) in [(None, (2, 0, 0)), (Some(Box::<Steered>::default() as Box<_>), (0, 2, 0))] {
        let is_bare = left.0 == 2;
        let mut line = line(service);
        push(&mut line, 100);
        push(&mut line, 100);
        for at in [0, 5] {
            let frame = line.next_frame(ms(at)).expect("it waits");
            line.transmit(frame, ms(at));
        }
        line.cut(ms(6));
        assert_eq!((counts(&line), line.counts().lost), (left, 2), "bare: {is_bare}");
        assert!(line.take_arrival(Time::MAX).is_none() && !line.has_waiting());
        assert_eq!(line.busy_until(), ms(6));
    }
}
