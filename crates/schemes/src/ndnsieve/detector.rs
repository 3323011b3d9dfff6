//! §4.1: congestion states, marks while severe, and the router's reports to the controller.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::local_information::{LocalInformation, load, ports};
use super::messages::Report;
use super::Params;

/// Maximum number of prefixes in one signal.
const MAX_PREFIXES: usize = 8;

/// State of a face (Table 2, rebuilt from the prose).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadState {
    Free,
    Mild,
    Severe,
}

impl LoadState {
    /// The state at this load.
    pub(super) fn of(params: &Params, utilisation: f64, occupancy: f64) -> Self {
        match (utilisation > params.th1, occupancy > params.th2) {
            (false, _) => Self::Free,
            (true, false) => Self::Mild,
            (true, true) => Self::Severe,
        }
    }

    fn word(self) -> Cause {
        Cause(match self {
            Self::Free => "free",
            Self::Mild => "mild",
            Self::Severe => "severe",
        })
    }
}

/// Meters one face, and marks Data that leave through it while it is severely congested.
#[derive(Debug)]
pub(super) struct Detector {
    params: Params,
    face: FaceId,
    local: Rc<RefCell<LocalInformation>>,
}

impl Detector {
    pub(super) fn new(params: &Params, face: FaceId, local: Rc<RefCell<LocalInformation>>) -> Self {
        Self { params: params.clone(), face, local }
    }
}

impl QueueDiscipline for Detector {
    fn on_enqueue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let mut local = self.local.borrow_mut();
        // Counted before the queue accepts it: x of eq. 1 is the offered load, which may exceed the capacity.
        local.count(self.face, packet);
        let is_marked = self.params.mark
            && matches!(packet.kind, Kind::Data(_))
            && LoadState::of(&self.params, local.utilisation(self.face), queue.occupancy()) == LoadState::Severe;
        if is_marked { Verdict::Mark(1, LoadState::Severe.word()) } else { Verdict::Pass }
    }

    fn sees_departures(&self) -> bool {
        false
    }
}

/// Checks all faces once per period; signals congestion and reports loads to the controller.
#[derive(Debug)]
pub(super) struct Agent {
    params: Params,
    node: NodeSetup,
    local: Rc<RefCell<LocalInformation>>,
    states: Vec<LoadState>,
    next_window: Time,
    next_period: Time,
    next_poll: Time,
}

impl Agent {
    pub(super) fn new(params: Params, node: &NodeSetup, local: Rc<RefCell<LocalInformation>>) -> Self {
        Self {
            states: vec![LoadState::Free; node.devices.len()],
            next_window: Time::ZERO + params.window,
            next_period: Time::ZERO + params.period,
            next_poll: Time::ZERO + params.poll,
            node: node.clone(),
            params,
            local,
        }
    }

    fn measure(&self, cx: &Context<'_>) {
        let Params { window, weight, .. } = self.params;
        let mut local = self.local.borrow_mut();
        for device in &self.node.devices {
            local.end_window(device.face, cx.face(device.face).rate(), window, weight);
        }
    }

    /// Checks every face, with at most four operations each: utilisation, occupancy, evaluation and notice (eq. 6).
    fn detect(&mut self, cx: &mut Context<'_>) {
        let mut operations = 0;
        for place in 0..self.node.devices.len() {
            operations += self.look_at(cx, place);
        }
        self.local.borrow_mut().age();
        cx.record(Event::Worked { part: Cause("detection"), operations });
    }

    fn look_at(&mut self, cx: &mut Context<'_>, place: usize) -> u32 {
        let face = self.node.devices[place].face;
        let queue = cx.face(face);
        let mut local = self.local.borrow_mut();
        // Utilisation by eq. 1; occupancy, packets waiting per place of the queue, is eq. 2.
        let state = LoadState::of(&self.params, local.utilisation(face), queue.occupancy());
        // `states` has one entry for each device, in the same order.
        if state != self.states[place] {
            self.states[place] = state;
            cx.record(Event::StateChanged { face: face.0, state: state.word() });
        }
        // Ended in every state, so that a signal names the traffic of its own period only.
        let mut prefixes = local.end_period(face);
        prefixes.truncate(MAX_PREFIXES);
        // Without a prefix the controller has nothing to move.
        if state == LoadState::Free || prefixes.is_empty() {
            return 3;
        }
        cx.report(Report::Congestion { load: load(&local, face, queue), prefixes });
        4
    }

    fn report(&self, cx: &mut Context<'_>) {
        let local = self.local.borrow();
        cx.report(Report::Topology { ports: ports(&self.node, cx.faces), routes: local.routes() });
        let loads = self.node.devices.iter().map(|device| load(&local, device.face, cx.face(device.face)));
        cx.report(Report::Links(loads.collect()));
    }
}

impl RouterAgent for Agent {
    fn on_wake(&mut self, cx: &mut Context<'_>) {
        // When several fall on one instant, loads are measured first, so that the others use current ones.
        if self.next_window <= cx.now {
            self.next_window = cx.now + self.params.window;
            self.measure(cx);
        }
        if self.next_period <= cx.now {
            self.next_period = cx.now + self.params.period;
            self.detect(cx);
        }
        if self.next_poll <= cx.now {
            self.next_poll = cx.now + self.params.poll;
            self.report(cx);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.next_window.min(self.next_period).min(self.next_poll))
    }
}
