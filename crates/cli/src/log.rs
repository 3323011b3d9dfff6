//! Log lines on standard error: events of `tracing`, as text or JSON, at most a few of each kind per second.
//!
//! A subscriber of its own in place of `tracing-subscriber`, whose formats cannot count what a limit suppresses.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tidegate_live::clock::MonotonicClock;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber, span};

use crate::exit::Failure;
use crate::{Format, Session, complain};

/// Variable of the environment with the level, which `--log` replaces.
const VARIABLE: &str = "TIDEGATE_LOG";

/// Maximum number of lines of a kind within [`INTERVAL`]. A kind is a place in the source.
const MAX_LINES: u32 = 5;

/// Interval over which the lines of a kind are counted.
const INTERVAL: Duration = Duration::from_secs(1);

/// Options of commands with a log.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LogArguments {
    /// Least severe events that are logged on standard error, instead of those of `TIDEGATE_LOG`; by default warn, with
    /// `--quiet` error.
    #[arg(long, value_name = "LEVEL", value_enum)]
    log: Option<LogLevel>,
    /// Format of the log and of all other messages on standard error, by default that of `--format`.
    #[arg(long, value_name = "FORMAT", value_enum)]
    log_format: Option<Format>,
}

/// Severity of an event, from none to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogLevel {
    /// No events at all.
    Off,
    /// What an operator has to repair.
    Error,
    /// What may need attention: limits that were reached, refusals, lost connections.
    Warn,
    /// What has changed: faces, routes of the configuration, connections.
    Info,
    /// Details for developers of Tidegate.
    Debug,
}

impl LogLevel {
    fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
        }
    }
}

impl LogArguments {
    /// Format of all messages on standard error; `None` for that of `--format`.
    pub(crate) fn format(&self) -> Option<Format> {
        self.log_format
    }

    /// Begins the log of this process; at the end of the returned value the lines that were suppressed last are counted.
    pub(crate) fn begin(&self, session: &Session) -> Result<LogEnd, Failure> {
        let default = if session.quiet { LogLevel::Error } else { LogLevel::Warn };
        let level = match (self.log, std::env::var(VARIABLE)) {
            (Some(level), _) => level,
            (None, Ok(text)) => <LogLevel as clap::ValueEnum>::from_str(&text, true).map_err(|_| {
                Failure::usage(format!("{VARIABLE}: {text:?} is not off, error, warn, info or debug"))
            })?,
            (None, Err(_)) => default,
        };
        let log = Arc::new(Log {
            format: session.messages,
            level: level.filter(),
            begun: Instant::now(),
            kinds: Mutex::new(Vec::new()),
        });
        // Refused only if there is one already, which a process of one command never has.
        let _ = tracing::subscriber::set_global_default(Arc::clone(&log));
        Ok(LogEnd(log))
    }
}

/// The end of a log, at which suppressed lines are counted.
pub(crate) struct LogEnd(Arc<Log>);

impl Drop for LogEnd {
    fn drop(&mut self) {
        let mut kinds = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in kinds.iter_mut().filter(|kind| kind.limit.suppressed > 0) {
            let line = LogLine { text: kind.text.clone(), fields: Map::new() };
            complain(&line.render(self.0.format, kind.level, std::mem::take(&mut kind.limit.suppressed)));
        }
    }
}

/// The subscriber, which writes each event at once.
#[derive(Debug)]
struct Log {
    format: Format,
    level: LevelFilter,
    begun: Instant,
    kinds: Mutex<Vec<LineKind>>,
}

/// Events of one place in the source.
#[derive(Debug)]
struct LineKind {
    id: Identifier,
    level: Level,
    limit: LineLimit,
    /// The message of the last line that was suppressed.
    text: String,
}

/// Lines of one kind within the present interval.
#[derive(Clone, Copy, Debug, Default)]
struct LineLimit {
    since: Duration,
    shown: u32,
    suppressed: u64,
}

