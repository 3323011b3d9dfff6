//! `drop-trace.txt` and `cs-trace.txt`: one or two rows per node and period.

use std::io::{self, Write};

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::{Span, Time};

use super::super::{Network, Trace};
use super::{Periods, Rate, plain};

/// Writes `drop-trace.txt`: packets that queues dropped. Losses on links are not drops.
#[derive(Debug)]
pub struct DropTrace<W> {
    out: W,
    periods: Periods,
    nodes: Vec<Rate>,
}

impl<W: Write> DropTrace<W> {
    /// A trace with a row per node at the end of every `period`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W, period: Span) -> io::Result<Self> {
        writeln!(out, "Time\tNode\tInterface\tType\tPackets\tKilobytes\tPacketsRaw\tKilobytesRaw")?;
        Ok(Self { out, periods: Periods::new(period), nodes: Vec::new() })
    }

    fn print_until(&mut self, network: &Network, now: Time) -> io::Result<()> {
        self.nodes.resize(network.nodes.len(), Rate::default());
        while let Some(end) = self.periods.over(now) {
            let time = plain(end.as_secs_f64());
            for (node, rate) in network.nodes.iter().zip(&mut self.nodes) {
                let columns = rate.columns(self.periods.length);
                writeln!(self.out, "{time}\t{}\tcombined\tDrop\t{columns}", node.name)?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Trace for DropTrace<W> {
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()> {
        for record in events {
            // Before the event is counted: periods without an event have rows, too.
            self.print_until(network, record.time)?;
            if let (Event::Dropped { size, .. }, Some(rate)) =
                (record.event, self.nodes.get_mut(record.node as usize))
            {
                rate.count(size.get());
            }
        }
        Ok(())
    }

    fn finish(&mut self, network: &Network, end: Time) -> io::Result<()> {
        self.print_until(network, end)?;
        self.out.flush()
    }
}

/// Writes `cs-trace.txt`: hits and misses of every content store.
#[derive(Debug)]
pub struct CacheTrace<W> {
    out: W,
    periods: Periods,
    /// Hits and misses of this period.
    nodes: Vec<[u64; 2]>,
}

impl<W: Write> CacheTrace<W> {
    /// A trace with two rows per node at the end of every `period`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W, period: Span) -> io::Result<Self> {
        // ndnSIM's head line ends in a tab too.
        writeln!(out, "Time\tNode\tType\tPackets\t")?;
        Ok(Self { out, periods: Periods::new(period), nodes: Vec::new() })
    }

    fn print_until(&mut self, network: &Network, now: Time) -> io::Result<()> {
        self.nodes.resize(network.nodes.len(), [0; 2]);
        while let Some(end) = self.periods.over(now) {
            let time = plain(end.as_secs_f64());
            for (node, [hits, misses]) in network.nodes.iter().zip(&mut self.nodes) {
                writeln!(self.out, "{time}\t{0}\tCacheHits\t{hits}", node.name)?;
                writeln!(self.out, "{time}\t{0}\tCacheMisses\t{misses}", node.name)?;
                (*hits, *misses) = (0, 0);
            }
        }
        Ok(())
    }
}

impl<W: Write> Trace for CacheTrace<W> {
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()> {
        for record in events {
            self.print_until(network, record.time)?;
            let place = match record.event {
                Event::CacheHit { .. } => 0,
                Event::CacheMiss { .. } => 1,
                _ => continue,
            };
            if let Some(counts) = self.nodes.get_mut(record.node as usize) {
                counts[place] += 1;
            }
        }
        Ok(())
    }

    fn finish(&mut self, network: &Network, end: Time) -> io::Result<()> {
        self.print_until(network, end)?;
        self.out.flush()
    }
}
