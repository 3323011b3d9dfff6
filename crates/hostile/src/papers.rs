//! Files of papers and their expressions: read, or refused with the place of what is wrong.

use std::sync::LazyLock;

use tidegate_papers::board::Board;
use tidegate_papers::claims::Claims;
use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression;
use tidegate_papers::formula::Formula;
use tidegate_papers::value::MeasureValue;
use tidegate_settings::error::Errors;

/// Lines of one input; more only make it slow.
const MAX_EXPRESSIONS: usize = 8;

/// A file of a paper; the first byte says which one.
pub fn files(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match kind % 3 {
        0 => experiments(text),
        1 => drop(Claims::parse("claims.toml", text).map_err(|errors| are_shown(&errors))),
        _ => match Board::parse("board.toml", text) {
            Ok(board) => drop(board.sources(true)),
            Err(errors) => are_shown(&errors),
        },
    }
}

fn experiments(text: &str) {
    let experiments = match Experiments::parse("experiments.toml", text) {
        Ok(experiments) => experiments,
        Err(errors) => return are_shown(&errors),
    };
    for experiment in &experiments.list {
        let last = experiment.cells() - 1;
        assert_eq!(experiment.settings(last).len(), experiment.axes.len());
        assert!(!experiment.cell_name(last).is_empty());
        let _ = experiment.overrides(last, experiments.alternatives.first(), true);
    }
}

fn are_shown(errors: &Errors) {
    assert!(errors.iter().count() > 0 && !errors.to_string().is_empty());
}

static EXPERIMENTS: LazyLock<Experiments> =
    LazyLock::new(|| Experiments::parse("experiments.toml", TEXT).expect("a text of ours"));

const TEXT: &str = r#"
format = 1
[axis.s]
0 = []
"2" = []
[axis.loss]
clean = []
lossy = ["x=1"]
[[experiment]]
name = "g"
scenario = "x.toml"
axes = ["s"]
[[experiment]]
name = "grid"
scenario = "x.toml"
axes = ["s", "loss"]
seeds = 5
[measure]
"f(a)" = "quantile(x, a) + a"
"h(b)" = "f(b) / bins(y, b)"
"#;

/// Expressions over the cells of two experiments, one on each line.
pub fn expressions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    text.lines().take(MAX_EXPRESSIONS).for_each(expression);
}

fn expression(text: &str) {
    let formula = expression::parse(text)
        .and_then(|expression| Formula::resolve(&expression, &Vec::new(), &EXPERIMENTS));
    let column = formula.and_then(|formula| {
        formula.column(&mut |leaf| {
            let series = vec![(0.5, leaf.cell as f64), (1.0, 2.0)];
            Ok(vec![MeasureValue::Number(leaf.cell as f64), MeasureValue::Series(series)])
        })
    });
    match column {
        Ok(column) => drop(column.samples()),
        Err(fault) => assert!(text.get(fault.at.start..fault.at.end).is_some() && !fault.message.is_empty()),
    }
}