impl LineLimit {
    /// Number of lines suppressed before this one; `None` if this one is suppressed, too. `now`: time since the start.
    fn admit(&mut self, now: Duration) -> Option<u64> {
        if now >= self.since + INTERVAL {
            (self.since, self.shown) = (now, 0);
        }
        if self.shown >= MAX_LINES {
            self.suppressed += 1;
            return None;
        }
        self.shown += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let (id, level) = (event.metadata().callsite(), *event.metadata().level());
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kinds.iter().position(|kind| kind.id == id).unwrap_or_else(|| {
            kinds.push(LineKind { id, level, limit: LineLimit::default(), text: String::new() });
            kinds.len() - 1
        });
        let kind = &mut kinds[at];
        match kind.limit.admit(self.begun.elapsed()) {
            Some(suppressed) => {
                let mut line = LogLine::default();
                event.record(&mut line);
                complain(&line.render(self.format, level, suppressed));
            }
            // The first one of a row stands for all, so that a flood costs no formatting.
            None if kind.limit.suppressed == 1 => {
                let mut line = LogLine::default();
                event.record(&mut line);
                kind.text = line.text;
            }
            None => {}
        }
    }

    // There are no spans in this program.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// One event: its message, and its other fields in order.
#[derive(Debug, Default)]
struct LogLine {
    text: String,
    fields: Map<String, Value>,
}

impl LogLine {
    fn add(&mut self, field: &Field, value: Value) {
        self.fields.insert(field.name().to_owned(), value);
    }

    /// The line without its end.
    fn render(mut self, format: Format, level: Level, suppressed: u64) -> String {
        let kind = match level {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            _ => "debug",
        };
        if suppressed > 0 {
            self.fields.insert("suppressed".to_owned(), suppressed.into());
        }
        match format {
            Format::Json => {
                let mut document = Map::new();
                document.insert(kind.to_owned(), self.text.into());
                document.insert("time_s".to_owned(), json!(MonotonicClock::wall_micros() as f64 / 1e6));
                document.append(&mut self.fields);
                Value::Object(document).to_string()
            }
            Format::Text => {
                let mut line = format!("{kind}: {}", self.text);
                for (name, value) in &self.fields {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let _ = write!(line, " {name}={value}");
                }
                line
            }
        }
    }
}

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.text = format!("{value:?}"),
            _ => self.add(field, format!("{value:?}").into()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.text = value.to_owned(),
            _ => self.add(field, value.into()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_five_lines_in_a_second_and_the_next_one_counts_the_others() {
        let mut limit = LineLimit::default();
        let mut admitted = |ms: u64| limit.admit(Duration::from_millis(ms));
        let first: Vec<Option<u64>> = (0..8).map(|at| admitted(10 * at)).collect();
        assert_eq!(first, [Some(0), Some(0), Some(0), Some(0), Some(0), None, None, None]);
        assert_eq!((admitted(999), admitted(1_000), admitted(1_001)), (None, Some(4), Some(0)));
    }

    #[test]
    fn a_line_has_its_fields_in_both_formats() {
        let line = || {
            let fields = [("face".to_owned(), 5.into()), ("remote".to_owned(), "fd://7".into())];
            LogLine { text: "a face is down".to_owned(), fields: fields.into_iter().collect() }
        };
        let text = line().render(Format::Text, Level::INFO, 3);
        assert_eq!(text, "info: a face is down face=5 remote=fd://7 suppressed=3");
        let json = line().render(Format::Json, Level::WARN, 0);
        let read: Value = serde_json::from_str(&json).expect("JSON");
        assert!(json.starts_with("{\"warning\":\"a face is down\",\"time_s\":"), "{json}");
        assert_eq!(
            (&read["face"], &read["remote"], &read["suppressed"]),
            (&json!(5), &json!("fd://7"), &Value::Null)
        );
    }
}
