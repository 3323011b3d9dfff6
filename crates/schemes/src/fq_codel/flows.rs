//! Order of flows: new flows before those that had a turn (RFC 8290, section 4.2).

use std::collections::VecDeque;

use tidegate_core::units::ByteCount;

/// The two lists of active flows.
#[derive(Debug)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Whether it is in one of the lists.
    is_active: bool,
    /// Bytes that it may still send in its turn.
    credits: i64,
}

impl Flows {
    pub(super) fn new(count: u32) -> Self {
        let flows = vec![Flow::default(); count as usize];
        Self { flows, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// Records that a packet of `flow` arrives; a flow that is in no list becomes a new flow.
    pub(super) fn activate(&mut self, flow: u32, quantum: ByteCount) {
        let state = &mut self.flows[flow as usize];
        if !state.is_active {
            *state = Flow { is_active: true, credits: signed(quantum) };
            self.new.push_back(flow);
        }
    }

    /// Returns the flow that is served next, which stays in its list.
    pub(super) fn next(&mut self, quantum: ByteCount, has_packets: impl Fn(u32) -> bool) -> Option<u32> {
        loop {
            let is_new = !self.new.is_empty();
            let flow = *self.new.front().or(self.old.front())?;
            let state = &mut self.flows[flow as usize];
            let has_credits = state.credits > 0;
            if has_credits && has_packets(flow) {
                return Some(flow);
            }
            // Only a flow without credits gets a quantum; one that ran empty keeps the rest of its turn.
            if !has_credits {
                state.credits += signed(quantum);
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            // A new flow that has run empty waits one round among the old ones, so that it cannot return as
            // new at once and starve them (RFC 8290, section 4.2).
            if is_new || !has_credits {
                self.old.push_back(flow);
            } else {
                state.is_active = false;
            }
        }
    }

    /// `flow` sends a packet of `size`.
    pub(super) fn charge(&mut self, flow: u32, size: ByteCount) {
        self.flows[flow as usize].credits -= signed(size);
    }
}

fn signed(bytes: ByteCount) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX)
}
