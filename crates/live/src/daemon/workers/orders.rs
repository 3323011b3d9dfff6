//! Orders of the first worker to the others, and their notices to it.

use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::name::PrefixId;

use super::super::Daemon;
use super::super::config::{FaceConfig, ForwarderConfig};
use super::super::face::Origin;
use super::super::management::{Erased, StoreChange};
use super::Workers;
use super::faces::FarEnd;
use super::reports::{Report, Reports};
use crate::nfd::{ControlParameters, FaceEventKind};
use crate::transport::Transport;

/// Maximum time that the first worker waits for a notice.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// What the first worker orders another one to do. All that it sends to one worker is done in its order.
#[derive(Debug)]
pub(in super::super) enum Order {
    /// Make a face of this number.
    Attach(Box<NewFace>),
    /// Remove the face of this number.
    Detach { face: FaceId, number: u64 },
    /// Process a frame of a face, which a listener received.
    Frame { face: FaceId, number: u64, frame: Bytes },
    /// Set the next hops of a prefix, given by its components.
    SetRoute { prefix: Vec<u8>, hops: Vec<NextHop> },
    /// Set the strategy of a prefix to one of a name, both given by their components; `None` removes it.
    SetStrategy { prefix: Vec<u8>, strategy: Option<Vec<u8>> },
    /// Change properties of a face.
    Update { face: FaceId, number: u64, requested: Box<ControlParameters> },
    /// Set whether packets can be sent to a face.
    SetUp { face: FaceId, number: u64, is_up: bool },
    /// Change capacity and flags of the content store.
    ConfigureStore(StoreChange),
    /// Erase at most `limit` Data under a prefix from the content store.
    EraseStore { prefix: Vec<u8>, limit: usize },
    /// Apply a changed configuration.
    Reload(Box<ForwarderConfig>),
    /// Report counters and tables.
    Report,
    /// End the thread of the worker.
    Stop,
}

/// A face that is to be made.
#[derive(Debug)]
pub(in super::super) struct NewFace {
    pub id: FaceId,
    pub number: u64,
    pub origin: Origin,
    pub settings: FaceConfig,
    pub is_local: bool,
    pub end: FarEnd,
    /// The socket, for its owner.
    pub transport: Option<Transport>,
}

/// What another worker reports to the first one.
#[derive(Debug)]
pub(in super::super) enum Notice {
    /// A permanent face can be sent to again, or no longer.
    SetUp { face: FaceId, number: u64, is_up: bool },
    /// The answer to an order, [`Order::EraseStore`].
    Erased(Erased),
    /// The transport of a face failed, or its peer was silent for too long.
    Ended { face: FaceId, number: u64 },
    /// The answer to an order, [`Order::Report`].
    Report(Box<Report>),
    /// The thread of the worker ended.
    Gone,
}

/// Channels of orders and notices.
#[derive(Debug)]
pub(in super::super) enum ControlChannels {
    First(First),
    Other(Other),
}

/// Those of the first worker.
#[derive(Debug)]
pub(in super::super) struct First {
    /// By worker; `None` for the first.
    pub(super) orders: Vec<Option<SyncSender<Order>>>,
    pub(super) notices: Receiver<(usize, Notice)>,
    pub(super) threads: Vec<JoinHandle<()>>,
    /// Number of faces of each worker.
    pub(super) faces: Vec<u32>,
    pub(super) reports: Reports,
    /// Whether the thread of another worker has ended.
    pub(super) is_broken: bool,
}

/// Those of another worker.
#[derive(Debug)]
pub(in super::super) struct Other {
    pub(super) orders: Receiver<Order>,
    pub(super) notices: Sender<(usize, Notice)>,
    /// Whether it was ordered to end.
    pub(super) is_stopped: bool,
}

impl Workers {
    /// All workers but this one.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own;
        (0..self.wakers.len()).filter(move |worker| *worker != own)
    }

    /// Sends an order to one worker.
    pub fn order(&mut self, worker: usize, order: Order) {
        let ControlChannels::First(First { orders, .. }) = &self.control else { return };
        if let Some(Some(orders)) = orders.get(worker) {
            // One whose thread has ended has given notice of it.
            let _ = orders.send(order);
            self.wakers[worker].wake_always();
        }
    }

    /// Sends an order to all other workers.
    pub fn order_all(&mut self, order: impl Fn(usize) -> Order) {
        self.others().for_each(|worker| self.order(worker, order(worker)));
    }

    /// Whether this worker has to end.
    pub fn is_stopped(&self) -> bool {
        matches!(&self.control, ControlChannels::Other(Other { is_stopped: true, .. }))
    }

    /// Whether another worker has ended, without which names cannot be forwarded.
    pub fn is_broken(&self) -> bool {
        matches!(&self.control, ControlChannels::First(First { is_broken: true, .. }))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.order_all(|_| Order::Stop);
        if let ControlChannels::First(First { threads, .. }) = &mut self.control {
            // A thread that panicked has reported it.
            threads.drain(..).for_each(|thread| _ = thread.join());
        }
    }
}

impl Daemon {
    /// Sends a notice to the first worker.
    pub(super) fn give_notice(&self, notice: Notice) {
        let Some(workers) = &self.workers else { return };
        if let ControlChannels::Other(Other { notices, .. }) = &workers.control {
            // The first worker ends the others before itself.
            let _ = notices.send((workers.own, notice));
            workers.wakers[0].wake_always();
        }
    }

