//! Carries out the verdicts of the disciplines about arriving and leaving packets.

use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::Header;
use crate::observe::event::{Cause, Event};
use crate::units::{Span, Time};

use super::{Queue, Verdict};

/// Outcome of an arriving packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Admission {
    Pass,
    /// Goes into the side store, until this time at the latest.
    Hold(Time),
    Dropped,
}

impl Queue {
    /// Consults the disciplines about an arriving packet, and marks or drops it accordingly.
    #[inline(always)]
    pub(super) fn admit(&mut self, cx: &mut Context<'_>, view: &FaceView, header: &mut Header) -> Admission {
        if !self.sees_arrivals {
            return Admission::Pass;
        }
        let mut mark = None;
        let mut hold = None;
        for discipline in &mut self.disciplines {
            match discipline.on_enqueue(cx, header, view, &mut self.actions) {
                Verdict::Pass => {}
                Verdict::Mark(level, cause) => mark = raise(mark, level, cause),
                Verdict::Drop(cause) => {
                    self.drop_packet(cx, header, cause);
                    return Admission::Dropped;
                }
                Verdict::Hold(until) => {
                    hold = Some(until);
                    break;
                }
            }
        }
        // A packet that finds no room is not counted as marked.
        if let Some((level, cause)) = mark
            && (hold.is_some() || !view.is_full_for(header.hop.class, header.size()))
            && !self.mark_packet(cx, header, level, Span::ZERO, cause)
        {
            return Admission::Dropped;
        }
        hold.map_or(Admission::Pass, Admission::Hold)
    }

    /// Consults the disciplines about a leaving packet; returns `false` if they drop it.
    #[inline(always)]
    pub(super) fn depart(
        &mut self,
        cx: &mut Context<'_>,
        view: &FaceView,
        header: &mut Header,
        sojourn: Span,
    ) -> bool {
        if self.sees_departures {
            let mut objections = None;
            for discipline in &mut self.disciplines {
                let verdict = discipline.on_dequeue(cx, header, sojourn, view, &mut self.actions);
                if !matches!(verdict, Verdict::Pass) {
                    Objections::add(&mut objections, verdict);
                }
            }
            if let Some(objections) = objections
                && !self.carry_out_objections(cx, header, sojourn, objections)
            {
                return false;
            }
        }
        self.stats.delays.add(sojourn);
        view.sent_packets.set(view.sent_packets.get() + 1);
        view.sent_bytes.set(view.sent_bytes.get() + header.size().get());
        true
    }

    /// Marks or drops a leaving packet; returns `false` if it is dropped.
    #[cold]
    fn carry_out_objections(
        &mut self,
        cx: &mut Context<'_>,
        header: &mut Header,
        sojourn: Span,
        objections: Objections,
    ) -> bool {
        match objections {
            Objections { dropped: Some(cause), .. } => {
                self.drop_packet(cx, header, cause);
                false
            }
            Objections { mark: Some((level, cause)), .. } => {
                self.mark_packet(cx, header, level, sojourn, cause)
            }
            Objections { .. } => true,
        }
    }

    pub(super) fn drop_packet(&mut self, cx: &mut Context<'_>, header: &Header, cause: Cause) {
        self.stats.dropped += 1;
        let view = cx.face(self.face);
        view.dropped.set(view.dropped.get() + 1);
        let (name, size) = (header.label(), header.size());
        cx.record(Event::Dropped { face: self.face.0, name, size, cause });
    }

    /// Marks a packet, or drops a segment that is not ECN-capable; returns whether it goes on.
    pub(super) fn mark_packet(
        &mut self,
        cx: &mut Context<'_>,
        header: &mut Header,
        level: u8,
        sojourn: Span,
        cause: Cause,
    ) -> bool {
        if !header.may_be_marked() {
            self.drop_packet(cx, header, cause);
            return false;
        }
        self.stats.marked += 1;
        header.hop.raise_mark(level);
        cx.record(Event::Marked { face: self.face.0, name: header.label(), sojourn, cause });
        true
    }
}

/// What disciplines decided about a leaving packet, other than to let it pass.
#[derive(Default)]
struct Objections {
    mark: Option<(u8, Cause)>,
    dropped: Option<Cause>,
}

impl Objections {
    #[cold]
    fn add(objections: &mut Option<Self>, verdict: Verdict) {
        let Self { mark, dropped } = objections.get_or_insert_default();
        match verdict {
            Verdict::Pass | Verdict::Hold(_) => {}
            Verdict::Mark(level, cause) => *mark = raise(*mark, level, cause),
            Verdict::Drop(cause) => *dropped = dropped.or(Some(cause)),
        }
    }
}

fn raise(mark: Option<(u8, Cause)>, level: u8, cause: Cause) -> Option<(u8, Cause)> {
    match mark {
        // Of equal levels the cause of the first discipline is recorded.
        Some((old, _)) if old >= level => mark,
        _ => Some((level, cause)),
    }
}
