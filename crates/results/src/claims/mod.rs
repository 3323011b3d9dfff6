//! Claims of a paper, and verdicts on our results, which only [`decide`] makes.

mod place;

use std::fmt;

use crate::stats::Estimate;

/// One paper: its authors, assumptions and claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// Title of the paper.
    pub title: String,
    /// Authors of the paper, as printed.
    pub authors: String,
    /// Venue and year of publication.
    pub venue: String,
    /// Name of the scheme in the registry, which is also the paper's name on the command line.
    pub scheme: String,
    /// Every value that the paper leaves open, in the file's order.
    pub assumptions: Vec<Assumption>,
    /// Claims in the file's order.
    pub claims: Vec<Claim>,
}

/// A value that had to be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// Name of the assumed quantity.
    pub name: String,
    /// The value with its unit, as text.
    pub value: String,
    /// Origin of the value.
    pub provenance: ValueProvenance,
    /// Reason for the assumed value.
    pub why: String,
}

/// Origin of an assumed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueProvenance {
    /// Stated in the paper.
    Paper,
    /// Read in source code of the authors or of the simulator they used.
    Source,
    /// Inferred from other statements.
    Reconstruction,
    /// Chosen because it brings results closer to the published ones.
    Fitted,
}

impl ValueProvenance {
    /// All of them, in order of trust.
    pub const ALL: [Self; 4] = [Self::Paper, Self::Source, Self::Reconstruction, Self::Fitted];

    /// The word in `claims.toml`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Source => "source",
            Self::Reconstruction => "reconstruction",
            Self::Fitted => "fitted",
        }
    }
}

/// A published value: a number in the unit of the claim, or a text such as an ordering.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// A number, in the unit of the claim.
    Number(f64),
    /// Any other value, as text.
    Text(String),
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => f.pad(&crate::text::number(*value)),
            Self::Text(text) => f.pad(text),
        }
    }
}

/// An acceptance band, both ends included; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Lower end of the band.
    pub low: f64,
    /// Upper end, not below `low`.
    pub high: f64,
}

impl Band {
    /// Whether `value` lies inside; NaN does not.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (crate::text::number(self.low), crate::text::number(self.high));
        let text = match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.low == self.high => format!("= {low}"),
            (true, true) => format!("{low} to {high}"),
            (true, false) => format!("≥ {low}"),
            (false, true) => format!("≤ {high}"),
            (false, false) => "any".to_owned(),
        };
        f.pad(&text)
    }
}

/// The side of "no effect" on which the paper's effect lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The paper's value is larger than `null`.
    Above,
    /// The paper's value is smaller than `null`.
    Below,
}

/// Effect of a claim: the value of "no effect", and the paper's side of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The value of "no effect", in the unit of the claim.
    pub null: f64,
    /// Sign of the effect in the paper.
    pub sign: Sign,
}

/// One claim of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Short unique id, such as `P5-icp`.
    pub id: String,
    /// Place in the paper: figure, table, section.
    pub place: String,
    /// Id of the board's figure that shows the claim; `None` if it follows from the place (see
    /// [`Claim::is_shown_in`]).
    pub figure: Option<String>,
    /// The quantity that is measured, in words.
    pub quantity: String,
    /// Its short names in a figure; `None` if they are in the quantity (see [`Claim::bar`]).
    pub bar: Option<Bar>,
    /// Unit of all numbers of the claim, `""` for none.
    pub unit: String,
    /// Value in the paper.
    pub published: Published,
    /// Values of the quantity that count as agreement.
    pub band: Band,
    /// The band before its change, if it was changed.
    pub earlier_band: Option<Band>,
    /// Reason for the change of the band.
    pub band_reason: Option<String>,
    /// Effect for the verdict [`ClaimVerdict::Direction`], which is not possible without it.
    pub direction: Option<Effect>,
    /// The verdict on record; a run that decides otherwise is reported.
    pub recorded: Option<ClaimVerdict>,
    /// The verdict on record with the seeds of `--full`, if it differs.
    pub recorded_full: Option<ClaimVerdict>,
    /// Known issue or argument.
    pub note: Option<String>,
    /// Whether the claim is an invariant: every single sample must lie in the band.
    pub exact: bool,
    /// Whether the claim is not one of the paper: such claims are counted apart.
    pub is_ours: bool,
}

/// Names of a claim in a figure of numbers that stand in the paper's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The quantity alone, for the axis; claims with the same one share a figure.
    pub axis: String,
    /// Subject of the quantity, for the name under the bar.
    pub group: String,
}

