//! RAAQM: the consumer plays the queue; each Data shrinks the window with a probability that grows with its round trip,
//! seen between the shortest and the longest of its path.
//!
//! Paper: Carofiglio, Gallo, Muscariello et al. (RAAQM, ICP over several paths), in two public programs: hICN's transport
//! `RaaqmTransportProtocol`, and `ConsumerWindowRAAQM` by Y. Wang for ndnSIM.
//!
//! * [`consumer`]: window and timer;
//! * [`path`]: what the consumer knows of a path;
//! * [`labeller`]: writes on Data which path they took.

use tidegate_core::choice;
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::Span;

pub mod consumer;
pub mod labeller;
pub mod path;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "raaqm",
    summary: "shrinks the window by chance, the likelier the longer a round trip is among the last ones of its path",
    paper: "Carofiglio et al.: RAAQM; hICN RaaqmTransportProtocol, ndnSIM ConsumerWindowRAAQM",
    provenance: Provenance::Source,
    deviations: &[
        "hICN's tuning by the kind of network (`autotune`, off there) is not rebuilt, and with it that paths silent for 2 s \
         do not count; paths are forgotten only when there are more than 1024.",
        "hICN sends one retransmission beyond a full window whenever it looks; here all wait for room in it.",
        "hICN's label has 8 bits; routers here write 32, so that no two paths share one by chance.",
        "With `form = \"ndnsim\"` the timer is the shell's: give the flow `shell = \"ndnsim\"` for that program's; its \
         window ends at 1, not at 0. With `form = \"hicn\"` give it `shell = { lifetime = \"1001ms\" }`.",
        "ndnSIM's program tells no paths apart, as `per_path = false` does.",
    ],
    draws: true,
    params: Params::TABLE,
    shell: ShellKind::Hicn,
    consumer: Some(|settings| Ok(Box::new(consumer::Raaqm::new(Params::from_settings(settings)?)))),
    router: Some(router),
    ..Scheme::NONE
};

choice! {
    /// Whose numbers and rule of growth.
    pub enum Form {
        /// hICN with the configuration file that it installs: 0.99 of the window stays, a factor of 0.003, a packet more
        /// per round trip, Interests of 500 ms.
        HicnFile = "hicn-file",
        /// hICN's defaults without that file: 0.8 stays, a factor of 0.2, Interests of 1001 ms. Any difference of a
        /// tick of its clock then shrinks the window, so that it fills no link of many packets.
        Hicn = "hicn",
        /// ndnSIM: slow start, 0.9 stays, a factor of 0.1, whole windows; nothing on a loss.
        Ndnsim = "ndnsim",
    }
}

choice! {
    /// What ends the wait for a Data.
    pub enum Timer {
        /// The lifetime of an Interest: hICN keeps timers of paths and does not use them.
        Lifetime = "lifetime",
        /// Ten smoothed round trips of the path that the last Data took.
        Path = "path",
    }
}

params! {
    /// Whose numbers and rule of growth.
    form: Form = Form::HicnFile;
    /// Part of the window kept on a decrease; 0 takes the form's.
    beta: f64 = 0.0, "of the window", 0.0..=0.99;
    /// Probability of a decrease at the longest round trip; 0 takes the form's.
    drop_factor: f64 = 0.0, "of the Data", 0.0..=1.0;
    /// Whether round trips shrink the window at all, not losses alone.
    early: bool = true;
    /// Round trips of a path between which a new one is seen; before there are as many it shrinks nothing.
    samples: u32 = 30, "count", 1..=10_000;
    /// What round trips are read in, of both forms of hICN: whole milliseconds since 2021, microseconds before.
    resolution: Span = Span::from_millis(1), "time", Span::from_nanos(1)..=Span::from_secs(1);
    /// Whether paths are told apart by the labels on Data.
    per_path: bool = true;
    /// What ends the wait for a Data, of both forms of hICN.
    timer: Timer = Timer::Lifetime;
    /// Largest window of both forms of hICN.
    largest_window: f64 = 512.0, "packets", 1.0..=1_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    for device in &node.devices {
        parts.gates.push((device.face, Box::new(labeller::Labeller::new(device.face))));
    }
    Ok(parts)
}
