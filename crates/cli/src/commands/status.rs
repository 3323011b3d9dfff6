//! `tidegate status`: status of a running forwarder.

use serde_json::{Value, json};
use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::daemon::status::{self, StatusLine};
use tidegate_live::uplink::{Places, Uplink};
use tidegate_live::uri::FaceUri;
use tidegate_results::text::{Align, Screen, TextTable};
use tidegate_wire::{DataView, InterestBuilder, name};

use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Timeout of the request.
const PATIENCE: Span = Span::from_secs(4);

/// Maximum number of segments of a status, which bounds the loop whatever the forwarder sends.
const MAX_SEGMENTS: u32 = 10_000;

/// Arguments of the command `tidegate status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
}

/// Runs the command `tidegate status`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let uplink = uplink(arguments.transport.as_deref())?;
    let mut client = Client::connect(&uplink).map_err(Failure::error)?;
    let lines = read(&mut client)?;
    session.print(|| self::text(&lines, session.screen), || json(&lines));
    Ok(Exit::Ok)
}

/// Address of the forwarder: as requested, else the one that applications use.
pub(crate) fn uplink(requested: Option<&str>) -> Result<Uplink, Failure> {
    match requested {
        None => Places::of_process().uplink().map_err(Failure::error),
        Some(uri) => {
            let uri = FaceUri::resolve(uri).map_err(|why| Failure::usage(format!("--transport: {why}")))?;
            Ok(Uplink { uri, source: "--transport".to_owned() })
        }
    }
}

/// Requests the whole status, segment by segment.
pub(crate) fn read(client: &mut Client) -> Result<Vec<StatusLine>, Failure> {
    let mut requested = Vec::new();
    for word in ["localhost", "tidegate", "status"] {
        name::push_component(&mut requested, 8, word.as_bytes());
    }
    let (mut text, mut last) = (Vec::new(), 0);
    let mut segment = 0;
    while segment <= last {
        // Only the first Interest discovers a version; the others have the full name of their segment.
        let first = segment == 0;
        let interest = InterestBuilder {
            name: &requested,
            can_be_prefix: first,
            must_be_fresh: first,
            ..Default::default()
        };
        let interest = interest.build().map_err(Failure::error)?;
        let packet = match client.express(interest, PATIENCE).map_err(Failure::error)? {
            Answer::Data(packet) => packet,
            Answer::Nack(reason) => {
                return Err(Failure::error(format!("the forwarder refused the request: {reason:?}")));
            }
            Answer::Timeout => return Err(Failure::error("the forwarder does not respond")),
        };
        let data = DataView::parse(&packet.body).map_err(Failure::error)?;
        text.extend_from_slice(data.content);
        last = data.final_segment().0.min(MAX_SEGMENTS);
        segment += 1;
        // The Data's name includes the version; its last component, the segment, is replaced.
        requested = data.name.components().to_vec();
        let length = data.name.last().map_or(0, |component| component.end() - component.start);
        requested.truncate(requested.len() - length);
        name::push_segment(&mut requested, segment);
    }
    Ok(status::read(&String::from_utf8_lossy(&text)))
}

/// Columns of the table of faces: key, heading.
const FACE: [(&str, &str); 15] = [
    ("id", "face"),
    ("remote", "remote"),
    ("scope", "scope"),
    ("received_packets", "in"),
    ("sent_packets", "out"),
    ("queue_packets", "queue"),
    ("queue_delay_mean_ms", "delay ms"),
    ("dropped_packets", "dropped"),
    ("marked_packets", "marked"),
    ("stored_packets", "stored"),
    ("released_packets", "released"),
    ("loss_notices", "notices"),
    ("malformed", "malformed"),
    ("mtu_bytes", "mtu"),
    ("mtu_origin", "mtu is"),
];

const FLOW: [(&str, &str); 4] =
    [("prefix", "prefix"), ("interests", "Interests"), ("data", "Data"), ("bytes", "bytes")];

const ROUTE: [(&str, &str); 4] =
    [("prefix", "prefix"), ("face", "face"), ("cost", "cost"), ("origin", "origin")];

/// The status as text with tables.
pub(crate) fn text(lines: &[StatusLine], screen: Screen) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.about == "forwarder") {
        for (key, value) in &line.fields {
            text.push_str(&format!("{key:<20}  {value}\n"));
        }
    }
    for (about, columns) in [("face", &FACE[..]), ("flow", &FLOW[..]), ("route", &ROUTE[..])] {
        text.push('\n');
        text.push_str(&table(lines, about, columns, screen));
    }
    text
}

fn table(lines: &[StatusLine], about: &str, columns: &[(&str, &str)], screen: Screen) -> String {
    let is_text = |key: &str| matches!(key, "remote" | "scope" | "prefix" | "mtu_origin");
    let head: Vec<(&str, Align)> = columns
        .iter()
        .map(|(key, head)| (*head, if is_text(key) { Align::Left } else { Align::Right }))
        .collect();
    let mut table = TextTable::new(&head);
    for line in lines.iter().filter(|line| line.about == about) {
        table.row(columns.iter().map(|(key, _)| cell(line, key)));
    }
    table.render(screen)
}

fn cell(line: &StatusLine, key: &str) -> String {
    let value = line.get(key).unwrap_or("");
    match value.parse::<f64>() {
        Ok(number) if value.contains('.') => tidegate_results::text::number(number),
        _ => value.to_owned(),
    }
}

/// The status as JSON, with one list for each kind of line.
pub(crate) fn json(lines: &[StatusLine]) -> Value {
    let of = |about: &str| {
        let lines = lines.iter().filter(|line| line.about == about);
        lines.map(as_json).collect::<Value>()
    };
    json!({
        "forwarder": of("forwarder"),
        "faces": of("face"),
        "flows": of("flow"),
        "routes": of("route"),
    })
}

fn as_json(line: &StatusLine) -> Value {
    // Integers first, since counters above 2^53 are not exact as f64.
    let value = |text: &str| match (text.parse::<u64>(), text.parse::<f64>()) {
        (Ok(count), _) => Value::from(count),
        (_, Ok(number)) => Value::from(number),
        _ => Value::from(text),
    };
    Value::from_iter(line.fields.iter().map(|(key, text)| (key.clone(), value(text))))
}
