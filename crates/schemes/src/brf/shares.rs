//! Division of a link among the classes by their numbers of flows (eq. 8).

use super::Params;

/// Active flows of a device, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Number of BRF flows.
    pub brf: usize,
    /// Number of other TCP flows.
    pub other: usize,
    /// Whether packets other than TCP pass.
    pub has_udp: bool,
}

/// Bandwidth of each class, bytes/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Sum of the grants to BRF flows; the remainder is headroom.
    pub brf: f64,
    /// CUBIC and other TCP flows.
    pub other: f64,
    /// Share of packets that are not TCP.
    pub udp: f64,
}

impl Shares {
    /// eq. 8 for a link of `capacity` bytes/s, after the share of packets that are not TCP, if there are any; as
    /// printed they get nothing (`udp_share = 0`). Without TCP flows the quotients would divide by zero, and the link
    /// belongs to the other class.
    pub fn of(params: &Params, capacity: f64, census: Census) -> Self {
        let udp = if census.has_udp { params.udp_share * capacity } else { 0.0 };
        let tcp = capacity - udp;
        let part = match (census.brf, census.other) {
            (0, 0) => 0.0,
            (brf, other) => brf as f64 / (brf + other) as f64,
        };
        Self { brf: params.link_share * tcp * part, other: tcp * (1.0 - part), udp }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::prelude::*;

    fn shares(mode: &str, brf: usize, other: usize, has_udp: bool) -> [f64; 3] {
        let settings = Settings(vec![("mode".into(), Setting::Text(mode.into()))]);
        let params = Params::read(&settings).expect("known");
        let Shares { brf, other, udp } = Shares::of(&params, 100.0, Census { brf, other, has_udp });
        [brf, other, udp].map(|share| (share * 1e6).round() / 1e6)
    }

    #[test]
    fn classes_share_the_link_in_the_ratio_of_their_flows() {
        assert_eq!(shares("corrected", 1, 1, false), [48.5, 50.0, 0.0]);
        assert_eq!(shares("literal", 1, 3, false), [25.0, 75.0, 0.0]);
        assert_eq!(shares("literal", 1, 3, true), [25.0, 75.0, 0.0], "as printed UDP has no term");
        assert_eq!(shares("corrected", 2, 0, false), [97.0, 0.0, 0.0]);
        assert_eq!(shares("corrected", 1, 1, true), [46.075, 47.5, 5.0]);
    }

    #[test]
    fn without_brf_flows_the_others_get_the_link() {
        assert_eq!(shares("corrected", 0, 2, false), [0.0, 100.0, 0.0]);
        assert_eq!(shares("literal", 0, 0, false), [0.0, 100.0, 0.0]);
    }
}
