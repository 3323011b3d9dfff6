//! Invariants of a forwarder, which hold at any time.

use bytes::Bytes;
use tidegate_core::ndn::face::{FaceId, Limit, NodeId};
use tidegate_core::ndn::fib::NoRoutes;
use tidegate_core::ndn::name::{Name, NameTable, PrefixId};
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_core::scheme::signal::Class;
use tidegate_wire::{DataView, InterestView};

use super::bench::Bench;

/// Interests under `/localhost` that a full table still takes, so that the node can be managed.
const RESERVED: usize = 64;

/// Every queue knows where its packets went; tables are within their limits and know no face that is gone.
pub fn balance(bench: &Bench) {
    for face in (0..bench.ports.len()).map(|face| FaceId(face as u16)) {
        queue_balances(bench, face);
    }
    let waiting = bench.node.faces().iter().map(|view| view.queued_packets() + view.held_packets());
    assert_eq!(bench.packets.count(), waiting.sum::<u32>() as usize, "packets that have not ended");
    let pit = bench.node.forwarder().pit();
    let shares = (0..bench.ports.len()).filter_map(|face| pit.share(FaceId(face as u16)));
    assert!(shares.sum::<u32>() as usize <= pit.len(), "more entries of faces than entries");
    let is_local = |name: Name| bench.names.first_component(name.prefix) == Some((8, b"localhost"));
    let others = pit.ids().filter(|id| !is_local(pit.entry(*id).name())).count();
    assert!(others <= bench.pit_limit, "{others} pending, limit {}", bench.pit_limit);
    assert!(pit.len() <= bench.pit_limit + RESERVED, "{} pending, limit {}", pit.len(), bench.pit_limit);
    assert!(bench.node.forwarder().cs().len() <= bench.cache);
    let (mut entries, mut prefixes) = (0, 0);
    for entry in pit.ids().map(|id| pit.entry(id)) {
        entries += 1;
        prefixes += u32::from(entry.selector().can_be_prefix);
        let faces = entry.in_records().map(|record| record.face);
        for face in faces.chain(entry.out_records().map(|record| record.face)) {
            assert!(bench.ports[face.index()].is_some(), "{face:?} is gone");
        }
    }
    assert_eq!((entries, prefixes), (pit.len(), pit.prefix_entries()));
}

fn queue_balances(bench: &Bench, face: FaceId) {
    let (view, queue) = (&bench.node.faces()[face.index()], bench.node.queue(face));
    let (stats, waiting) = (queue.stats(), view.queued_packets() + view.held_packets());
    let gone = view.sent_packets() + stats.dropped;
    assert_eq!(stats.offered, gone + u64::from(waiting), "{face:?}: {stats:?}");
    assert_eq!(stats.dropped, view.dropped_packets());
    assert_eq!(queue.headers(&bench.packets).count(), waiting as usize);
    let bytes: u64 = queue
        .headers(&bench.packets)
        .take(view.queued_packets() as usize)
        .map(|header| header.size().get())
        .sum();
    assert_eq!(bytes, view.queued_bytes().get());
    match (&bench.ports[face.index()], view.limit()) {
        (None, _) => assert_eq!(waiting, 0, "{face:?} is gone"),
        (Some(port), limit) => {
            assert_eq!(port.sent, view.sent_packets());
            assert!(view.held_packets() <= view.limit_packets());
            match limit {
                Limit::Packets(limit) => {
                    let classes = [Class::BULK, Class::NOTICE].map(|class| view.backlog(class));
                    assert!(classes.iter().all(|backlog| *backlog <= limit.get()));
                }
                Limit::Bytes(limit) => assert!(view.queued_bytes().get() <= 2 * limit.get()),
            }
        }
    }
}

/// Every name and token that stands anywhere is known.
pub fn names_stand(bench: &mut Bench) {
    let (mut held, mut tokens) = (Vec::new(), Vec::new());
    bench.node.visit_names(&bench.packets, &mut |name, token| {
        held.push(name);
        tokens.push(token);
    });
    held.sort_unstable();
    held.dedup();
    for name in held {
        assert_eq!(bench.names.ancestors(name.prefix).last(), Some(NameTable::ROOT));
        let components = bench.components(name);
        assert!(bench.names.encoded_len(name) as usize > components.len());
        assert_eq!(bench.names.intern(&components), Ok(name));
        way_is_right(bench, name.prefix);
    }
    for token in tokens.into_iter().filter(|token| token.0 != 0) {
        assert!(bench.tokens.get(token).is_some(), "{token:?} is forgotten");
    }
}

/// Asserts that the cached entry of the FIB for a prefix is that of its routes.
fn way_is_right(bench: &mut Bench, prefix: PrefixId) {
    let (names, fib) = (&bench.names, bench.node.forwarder_mut().fib_mut());
    let routes = names.ancestors(prefix).map(|prefix| fib.given(prefix).to_vec());
    let longest = routes.into_iter().find(|hops| !hops.is_empty()).unwrap_or_default();
    assert_eq!(*fib.lookup(prefix, names, &NoRoutes, NodeId(0)).hops, *longest);
}

/// Asserts that the name in the header of a packet is the one in its bytes.
pub fn is_faithful(names: &NameTable, packet: &Packet<Bytes>) {
    let name = components(names, packet.header.name);
    match packet.header.kind {
        Kind::Interest(_) | Kind::Nack(_) => {
            let interest = InterestView::parse(&packet.body).expect("the body is an Interest");
            assert_eq!(interest.name.components(), name);
        }
        Kind::Data(_) => {
            let data = DataView::parse(&packet.body).expect("the body is a Data");
            assert_eq!(data.name.components(), name);
        }
        Kind::LossNotice(_) | Kind::Tcp(_) => assert!(packet.body.is_empty()),
    }
}

fn components(names: &NameTable, name: Name) -> Vec<u8> {
    let mut components = Vec::new();
    names.write_components(name, &mut components);
    components
}
