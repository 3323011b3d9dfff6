//! qlog (draft-ietf-quic-qlog-main-schema) in its sequential form: one file per vantage point, a record a line.
//!
//! A file is the record separator, a JSON text and a line end for each record (RFC 7464). Events are of a
//! namespace of their own, `ndn`; `recovery:metrics_updated` repeats the window, so that tools for QUIC draw it.

use std::io::{self, Write};

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::{Span, Time};

use super::{Network, Trace};
use crate::script::number;
use serde_json::{Value, json};

/// Vantage point of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// The consumer of a flow, by its number.
    Consumer(u32),
    /// All queues and links.
    Network,
}

/// Writes one `.sqlog` file.
#[derive(Debug)]
pub struct QlogTrace<W> {
    out: W,
    vantage: Vantage,
}

impl<W: Write> QlogTrace<W> {
    /// A trace of the run `title`, taken at `vantage`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(out: W, title: &str, vantage: Vantage, network: &Network) -> io::Result<Self> {
        let mut trace = Self { out, vantage };
        let (name, kind) = match vantage {
            Vantage::Consumer(flow) => {
                (network.flows.get(flow as usize).map_or("?", |flow| flow.name.as_str()), "client")
            }
            Vantage::Network => ("network", "network"),
        };
        let common = json!({
            "time_format": "relative_to_epoch",
            "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
        });
        let vantage = json!({ "name": name, "type": kind });
        trace.record(json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": title,
            "trace": {
                "title": name,
                "common_fields": common,
                "vantage_point": vantage,
                "event_schemas": ["urn:tidegate:qlog:events:ndn"],
            },
        }))?;
        Ok(trace)
    }

    fn record(&mut self, record: Value) -> io::Result<()> {
        writeln!(self.out, "\u{1e}{record}")
    }

    fn event(&mut self, at: Time, name: &'static str, data: Vec<(&'static str, Value)>) -> io::Result<()> {
        let time = number(at.as_nanos() as f64 / 1e6);
        self.record(json!({ "time": time, "name": name, "data": Value::from_iter(data) }))
    }

    fn consumer(&mut self, network: &Network, at: Time, event: &Event, of: u32) -> io::Result<()> {
        match *event {
            Event::InterestSent { flow, name, retransmission } if flow == of => {
                let data = vec![
                    ("name", Value::from(network.uri(name))),
                    ("is_retransmission", Value::from(retransmission)),
                ];
                self.event(at, "ndn:interest_sent", data)
            }
            Event::DataReceived { flow, name, full_delay, last_delay, mark, retransmissions, hops }
                if flow == of =>
            {
                let data = vec![
                    ("name", Value::from(network.uri(name))),
                    ("full_delay", millis(full_delay)),
                    ("last_delay", millis(last_delay)),
                    ("congestion_mark", Value::from(u64::from(mark))),
                    ("retransmissions", Value::from(u64::from(retransmissions))),
                    ("hops", Value::from(u64::from(hops))),
                ];
                self.event(at, "ndn:data_received", data)
            }
            Event::LossDetected { flow, name, cause } if flow == of => {
                let data = vec![("name", Value::from(network.uri(name))), ("trigger", cause.0.into())];
                self.event(at, "ndn:loss_detected", data)
            }
            Event::WindowChanged { flow, window, cause } if flow == of => {
                let data = vec![("window", number(window)), ("trigger", cause.0.into())];
                self.event(at, "ndn:window_changed", data)?;
                let data = vec![("congestion_window", number(window))];
                self.event(at, "recovery:metrics_updated", data)
            }
            _ => Ok(()),
        }
    }

    fn network(&mut self, network: &Network, record: &EventRecord) -> io::Result<()> {
        let (face, name, cause) = match record.event {
            Event::Dropped { face, name, cause, .. } => (face, name, Some(cause.0)),
            Event::Marked { face, name, cause, .. } => (face, name, Some(cause.0)),
            Event::Stored { face, name }
            | Event::Released { face, name }
            | Event::NoticeMade { face, name }
            | Event::Lost { face, name } => (face, name, None),
            _ => return Ok(()),
        };
        let kind = match record.event {
            Event::Dropped { .. } => "ndn:packet_dropped",
            Event::Marked { .. } => "ndn:packet_marked",
            Event::Stored { .. } => "ndn:packet_stored",
            Event::Released { .. } => "ndn:packet_released",
            Event::NoticeMade { .. } => "ndn:loss_notice_made",
            _ => "ndn:packet_lost",
        };
        let mut data = vec![
            ("queue", Value::from(network.face_name(record.node, face))),
            ("name", Value::from(network.uri(name))),
        ];
        data.extend(cause.map(|cause| ("trigger", cause.into())));
        if let Event::Marked { sojourn, .. } = record.event {
            data.push(("sojourn", millis(sojourn)));
        }
        self.event(record.time, kind, data)
    }
}

impl<W: Write> Trace for QlogTrace<W> {
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()> {
        for record in events {
            match self.vantage {
                Vantage::Consumer(flow) => self.consumer(network, record.time, &record.event, flow)?,
                Vantage::Network => self.network(network, record)?,
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Network, _: Time) -> io::Result<()> {
        self.out.flush()
    }
}

/// Times and delays of qlog are milliseconds.
fn millis(span: Span) -> Value {
    number(span.as_nanos() as f64 / 1e6)
}
