//! What the screen shows, without terminal and clock: the last two statuses, and what keys have selected.

use std::cmp::Ordering;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tidegate_live::daemon::status::StatusLine;

use super::Polled;

/// Order of the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortKey {
    /// By ascending number of the face.
    Face,
    /// By descending rate of received bytes.
    In,
    /// By descending rate of sent bytes.
    Out,
    /// By descending length of the queue.
    Queue,
    /// By descending number of dropped packets.
    Dropped,
}

impl SortKey {
    fn next(self) -> Self {
        match self {
            Self::Face => Self::In,
            Self::In => Self::Out,
            Self::Out => Self::Queue,
            Self::Queue => Self::Dropped,
            Self::Dropped => Self::Face,
        }
    }

    /// Name on the screen.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Face => "face",
            Self::In => "in",
            Self::Out => "out",
            Self::Queue => "queue",
            Self::Dropped => "dropped",
        }
    }
}

/// Effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The screen is drawn again.
    Continue,
    /// The command has to end.
    Quit,
}

/// A value of the latest status and its change per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counter {
    /// Value in the latest status.
    pub(super) value: u64,
    /// Change per second since the status before; `None` if there is none to compare with.
    pub(super) rate: Option<f64>,
}

/// A face as a row of the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FaceRow {
    pub(super) id: u64,
    pub(super) remote: String,
    pub(super) is_up: bool,
    pub(super) received_bytes: Counter,
    pub(super) received_packets: Counter,
    pub(super) sent_bytes: Counter,
    pub(super) sent_packets: Counter,
    pub(super) marked: Counter,
    pub(super) dropped: Counter,
    /// Length of the queue, packets.
    pub(super) queue: u64,
    /// Mean queueing delay since the start, ms.
    pub(super) queue_delay_ms: f64,
}

/// Traffic of a name prefix as a row of the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowRow {
    pub(super) prefix: String,
    /// Interests that were received.
    pub(super) interests: Counter,
    /// Data that were sent.
    pub(super) data: Counter,
    /// Bytes of these Data.
    pub(super) bytes: Counter,
}

impl FlowRow {
    /// Data per Interest since the status before, at most 100 %; `None` if there were no Interests.
    pub(super) fn satisfied_percent(&self) -> Option<f64> {
        let interests = self.interests.rate.filter(|rate| *rate > 0.0)?;
        Some((100.0 * self.data.rate? / interests).min(100.0))
    }
}

/// State from which the screen is drawn.
#[derive(Debug)]
pub(super) struct TopState {
    /// Address of the forwarder.
    pub(super) source: String,
    pub(super) sort: SortKey,
    pub(super) is_paused: bool,
    /// Number of faces above the first one shown.
    pub(super) scrolled: usize,
    /// Why there is no present status.
    pub(super) trouble: Option<String>,
    earlier: Vec<StatusLine>,
    latest: Vec<StatusLine>,
}

impl TopState {
    /// Before the first status of the forwarder at `source`.
    pub(super) fn new(source: String) -> Self {
        let (earlier, latest) = (Vec::new(), Vec::new());
        Self { source, sort: SortKey::Face, is_paused: false, scrolled: 0, trouble: None, earlier, latest }
    }

    /// Takes a status, unless the screen is paused. The first one after a failure has no rates: counters may belong to another
    /// process.
    pub(super) fn on_status(&mut self, polled: Polled) {
        match polled {
            _ if self.is_paused => {}
            Ok(lines) => {
                let before = std::mem::replace(&mut self.latest, lines);
                self.earlier = if self.trouble.take().is_none() { before } else { Vec::new() };
            }
            Err(why) => self.trouble = Some(why),
        }
    }