    /// Carries out the orders, or takes the notices, that have come.
    pub(in super::super) fn take_messages(&mut self) {
        while let Some(workers) = &mut self.workers {
            match &mut workers.control {
                ControlChannels::Other(other) => {
                    let Ok(order) = other.orders.try_recv() else { return };
                    self.carry_out(order);
                }
                ControlChannels::First(first) => {
                    let Ok((worker, notice)) = first.notices.try_recv() else { return };
                    self.take_notice(worker, notice);
                }
            }
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Attach(face) => self.attach_announced(*face),
            Order::Detach { face, number } if self.has_face(face, number) => self.close(face),
            Order::Frame { face, number, frame } if self.has_face(face, number) => {
                self.take_frame(face, frame);
            }
            Order::Update { face, number, requested } if self.has_face(face, number) => {
                self.apply_update(face, &requested);
            }
            Order::SetUp { face, number, is_up } if self.has_face(face, number) => {
                self.node.faces()[face.index()].set_up(is_up);
            }
            Order::Detach { .. } | Order::Frame { .. } | Order::Update { .. } | Order::SetUp { .. } => {}
            Order::ConfigureStore(change) => self.change_store(change),
            Order::EraseStore { prefix, limit } => {
                let prefix = self.prefix_here(&prefix);
                let erased = prefix.map(|prefix| self.erase_own(prefix, limit)).unwrap_or_default();
                self.give_notice(Notice::Erased(erased));
            }
            Order::SetRoute { prefix, hops } => {
                if let Some(prefix) = self.prefix_here(&prefix) {
                    self.rib.note_route(prefix, !hops.is_empty(), &self.names);
                    self.node.forwarder_mut().fib_mut().set(prefix, hops);
                }
            }
            Order::SetStrategy { prefix, strategy } => {
                self.set_ordered_strategy(&prefix, strategy.as_deref())
            }
            Order::Reload(config) => self.reload_worker(*config),
            Order::Report => self.give_notice(Notice::Report(Box::new(self.report()))),
            Order::Stop => {
                if let Some(ControlChannels::Other(other)) =
                    self.workers.as_mut().map(|workers| &mut workers.control)
                {
                    other.is_stopped = true;
                }
            }
        }
    }

    pub(super) fn take_notice(&mut self, worker: usize, notice: Notice) {
        match notice {
            Notice::Ended { face, number } if self.has_face(face, number) => self.close(face),
            Notice::SetUp { face, number, is_up } if self.has_face(face, number) => {
                self.node.faces()[face.index()].set_up(is_up);
                self.record_face_event(face, if is_up { FaceEventKind::Up } else { FaceEventKind::Down });
                self.announce_up(face, is_up);
            }
            // It comes while it is awaited.
            Notice::Ended { .. } | Notice::SetUp { .. } | Notice::Erased(_) => {}
            Notice::Report(report) => self.keep_report(worker, *report),
            Notice::Gone => {
                if let Some(ControlChannels::First(first)) =
                    self.workers.as_mut().map(|workers| &mut workers.control)
                {
                    first.is_broken = true;
                }
            }
        }
    }

    /// Erases Data from the content stores of the other workers, at most `limit`; waits for each.
    pub(in super::super) fn erase_elsewhere(&mut self, prefix: &[u8], limit: usize) -> Erased {
        let mut sum = Erased::default();
        let others: Vec<usize> = self.workers.iter().flat_map(|workers| workers.others()).collect();
        for worker in others {
            let Some(workers) = &mut self.workers else { break };
            let limit = limit - sum.count;
            workers.order(worker, Order::EraseStore { prefix: prefix.to_vec(), limit });
            let Some(erased) = self.await_erased() else { break };
            sum = Erased { count: sum.count + erased.count, has_more: sum.has_more || erased.has_more };
        }
        sum
    }

    fn await_erased(&mut self) -> Option<Erased> {
        let until = Instant::now() + PATIENCE;
        loop {
            let (worker, notice) = self.await_notice(until)?;
            if let Notice::Erased(erased) = notice {
                return Some(erased);
            }
            self.take_notice(worker, notice);
        }
    }

    /// The next notice; `None` if there is none in time.
    pub(super) fn await_notice(&self, until: Instant) -> Option<(usize, Notice)> {
        let ControlChannels::First(first) = &self.workers.as_ref()?.control else { return None };
        first.notices.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// The prefix of these components, which the first worker has checked, in the names of this worker.
    fn prefix_here(&mut self, components: &[u8]) -> Option<PrefixId> {
        self.names.intern_prefix(components).ok()
    }

    fn set_ordered_strategy(&mut self, prefix: &[u8], strategy: Option<&[u8]>) {
        let Some(prefix) = self.prefix_here(prefix) else { return };
        let Some(strategy) = strategy else {
            return self.node.forwarder_mut().fib_mut().unset_strategy(prefix);
        };
        match self.strategies.instance(strategy, self.node.forwarder_mut()) {
            Ok(id) => self.node.forwarder_mut().fib_mut().set_strategy(prefix, id),
            // The first worker has made the same one.
            Err(why) => tracing::error!("a strategy cannot be set in all threads: {why}"),
        }
    }
}
