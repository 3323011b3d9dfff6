//! The screen: a function of the state, from 80 columns and 24 lines on.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};

use super::state::{Counter, FaceRow, FlowRow, TopState};

/// Lines above the table of faces.
const HEAD_LINES: u16 = 4;

/// Columns of the faces: heading, and width in characters (the second one takes the rest of the screen, 24 of 80 columns).
const FACE: [(&str, u16); 10] = [
    ("face", 5),
    ("remote", 16),
    ("in b/s", 6),
    ("p/s", 5),
    ("out b/s", 7),
    ("p/s", 5),
    ("queue", 5),
    ("ms", 4),
    ("marks", 5),
    ("drops", 5),
];

/// Draws the whole screen, from the summary to the line of keys.
pub(super) fn draw(frame: &mut Frame<'_>, state: &TopState) {
    let routes = state.routes();
    let route_lines =
        u16::try_from(routes.len()).unwrap_or(u16::MAX).saturating_add(1).min(frame.area().height / 3);
    let flows = state.flows();
    let flow_lines = match flows.len() {
        0 => 0,
        count => u16::try_from(count).unwrap_or(u16::MAX).saturating_add(1).min(frame.area().height / 4),
    };
    let parts = Layout::vertical([
        Constraint::Length(HEAD_LINES),
        Constraint::Min(2),
        Constraint::Length(flow_lines),
        Constraint::Length(route_lines),
        Constraint::Length(1),
    ]);
    let [head, faces, flowing, routed, help] = parts.areas(frame.area());
    frame.render_widget(Paragraph::new(head_lines(state)), head);
    draw_faces(frame, state, faces);
    draw_flows(frame, &flows, flowing);
    draw_routes(frame, &routes, routed);
    let text =
        format!("q quit  p pause  s sort: {}  \u{2191}\u{2193} PgUp PgDn Home scroll", state.sort.name());
    frame.render_widget(Line::from(text).reversed(), help);
}

fn head_lines(state: &TopState) -> Vec<Line<'static>> {
    let paused = if state.is_paused { "  [paused]" } else { "" };
    let up = uptime(state.field("uptime_s"));
    let first = format!("tidegate top  {}  up {up}{paused}", state.source);
    let trouble = state.trouble.as_ref().map(|why| Line::from(format!("{why}; connecting again")).red());
    if !state.has_status() {
        let waiting = Line::from("waiting for the first status");
        return vec![Line::from(first).bold(), trouble.unwrap_or(waiting)];
    }
    vec![
        Line::from(first).bold(),
        trouble.unwrap_or_else(|| Line::from(traffic(state))),
        Line::from(tables(state)),
        Line::from(troubles(state)),
    ]
}

/// Sums of all faces.
fn traffic(state: &TopState) -> String {
    let faces = state.faces();
    let sum = |of: fn(&FaceRow) -> Counter| -> Option<f64> {
        let rates: Vec<f64> = faces.iter().filter_map(|face| of(face).rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum())
    };
    let bits = |of| rate(sum(of).map(|bytes| 8.0 * bytes));
    format!(
        "{} faces  in {} bit/s, {} packets/s  out {} bit/s, {} packets/s",
        faces.len(),
        bits(|face| face.received_bytes),
        rate(sum(|face| face.received_packets)),
        bits(|face| face.sent_bytes),
        rate(sum(|face| face.sent_packets)),
    )
}

/// Sizes of the tables.
fn tables(state: &TopState) -> String {
    let value = |key| short(state.counter(key).value as f64);
    format!(
        "PIT {}  content store {} packets, {}B, {} hits/s  names {}  tables {}B",
        value("pending_interests"),
        value("cached_packets"),
        value("cached_bytes"),
        rate(state.counter("cache_hits").rate),
        value("names"),
        value("table_bytes"),
    )
}

/// Counters of what went wrong, since the start.
fn troubles(state: &TopState) -> String {
    let value = |key| short(state.counter(key).value as f64);
    format!(
        "since start: expired {}  refused (PIT full) {}  faces refused {}  malformed {}",
        value("expired"),
        value("refused_full"),
        value("faces_refused"),
        value("malformed"),
    )
}