    /// Does what a key stands for.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Next {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return Next::Quit,
            KeyCode::Char('q') | KeyCode::Esc => return Next::Quit,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Down | KeyCode::Char('j') => self.scroll_to(self.scrolled.saturating_add(1)),
            KeyCode::Up | KeyCode::Char('k') => self.scroll_to(self.scrolled.saturating_sub(1)),
            KeyCode::PageDown => self.scroll_to(self.scrolled.saturating_add(10)),
            KeyCode::PageUp => self.scroll_to(self.scrolled.saturating_sub(10)),
            KeyCode::Home => self.scroll_to(0),
            _ => {}
        }
        Next::Continue
    }

    fn scroll_to(&mut self, face: usize) {
        self.scrolled = face.min(self.of("face").count().saturating_sub(1));
    }

    /// Whether there is a status to show.
    pub(super) fn has_status(&self) -> bool {
        !self.latest.is_empty()
    }

    fn of<'a>(&'a self, about: &'a str) -> impl Iterator<Item = &'a StatusLine> {
        self.latest.iter().filter(move |line| line.about == about)
    }

    /// A field of the forwarder itself; empty if the status has none.
    pub(super) fn field(&self, key: &str) -> &str {
        self.of("forwarder").next().and_then(|line| line.get(key)).unwrap_or_default()
    }

    /// A counter of the forwarder itself.
    pub(super) fn counter(&self, key: &str) -> Counter {
        let line = |lines: &[StatusLine]| lines.iter().find(|line| line.about == "forwarder").cloned();
        self.compare(line(&self.latest).as_ref(), line(&self.earlier).as_ref(), key)
    }

    /// Seconds between the two statuses, by the forwarder's clock; `None` if it has started again.
    fn elapsed(&self) -> Option<f64> {
        let uptime = |lines: &[StatusLine]| {
            let line = lines.iter().find(|line| line.about == "forwarder")?;
            line.get("uptime_s")?.parse::<f64>().ok()
        };
        let elapsed = uptime(&self.latest)? - uptime(&self.earlier)?;
        (elapsed > 0.0).then_some(elapsed)
    }

    fn compare(&self, latest: Option<&StatusLine>, earlier: Option<&StatusLine>, key: &str) -> Counter {
        let value = |line: Option<&StatusLine>| line?.get(key)?.parse::<u64>().ok();
        let now = value(latest).unwrap_or_default();
        let change = value(earlier).and_then(|before| now.checked_sub(before));
        let rate = change.zip(self.elapsed()).map(|(change, elapsed)| change as f64 / elapsed);
        Counter { value: now, rate }
    }

    /// The faces in the selected order.
    pub(super) fn faces(&self) -> Vec<FaceRow> {
        let mut faces: Vec<FaceRow> = self.of("face").map(|line| self.face(line)).collect();
        // Stable, so that faces that are equal stay in the order of their numbers.
        faces.sort_by(|a, b| match self.sort {
            SortKey::Face => Ordering::Equal,
            SortKey::In => by_rate(b.received_bytes, a.received_bytes),
            SortKey::Out => by_rate(b.sent_bytes, a.sent_bytes),
            SortKey::Queue => b.queue.cmp(&a.queue),
            SortKey::Dropped => b.dropped.value.cmp(&a.dropped.value),
        });
        faces
    }

    fn face(&self, line: &StatusLine) -> FaceRow {
        let id = line.get("id");
        let earlier = self.earlier.iter().find(|other| other.about == "face" && other.get("id") == id);
        let counter = |key| self.compare(Some(line), earlier, key);
        FaceRow {
            id: id.and_then(|id| id.parse().ok()).unwrap_or_default(),
            remote: line.get("remote").unwrap_or_default().to_owned(),
            is_up: line.get("state") != Some("down"),
            received_bytes: counter("received_bytes"),
            received_packets: counter("received_packets"),
            sent_bytes: counter("sent_bytes"),
            sent_packets: counter("sent_packets"),
            marked: counter("marked_packets"),
            dropped: counter("dropped_packets"),
            queue: counter("queue_packets").value,
            queue_delay_ms: number(line, "queue_delay_mean_ms"),
        }
    }

    /// The flows by descending rate of bytes; those without a rate by their total.
    pub(super) fn flows(&self) -> Vec<FlowRow> {
        let flow = |line: &StatusLine| {
            let prefix = line.get("prefix");
            let earlier =
                self.earlier.iter().find(|other| other.about == "flow" && other.get("prefix") == prefix);
            let counter = |key| self.compare(Some(line), earlier, key);
            let (interests, data, bytes) = (counter("interests"), counter("data"), counter("bytes"));
            FlowRow { prefix: prefix.unwrap_or_default().to_owned(), interests, data, bytes }
        };
        let mut flows: Vec<FlowRow> = self.of("flow").map(flow).collect();
        flows.sort_by(|a, b| by_rate(b.bytes, a.bytes).then(b.bytes.value.cmp(&a.bytes.value)));
        flows
    }

    /// Each prefix once, with its next hops.
    pub(super) fn routes(&self) -> Vec<(String, String)> {
        let mut routes: Vec<(String, String)> = Vec::new();
        for line in self.of("route") {
            let field = |key| line.get(key).unwrap_or_default();
            let hop = format!("{} (cost {})", field("face"), field("cost"));
            match routes.iter_mut().find(|(prefix, _)| prefix == field("prefix")) {
                Some((_, hops)) => *hops = format!("{hops}, {hop}"),
                None => routes.push((field("prefix").to_owned(), hop)),
            }
        }
        routes
    }
}

