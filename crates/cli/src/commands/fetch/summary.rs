//! Final report of a fetch. The lines of the text are those of `ndncatchunks`, which scripts parse.

use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::observe::records::FlowRecord;
use tidegate_live::fetch::Fetched;

use super::Ndnget;
use super::scheme::Label;
use crate::Format;
use crate::exit::print;

/// Values of the final report.
pub(super) struct Summary<'a> {
    /// Result of the transfer.
    pub(super) fetched: &'a Fetched,
    /// Name and parameters of its scheme.
    pub(super) scheme: &'a Label,
    /// Name of the key that has signed it, if it was found by a trust anchor.
    pub(super) signer: Option<&'a str>,
    /// Bytes of content that an earlier fetch had left.
    pub(super) resumed_bytes: u64,
    /// The page that was written.
    pub(super) page: Option<&'a Path>,
    /// The lines of `ndnget` in place of those of `fetch`.
    pub(super) ndnget: Option<&'a Ndnget>,
}

impl Summary<'_> {
    /// Prints it; to standard error if the content went to standard output.
    pub(super) fn show(&self, format: Format, is_output_taken: bool) {
        let summary = match format {
            Format::Text => self.ndnget.map_or_else(|| self.text(), |ndnget| self.ndnget_text(ndnget)),
            Format::Json => self.json().to_string() + "\n",
        };
        if is_output_taken { crate::complain(summary.trim_end()) } else { print(&summary) }
    }

    fn text(&self) -> String {
        let Self { fetched, scheme, signer, resumed_bytes, page, .. } = self;
        let flow = &fetched.record.flows[0];
        let share = 100.0 * flow.retransmissions as f64 / flow.interests.max(1) as f64;
        let delay = &flow.last_delay;
        let [min, mean, max] = [delay.min, delay.mean, delay.max].map(|span| span.as_millis_f64());
        let mut lines = vec![
            if fetched.end.is_ok() {
                "All segments have been received."
            } else {
                "Not all segments were received."
            }
            .to_owned(),
            format!("Name: {}", flow.prefix),
            format!("Time elapsed: {:.3} s", elapsed(fetched, flow)),
            format!("Segments received: {}", flow.delivered_segments),
            format!("Transferred size: {:.1} kB", flow.delivered_payload.get() as f64 / 1e3),
            format!("Goodput: {:.3} Mbit/s", goodput(fetched, flow) / 1e6),
            format!("Scheme: {scheme}"),
            format!("Window at the end: {:.1} packets", flow.final_window_packets),
            format!("Congestion marks: {}", flow.marks),
            format!("Timeouts: {}", flow.timeouts),
            format!("Retransmitted segments: {} ({share:.2}%)", flow.retransmissions),
            format!("Nacks: {}, loss notices: {}", flow.nacks, flow.loss_notices),
            format!("RTT min/avg/max = {min:.3}/{mean:.3}/{max:.3} ms"),
        ];
        lines.extend(signer.map(|signer| format!("Signed by: {signer}")));
        if fetched.bad > 0 {
            lines.push(format!("Data with a wrong signature: {}", fetched.bad));
        }
        if fetched.unchecked > 0 {
            lines.push(format!("Segments with a signature that was not checked: {}", fetched.unchecked));
        }
        if *resumed_bytes > 0 {
            lines.push(format!("Transferred before: {:.1} kB", *resumed_bytes as f64 / 1e3));
        }
        lines.extend(page.map(|page| format!("report  {}", page.display())));
        lines.join("\n") + "\n"
    }

    /// The closing lines of `ndnget`, but for numbers that are not counted here: window decreases and skipped retransmissions.
    fn ndnget_text(&self, ndnget: &Ndnget) -> String {
        let flow = &self.fetched.record.flows[0];
        let mut lines = vec![
            "\n\nAll segments have been received.".to_owned(),
            format!("Time elapsed: {} seconds", elapsed(self.fetched, flow)),
            format!("Segments received: {}", flow.delivered_segments),
            format!("Transferred size: {} kB", flow.delivered_payload.get() as f64 / 1e3),
            format!("Goodput: {}", rate(goodput(self.fetched, flow))),
        ];
        if ndnget.is_adaptive {
            let share = 100.0 * flow.retransmissions as f64 / flow.interests.max(1) as f64;
            let delay = &flow.last_delay;
            let [min, mean, max] = [delay.min, delay.mean, delay.max].map(|span| span.as_millis_f64());
            lines.extend([
                format!("Congestion marks: {}", flow.marks),
                format!("Timeouts: {}", flow.timeouts),
                format!("Retransmitted segments: {} ({share}%)", flow.retransmissions),
                match delay.count {
                    0 => "RTT stats unavailable".to_owned(),
                    _ => format!("RTT min/avg/max = {min:.3}/{mean:.3}/{max:.3} ms"),
                },
            ]);
        }
        lines.join("\n") + "\n"
    }

    fn json(&self) -> Value {
        let Self { fetched, scheme, signer, resumed_bytes, page, .. } = self;
        let flow = &fetched.record.flows[0];
        let delay = |span: tidegate_core::units::Span| match flow.last_delay.count {
            0 => Value::Null,
            _ => Value::from(span.as_millis_f64()),
        };
        json!({
            "name": flow.prefix,
            "complete": fetched.end.is_ok(),
            "error": fetched.end.as_ref().err().map(ToString::to_string),
            "scheme": flow.scheme,
            "is_default_scheme": scheme.is_default,
            "parameters": scheme.parameters,
            "bytes": fetched.bytes,
            "resumed_bytes": *resumed_bytes,
            "segments": flow.delivered_segments,
            "elapsed_s": elapsed(fetched, flow),
            "goodput_mbps": goodput(fetched, flow) / 1e6,
            "interests": flow.interests,
            "retransmissions": flow.retransmissions,
            "timeouts": flow.timeouts,
            "duplicates": flow.duplicates,
            "marks": flow.marks,
            "nacks": flow.nacks,
            "loss_notices": flow.loss_notices,
            "wrong_signatures": fetched.bad,
            "unchecked_signatures": fetched.unchecked,
            "signer": signer,
            "rtt_min_ms": delay(flow.last_delay.min),
            "rtt_mean_ms": delay(flow.last_delay.mean),
            "rtt_max_ms": delay(flow.last_delay.max),
            "window_packets": flow.final_window_packets,
            "report": page.map_or(Value::Null, |page| Value::from(page.display().to_string())),
        })
    }
}

