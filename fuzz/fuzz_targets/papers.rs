//! Files of a paper: `experiments.toml`, then expressions, each after a zero byte; each text is read as a `board.toml` and a
//! `claims.toml`, too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_papers::board::Board;
use tidegate_papers::claims::Claims;
use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression;
use tidegate_papers::formula::Formula;
use tidegate_papers::value::MeasureValue;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok());
    let text = parts.next().unwrap_or("");
    let _ = Claims::parse("claims.toml", text);
    if let Ok(board) = Board::parse("board.toml", text) {
        let _ = board.sources(true);
    }
    let experiments = match Experiments::parse("experiments.toml", text) {
        Ok(experiments) => experiments,
        Err(errors) => {
            assert!(errors.iter().count() > 0 && !errors.to_string().is_empty());
            Experiments::default()
        }
    };
    for experiment in &experiments.list {
        let last = experiment.cells() - 1;
        assert_eq!(experiment.settings(last).len(), experiment.axes.len());
        assert!(!experiment.cell_name(last).is_empty());
        let _ = experiment.overrides(last, experiments.alternatives.first(), true);
    }
    for text in parts {
        let formula = expression::parse(text)
            .and_then(|expression| Formula::resolve(&expression, &Vec::new(), &experiments));
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
});
