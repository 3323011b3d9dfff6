//! A comparison for programs.

use super::{Comparison, Finding, Judgement, Ratio, Tested, pair_facts, warnings};
use crate::json::Json;
use crate::text::{estimate_json, over_runs_json};

/// A comparison as JSON: values per seed, estimates, tests, sentences.
pub fn comparison_json(comparison: &Comparison) -> Json {
    let measures = comparison.measures.iter().map(|measured| {
        let variant = |(index, label): (usize, &String)| {
            let values = measured.values[index].iter().map(|value| Json::maybe(*value)).collect();
            let tested = measured.pairs[index].as_ref();
            let facts = pair_facts(comparison, measured, index);
            Json::Object(vec![
                ("variant", Json::text(label)),
                ("values", Json::List(values)),
                ("estimate", over_runs_json(&measured.estimates[index], comparison.seeds.len())),
                ("against_reference", tested.map_or(Json::Null, tested_json)),
                ("sentence", Json::maybe(facts.as_deref())),
            ])
        };
        Json::Object(vec![
            ("measure", measured.measure.name.into()),
            ("unit", measured.measure.unit.into()),
            ("definition", measured.measure.text.into()),
            ("variants", Json::List(comparison.labels.iter().enumerate().map(variant).collect())),
        ])
    });
    Json::Object(vec![
        ("reference", comparison.reference_label().into()),
        ("seeds", Json::List(comparison.seeds.iter().map(|seed| Json::Count(*seed)).collect())),
        ("looks", Json::Count(comparison.looks as u64)),
        ("family", Json::Count(comparison.family as u64)),
        (
            "runs_without_data",
            Json::List(comparison.without_data.iter().map(|runs| Json::Count(*runs as u64)).collect()),
        ),
        ("measures", Json::List(measures.collect())),
        ("warnings", Json::List(warnings(comparison).into_iter().map(Json::Text).collect())),
    ])
}

fn tested_json(tested: &Tested) -> Json {
    let (low, high) = match tested.pair.ratio {
        Ratio::Between { low, high, .. } => (Json::Number(low), Json::Number(high)),
        Ratio::Open { .. } | Ratio::None => (Json::Null, Json::Null),
    };
    let finding = match tested.finding {
        Finding::Equal => "equal",
        Finding::Fixed => "fixed",
        Finding::Coinciding => "coinciding",
        Finding::Significant => "significant",
        Finding::Unclear => "unclear",
        Finding::Untested => "untested",
    };
    Json::Object(vec![
        ("n", Json::Count(tested.pair.n as u64)),
        ("left_out", Json::Count(tested.left_out as u64)),
        ("difference", estimate_json(&tested.pair.difference)),
        ("ratio", Json::maybe(tested.pair.ratio.value())),
        ("ratio_low", low),
        ("ratio_high", high),
        ("p", Json::maybe(tested.pair.p)),
        ("p_corrected", Json::maybe(tested.p)),
        ("effect", Json::maybe(tested.pair.effect)),
        ("smaller", Json::Count(tested.pair.smaller as u64)),
        ("larger", Json::Count(tested.pair.larger as u64)),
        ("finding", finding.into()),
        ("outliers", Json::List(tested.outliers.iter().map(|seed| Json::Count(*seed)).collect())),
    ])
}

/// Verdicts against a baseline.
pub fn judgement_json(judgements: &[Judgement]) -> Json {
    let judgement = |judgement: &Judgement| {
        let [then, now] = judgement.coverage;
        Json::Object(vec![
            ("variant", Json::text(&judgement.label)),
            ("measure", judgement.measure.name.into()),
            ("baseline", Json::Number(judgement.tested.pair.theirs)),
            ("now", Json::Number(judgement.tested.pair.ours)),
            ("relative", Json::maybe(judgement.relative)),
            ("paired", Json::Bool(judgement.is_paired)),
            ("p_corrected", Json::maybe(judgement.tested.p)),
            ("baseline_n", Json::Count(then.0 as u64)),
            ("baseline_runs", Json::Count(then.1 as u64)),
            ("now_n", Json::Count(now.0 as u64)),
            ("now_runs", Json::Count(now.1 as u64)),
            ("verdict", judgement.change.word().into()),
        ])
    };
    Json::List(judgements.iter().map(judgement).collect())
}
