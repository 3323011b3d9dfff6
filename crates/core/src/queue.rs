//! The queue of a transmitting device: class FIFOs, a side store, and the disciplines that rule them.
//!
//! Disciplines decide, the queue acts: a discipline sees headers and the face, never a body.

use std::collections::VecDeque;

use crate::context::Context;
use crate::control::Directive;
use crate::event::{Cause, Event};
use crate::face::{FaceId, FaceView};
use crate::histogram::DelayHistogram;
use crate::packet::{Header, Packet};
use crate::signal::Class;
use crate::units::{Span, Time};

/// Rules over one queue. Every method has a default that does nothing.
pub trait QueueDiscipline: std::fmt::Debug {
    /// A packet arrives; `queue` does not count it yet.
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        let _ = (cx, packet, queue, actions);
        Verdict::Pass
    }

    /// A packet that waited for `sojourn` leaves; `queue` no longer counts it. `Hold` has no meaning here.
    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        let _ = (cx, packet, sojourn, queue, actions);
        Verdict::Pass
    }

    /// The time asked for by [`Actions::wake_at`] has come, or an earlier one.
    fn on_wake(&mut self, cx: &mut Context<'_>, queue: &FaceView, actions: &mut Actions) {
        let _ = (cx, queue, actions);
    }

    /// The controller's word arrived.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &Directive, actions: &mut Actions) {
        let _ = (cx, directive, actions);
    }

    /// Whether [`on_enqueue`](Self::on_enqueue) does anything; saying no saves a call per packet.
    fn sees_arrivals(&self) -> bool {
        true
    }

    /// Whether [`on_dequeue`](Self::on_dequeue) does anything; saying no saves a call per packet.
    fn sees_departures(&self) -> bool {
        true
    }

    /// Whether this discipline chooses the class that is served; at most one per queue does.
    fn schedules(&self) -> bool {
        false
    }

    /// The class to serve; asked only of the discipline that schedules, only when something waits.
    fn select(&mut self, now: Time, queue: &FaceView) -> Selection {
        let _ = (now, queue);
        Selection::Class(Class::BULK)
    }
}

/// What a discipline decides about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing against it.
    Pass,
    /// It passes with a congestion mark of at least this level.
    Mark(u8, Cause),
    /// It is dropped.
    Drop(Cause),
    /// It goes into the side store until released, at the latest until this time.
    Hold(Time),
}

/// Which class is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// This one, if anything waits in it.
    Class(Class),
    /// None before this time.
    Until(Time),
}

/// What a discipline wants done beside its verdict.
#[derive(Debug, Default)]
pub struct Actions {
    release: u32,
    notices: Vec<Header>,
    wake: Option<Time>,
}

impl Actions {
    /// Moves the `count` oldest packets of the side store to the end of their class.
    pub fn release(&mut self, count: u32) {
        self.release += count;
    }

    /// Sends a loss notice through this queue, past all bulk packets; disciplines do not see it here.
    pub fn notify(&mut self, notice: Header) {
        self.notices.push(notice);
    }

    /// Asks for [`QueueDiscipline::on_wake`] at `at` or earlier.
    pub fn wake_at(&mut self, at: Time) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}

/// What a queue did since the start.
#[derive(Clone, Debug, Default)]
pub struct QueueStats {
    /// Packets handed to it.
    pub offered: u64,
    /// Packets dropped: full, by a discipline, or expired in the side store.
    pub dropped: u64,
    /// Packets that got a mark.
    pub marked: u64,
    /// Packets put into the side store.
    pub stored: u64,
    /// Packets moved back from the side store.
    pub released: u64,
    /// Loss notices made here.
    pub notices: u64,
    /// Most packets that waited at once.
    pub peak: u32,
    /// Waiting time of every packet sent.
    pub delays: DelayHistogram,
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, Debug)]
enum Admission {
    Pass,
    Hold(Time),
    Dropped,
}

