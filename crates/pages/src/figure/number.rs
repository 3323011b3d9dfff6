//! Numbers in `figures.json`: values that JSON cannot represent are `null`, and read back as NaN.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use tidegate_results::stats::Estimate;

/// An estimate as written to the file; an infinite half width (one sample) is `null`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberFile {
    mean: Option<f64>,
    half_width: Option<f64>,
    n: usize,
    deterministic: bool,
}

impl From<Estimate> for NumberFile {
    fn from(estimate: Estimate) -> Self {
        let Estimate { mean, half_width, n, deterministic } = estimate;
        Self { mean: finite(mean), half_width: finite(half_width), n, deterministic }
    }
}

impl From<NumberFile> for Estimate {
    fn from(written: NumberFile) -> Self {
        let Some(mean) = written.mean.filter(|_| written.n > 0) else { return Self::NONE };
        let half_width = written.half_width.unwrap_or(f64::INFINITY);
        // Without a width only the mean is known, as for one sample.
        let n = if half_width.is_finite() { written.n } else { 1 };
        Self { mean, half_width, n, deterministic: written.deterministic }
    }
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// JSON form of one number.
pub(super) mod one {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        finite(*value).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// JSON form of pairs of numbers.
pub(super) mod pairs {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(pairs: &[(f64, f64)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(pairs.iter().map(|(x, y)| (finite(*x), finite(*y))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(f64, f64)>, D::Error> {
        let pairs = Vec::<(Option<f64>, Option<f64>)>::deserialize(from)?;
        Ok(pairs.into_iter().map(|(x, y)| (x.unwrap_or(f64::NAN), y.unwrap_or(f64::NAN))).collect())
    }
}

/// JSON form of numbers with estimates.
pub(super) mod estimates {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        points: &[(f64, Estimate)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(points.iter().map(|(x, estimate)| (finite(*x), NumberFile::from(*estimate))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(f64, Estimate)>, D::Error> {
        let points = Vec::<(Option<f64>, NumberFile)>::deserialize(from)?;
        Ok(points.into_iter().map(|(x, written)| (x.unwrap_or(f64::NAN), written.into())).collect())
    }
}

/// Estimates, some of them missing.
pub(super) mod bars {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        values: &[Option<Estimate>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| value.map(NumberFile::from)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Option<Estimate>>, D::Error> {
        let values = Vec::<Option<NumberFile>>::deserialize(from)?;
        Ok(values.into_iter().map(|value| value.map(Estimate::from)).collect())
    }
}
