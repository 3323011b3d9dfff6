//! Congestion-control schemes, one file (or folder) each; they see only the public interface of `tidegate-core`.
//!
//! Each module has a catalogue entry, `SCHEME`, and most have parameters, `Params`. An entry makes the parts of its
//! scheme:
//!
//! ```
//! use tidegate_core::prelude::*;
//! use tidegate_schemes::icp;
//!
//! let params = icp::Params { initial_window: 10.0, beta: 0.7, ..Default::default() };
//! let mut controller = icp::SCHEME.make_consumer(params)?;
//!
//! let (sent_at, now) = (Time::ZERO, Time::ZERO + Span::from_millis(20));
//! let data = Delivery::of_data(0, ByteCount::new(1_100), sent_at, now);
//! controller.on_delivery(&mut Present::detached(now).context(), &data, &FlowView::default());
//! assert_eq!(controller.window(), 10.1);
//!
//! let now = now + Span::from_millis(500);
//! let loss = Loss::new(1, sent_at, LossSignal::Timeout);
//! controller.on_loss(&mut Present::detached(now).context(), &loss, &FlowView::default());
//! assert_eq!(controller.window(), 10.0); // Not below the first window.
//! # Ok::<(), MakeError>(())
//! ```
#![forbid(unsafe_code)]

use tidegate_core::scheme::Scheme;

pub mod toolbox;

/// Names every scheme once: declares its module and puts it into [`SCHEMES`].
macro_rules! schemes {
    ($($module:ident,)*) => {
        $(pub mod $module;)*

        /// Every scheme of this crate, in catalogue order.
        pub static SCHEMES: &[&Scheme] = &[$(&$module::SCHEME),*];
    };
}

schemes! {
    belrp,
    bbr,
    bbr_cd,
    best_route,
    brf,
    catchunks_aimd,
    catchunks_cubic,
    catchunks_fixed,
    cctcp_like,
    codel,
    codel_mark,
    coopcon_like,
    drop_tail,
    dualpi2,
    ecn_rate_like,
    fixed,
    flecom_like,
    fq_codel,
    hobhis,
    hr_icp,
    htb,
    icp,
    mircc,
    mnrcp_like,
    multicast,
    ndnd_aimd,
    ndnd_cubic,
    ndnsieve,
    ndnsim_aimd,
    ndnsim_bic,
    ndnsim_cubic,
    ndnsim_window,
    ndnts_cubic,
    nfd_marking,
    nfd_marking_0_6,
    pcon,
    pcon_ndnsim,
    plr,
    raaqm,
    random_early_marking,
    rcp,
    red,
    sirc_like,
    stateful_forwarding,
    stateful_forwarding_rtt,
    step_ecn,
    tcp_bbr1,
    tcp_bbr3,
    tcp_cubic,
    tcp_cubic_linux,
    tcp_dctcp,
    tcp_reno,
    wldr,
    xcp,
}

/// The scheme called `name` among `schemes`.
pub fn find(schemes: &[&'static Scheme], name: &str) -> Option<&'static Scheme> {
    schemes.iter().copied().find(|scheme| scheme.name == name)
}
