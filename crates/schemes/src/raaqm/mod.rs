//! RAAQM: active queue management at the consumer: each Data packet decreases the window with a probability that
//! grows with its RTT, relative to the minimum and maximum of its path.
//!
//! Paper: Carofiglio, Gallo, Muscariello et al. (RAAQM, ICP over several paths), in two public programs: hICN's
//! transport `RaaqmTransportProtocol`, and `ConsumerWindowRAAQM` by Y. Wang for ndnSIM.
//!
//! * [`consumer`]: window and timer;
//! * [`path`]: the consumer's state of a path;
//! * [`labeller`]: writes on Data which path they took.

use tidegate_core::prelude::*;

pub mod consumer;
pub mod labeller;
pub mod path;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "raaqm",
    summary: "decreases the window at random; the probability grows with the RTT relative to recent RTTs of the same path",
    paper: "Carofiglio et al.: RAAQM; hICN RaaqmTransportProtocol, ndnSIM ConsumerWindowRAAQM",
    provenance: Provenance::Source,
    deviations: &[
        "hICN's tuning by the type of network (`autotune`, off there) is not implemented, nor its rule that paths \
         silent for 2 s do not count; paths are removed only when there are more than 1024.",
        "hICN sends one retransmission beyond a full window at each check; here all retransmissions wait for room in \
         the window.",
        "hICN's path label has 8 bits; routers here write 32, so that different paths do not share a label by chance.",
        "With `form = \"ndnsim\"` the timer is that of the consumer profile: set `profile = \"ndnsim\"` in the flow to \
         use ndnSIM's; the minimum window is 1, not 0. With `form = \"hicn\"` set `profile = { lifetime = \"1001ms\" }`.",
        "ndnSIM's program does not distinguish paths; `per_path = false` restores this.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::Hicn,
    consumer: Some(|settings| Ok(Box::new(consumer::Raaqm::new(Params::from_settings(settings)?)))),
    router: Some(router),
    ..Scheme::NONE
};

choice! {
    /// Program whose constants and growth rule are used.
    pub enum Form {
        /// hICN with its installed configuration file: beta 0.99, drop factor 0.003, one packet more per RTT, Interest
        /// lifetime 500 ms.
        HicnFile = "hicn-file",
        /// hICN's built-in defaults: beta 0.8, drop factor 0.2, Interest lifetime 1001 ms. Any RTT difference of one
        /// clock tick then decreases the window, so that a link of many packets is not filled.
        Hicn = "hicn",
        /// ndnSIM: slow start, beta 0.9, drop factor 0.1, whole windows, no reaction to losses.
        Ndnsim = "ndnsim",
    }
}

choice! {
    /// Event after which an Interest counts as lost.
    pub enum Timer {
        /// The lifetime of an Interest: hICN computes a timer for each path and does not use it.
        Lifetime = "lifetime",
        /// Ten smoothed RTTs of the path of the last Data.
        Path = "path",
    }
}

params! {
    /// Program whose constants and growth rule are used: `hicn-file`, hICN with its installed configuration file (beta
    /// 0.99, drop_factor 0.003, one packet more per RTT); `hicn`, hICN's built-in defaults (beta 0.8, drop_factor 0.2);
    /// `ndnsim`, ndnSIM (slow start, beta 0.9, drop_factor 0.1, whole windows, no reaction to losses).
    form: Form = Form::HicnFile;
    /// Fraction of the window kept after a decrease; 0 uses the value of the form.
    beta: f64 = 0.0, "of the window", 0.0..=0.99;
    /// Probability of a decrease at the maximum RTT; 0 uses the value of the form.
    drop_factor: f64 = 0.0, "of the Data", 0.0..=1.0;
    /// Whether RTTs cause decreases, in addition to losses.
    early: bool = true;
    /// Number of recent RTT samples of a path with which a new one is compared; there are no decreases before this
    /// many.
    samples: u32 = 30, "count", 1..=10_000;
    /// Resolution of RTT measurements, for both hICN forms: 1 ms since 2021, 1 us before.
    resolution: Span = Span::from_millis(1), "time", Span::from_nanos(1)..=Span::from_secs(1);
    /// Whether paths are distinguished by the labels on Data.
    per_path: bool = true;
    /// When an Interest is considered lost, for both hICN forms: `lifetime`, when its lifetime ends (hICN computes a
    /// timer for each path and does not use it); `path`, after ten smoothed RTTs of the path of the last Data.
    timer: Timer = Timer::Lifetime;
    /// Maximum congestion window, for both hICN forms.
    #[renamed_from("largest_window")]
    max_window: f64 = 512.0, "packets", 1.0..=1_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    Params::from_settings(settings)?;
    Ok(RouterParts::default().with_gates(node, |device| labeller::Labeller::new(device.face)))
}
