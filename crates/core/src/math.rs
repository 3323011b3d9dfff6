//! Functions beyond `+ - * /` and the square root, from one implementation on every target.
//!
//! The methods of `f64` call the platform's library, whose last bit differs between systems, and a run must
//! give the same bytes everywhere. `tests/tidy` refuses those methods in simulation and statistics code.

/// The cube root of `x`.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// `x` to the second power.
#[inline]
pub fn square(x: f64) -> f64 {
    x * x
}

/// `x` to the third power. `f64::powi` leaves the order of its products to the compiler.
#[inline]
pub fn cube(x: f64) -> f64 {
    x * x * x
}

/// e to the power of `x`.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// The natural logarithm of `x`; NaN below zero.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The natural logarithm of 1 + `x`, exact near zero.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// `base` to the power of `exponent`.
#[inline]
pub fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// The sine of `x`, radians.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// The cosine of `x`, radians.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The arc sine of `x` (-1..=1), radians.
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    /// FNV-1a over the bits of `function` at points spread over twelve decades.
    fn bits(function: fn(f64) -> f64) -> u64 {
        (1..=4_000_u32).fold(hash::EMPTY, |hash, step| {
            let x = f64::from(step * step) * 1e-6;
            hash::fnv1a_word(hash, function(x).to_bits())
        })
    }

    #[test]
    fn every_function_has_the_same_bits_on_every_target() {
        let found = [
            bits(cbrt),
            bits(|x| exp(-x)),
            bits(ln),
            bits(ln_1p),
            bits(|x| pow(x, -0.8)),
            bits(sin),
            bits(cos),
            bits(|x| asin(x / 16.0)),
        ];
        let expected = [
            0x20F1_AA27_B75A_06B1,
            0x99D6_4B1F_CF93_5F28,
            0x6AB8_343F_84B0_9F0B,
            0xD747_4D65_58F1_BF29,
            0xFE37_D0CB_311A_2F96,
            0xC730_5FF2_E702_FFA7,
            0xF9F2_E94D_19DC_531A,
            0x2EAA_65BB_9B2C_6551,
        ];
        assert_eq!(found, expected, "{found:#018x?}");
    }

    #[test]
    fn every_function_is_within_two_units_in_the_last_place_of_the_platforms() {
        for step in 1..=4_000_u32 {
            let x = f64::from(step * step) * 1e-6;
            let pairs = [
                (cbrt(x), x.cbrt()),
                (cube(x), x.powi(3)),
                (exp(-x), (-x).exp()),
                (ln(x), x.ln()),
                (ln_1p(x), x.ln_1p()),
                (pow(x, -0.8), x.powf(-0.8)),
                (sin(x), x.sin()),
                (cos(x), x.cos()),
                (asin(x / 16.0), (x / 16.0).asin()),
            ];
            for (ours, platform) in pairs {
                let distance = ours.to_bits().abs_diff(platform.to_bits());
                assert!(distance <= 2, "at {x}: {ours:e} and {platform:e}");
            }
        }
    }
}