fn by_rate(a: Counter, b: Counter) -> Ordering {
    a.rate.unwrap_or_default().total_cmp(&b.rate.unwrap_or_default())
}

fn number(line: &StatusLine, key: &str) -> f64 {
    line.get(key).and_then(|value| value.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The status of a forwarder with two faces, `uptime` seconds after its start; each second face 258 receives 125,000 bytes,
    /// and face 257 half of that.
    pub(in super::super) fn status(uptime: u64) -> Vec<StatusLine> {
        let face = |id: u64, rate: u64| {
            StatusLine::new("face")
                .with("id", id)
                .with("state", if id == 257 { "down" } else { "up" })
                .with("received_packets", rate / 1250 * uptime)
                .with("received_bytes", rate * uptime)
                .with("sent_packets", 5 * uptime)
                .with("sent_bytes", 250 * uptime)
                .with("queue_packets", 3)
                .with("queue_delay_mean_ms", 0.25)
                .with("dropped_packets", 300 - id)
                .with("marked_packets", 7)
                .with("remote", format!("udp4://192.0.2.{}:6363", id - 256))
        };
        vec![
            StatusLine::new("forwarder")
                .with("version", "0.2.0")
                .with("uptime_s", format!("{uptime}.000"))
                .with("pending_interests", 12)
                .with("cached_packets", 345)
                .with("cached_bytes", 1_234_567)
                .with("cache_hits", 40 * uptime)
                .with("faces_refused", 2),
            face(257, 62_500),
            face(258, 125_000),
            StatusLine::new("flow")
                .with("prefix", "/a/x")
                .with("interests", 40 * uptime)
                .with("data", 0)
                .with("bytes", 0),
            StatusLine::new("flow")
                .with("prefix", "/b/y")
                .with("interests", 100 * uptime)
                .with("data", 99 * uptime)
                .with("bytes", 99_000 * uptime),
            StatusLine::new("route").with("prefix", "/a").with("face", 257).with("cost", 0),
            StatusLine::new("route").with("prefix", "/b").with("face", 257).with("cost", 1),
            StatusLine::new("route").with("prefix", "/a").with("face", 258).with("cost", 10),
        ]
    }

    /// The state after these statuses.
    pub(in super::super) fn after(statuses: impl IntoIterator<Item = Polled>) -> TopState {
        let mut state = TopState::new("unix:///run/nfd/nfd.sock".to_owned());
        statuses.into_iter().for_each(|polled| state.on_status(polled));
        state
    }

    fn press(state: &mut TopState, key: KeyCode) -> Next {
        state.on_key(KeyEvent::new(key, KeyModifiers::NONE))
    }

    fn received(state: &TopState) -> Vec<Option<f64>> {
        state.faces().iter().map(|face| face.received_bytes.rate).collect()
    }

    #[test]
    fn rates_are_differences_over_the_time_of_the_forwarders_clock() {
        let state = after([Ok(status(10)), Ok(status(12))]);
        assert_eq!(received(&state), [Some(62_500.0), Some(125_000.0)]);
        assert_eq!(state.counter("cache_hits"), Counter { value: 480, rate: Some(40.0) });
    }

    #[test]
    fn there_are_no_rates_after_the_first_status_a_restart_or_a_failure() {
        let none = [None, None];
        assert_eq!(received(&after([Ok(status(10))])), none);
        assert_eq!(received(&after([Ok(status(10)), Ok(status(2))])), none);
        let failed = after([Ok(status(10)), Err("no answer".to_owned()), Ok(status(12))]);
        assert_eq!((received(&failed), failed.trouble), (none.to_vec(), None));
    }

    #[test]
    fn a_new_face_has_no_rate_and_the_others_keep_theirs() {
        let mut before = status(10);
        before.retain(|line| line.get("id") != Some("258"));
        assert_eq!(received(&after([Ok(before), Ok(status(12))])), [Some(62_500.0), None]);
    }

    #[test]
    fn a_key_selects_the_order_of_the_faces() {
        let mut state = after([Ok(status(10)), Ok(status(12))]);
        let mut orders = Vec::new();
        for _ in 0..6 {
            let order: Vec<u64> = state.faces().iter().map(|face| face.id).collect();
            orders.push((state.sort.name(), order[0]));
            press(&mut state, KeyCode::Char('s'));
        }
        let expected =
            [("face", 257), ("in", 258), ("out", 257), ("queue", 257), ("dropped", 257), ("face", 257)];
        assert_eq!(orders, expected);
    }

    #[test]
    fn a_paused_screen_keeps_its_status_and_then_has_the_mean_rate_of_the_pause() {
        let mut state = after([Ok(status(10)), Ok(status(12))]);
        press(&mut state, KeyCode::Char('p'));
        state.on_status(Ok(status(20)));
        assert_eq!(state.field("uptime_s"), "12.000");
        press(&mut state, KeyCode::Char('p'));
        state.on_status(Ok(status(32)));
        assert_eq!(received(&state)[1], Some(125_000.0));
    }

    #[test]
    fn scrolling_ends_at_the_first_and_the_last_face() {
        let mut state = after([Ok(status(10))]);
        let mut scrolled = |keys: &[KeyCode]| {
            keys.iter().for_each(|key| assert_eq!(press(&mut state, *key), Next::Continue));
            state.scrolled
        };
        assert_eq!(scrolled(&[KeyCode::Up]), 0);
        assert_eq!(scrolled(&[KeyCode::Down, KeyCode::Down, KeyCode::PageDown]), 1);
        assert_eq!(scrolled(&[KeyCode::Home]), 0);
    }

    #[test]
    fn q_escape_and_control_c_end_it() {
        let mut state = after([]);
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(state.on_key(control_c), Next::Quit);
        assert_eq!(press(&mut state, KeyCode::Char('q')), Next::Quit);
        assert_eq!(press(&mut state, KeyCode::Esc), Next::Quit);
        assert_eq!(press(&mut state, KeyCode::Char('c')), Next::Continue);
    }

    #[test]
    fn routes_of_a_prefix_are_one_line() {
        let routes = after([Ok(status(10))]).routes();
        let line = |prefix: &str, hops: &str| (prefix.to_owned(), hops.to_owned());
        assert_eq!(routes, [line("/a", "257 (cost 0), 258 (cost 10)"), line("/b", "257 (cost 1)")]);
    }
}
