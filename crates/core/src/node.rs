//! A node: one forwarder and the queues of its devices. Drivers pass packets in and poll devices for packets.

use std::collections::VecDeque;

use crate::context::{Context, Env};
use crate::control::Directive;
use crate::face::{FaceId, FaceView};
use crate::forwarder::{Forwarder, Outbox};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::units::Time;

/// A router or host.
#[derive(Debug)]
pub struct Node<B> {
    forwarder: Forwarder<B>,
    egress: Egress<B>,
    faces: Vec<FaceView>,
}

/// Where a node's packets go: the queues of its devices and its applications.
#[derive(Debug)]
struct Egress<B> {
    queues: Vec<Queue<B>>,
    to_applications: VecDeque<(FaceId, Packet<B>)>,
    touched: Vec<FaceId>,
}

impl<B: Default> Outbox<B> for Egress<B> {
    #[inline]
    fn send(&mut self, cx: &mut Context<'_>, face: FaceId, packet: Packet<B>) {
        match self.queues.get_mut(face.index()) {
            Some(queue) => {
                queue.push(cx, packet);
                self.touched.push(face);
            }
            None => self.to_applications.push_back((face, packet)),
        }
    }
}

impl<B: Clone + Default> Node<B> {
    /// A node with `queues[i]` on face `i`; `faces` has the devices first, then the applications.
    pub fn new(forwarder: Forwarder<B>, queues: Vec<Queue<B>>, faces: Vec<FaceView>) -> Self {
        let egress = Egress { queues, to_applications: VecDeque::new(), touched: Vec::new() };
        Self { forwarder, egress, faces }
    }

    /// The forwarder.
    pub fn forwarder(&self) -> &Forwarder<B> {
        &self.forwarder
    }

    /// The forwarder.
    pub fn forwarder_mut(&mut self) -> &mut Forwarder<B> {
        &mut self.forwarder
    }

    /// The faces, devices first.
    pub fn faces(&self) -> &[FaceView] {
        &self.faces
    }

    /// The queue of the device `face`.
    pub fn queue(&self, face: FaceId) -> &Queue<B> {
        &self.egress.queues[face.index()]
    }

    /// Calls `part` with this node's surroundings.
    #[inline]
    pub fn with_context<T>(&self, env: Env<'_>, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        part(&mut Context::new(env, &self.faces))
    }

    /// A packet arrived through `from` and goes through the forwarder.
    #[inline]
    pub fn receive(&mut self, env: Env<'_>, from: FaceId, packet: Packet<B>) {
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.receive(&mut cx, from, packet, &mut self.egress);
    }

    /// Puts a packet into the queue of the device `face` past the forwarder (a host's only application).
    #[inline]
    pub fn enqueue(&mut self, env: Env<'_>, face: FaceId, packet: Packet<B>) {
        let mut cx = Context::new(env, &self.faces);
        self.egress.queues[face.index()].push(&mut cx, packet);
    }

    /// The next packet that the device `face` may send now.
    #[inline]
    pub fn poll_transmit(&mut self, env: Env<'_>, face: FaceId) -> Option<Packet<B>> {
        let mut cx = Context::new(env, &self.faces);
        self.egress.queues[face.index()].pop(&mut cx)
    }

    /// The next packet for an application, and its face.
    #[inline]
    pub fn poll_application(&mut self) -> Option<(FaceId, Packet<B>)> {
        self.egress.to_applications.pop_front()
    }

    /// The next device whose queue got a packet since the last call.
    #[inline]
    pub fn poll_touched(&mut self) -> Option<FaceId> {
        self.egress.touched.pop()
    }

    /// When the forwarder is to be woken; `None` for never.
    #[inline]
    pub fn forwarder_wake(&self) -> Option<Time> {
        self.forwarder.next_wake()
    }

    /// When the queue of the device `face` is to be woken; `None` for never.
    #[inline]
    pub fn queue_wake(&self, face: FaceId) -> Option<Time> {
        self.egress.queues[face.index()].next_wake()
    }

    /// Ends what is due in the forwarder.
    pub fn wake_forwarder(&mut self, env: Env<'_>) {
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.on_wake(&mut cx);
    }

    /// Passes the controller's word to every part of the node.
    pub fn on_directive(&mut self, env: Env<'_>, directive: &Directive) {
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.on_directive(&mut cx, directive);
        for queue in &mut self.egress.queues {
            queue.on_directive(&mut cx, directive);
        }
    }

    /// Runs what is due in the queue of the device `face`.
    pub fn wake_queue(&mut self, env: Env<'_>, face: FaceId) {
        let mut cx = Context::new(env, &self.faces);
        self.egress.queues[face.index()].on_wake(&mut cx);
    }

    /// Drops everything in the queue of the device `face`; the number of packets.
    pub fn clear_queue(&mut self, env: Env<'_>, face: FaceId) -> u64 {
        let mut cx = Context::new(env, &self.faces);
        self.egress.queues[face.index()].clear(&mut cx)
    }
}
