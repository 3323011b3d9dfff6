//! Marks that a queue leaves for the strategy to put on a packet of its choice.
//!
//! Paper: PCON (Schneider et al. 2016) §3.1: the queue towards a downstream decides, the Data that is about to
//! join it carries the mark.

use tidegate_core::prelude::*;

/// Takes the pending mark of `face` for a packet of `name`; returns whether there was one.
#[inline]
pub fn take(cx: &mut Context<'_>, face: FaceId, name: Name) -> bool {
    let Some(sojourn) = cx.face(face).take_mark(cx.now) else { return false };
    cx.record(Event::Marked { face: face.0, name, sojourn, cause: Cause("codel") });
    true
}

/// Marks `data`, which is about to leave through `to`, if the queue there has requested it.
#[inline]
pub fn mark_for(cx: &mut Context<'_>, data: &mut Header, to: FaceId) {
    if take(cx, to, data.name) {
        data.hop.raise_mark(1);
    }
}