impl Claim {
    /// The quantity alone and its subject, as in the file, or from `ICP: completion time`. Otherwise the
    /// claim is identified by its place in the paper.
    pub fn bar(&self) -> (&str, &str) {
        match (&self.bar, self.quantity.split_once(": ")) {
            (Some(bar), _) => (&bar.axis, &bar.group),
            (None, Some((group, axis))) => (axis, group),
            (None, None) => (&self.quantity, &self.place),
        }
    }
}

impl Claim {
    /// Whether `value` lies in the band; an end that is "no effect" does not belong to it.
    fn contains(&self, value: f64) -> bool {
        let is_tie = self.direction.is_some_and(|Effect { null, .. }| value == null);
        let is_end = value == self.band.low || value == self.band.high;
        self.band.contains(value) && !(is_tie && is_end)
    }
}

/// How a result relates to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// Exhaustive: pages and tables have a sign for each verdict.
pub enum ClaimVerdict {
    /// The 95 % interval lies inside the band.
    Agrees,
    /// It does not agree, but the effect has the paper's sign and the interval excludes "no effect".
    Direction,
    /// The interval reaches both inside and outside of the band, and the sign of the effect is open.
    Undecided,
    /// None of the other verdicts applies.
    Differs,
}

impl ClaimVerdict {
    /// All of them, best first.
    pub const ALL: [Self; 4] = [Self::Agrees, Self::Direction, Self::Undecided, Self::Differs];

    /// The word in `claims.toml`, tables and pages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Direction => "direction",
            Self::Undecided => "undecided",
            Self::Differs => "differs",
        }
    }
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A verdict with its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimDecision {
    /// Verdict on the claim.
    pub verdict: ClaimVerdict,
    /// Mean and interval of the samples.
    pub estimate: Estimate,
}

/// Decides `claim` by `samples`, one per seed, in the unit of the claim.
///
/// No samples, or one that is not finite, make [`ClaimVerdict::Differs`] with an estimate of `n` = 0. A single
/// sample has an infinite interval, so it can only satisfy an [`exact`](Claim::exact) claim. An end of the band that is
/// the value of "no effect" does not belong to the band: a tie is no effect.
pub fn decide(samples: &[f64], claim: &Claim) -> ClaimDecision {
    let estimate = Estimate::of(samples);
    let is_agreed = |value| claim.contains(value);
    let (low, high) = (estimate.low(), estimate.high());
    let inside =
        // Every sample of an invariant, since a mean would hide exceptions.
        if claim.exact { samples.iter().copied().all(is_agreed) } else { is_agreed(low) && is_agreed(high) };
    let reaches_inside = low <= claim.band.high && claim.band.low <= high;
    let verdict = match claim.direction {
        _ if estimate.n == 0 => ClaimVerdict::Differs,
        _ if inside => ClaimVerdict::Agrees,
        Some(Effect { null, sign: Sign::Above }) if low > null => ClaimVerdict::Direction,
        Some(Effect { null, sign: Sign::Below }) if high < null => ClaimVerdict::Direction,
        // More seeds can decide only an interval that reaches both inside and outside of the band.
        _ if claim.exact || !reaches_inside || low == high => ClaimVerdict::Differs,
        // The paper's side was handled above: this interval is on the other side of "no effect".
        Some(Effect { null, .. }) if null < low || high < null => ClaimVerdict::Differs,
        _ => ClaimVerdict::Undecided,
    };
    ClaimDecision { verdict, estimate }
}

/// A claim with our result: one line of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The claim that was judged.
    pub claim: Claim,
    /// Our result with its interval.
    pub estimate: Estimate,
    /// The verdict; `None` for a reduced run.
    pub verdict: Option<ClaimVerdict>,
}

impl Judged {
    /// Judges `claim` by the samples of a full run.
    pub fn full(claim: Claim, samples: &[f64]) -> Self {
        let ClaimDecision { verdict, estimate } = decide(samples, &claim);
        Self { claim, estimate, verdict: Some(verdict) }
    }

    /// Estimates the samples of a reduced (shortened) run, which gets no verdict.
    pub fn reduced(claim: Claim, samples: &[f64]) -> Self {
        Self { claim, estimate: Estimate::of(samples), verdict: None }
    }

