//! Congestion-control schemes, one file (or folder) each; they see only the public interface of `tidegate-core`.
#![forbid(unsafe_code)]

use tidegate_core::scheme::Scheme;

#[cfg(test)]
mod testing;
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