fn draw_faces(frame: &mut Frame<'_>, state: &TopState, area: Rect) {
    let heads = FACE.iter().enumerate().map(|(at, (head, _))| cell(at, (*head).to_owned()));
    let rows = state.faces().into_iter().skip(state.scrolled).map(|face| face_row(&face));
    let widths = FACE.iter().enumerate().map(|(at, (_, width))| match at {
        1 => Constraint::Min(*width),
        _ => Constraint::Length(*width),
    });
    let table = Table::new(rows, widths).header(Row::new(heads).reversed()).column_spacing(1);
    frame.render_widget(table, area);
}

fn face_row(face: &FaceRow) -> Row<'static> {
    let bits = |counter: Counter| rate(counter.rate.map(|bytes| 8.0 * bytes));
    let remote = if face.is_up { face.remote.clone() } else { format!("(down) {}", face.remote) };
    let cells = [
        face.id.to_string(),
        remote,
        bits(face.received_bytes),
        rate(face.received_packets.rate),
        bits(face.sent_bytes),
        rate(face.sent_packets.rate),
        short(face.queue as f64),
        format!("{:.1}", face.queue_delay_ms),
        short(face.marked.value as f64),
        short(face.dropped.value as f64),
    ];
    let grows = [(8, face.marked), (9, face.dropped)];
    let style = |at: usize| {
        let is_growing = grows.iter().any(|(column, counter)| *column == at && counter.rate > Some(0.0));
        if is_growing { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() }
    };
    Row::new(cells.into_iter().enumerate().map(|(at, text)| cell(at, text).style(style(at))))
}

/// Numbers are aligned to the right.
fn cell(column: usize, text: String) -> Cell<'static> {
    let alignment = if column == 1 { Alignment::Left } else { Alignment::Right };
    Cell::from(Line::from(text).alignment(alignment))
}

/// Rates of each prefix; the busiest first.
fn draw_flows(frame: &mut Frame<'_>, flows: &[FlowRow], area: Rect) {
    let numbers =
        |texts: [String; 4]| texts.map(|text| Cell::from(Line::from(text).alignment(Alignment::Right)));
    let row = |prefix: String, texts| Row::new([Cell::from(prefix)].into_iter().chain(numbers(texts)));
    let heads = ["Interests/s", "Data/s", "bit/s", "satisfied"].map(str::to_owned);
    let head = row(headed("names", flows.len(), area), heads).reversed();
    let rows = flows.iter().map(|flow| {
        let satisfied =
            flow.satisfied_percent().map_or_else(|| "-".to_owned(), |part| format!("{part:.0} %"));
        let bits = rate(flow.bytes.rate.map(|bytes| 8.0 * bytes));
        row(flow.prefix.clone(), [rate(flow.interests.rate), rate(flow.data.rate), bits, satisfied])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(11),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(9),
    ];
    frame.render_widget(Table::new(rows, widths).header(head), area);
}

/// The heading of a list with the number of lines that do not fit.
fn headed(what: &str, count: usize, area: Rect) -> String {
    let hidden = count.saturating_sub(usize::from(area.height).saturating_sub(1));
    if hidden > 0 { format!("{what} ({hidden} more)") } else { what.to_owned() }
}

fn draw_routes(frame: &mut Frame<'_>, routes: &[(String, String)], area: Rect) {
    let head = Row::new([headed("routes", routes.len(), area), "faces".to_owned()]).reversed();
    let rows = routes.iter().map(|(prefix, hops)| Row::new([prefix.clone(), hops.clone()]));
    let table = Table::new(rows, [Constraint::Fill(2), Constraint::Fill(1)]).header(head);
    frame.render_widget(table, area);
}

/// A rate per second; `-` if there is nothing to compare with.
fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), short)
}

/// Three significant digits with a decimal prefix, at most five characters below 1000 P: `999`, `1.23k`, `45.6M`.
fn short(value: f64) -> String {
    let mut value = value;
    for prefix in ["", "k", "M", "G", "T"] {
        if value < 999.5 {
            let digits = match value {
                _ if prefix.is_empty() => 0,
                value if value < 9.995 => 2,
                value if value < 99.95 => 1,
                _ => 0,
            };
            return format!("{value:.digits$}{prefix}");
        }
        value /= 1e3;
    }
    format!("{value:.0}P")
}