    /// Whether the verdict differs from the one on record; `false` without a verdict or a record.
    pub fn contradicts_record(&self) -> bool {
        matches!((self.verdict, self.claim.recorded), (Some(ours), Some(recorded)) if ours != recorded)
    }

    /// The word for no verdict.
    pub const REDUCED: &'static str = "reduced";

    /// The verdict's word, or `reduced`.
    pub fn word(&self) -> &'static str {
        self.verdict.map_or(Self::REDUCED, ClaimVerdict::word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(low: f64, high: f64, direction: Option<Effect>) -> Claim {
        Claim {
            id: "P5-icp".into(),
            place: "Fig. 7b".into(),
            figure: None,
            quantity: "decrease of completion time".into(),
            bar: None,
            unit: "%".into(),
            published: Published::Number(21.8),
            band: Band { low, high },
            earlier_band: None,
            band_reason: None,
            direction,
            recorded: None,
            note: None,
            exact: false,
            recorded_full: None,
            is_ours: false,
        }
    }

    const ABOVE_ZERO: Option<Effect> = Some(Effect { null: 0.0, sign: Sign::Above });
    const BELOW_ZERO: Option<Effect> = Some(Effect { null: 0.0, sign: Sign::Below });

    #[test]
    fn a_bar_is_named_by_the_file_by_the_quantity_or_by_the_place() {
        let plain = claim(0.0, 1.0, None);
        assert_eq!(plain.bar(), ("decrease of completion time", "Fig. 7b"));
        let two_parts = Claim { quantity: "ICP, bursts: mean delay".into(), ..plain };
        assert_eq!(two_parts.bar(), ("mean delay", "ICP, bursts"));
        let named = Bar { axis: "delay".into(), group: "ICP".into() };
        assert_eq!(Claim { bar: Some(named), ..two_parts }.bar(), ("delay", "ICP"));
    }

    #[track_caller]
    fn assert_verdict(samples: &[f64], claim: &Claim, expected: ClaimVerdict) {
        let ClaimDecision { verdict, estimate } = decide(samples, claim);
        let interval = (estimate.low(), estimate.high());
        assert_eq!(verdict, expected, "interval {interval:?}, band {}", claim.band);
    }

    #[test]
    fn an_interval_inside_the_band_agrees() {
        assert_verdict(&[20.0, 22.0, 24.0], &claim(10.0, 40.0, ABOVE_ZERO), ClaimVerdict::Agrees);
    }

    #[test]
    fn a_mean_inside_is_not_enough_when_the_interval_sticks_out() {
        // 22 ± 4.97
        assert_verdict(&[20.0, 22.0, 24.0], &claim(20.0, 40.0, None), ClaimVerdict::Undecided);
        assert_verdict(&[20.0, 22.0, 24.0], &claim(20.0, 40.0, ABOVE_ZERO), ClaimVerdict::Direction);
        assert_verdict(&[20.0, 22.0, 24.0], &claim(0.0, 26.0, None), ClaimVerdict::Undecided);
    }

    #[test]
    fn a_claim_is_undecided_if_band_and_sign_are_both_open() {
        // 2 ± 4.97
        let samples = [0.0, 2.0, 4.0];
        assert_verdict(&samples, &claim(1.0, 9.0, ABOVE_ZERO), ClaimVerdict::Undecided);
        assert_verdict(&samples, &claim(-9.0, -1.0, BELOW_ZERO), ClaimVerdict::Undecided);
        // The whole interval lies outside of the band.
        assert_verdict(&samples, &claim(7.0, 9.0, ABOVE_ZERO), ClaimVerdict::Differs);
        // The sign is known, and it is the wrong one.
        assert_verdict(&[20.0, 22.0, 24.0], &claim(-9.0, 20.0, BELOW_ZERO), ClaimVerdict::Differs);
        // An invariant holds or does not.
        assert_verdict(
            &samples,
            &Claim { exact: true, ..claim(1.0, 9.0, ABOVE_ZERO) },
            ClaimVerdict::Differs,
        );
    }

    #[test]
    fn a_tie_is_no_effect_even_where_the_band_ends_there() {
        assert_verdict(&[0.0; 4], &claim(0.0, 9.0, ABOVE_ZERO), ClaimVerdict::Differs);
        assert_verdict(&[0.0; 4], &claim(-9.0, 0.0, BELOW_ZERO), ClaimVerdict::Differs);
        assert_verdict(&[0.0; 4], &claim(0.0, 9.0, None), ClaimVerdict::Agrees);
        assert_verdict(&[1.0; 4], &claim(0.0, 9.0, ABOVE_ZERO), ClaimVerdict::Agrees);
        assert_verdict(&[0.0; 4], &claim(-1.0, 1.0, ABOVE_ZERO), ClaimVerdict::Agrees);
    }

    #[test]
    fn a_deterministic_result_is_decided_by_its_value_and_band_ends_count() {
        assert_verdict(&[10.0; 5], &claim(10.0, 40.0, None), ClaimVerdict::Agrees);
        assert_verdict(&[40.0; 5], &claim(10.0, 40.0, None), ClaimVerdict::Agrees);
        assert_verdict(&[40.000_001; 5], &claim(10.0, 40.0, None), ClaimVerdict::Differs);
        assert_verdict(&[1.0; 2], &claim(1.0, 1.0, None), ClaimVerdict::Agrees);
    }

    #[test]
    fn direction_needs_the_papers_sign_and_an_interval_without_null() {
        let band = |direction| claim(50.0, 60.0, direction);
        assert_verdict(&[4.0, 5.0, 6.0], &band(ABOVE_ZERO), ClaimVerdict::Direction);
        assert_verdict(&[4.0, 5.0, 6.0], &band(BELOW_ZERO), ClaimVerdict::Differs);
        assert_verdict(&[-4.0, -5.0, -6.0], &band(BELOW_ZERO), ClaimVerdict::Direction);
        assert_verdict(&[-1.0, 5.0, 6.0], &band(ABOVE_ZERO), ClaimVerdict::Differs);
        assert_verdict(&[0.0; 4], &band(ABOVE_ZERO), ClaimVerdict::Differs);
        assert_verdict(&[4.0, 5.0, 6.0], &band(None), ClaimVerdict::Differs);
    }

    #[test]
    fn null_need_not_be_zero() {
        let ratio = claim(1.2, 1.5, Some(Effect { null: 1.0, sign: Sign::Above }));
        assert_verdict(&[1.04, 1.05, 1.06], &ratio, ClaimVerdict::Direction);
        assert_verdict(&[0.94, 0.95, 0.96], &ratio, ClaimVerdict::Differs);
    }

    #[test]
    fn results_that_are_missing_or_not_numbers_differ_even_from_a_band_without_ends() {
        let any = claim(f64::NEG_INFINITY, f64::INFINITY, ABOVE_ZERO);
        for samples in [&[][..], &[f64::NAN], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            let decision = decide(samples, &any);
            assert_eq!((decision.verdict, decision.estimate.n), (ClaimVerdict::Differs, 0), "{samples:?}");
        }
        assert_verdict(&[], &Claim { exact: true, ..any }, ClaimVerdict::Differs);
    }

    #[test]
    fn one_seed_agrees_with_nothing_but_an_invariant() {
        assert_verdict(&[20.0], &claim(10.0, 40.0, ABOVE_ZERO), ClaimVerdict::Undecided);
        assert_verdict(&[20.0], &Claim { exact: true, ..claim(10.0, 40.0, None) }, ClaimVerdict::Agrees);
    }

    #[test]
    fn one_sample_outside_breaks_an_invariant_whatever_the_mean() {
        let mut samples = vec![1.0; 200];
        samples.push(1.2);
        let band = claim(0.9, 1.1, None);
        assert_verdict(&samples, &band, ClaimVerdict::Agrees);
        assert_verdict(&samples, &Claim { exact: true, ..band }, ClaimVerdict::Differs);
    }

    #[test]
    fn a_band_with_one_end_is_open_on_the_other_side() {
        assert_verdict(&[9.0, 9.1, 9.2], &claim(f64::NEG_INFINITY, 0.1, None), ClaimVerdict::Differs);
        assert_verdict(&[1e9; 3], &claim(9.0, f64::INFINITY, None), ClaimVerdict::Agrees);
    }

    #[test]
    fn a_reduced_run_has_no_verdict_and_contradicts_nothing() {
        let recorded = Claim { recorded: Some(ClaimVerdict::Agrees), ..claim(10.0, 40.0, None) };
        let reduced = Judged::reduced(recorded.clone(), &[99.0, 99.0]);
        assert_eq!((reduced.verdict, reduced.contradicts_record()), (None, false));
        assert!(Judged::full(recorded.clone(), &[99.0, 99.0]).contradicts_record());
        assert!(!Judged::full(recorded, &[20.0, 20.0]).contradicts_record());
    }
}
