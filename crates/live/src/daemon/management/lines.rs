//! Status of the forwarder as lines of text, with more than NFD's datasets have.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::Name;
use tidegate_core::units::Span;

use super::super::Daemon;
use super::super::face::{Face, Line};
use super::super::status::StatusLine;
use super::super::workers::{sum_of_flows, sum_of_forwarder};

impl Daemon {
    /// Status report of the forwarder.
    pub fn status(&self) -> Vec<StatusLine> {
        let reports = self.reports();
        let mut lines = vec![sum_of_forwarder(self.status_of_forwarder(), reports)];
        lines.extend(self.own_face_lines());
        lines.extend(reports.iter().flat_map(|report| &report.face_lines).cloned());
        lines.extend(sum_of_flows(self.flows.lines().collect(), reports));
        lines.extend(self.rib.routes().map(|route| {
            StatusLine::new("route")
                .with("prefix", self.names.uri(Name::whole(route.prefix)))
                .with("face", self.number_of(route.face).unwrap_or_default())
                .with("origin", route.origin)
                .with("cost", route.cost)
                .with("flags", route.flags)
        }));
        lines
    }

    /// Lines about the faces whose sockets this thread has.
    pub(in super::super) fn own_face_lines(&self) -> Vec<StatusLine> {
        let faces = (0..).zip(&self.faces).filter_map(|(id, face)| Some((FaceId(id), face.as_ref()?)));
        let own = faces.filter(|(_, face)| !matches!(face.line, Line::Far(_)));
        own.map(|(id, face)| self.status_of_face(id, face)).collect()
    }

    pub(in super::super) fn status_of_forwarder(&self) -> StatusLine {
        let forwarder = self.node.forwarder();
        let counters = forwarder.counters();
        let (malformed, oversized) = self.count_unreadable();
        let line = StatusLine::new("forwarder")
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("uptime_s", format_args!("{:.3}", self.now.as_nanos() as f64 / 1e9))
            .with("pending_interests", forwarder.pit().len())
            .with("cached_packets", forwarder.cs().len())
            .with("cached_bytes", forwarder.cs().size().get())
            .with("names", self.names.len())
            .with("tokens", self.tokens.len())
            .with("table_bytes", self.table_bytes())
            .with("sweeps", self.counters.sweeps)
            .with("cache_hits", counters.cache_hits)
            .with("loops", counters.loops)
            .with("hop_limited", counters.hop_limited)
            .with("suppressed", counters.suppressed)
            .with("unsolicited", counters.unsolicited)
            .with("unrequested", counters.unrequested)
            .with("expired", counters.expired)
            .with("refused_full", counters.refused_full)
            .with("displaced", counters.displaced)
            .with("out_of_scope", self.counters.out_of_scope)
            .with("faces_refused", self.counters.faces_refused)
            .with("malformed", malformed)
            .with("oversized", oversized);
        match &self.workers {
            Some(workers) => workers.add_counters(line),
            None => line,
        }
    }

    /// Malformed and oversized input since the start: of present and closed faces, and of listeners.
    fn count_unreadable(&self) -> (u64, u64) {
        let (mut malformed, mut oversized) = (self.counters.malformed, self.counters.oversized);
        for face in self.faces.iter().flatten() {
            if let Line::Socket { transport, link, .. } = &face.line {
                malformed += link.counters().malformed;
                oversized += transport.faults().oversized;
            }
        }
        oversized += self.listeners.udp.iter().map(|listener| listener.faults().oversized).sum::<u64>();
        (malformed, oversized)
    }

    fn status_of_face(&self, id: FaceId, face: &Face) -> StatusLine {
        let (view, queue) = (&self.node.faces()[id.index()], self.node.queue(id).stats());
        let gates = self.node.forwarder().gate_stats(id);
        let delays = queue.delays.summary();
        let millis = |span: Span| span.as_nanos() as f64 / 1e6;
        let line = StatusLine::new("face")
            .with("id", face.number)
            .with("scope", if view.is_local() { "local" } else { "non-local" })
            .with("state", if view.is_up() { "up" } else { "down" })
            .with("received_packets", view.received_packets())
            .with("received_bytes", view.received_bytes().get())
            .with("sent_packets", view.sent_packets())
            .with("sent_bytes", view.sent_bytes().get())
            .with("queue_packets", view.queued_packets())
            .with("queue_bytes", view.queued_bytes().get())
            .with("peak_queue_packets", queue.peak)
            .with("queue_delay_mean_ms", millis(delays.mean))
            .with("queue_delay_p99_ms", millis(delays.p99))
            .with("dropped_packets", queue.dropped + gates.dropped)
            .with("marked_packets", queue.marked)
            .with("stored_packets", queue.stored + gates.held)
            .with("released_packets", queue.released + gates.released)
            .with("held_packets", u64::from(view.held_packets()) + gates.waiting)
            .with("loss_notices", queue.notices);
        let Line::Socket { transport, link, .. } = &face.line else {
            return line.with("remote", "internal://").with("local", "internal://");
        };
        let line = match link.mtu().zip(link.mtu_origin()) {
            Some((mtu, origin)) => line.with("mtu_bytes", mtu).with("mtu_origin", origin),
            // A stream carries packets of every size.
            None => line,
        };
        let (counters, faults) = (link.counters(), transport.faults());
        let reliability = link.reliability().unwrap_or_default();
        line.with("remote", transport.remote_uri())
            .with("local", transport.local_uri())
            .with("malformed", counters.malformed)
            .with("reassembled", counters.reassembled)
            .with("fragmented", counters.fragmented)
            .with("unsendable", counters.unsendable)
            .with("resent_frames", reliability.resent)
            .with("given_up_packets", reliability.given_up)
            .with("duplicate_frames", reliability.duplicates)
            .with("oversized", faults.oversized)
            .with("unsent", faults.unsent)
    }
}