/// Days, hours, minutes and seconds.
fn uptime(seconds: &str) -> String {
    let Ok(seconds) = seconds.parse::<f64>() else { return "-".to_owned() };
    let seconds = seconds as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let days = if days > 0 { format!("{days}d ") } else { String::new() };
    format!("{days}{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{after, status};
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    /// The screen of 80 columns and 24 lines as text, without spaces at the end of lines.
    fn screen(state: &TopState) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("memory");
        terminal.draw(|frame| draw(frame, state)).expect("memory");
        let cells = terminal.backend().buffer().content.chunks(80);
        cells
            .map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn the_screen_of_80_columns_has_faces_with_rates_tables_and_routes() {
        let lines = screen(&after([Ok(status(10)), Ok(status(12))]));
        let expected = [
            "tidegate top  unix:///run/nfd/nfd.sock  up 00:00:12",
            "2 faces  in 1.50M bit/s, 150 packets/s  out 4.00k bit/s, 10 packets/s",
            "PIT 12  content store 345 packets, 1.23MB, 40 hits/s  names 0  tables 0B",
            "since start: expired 0  refused (PIT full) 0  faces refused 2  malformed 0",
            " face remote                   in b/s   p/s out b/s   p/s queue   ms marks drops",
            "  257 (down) udp4://192.0.2.1:   500k    50   2.00k     5     3  0.2     7    43",
            "  258 udp4://192.0.2.2:6363     1.00M   100   2.00k     5     3  0.2     7    42",
        ];
        assert_eq!(lines[..7], expected);
        let flows = lines.iter().skip_while(|line| !line.starts_with("names ")).take(3);
        let expected = [
            "names                                      Interests/s  Data/s   bit/s satisfied",
            "/b/y                                               100      99    792k      99 %",
            "/a/x                                                40       0       0       0 %",
        ];
        assert_eq!(flows.collect::<Vec<_>>(), expected);
        assert!(
            lines.iter().any(|line| line.starts_with("/a ") && line.ends_with("257 (cost 0), 258 (cost 10")),
            "{lines:#?}"
        );
        assert_eq!(lines[23], "q quit  p pause  s sort: face  \u{2191}\u{2193} PgUp PgDn Home scroll");
    }

    #[test]
    fn a_forwarder_that_is_gone_is_reported_and_its_return_as_well() {
        let mut state = after([Ok(status(10)), Err("the forwarder ended the connection".to_owned())]);
        assert_eq!(screen(&state)[1], "the forwarder ended the connection; connecting again");
        state.on_status(Ok(status(1)));
        assert_eq!(screen(&state)[1], "2 faces  in - bit/s, - packets/s  out - bit/s, - packets/s");
    }

    #[test]
    fn before_the_first_status_the_screen_is_not_empty() {
        assert_eq!(
            screen(&after([]))[..2],
            ["tidegate top  unix:///run/nfd/nfd.sock  up -", "waiting for the first status"]
        );
    }

    #[test]
    fn the_selected_order_and_a_pause_are_shown_and_scrolled_faces_are_not() {
        let mut state = after([Ok(status(10)), Ok(status(12))]);
        for key in ['s', 'p', 'j'] {
            state.on_key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
        }
        let lines = screen(&state);
        assert!(lines[0].ends_with("[paused]") && lines[23].contains("sort: in"), "{lines:#?}");
        assert!(lines[5].contains("257 (down) udp4"), "{lines:#?}");
    }

    #[test]
    fn many_routes_leave_room_for_the_faces() {
        let mut lines = status(10);
        let prefixes = (0..50).map(|at| format!("/p{at}"));
        lines
            .extend(prefixes.map(|prefix| {
                tidegate_live::daemon::status::StatusLine::new("route").with("prefix", prefix)
            }));
        let lines = screen(&after([Ok(lines)]));
        assert!(lines.iter().any(|line| line.starts_with("routes (45 more)")), "{lines:#?}");
        assert!(lines[6].contains("258"), "{lines:#?}");
    }

    #[test]
    fn numbers_take_at_most_five_characters() {
        let expected = [
            (0.0, "0"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (99_960.0, "100k"),
            (999_499.0, "999k"),
            (1.0e9, "1.00G"),
            (5.0e15, "5P"),
        ];
        for (value, text) in expected {
            assert_eq!(short(value), text);
        }
        assert_eq!([uptime("59.9"), uptime("93784"), uptime("")], ["00:00:59", "1d 02:03:04", "-"]);
    }
}
