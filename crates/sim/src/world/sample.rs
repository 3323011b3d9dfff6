//! Sampling: the state of every flow and queue at constant intervals, written directly into columns.

use tidegate_core::ndn::consumer::Consumer;
use tidegate_core::tcp::record;

use super::connections::Connection;
use super::host::Surroundings;
use super::media::sent_bytes;
use super::{EventKind, World};

impl World {
    #[cold]
    pub(super) fn sample(&mut self) {
        let Some(period) = self.sampling else { return };
        self.sample_flows();
        self.sample_links();
        self.agenda.events.push(self.agenda.now + period, EventKind::Sample, 0);
    }

    fn sample_flows(&mut self) {
        let samples = &mut self.flow_samples;
        for host in &self.consumers {
            if host.is_waiting(self.agenda.now) {
                Consumer::sample_unstarted(self.agenda.now, host.flow(), samples);
                continue;
            }
            let surroundings = Surroundings::of(self.seed, &self.nodes[host.node as usize].core);
            host.read(surroundings, |consumer| consumer.sample_into(self.agenda.now, host.flow(), samples));
        }
        for Connection { sender, receiver, flow, .. } in &self.connections {
            record::sample_into(self.agenda.now, *flow, (sender, receiver), samples);
        }
    }

    fn sample_links(&mut self) {
        let samples = &mut self.link_samples;
        for (link, wire) in self.directions.iter().enumerate() {
            let core = &self.nodes[wire.from.node as usize].core;
            let face = &core.faces()[wire.from.face.index()];
            let gates = core.forwarder().gate_stats(wire.from.face);
            samples.time.push(self.agenda.now);
            samples.link.push(link as u32);
            samples.queue_packets.push(face.queued_packets());
            samples.queue_bytes.push(count(face.queued_bytes().get()));
            samples
                .sent_bytes
                .push(sent_bytes(&self.agenda.media, (link, wire), face, self.agenda.now).get());
            samples.dropped_packets.push(count(face.dropped_packets() + gates.dropped));
            samples.stored_packets.push(count(u64::from(face.held_packets()) + gates.waiting));
            let stats = core.queue(wire.from.face).stats();
            samples.marked_packets.push(count(stats.marked + face.marks_taken()));
            samples.lost_packets.push(count(wire.lost()));
        }
    }
}

/// A count as a column holds it.
fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
