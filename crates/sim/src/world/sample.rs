//! Sampling: the state of every flow and queue at equal pauses, written straight into columns.

use super::{Due, World};

impl World {
    pub(super) fn sample(&mut self) {
        let Some(period) = self.sampling else { return };
        self.sample_flows();
        self.sample_links();
        self.ask(self.now + period, Due::Sample);
    }

    fn sample_flows(&mut self) {
        let samples = &mut self.flow_samples;
        for (flow, host) in self.consumers.iter().enumerate() {
            host.consumer.sample_into(self.now, flow as u32, samples);
        }
    }

    fn sample_links(&mut self) {
        let samples = &mut self.link_samples;
        for (link, wire) in self.directions.iter().enumerate() {
            let face = &self.nodes[wire.from.node as usize].core.faces()[wire.from.face.index()];
            samples.time.push(self.now);
            samples.link.push(link as u32);
            samples.queue_packets.push(face.queued_packets());
            samples.queue_bytes.push(u32::try_from(face.queued_bytes().get()).unwrap_or(u32::MAX));
            samples.sent_bytes.push(face.sent_bytes().get());
            samples.dropped_packets.push(u32::try_from(face.dropped_packets()).unwrap_or(u32::MAX));
            samples.stored_packets.push(face.held_packets());
            let stats = self.nodes[wire.from.node as usize].core.queue(wire.from.face).stats();
            let marked = stats.marked + face.marks_taken();
            samples.marked_packets.push(u32::try_from(marked).unwrap_or(u32::MAX));
            samples.lost_packets.push(u32::try_from(wire.line.lost()).unwrap_or(u32::MAX));
        }
    }
}
