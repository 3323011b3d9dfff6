//! Probes of the path's MTU in the link layer of one face: those of the peer are confirmed, and own ones are sent.

use tidegate_core::units::Time;
use tidegate_wire::{FrameBatch, PathProbe, write_path_probe};

use crate::path_mtu::PathMtu;

/// Frames that may wait in the batch when a confirmation is added: a peer cannot fill the memory while the socket has no room.
const MAX_WAITING: usize = 1_024;

/// Probes between this end and its peer.
#[derive(Debug)]
pub(crate) struct PathProbes {
    /// The own search; `None` if this end sends no probes.
    search: Option<PathMtu>,
    /// Number of the peer's probe to confirm; the latest one counts.
    reply: Option<u64>,
}

impl PathProbes {
    /// Confirms the probes of the peer, and sends those of `search`.
    pub fn new(search: Option<PathMtu>) -> Self {
        Self { search, reply: None }
    }

    /// The own search; `None` if this end sends no probes.
    pub fn search(&self) -> Option<&PathMtu> {
        self.search.as_ref()
    }

    /// The own search; `None` if this end sends no probes.
    pub fn search_mut(&mut self) -> Option<&mut PathMtu> {
        self.search.as_mut()
    }

    /// Processes a probe, or the confirmation of one.
    pub fn receive(&mut self, now: Time, probe: PathProbe) {
        match (probe, &mut self.search) {
            (PathProbe::Request(number), _) => self.reply = Some(number),
            (PathProbe::Reply(number), Some(search)) => search.on_reply(now, number),
            (PathProbe::Reply(_), None) => {}
        }
    }

    /// Whether [`serve`](Self::serve) has something to send.
    pub fn has_due(&self) -> bool {
        self.reply.is_some() || self.search.as_ref().is_some_and(PathMtu::has_due)
    }

    /// Appends what is due to `batch`.
    pub fn serve(&mut self, batch: &mut FrameBatch) {
        if let Some(number) = self.reply.take().filter(|_| batch.len() < MAX_WAITING) {
            write_path_probe(PathProbe::Reply(number), 0, batch);
        }
        if let Some(probe) = self.search.as_mut().and_then(PathMtu::take_probe) {
            write_path_probe(PathProbe::Request(probe.number), probe.size, batch);
        }
    }
}
