//! Step marking: marks every packet that finds more than a threshold in the queue.
//!
//! Paper: RFC 8257, section 3.1 and Alizadeh et al., SIGCOMM 2010, section 3.1 ("K"); a segment that may not be
//! marked is dropped.

use tidegate_core::prelude::*;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "step-ecn",
    summary: "marks every packet that arrives at a queue longer than a threshold",
    paper: "RFC 8257; Alizadeh et al.: Data Center TCP, SIGCOMM 2010",
    provenance: Provenance::Paper,
    deviations: &[
        "measure = \"time\" is not in the paper; its threshold is independent of the link's rate.",
        "The packet being transmitted is not counted, as a device has removed it from its queue.",
    ],
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(StepEcn { params: Params::from_settings(settings)? }))),
    marking: Marking::Always,
    ..Scheme::NONE
};

choice! {
    /// Quantity by which the queue is measured.
    pub enum QueueMeasure {
        /// The number of waiting packets.
        Packets = "packets",
        /// The transmission time of the waiting packets.
        Time = "time",
    }
}

params! {
    /// How the queue is measured: `packets`, by the number of waiting packets; `time`, by their transmission time.
    measure: QueueMeasure = QueueMeasure::Packets;
    /// Maximum number of waiting packets before one that is not marked (K); the paper's value for 1 Gbps.
    packets: Packets = Packets::new(20), "packets", Packets::new(0)..=Packets::new(1_000_000);
    /// With measure = "time": maximum queue before a packet that is not marked, as a transmission time.
    time: Span = Span::from_millis(1), "time", Span::ZERO..=Span::from_secs(10);
}

#[derive(Debug)]
struct StepEcn {
    params: Params,
}

impl StepEcn {
    fn is_above(&self, queue: &FaceView) -> bool {
        match self.params.measure {
            QueueMeasure::Packets => queue.backlog(Class::BULK) > self.params.packets.get(),
            QueueMeasure::Time => queue.rate().time_to_send(queue.queued_bytes()) > self.params.time,
        }
    }
}

impl QueueDiscipline for StepEcn {
    fn sees_departures(&self) -> bool {
        false
    }

    fn on_enqueue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // Notices overtake the queue, so its length does not concern them.
        if packet.hop.class == Class::BULK && self.is_above(queue) {
            return Verdict::Mark(1, Cause("step"));
        }
        Verdict::Pass
    }
}
