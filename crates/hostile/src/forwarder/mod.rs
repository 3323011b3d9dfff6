//! A forwarder with faces that come and go, fed with whatever stands in the input: its books have to balance
//! and its tables stay within their limits.

mod alarms;
mod bench;
mod devices;
mod invariants;
mod packets;

use tidegate_core::ndn::face::Limit;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::packet::{Kind, LossNotice, Nack, NackReason};
use tidegate_core::units::{ByteCount, Packets, Span};

use bench::{Bench, BenchSetup};
use packets::RandomChoice;

/// Steps of one input; more only make it slow.
const MAX_STEPS: usize = 64;

const REASONS: [NackReason; 3] = [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute];

/// Four bytes of settings, then steps.
pub fn check(data: &[u8]) {
    let Some((settings, steps)) = data.split_first_chunk::<4>() else { return };
    let mut bench = Bench::new(&setup(settings));
    let mut input = Input(steps);
    for _ in 0..MAX_STEPS {
        if step(&mut bench, &mut input).is_none() {
            break;
        }
        invariants::balance(&bench);
    }
    invariants::names_stand(&mut bench);
    bench.node.visit_names(&bench.packets, &mut |name, _| assert!(bench.names.uri(name).starts_with('/')));
    bench.end();
}

fn setup([tables, pit, queue, width]: &[u8; 4]) -> BenchSetup {
    let limit = match queue & 0x80 {
        0 => Limit::Packets(Packets::new(u32::from(queue & 15) + 1)),
        _ => Limit::Bytes(ByteCount::new(u64::from(queue & 127) * 100)),
    };
    BenchSetup {
        cache: Packets::new(u32::from(tables & 7)),
        caches_unsolicited: tables & 8 != 0,
        strategy: if tables & 16 == 0 { "best-route" } else { "multicast" },
        pit_limit: usize::from(pit % 32) + 1,
        limit,
        has_store: queue & 16 == 0,
        mtu: (width & 1 == 0).then(|| 200 + usize::from(*width) * 5),
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    fn choice(&mut self) -> Option<RandomChoice> {
        Some(RandomChoice { name: self.byte()?, flags: self.byte()? })
    }
}

/// Does one thing; `None` at the end of the input.
fn step(bench: &mut Bench, input: &mut Input<'_>) -> Option<()> {
    let what = input.byte()?;
    let face = bench.some_face(what >> 4);
    match what & 15 {
        0 => {
            let len = usize::from(input.byte()?);
            bench.take_in(face, input.bytes(len));
        }
        1 | 2 => bench.take_in(face, &packets::interest(input.choice()?, input.byte()?)),
        3 => bench.take_in(face, &packets::data(input.choice()?)),
        4 => bench.take_in(face, &packets::nack(input.choice()?, input.byte()?)),
        5 => bench.take_in(face, &packets::loss_notice(input.choice()?)),
        6 => answer(bench, what >> 4, input.byte()?),
        7 => bench.wait(short(input.byte()?)),
        8 => bench.run(long(input.byte()?)),
        9 => bench.make_room(face, u32::from(input.byte()? & 63)),
        10 => bench.wake_now(face),
        11 => bench.detach(face),
        12 => bench.attach(what & 16 != 0),
        13 => bench.forget_names(),
        14 => route(bench, what >> 4, input.choice()?),
        _ => bench.leave(face, u64::from(input.byte()?)),
    }
    Some(())
}

/// Delivers Data from the face that received the last Interest.
fn answer(bench: &mut Bench, face: u8, how: u8) {
    let face = bench.some_face(face);
    let Some(mut requested) = bench.take_requested(face) else { return };
    let Kind::Interest(interest) = requested.header.kind else { return };
    match how & 3 {
        0 => {
            requested.header.kind = Kind::Nack(Nack { interest, reason: REASONS[usize::from(how >> 2) % 3] });
            bench.receive_packet(face, &requested);
        }
        1 => {
            requested.header.kind = Kind::LossNotice(LossNotice { token: interest.token });
            bench.receive_packet(face, &requested);
            bench.keep_requested(face, requested, interest);
        }
        _ => {
            let data = packets::data_for(&bench.components(requested.header.name), how);
            bench.take_in(face, &data);
        }
    }
}

/// Sets the next hops of a prefix, or removes them.
fn route(bench: &mut Bench, face: u8, choice: RandomChoice) {
    let hops = [(choice.flags & 1, face), (choice.flags & 2, face + 1)];
    let hops = hops.into_iter().filter(|(is_there, _)| *is_there != 0);
    let hops =
        hops.map(|(_, face)| NextHop { cost: u32::from(choice.flags >> 2), face: bench.some_face(face) });
    let hops = hops.collect();
    bench.set_route(&packets::prefix(choice.name), hops);
}

/// Duration of up to 8 s, in which the driver may be busy and no timer fires.
fn short(byte: u8) -> Span {
    Span::from_micros(u64::from(byte & 15) << (byte >> 4) << 4)
}

/// Duration of up to 36 days, in which all timers fire on time.
fn long(byte: u8) -> Span {
    Span::from_micros(u64::from(byte & 15) << (byte >> 4) << (byte >> 4) << 3)
}