/// Seconds from the first Interest to the end.
fn elapsed(fetched: &Fetched, flow: &FlowRecord) -> f64 {
    flow.completed.unwrap_or(fetched.record.ended).since(flow.start).as_secs_f64()
}

/// A rate in bits per second, with the prefix that `ndnget` selects.
fn rate(bits_per_second: f64) -> String {
    let mut value = bits_per_second;
    for prefix in ["", "k", "M", "G"] {
        if value < 1_000.0 {
            return format!("{value:.6} {prefix}bit/s");
        }
        value /= 1_000.0;
    }
    format!("{value:.6} Tbit/s")
}

/// Content, bits per second; 0 before the first Data.
fn goodput(fetched: &Fetched, flow: &FlowRecord) -> f64 {
    let seconds = elapsed(fetched, flow);
    if seconds > 0.0 { flow.delivered_payload.get() as f64 * 8.0 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_six_decimals_and_the_prefix_that_keeps_it_below_a_thousand() {
        let rates = [0.0, 999.5, 1_000.0, 12_345_678.0, 2.5e9, 3e15].map(rate);
        let expected = [
            "0.000000 bit/s",
            "999.500000 bit/s",
            "1.000000 kbit/s",
            "12.345678 Mbit/s",
            "2.500000 Gbit/s",
            "3000.000000 Tbit/s",
        ];
        assert_eq!(rates, expected);
    }
}
