//! PLR: packets that overflow a queue are stored, announced downstream, and sent once the queue drains.
//!
//! Paper: Chen et al., ICCCN 2023. One instance per interface; its parts by section:
//! * §IV.B [`loss_notice`]: the notice ("ELN") of a stored Data to the consumer;
//! * §IV.C, D, E [`retransmission_store`]: the store ("RS", eq. 1), sensing ("PLSM") and recovery ("LRM",
//!   Algorithm 1, eq. 2-5);
//! * the forwarder keeps the PIT entry when a notice passes, and the consumer reacts to it.
//!
//! The notice needs the queue's notice class alone, so PLR works with any other discipline in front of it.

use tidegate_core::prelude::*;

use retransmission_store::RetransmissionStore;

pub mod loss_notice;
pub mod retransmission_store;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "plr",
    summary: "stores packets that overflow a queue, notifies consumers and forwards the stored packets once the queue \
         drains",
    paper: "Chen et al.: PLR, An In-Network Proactive Loss Recovery Scheme for NDN, ICCCN 2023",
    provenance: Provenance::Paper,
    deviations: &[
        "A notice from another node is dropped when the traffic class of the notices is full, not when \"the queue\" \
         is (`full_for_notice = \"any-class\"`).",
        "The cumulative rate R is bounded while the store is empty; the paper lets it grow (`cap = false`).",
        "The paper does not mention Nacks; they are handled like Interests.",
    ],
    params: Params::TABLE,
    discipline: Some(|settings, _| {
        Ok(Box::new(RetransmissionStore::new(Params::from_settings(settings)?)))
    }),
    router: Some(|settings, node| {
        let params = Params::from_settings(settings)?;
        let store = |_: &DeviceSetup| RetransmissionStore::new(params.clone());
        Ok(RouterParts::default().with_disciplines(node, store))
    }),
    whole: Whole {
        with: &[Companion { role: Role::Consumer, scheme: "ndnsim-aimd" }],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Cumulative rate R from which stored packets are retransmitted.
    pub enum Release {
        /// Algorithm 1, line 13: R > 1.
        AboveOne = "above-one",
        /// Text of §IV.E: "once it reaches 1".
        FromOne = "from-one",
    }
}

choice! {
    /// Where `sendN`, the total number of sent packets, is counted.
    pub enum SentCounted {
        /// When a packet is handed to the interface, as eq. 2 needs it.
        Enqueue = "enqueue",
        /// When a packet leaves the queue; eq. 4 is then N_bw = sendN_i - sendN_(i-1).
        Dequeue = "dequeue",
    }
}

choice! {
    /// Full traffic class that causes a passing notice to be dropped.
    pub enum FullForNotice {
        /// The class of the notices.
        OwnClass = "own-class",
        /// The class of the notices or that of the ordinary packets.
        AnyClass = "any-class",
    }
}

params! {
    /// Size of the retransmission store as a fraction of the queue limit, rounded down (eq. 1; §VI.B). A limit in bytes
    /// counts as packets of 1500 bytes, here and for tau.
    alpha: f64 = 0.5, "of the queue limit", 0.01..=1.0;
    /// Fraction of the queue limit above which nothing is estimated or retransmitted (Algorithm 1, line 5; §VI.A).
    tau: f64 = 0.75, "of the queue limit", 0.01..=1.0;
    /// Interval between two rounds of Algorithm 1 (§VI.A).
    interval: Span = Span::from_millis(1), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Maximum time in the store. The paper has such a timer (§IV.C) but gives no value; it should not exceed the
    /// lifetime of pending Interests, which is not available to a queue.
    residence: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Cumulative rate R at which stored packets are retransmitted: `above-one`, R > 1, as in Algorithm 1, line 13;
    /// `from-one`, R >= 1, as in the text ("once it reaches 1", §IV.E).
    release: Release = Release::AboveOne;
    /// Where the total number of sent packets is counted (eq. 2, 4): `enqueue`, when a packet joins the queue;
    /// `dequeue`, when it leaves the queue.
    sent_counted: SentCounted = SentCounted::Enqueue;
    /// Whether R is bounded by the size of the store while the store is empty; as printed (false), R grows without
    /// bound on an idle link, and the first stored packets leave in one burst.
    cap: bool = true;
    /// Whether packets moved from the store to the queue count as sent in the next round, as in Algorithm 1, although
    /// line 15 has already added them to the queue length. No effect with `sent_counted = "dequeue"`.
    released_counted: bool = true;
    /// Which full traffic class causes a passing notice to be dropped: `own-class`, that of the notices; `any-class`,
    /// also that of ordinary packets, as the text (§IV.D) may be read.
    full_for_notice: FullForNotice = FullForNotice::OwnClass;
    /// Whether Interests and Nacks are stored too (§IV.D); otherwise they are dropped.
    recover_interests: bool = true;
}
