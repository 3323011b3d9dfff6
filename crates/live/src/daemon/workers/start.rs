//! Starts the threads of the other workers.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread;

use tidegate_core::rng::Seed;

use super::super::config::ForwarderConfig;
use super::super::start::StartError;
use super::super::{Daemon, Watch, Watched};
use super::orders::{ControlChannels, First, Notice, Other};
use super::{Parts, Workers, part_of};
use crate::clock::MonotonicClock;

/// Maximum number of orders that wait for one worker.
const ORDERS: usize = 1_024;

/// Gives notice when the thread of a worker ends, also by a panic.
struct EndNotice {
    own: usize,
    notices: Sender<(usize, Notice)>,
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        let _ = self.notices.send((self.own, Notice::Gone));
    }
}

/// What a new worker is made of.
struct NewWorker {
    config: ForwarderConfig,
    seed: Seed,
    clock: MonotonicClock,
    workers: Box<Workers>,
    notice: EndNotice,
    started: Sender<Result<(), StartError>>,
}

/// Starts all workers but the first, whose part is returned; `None` if there is only one.
///
/// # Errors
/// When the system has no more descriptors or threads, or one of them cannot make its tables.
pub(in super::super) fn start(
    config: &ForwarderConfig,
    seed: Seed,
    clock: MonotonicClock,
    key: u64,
) -> Result<Option<Box<Workers>>, StartError> {
    if config.threads == 1 {
        return Ok(None);
    }
    let fault = |why: io::Error| StartError::new("threads", why);
    let mut parts = Parts::new(key, config.threads).map_err(fault)?;
    let (notices, received) = mpsc::channel();
    let (started, has_started) = mpsc::channel();
    let mut first = First {
        orders: vec![None],
        notices: received,
        threads: Vec::new(),
        faces: vec![0; config.threads],
        reports: Default::default(),
        is_broken: false,
    };
    for own in 1..config.threads {
        // The others never wait for the first worker, so that it may wait for room.
        let (sender, orders) = mpsc::sync_channel(ORDERS);
        let control = ControlChannels::Other(Other { orders, notices: notices.clone(), is_stopped: false });
        let worker = NewWorker {
            config: part_of(config, own),
            // Each draws nonces of its own.
            seed: Seed(seed.0.wrapping_add(own as u64)),
            clock,
            workers: Box::new(parts.next(own, control)),
            notice: EndNotice { own, notices: notices.clone() },
            started: started.clone(),
        };
        let thread = thread::Builder::new().name(format!("worker {own}"));
        first.threads.push(thread.spawn(move || run(worker)).map_err(fault)?);
        first.orders.push(Some(sender));
    }
    let workers = Box::new(parts.next(0, ControlChannels::First(first)));
    for _ in 1..config.threads {
        has_started.recv().unwrap_or_else(|_| Err(StartError::new("threads", "a thread ended early")))?;
    }
    Ok(Some(workers))
}

fn run(new: NewWorker) {
    let NewWorker { config, seed, clock, workers, notice, started } = new;
    let own = workers.own;
    // The socket of a face is closed before the notice is given.
    let _notice = notice;
    let made = Daemon::make(config, seed, clock, Some(workers)).and_then(|daemon| {
        daemon.watch_waker()?;
        Ok(daemon)
    });
    match made {
        Ok(mut daemon) => {
            let _ = started.send(Ok(()));
            if let Err(why) = daemon.run_worker() {
                tracing::error!(worker = own, "a thread ended: {why}");
            }
        }
        Err(why) => _ = started.send(Err(why)),
    }
}

impl Daemon {
    /// Watches what wakes this worker, if there are several.
    pub(in super::super) fn watch_waker(&self) -> Result<(), StartError> {
        let Some(workers) = &self.workers else { return Ok(()) };
        let watched = self.poll.register(workers.waker(), Watched::Waker.token(), Watch::Change);
        watched.map_err(|why| StartError::new("threads", why))
    }

    /// Forwards until the first worker orders to end.
    fn run_worker(&mut self) -> io::Result<()> {
        self.begin_housekeeping();
        while self.turn()? {}
        Ok(())
    }
}
