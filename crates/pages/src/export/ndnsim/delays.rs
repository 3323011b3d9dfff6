//! `app-delays-trace.txt`: delays of each segment.

use std::io::{self, Write};

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::{Span, Time};

use super::super::{Network, Trace};
use super::plain;

/// Writes `app-delays-trace.txt`: two rows for every segment that a consumer receives.
#[derive(Debug)]
pub struct AppDelayTrace<W> {
    out: W,
}

impl<W: Write> AppDelayTrace<W> {
    /// A trace in `out`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "Time\tNode\tAppId\tSeqNo\tType\tDelayS\tDelayUS\tRetxCount\tHopCount")?;
        Ok(Self { out })
    }
}

impl<W: Write> Trace for AppDelayTrace<W> {
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()> {
        for record in events {
            let Event::DataReceived { flow, name, full_delay, last_delay, retransmissions, hops, .. } =
                record.event
            else {
                continue;
            };
            let time = plain(record.time.as_secs_f64());
            let node = network.node_name(record.node);
            let application = network.flows.get(flow as usize).map_or(0, |flow| flow.place);
            // RetxCount is 1 for the last delay, and for the full one counts the first Interest too.
            let rows = [("LastDelay", last_delay, 1), ("FullDelay", full_delay, retransmissions + 1)];
            for (kind, delay, count) in rows {
                writeln!(
                    self.out,
                    "{time}\t{node}\t{application}\t{}\t{kind}\t{}\t{}\t{count}\t{hops}",
                    name.segment.0,
                    plain(delay.as_secs_f64()),
                    plain(micros(delay))
                )?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Network, _: Time) -> io::Result<()> {
        self.out.flush()
    }
}

fn micros(delay: Span) -> f64 {
    delay.as_nanos() as f64 / 1e3
}
