//! Rate of Interests that a face may send, so that Interests and Data of both directions fit the link.
//!
//! Paper: Wang et al. 2013, the optimum of its section 3: i1 + r2 i2 <= C1 and i2 + r1 i1 <= C2, where i are the
//! Interests of either direction, C the capacities and r the bytes of Data per byte of Interest.

/// A link and its packets, from one end: 1 is the way out, 2 the way in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Capacity out (C1), bit/s.
    pub out: f64,
    /// Capacity in (C2), bit/s.
    pub incoming: f64,
    /// Ratio r1: size of incoming Data over the size of its Interest.
    pub data_in: f64,
    /// Ratio r2: size of outgoing Data over the size of its Interest.
    pub data_out: f64,
}

/// Rates of Interests if both directions request as much as they can, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contended {
    /// Rate of the Interests of this end.
    pub own: f64,
    /// Rate of the Interests of the other end.
    pub other: f64,
}

impl Load {
    /// Maximum rate of Interests if the other end requests nothing, bit/s.
    pub(super) fn alone(self) -> f64 {
        self.incoming / self.data_in
    }

    /// Fair rates of Interests if both ends request as much as they can.
    pub(super) fn contended(self) -> Contended {
        let Self { out, incoming, data_in, data_out } = self;
        let (asymmetry, product) = (out / incoming, data_in * data_out);
        if asymmetry < 2.0 * data_out / (product + 1.0) {
            Contended { own: out / 2.0, other: out / (2.0 * data_out) }
        } else if asymmetry > (product + 1.0) / (2.0 * data_in) {
            Contended { own: incoming / (2.0 * data_in), other: incoming / 2.0 }
        } else if (product - 1.0).abs() < 1e-9 {
            // Both limits are one line; the first case holds on it.
            Contended { own: out / 2.0, other: out / (2.0 * data_out) }
        } else {
            Contended {
                own: (data_out * incoming - out) / (product - 1.0),
                other: (data_in * out - incoming) / (product - 1.0),
            }
        }
    }

    /// Interests to send, bit/s, while `observed` bit/s of Interests come in.
    pub(super) fn shaped(self, observed: f64, headroom: f64) -> f64 {
        let Contended { own, other } = self.contended();
        // Between the contended and the lone rate, quadratic in the demand that is missing (source).
        let missing = (1.0 - observed / (other * headroom)).max(0.0);
        headroom * (own + (self.alone() - own) * missing * missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(load: Load, own: f64, other: f64) {
        let found = load.contended();
        let is_near = |found: f64, by_hand: f64| (found / by_hand - 1.0).abs() < 1e-12;
        assert!(is_near(found.own, own) && is_near(found.other, other), "{found:?}");
        // Nothing overflows, and one way is full.
        let (out, incoming) = (own + load.data_out * other, other + load.data_in * own);
        assert!(out <= load.out * (1.0 + 1e-12) && incoming <= load.incoming * (1.0 + 1e-12));
        assert!(is_near(out, load.out) || is_near(incoming, load.incoming), "{out} {incoming}");
    }

    #[test]
    fn equal_ways_are_both_full() {
        // 25 B of Data per byte of Interest: i = C / (1 + 25).
        let load = Load { out: 10e6, incoming: 10e6, data_in: 25.0, data_out: 25.0 };
        expect(load, 10e6 / 26.0, 10e6 / 26.0);
        assert_eq!(load.alone(), 10e6 / 25.0);
    }

    #[test]
    fn a_narrow_way_out_is_shared_by_halves() {
        // 0.05 < 2 * 25 / 626 = 0.0799: half for Interests, half for Data.
        let load = Load { out: 1e6, incoming: 20e6, data_in: 25.0, data_out: 25.0 };
        expect(load, 0.5e6, 0.5e6 / 25.0);
    }

    #[test]
    fn a_narrow_way_in_is_shared_by_halves() {
        // 20 > 626 / 50 = 12.52.
        let load = Load { out: 20e6, incoming: 1e6, data_in: 25.0, data_out: 25.0 };
        expect(load, 0.5e6 / 25.0, 0.5e6);
    }

    #[test]
    fn moderately_unequal_ways_are_both_full_by_unequal_parts() {
        // (25 * 2 - 10) / 624 and (25 * 10 - 2) / 624, in Mbit/s.
        let load = Load { out: 10e6, incoming: 2e6, data_in: 25.0, data_out: 25.0 };
        expect(load, 40e6 / 624.0, 248e6 / 624.0);
        // Different sizes: product 200: (20 * 8 - 10) / 199 and (10 * 10 - 8) / 199.
        let load = Load { out: 10e6, incoming: 8e6, data_in: 10.0, data_out: 20.0 };
        expect(load, 150e6 / 199.0, 92e6 / 199.0);
    }

    #[test]
    fn data_of_the_size_of_interests_divides_by_nothing() {
        expect(Load { out: 1e6, incoming: 1e6, data_in: 1.0, data_out: 1.0 }, 0.5e6, 0.5e6);
    }

    #[test]
    fn the_rate_falls_with_the_square_of_what_the_other_end_leaves() {
        let load = Load { out: 10e6, incoming: 10e6, data_in: 25.0, data_out: 25.0 };
        let (alone, own) = (10e6 / 25.0, 10e6 / 26.0);
        for (part, by_hand) in [(0.0, alone), (0.5, own + (alone - own) / 4.0), (1.0, own), (2.0, own)] {
            let found = load.shaped(part * 0.98 * own, 0.98);
            assert!((found / (0.98 * by_hand) - 1.0).abs() < 1e-12, "{part}: {found}");
        }
    }
}
