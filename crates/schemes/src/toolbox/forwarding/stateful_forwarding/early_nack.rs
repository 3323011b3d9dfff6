//! Random early Nack: an Interest is refused by RED's law on the queue that its Data would join.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::prelude::*;

use crate::toolbox::queue::average_queue::AverageQueue;
use crate::toolbox::queue::red_law::{RedChooser, RedLaw, Zone};

/// Averages the queue of one device; passes every packet.
#[derive(Debug)]
pub(super) struct QueueWatch {
    pub(super) average: Rc<RefCell<AverageQueue>>,
    pub(super) typical_packet: ByteCount,
}

impl QueueDiscipline for QueueWatch {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let packet_time = queue.rate().time_to_send(self.typical_packet);
        self.average.borrow_mut().arrive(cx.now, queue.backlog(Class::BULK), packet_time);
        Verdict::Pass
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        self.average.borrow_mut().depart(cx.now, queue.backlog(Class::BULK));
        Verdict::Pass
    }
}

/// Chooses Interests by the queue of the face that they came from.
#[derive(Debug)]
pub(super) struct EarlyNack {
    law: RedLaw,
    draws: Rng,
    queues: BTreeMap<FaceId, Downstream>,
}

/// State of the return path through one face.
#[derive(Debug)]
struct Downstream {
    average: Rc<RefCell<AverageQueue>>,
    chooser: RedChooser,
}

impl EarlyNack {
    pub(super) fn new(law: RedLaw, draws: Rng) -> Self {
        Self { law, draws, queues: BTreeMap::new() }
    }

    /// Adds the queue towards `face`, whose average a discipline keeps.
    pub(super) fn watch(&mut self, face: FaceId, average: Rc<RefCell<AverageQueue>>) {
        self.queues.insert(face, Downstream { average, chooser: RedChooser::default() });
    }

    /// Returns whether an Interest that came from `face` is refused. A queue of at most one packet is no congestion,
    /// whatever its average.
    pub(super) fn refuses(&mut self, cx: &Context<'_>, face: FaceId) -> bool {
        let Some(queue) = self.queues.get_mut(&face) else { return false };
        let is_queueing = cx.face(face).backlog(Class::BULK) > 1;
        // The average of the last arrival: an Interest joins no Data queue, so it is not a sample itself.
        let average = queue.average.borrow().latest();
        let zone = if is_queueing { self.law.zone(average) } else { Zone::Quiet };
        queue.chooser.arrive(zone, &mut self.draws).is_some()
    }
}