/// A packet that waits.
#[derive(Debug)]
struct Waiting<B> {
    packet: Packet<B>,
    since: Time,
}

/// A packet in the side store.
#[derive(Debug)]
struct Held<B> {
    packet: Packet<B>,
    until: Time,
}

/// The queue of one device. What it holds is counted in the face's [`FaceView`].
#[derive(Debug)]
pub struct Queue<B> {
    face: FaceId,
    classes: [VecDeque<Waiting<B>>; Class::COUNT],
    store: VecDeque<Held<B>>,
    disciplines: Vec<Box<dyn QueueDiscipline>>,
    sees_arrivals: bool,
    sees_departures: bool,
    scheduler: Option<usize>,
    actions: Actions,
    wake: Option<Time>,
    stats: QueueStats,
}

impl<B: Default> Queue<B> {
    /// An empty queue of `face` under `disciplines`, asked in this order.
    pub fn new(face: FaceId, disciplines: Vec<Box<dyn QueueDiscipline>>) -> Self {
        Self {
            face,
            classes: Default::default(),
            store: VecDeque::new(),
            sees_arrivals: disciplines.iter().any(|discipline| discipline.sees_arrivals()),
            sees_departures: disciplines.iter().any(|discipline| discipline.sees_departures()),
            scheduler: disciplines.iter().position(|discipline| discipline.schedules()),
            disciplines,
            actions: Actions::default(),
            wake: None,
            stats: QueueStats::default(),
        }
    }

    /// What it did since the start.
    pub fn stats(&self) -> &QueueStats {
        &self.stats
    }

    /// When [`on_wake`](Self::on_wake) is due; `None` for never.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    /// Takes a packet in, or drops or stores it.
    pub fn push(&mut self, cx: &mut Context<'_>, mut packet: Packet<B>) {
        self.stats.offered += 1;
        match self.admit(cx, &mut packet.header) {
            Admission::Pass => self.append(cx, packet),
            Admission::Hold(until) => self.hold(cx, packet, until),
            Admission::Dropped => {}
        }
        self.act(cx);
    }

    /// Takes a packet in and the next one out at once, for a device that is free: as [`push`](Self::push) and
    /// [`pop`](Self::pop), but past the queue when nothing waits.
    #[inline(always)]
    pub fn pass(&mut self, cx: &mut Context<'_>, mut packet: Packet<B>) -> Option<Packet<B>> {
        let view = cx.face(self.face);
        let (class, size) = (packet.header.hop.class, packet.header.size());
        if self.scheduler.is_some() || view.queued_packets() > 0 || view.is_full_for(class, size) {
            self.push(cx, packet);
            return self.pop(cx);
        }
        self.stats.offered += 1;
        let sent = match self.admit(cx, &mut packet.header) {
            Admission::Pass => {
                if class == Class::BULK {
                    view.accepted.set(view.accepted.get() + 1);
                }
                self.depart(cx, packet, Span::ZERO)
            }
            Admission::Hold(until) => {
                self.hold(cx, packet, until);
                None
            }
            Admission::Dropped => None,
        };
        self.act(cx);
        sent
    }

