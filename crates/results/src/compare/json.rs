//! A comparison as JSON, for programs.

use super::{Comparison, Finding, Judgement, Ratio, Tested, pair_facts, warnings};
use crate::text::{estimate_json, over_runs_json};
use serde_json::{Value, json};

/// A comparison as JSON: values per seed, estimates, tests, sentences.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let measures = comparison.measures.iter().map(|measured| {
        let variant = |(index, label): (usize, &String)| {
            let values = measured.values[index].iter().map(|value| Value::from(*value)).collect::<Value>();
            let tested = measured.pairs[index].as_ref();
            let facts = pair_facts(comparison, measured, index);
            json!({
                "variant": label,
                "values": values,
                "estimate": over_runs_json(&measured.estimates[index], comparison.seeds.len()),
                "against_reference": tested.map_or(Value::Null, tested_json),
                "sentence": facts.as_deref(),
            })
        };
        json!({
            "measure": measured.measure.name,
            "unit": measured.measure.unit,
            "definition": measured.measure.text,
            "variants": comparison.labels.iter().enumerate().map(variant).collect::<Value>(),
        })
    });
    json!({
        "reference": comparison.reference_label(),
        "seeds": comparison.seeds.iter().map(|seed| Value::from(*seed)).collect::<Value>(),
        "looks": comparison.looks,
        "family": comparison.family,
        "runs_without_data": comparison.without_data.iter().map(|runs| Value::from(*runs as u64)).collect::<Value>(),
        "measures": measures.collect::<Value>(),
        "warnings": warnings(comparison).into_iter().collect::<Value>(),
    })
}

fn tested_json(tested: &Tested) -> Value {
    let (low, high) = match tested.pair.ratio {
        Ratio::Between { low, high, .. } => (Value::from(low), Value::from(high)),
        Ratio::Open { .. } | Ratio::None => (Value::Null, Value::Null),
    };
    let finding = match tested.finding {
        Finding::Equal => "equal",
        Finding::Fixed => "fixed",
        Finding::Coinciding => "coinciding",
        Finding::Significant => "significant",
        Finding::Unclear => "unclear",
        Finding::Untested => "untested",
    };
    json!({
        "n": tested.pair.n,
        "left_out": tested.left_out,
        "difference": estimate_json(&tested.pair.difference),
        "ratio": tested.pair.ratio.value(),
        "ratio_low": low,
        "ratio_high": high,
        "p": tested.pair.p,
        "p_corrected": tested.p,
        "effect": tested.pair.effect,
        "smaller": tested.pair.smaller,
        "larger": tested.pair.larger,
        "finding": finding,
        "outliers": tested.outliers.iter().map(|seed| Value::from(*seed)).collect::<Value>(),
    })
}

/// Verdicts against a baseline.
pub fn judgement_json(judgements: &[Judgement]) -> Value {
    let judgement = |judgement: &Judgement| {
        let [then, now] = judgement.coverage;
        json!({
            "variant": judgement.label,
            "measure": judgement.measure.name,
            "baseline": judgement.tested.pair.theirs,
            "now": judgement.tested.pair.ours,
            "relative": judgement.relative,
            "paired": judgement.is_paired,
            "p_corrected": judgement.tested.p,
            "baseline_n": then.0,
            "baseline_runs": then.1,
            "now_n": now.0,
            "now_runs": now.1,
            "verdict": judgement.change.word(),
        })
    };
    judgements.iter().map(judgement).collect::<Value>()
}
