//! The status as metrics, in Prometheus' text format 0.0.4 and in OpenMetrics 1.0.0, at a loopback address.

mod http;
mod server;
mod table;

use std::fmt::Write;

use super::status::StatusLine;
use table::{METRICS, Metric, Unit};

pub(super) use server::{MAX_PEERS, MetricsServer, Progress};

/// Text format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exposition {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0, for clients that accept it.
    OpenMetrics,
}

impl Exposition {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Every metric that `status` has a value of.
fn render(status: &[StatusLine], exposition: Exposition) -> String {
    let mut text = String::new();
    for metric in METRICS {
        let lines = status.iter().filter(|line| line.about == metric.about);
        let samples: Vec<(&StatusLine, &str)> =
            lines.filter_map(|line| line.get(metric.field).map(|value| (line, value))).collect();
        if !samples.is_empty() {
            write_family(&mut text, metric, &samples, exposition);
        }
    }
    if exposition == Exposition::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn write_family(text: &mut String, metric: &Metric, samples: &[(&StatusLine, &str)], exposition: Exposition) {
    let Metric { name, unit, help, .. } = metric;
    let kind = if *unit == Unit::Total { "counter" } else { "gauge" };
    let suffix = if *unit == Unit::Total { "_total" } else { "" };
    // In OpenMetrics a family has the name without the suffix of its samples.
    let family = match exposition {
        Exposition::Prometheus => suffix,
        Exposition::OpenMetrics => "",
    };
    let _ = writeln!(text, "# HELP tidegate_{name}{family} {help}\n# TYPE tidegate_{name}{family} {kind}");
    for (line, value) in samples {
        let _ = write!(text, "tidegate_{name}{suffix}");
        write_labels(text, line);
        let _ = writeln!(text, " {}", unit.value(value));
    }
}

/// Labels of a face; the forwarder has none but its version, in `tidegate_info`.
fn write_labels(text: &mut String, line: &StatusLine) {
    let labels: &[(&str, &str)] = match line.about.as_str() {
        "face" => &[("face", "id"), ("remote", "remote"), ("local", "local"), ("scope", "scope")],
        _ => &[],
    };
    let found = labels.iter().filter_map(|(label, field)| line.get(field).map(|value| (label, value)));
    let mut separator = '{';
    for (label, value) in found {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(text, "{separator}{label}=\"{value}\"");
        separator = ',';
    }
    if separator == ',' {
        text.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Vec<StatusLine> {
        let face = StatusLine::new("face").with("id", 256).with("remote", "unix:///a \"b\"");
        let face = face.with("sent_bytes", 7).with("queue_delay_mean_ms", 1.5);
        vec![StatusLine::new("forwarder").with("uptime_s", "12.5").with("cache_hits", 3), face]
    }

    #[test]
    fn counters_and_gauges_are_in_base_units_with_the_labels_of_their_face() {
        let text = render(&status(), Exposition::Prometheus);
        for line in [
            "# TYPE tidegate_uptime_seconds gauge",
            "tidegate_uptime_seconds 12.5",
            "# TYPE tidegate_cache_hits_total counter",
            "tidegate_cache_hits_total 3",
            r#"tidegate_face_sent_bytes_total{face="256",remote="unix:///a \"b\""} 7"#,
            r#"tidegate_face_queue_delay_mean_seconds{face="256",remote="unix:///a \"b\""} 0.0015"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        assert!(!text.contains("EOF"));
    }

    #[test]
    fn a_family_of_openmetrics_has_no_suffix_and_the_text_an_end() {
        let text = render(&status(), Exposition::OpenMetrics);
        assert!(text.contains("# TYPE tidegate_cache_hits counter\ntidegate_cache_hits_total 3\n"), "{text}");
        assert!(text.ends_with("\n# EOF\n"), "{text}");
    }

    #[test]
    fn names_of_metrics_are_unique_and_each_has_a_help_text() {
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert!(METRICS.iter().all(|metric| metric.help.ends_with('.')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
    }
}