    /// Headers of everything that waits or is stored.
    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        let waiting = self.classes.iter().flatten().map(|waiting| &waiting.packet.header);
        waiting.chain(self.store.iter().map(|held| &held.packet.header))
    }

    /// Takes the next packet out; `None` when nothing waits or the scheduler wants to wait.
    pub fn pop(&mut self, cx: &mut Context<'_>) -> Option<Packet<B>> {
        loop {
            let Waiting { packet, since } = self.take_next(cx)?;
            let sent = self.depart(cx, packet, cx.now.since(since));
            self.act(cx);
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// Asks the disciplines about a packet that arrives, and marks or drops it as they say.
    #[inline(always)]
    fn admit(&mut self, cx: &mut Context<'_>, header: &mut Header) -> Admission {
        if !self.sees_arrivals {
            return Admission::Pass;
        }
        let view = cx.face(self.face);
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
        {
            self.mark_packet(cx, header, level, Span::ZERO, cause);
        }
        hold.map_or(Admission::Pass, Admission::Hold)
    }

    /// Asks the disciplines about a packet that leaves; `None` when they drop it.
    #[inline(always)]
    fn depart(&mut self, cx: &mut Context<'_>, mut packet: Packet<B>, sojourn: Span) -> Option<Packet<B>> {
        let view = cx.face(self.face);
        if self.sees_departures {
            let mut mark = None;
            let mut dropped = None;
            for discipline in &mut self.disciplines {
                match discipline.on_dequeue(cx, &mut packet.header, sojourn, view, &mut self.actions) {
                    Verdict::Pass | Verdict::Hold(_) => {}
                    Verdict::Mark(level, cause) => mark = raise(mark, level, cause),
                    Verdict::Drop(cause) => dropped = dropped.or(Some(cause)),
                }
            }
            if let Some(cause) = dropped {
                self.drop_packet(cx, &packet.header, cause);
                return None;
            }
            if let Some((level, cause)) = mark {
                self.mark_packet(cx, &mut packet.header, level, sojourn, cause);
            }
        }
        self.stats.delays.add(sojourn);
        view.sent_packets.set(view.sent_packets.get() + 1);
        view.sent_bytes.set(view.sent_bytes.get() + packet.header.size().get());
        Some(packet)
    }

    /// Runs what is due now; packets may wait afterwards where none did before.
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        if self.wake.is_none_or(|wake| wake > cx.now) {
            return;
        }
        self.wake = None;
        self.expire(cx);
        let view = cx.face(self.face);
        for discipline in &mut self.disciplines {
            discipline.on_wake(cx, view, &mut self.actions);
        }
        self.act(cx);
    }

    /// Passes the controller's word to every discipline.
    pub fn on_directive(&mut self, cx: &mut Context<'_>, directive: &Directive) {
        for discipline in &mut self.disciplines {
            discipline.on_directive(cx, directive, &mut self.actions);
        }
        self.act(cx);
    }

    /// Drops everything that waits, stored packets included; the number of packets dropped.
    pub fn clear(&mut self, cx: &mut Context<'_>) -> u64 {
        let before = self.stats.dropped;
        while let Some(waiting) = self.take_next_by_priority(cx) {
            self.drop_packet(cx, &waiting.packet.header, Cause("link down"));
        }
        while let Some(held) = self.store.pop_front() {
            self.drop_packet(cx, &held.packet.header, Cause("link down"));
        }
        cx.face(self.face).held.set(0);
        self.stats.dropped - before
    }

    fn take_next(&mut self, cx: &mut Context<'_>) -> Option<Waiting<B>> {
        let Some(scheduler) = self.scheduler else {
            return self.take_next_by_priority(cx);
        };
        let view = cx.face(self.face);
        if view.queued_packets() == 0 {
            return None;
        }
        match self.disciplines[scheduler].select(cx.now, view) {
            Selection::Class(class) => self.take_from(cx, class.index()),
            Selection::Until(at) => {
                self.actions.wake_at(at);
                self.act(cx);
                None
            }
        }
    }

    /// Strict priority: the highest class in which something waits.
    fn take_next_by_priority(&mut self, cx: &Context<'_>) -> Option<Waiting<B>> {
        (0..Class::COUNT).rev().find_map(|class| self.take_from(cx, class))
    }

    #[inline]
    fn take_from(&mut self, cx: &Context<'_>, class: usize) -> Option<Waiting<B>> {
        let waiting = self.classes[class].pop_front()?;
        let view = cx.face(self.face);
        view.packets[class].set(view.packets[class].get() - 1);
        view.bytes[class].set(view.bytes[class].get() - waiting.packet.header.size().get());
        Some(waiting)
    }

    /// Puts a packet at the end of its class, or drops it when the class is full.
    fn append(&mut self, cx: &mut Context<'_>, packet: Packet<B>) {
        let view = cx.face(self.face);
        let (class, size) = (packet.header.hop.class, packet.header.size());
        if view.is_full_for(class, size) {
            return self.drop_packet(cx, &packet.header, Cause("queue full"));
        }
        let index = class.index();
        view.packets[index].set(view.packets[index].get() + 1);
        view.bytes[index].set(view.bytes[index].get() + size.get());
        if class == Class::BULK {
            view.accepted.set(view.accepted.get() + 1);
        }
        self.classes[index].push_back(Waiting { packet, since: cx.now });
        self.stats.peak = self.stats.peak.max(view.queued_packets());
    }

    fn hold(&mut self, cx: &mut Context<'_>, packet: Packet<B>, until: Time) {
        self.stats.stored += 1;
        cx.record(Event::Stored { face: self.face.0, name: packet.header.name });
        self.store.push_back(Held { packet, until });
        cx.face(self.face).held.set(self.store.len() as u32);
    }

    fn drop_packet(&mut self, cx: &mut Context<'_>, header: &Header, cause: Cause) {
        self.stats.dropped += 1;
        let view = cx.face(self.face);
        view.dropped.set(view.dropped.get() + 1);
        let (name, size) = (header.name, header.size());
        cx.record(Event::Dropped { face: self.face.0, name, size, cause });
    }

    fn mark_packet(
        &mut self,
        cx: &mut Context<'_>,
        header: &mut Header,
        level: u8,
        sojourn: Span,
        cause: Cause,
    ) {
        self.stats.marked += 1;
        header.hop.raise_mark(level);
        cx.record(Event::Marked { face: self.face.0, name: header.name, sojourn, cause });
    }

    /// Does what the disciplines asked for beside their verdicts.
    #[inline(always)]
    fn act(&mut self, cx: &mut Context<'_>) {
        let Actions { release, notices, wake } = &self.actions;
        if *release != 0 || !notices.is_empty() || wake.is_some() {
            self.act_now(cx);
        }
    }

    #[cold]
    fn act_now(&mut self, cx: &mut Context<'_>) {
        let Actions { release, mut notices, wake } = std::mem::take(&mut self.actions);
        for mut notice in notices.drain(..) {
            self.stats.notices += 1;
            self.stats.offered += 1;
            notice.hop.class = Class::NOTICE;
            cx.record(Event::NoticeMade { face: self.face.0, name: notice.name });
            self.append(cx, Packet { header: notice, body: B::default() });
        }
        self.actions.notices = notices;
        self.expire(cx);
        let mut left = release;
        while left > 0 {
            let Some(held) = self.store.pop_front() else { break };
            if held.until <= cx.now {
                self.drop_packet(cx, &held.packet.header, Cause("stored too long"));
                continue;
            }
            left -= 1;
            self.stats.released += 1;
            cx.record(Event::Released { face: self.face.0, name: held.packet.header.name });
            self.append(cx, held.packet);
        }
        cx.face(self.face).held.set(self.store.len() as u32);
        if let Some(at) = wake {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// Drops what stayed in the side store for too long; the store is in order of arrival, and a shorter
    /// stay behind a longer one waits for it.
    fn expire(&mut self, cx: &mut Context<'_>) {
        while self.store.front().is_some_and(|held| held.until <= cx.now) {
            if let Some(held) = self.store.pop_front() {
                self.drop_packet(cx, &held.packet.header, Cause("stored too long"));
            }
        }
        cx.face(self.face).held.set(self.store.len() as u32);
    }
}

fn raise(mark: Option<(u8, Cause)>, level: u8, cause: Cause) -> Option<(u8, Cause)> {
    match mark {
        Some((old, _)) if old >= level => mark,
        _ => Some((level, cause)),
    }
}
