//! Files of a paper: `experiments.toml`, then expressions, each after a zero byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok());
    let text = parts.next().unwrap_or("");
    let experiments = match Experiments::parse("experiments.toml", text) {
        Ok(experiments) => experiments,
        Err(errors) => {
            assert!(errors.iter().count() > 0 && !errors.to_string().is_empty());
            Experiments { list: Vec::new() }
        }
    };
    for experiment in &experiments.list {
        let last = experiment.cells() - 1;
        assert_eq!(experiment.settings(last).len(), experiment.axes.len());
        assert!(!experiment.cell_name(last).is_empty());
        let _ = experiment.overrides(last, true);
    }
    for text in parts {
        match expression::parse(text) {
            Ok(expression) => {
                let mut values = |cell: &expression::Cell| {
                    experiments.find(cell).map(|(experiment, cell)| vec![experiment as f64, cell as f64])
                };
                let seeds = if expression.cells().is_empty() { 0 } else { 2 };
                if let Ok(samples) = expression.samples(&mut values) {
                    assert_eq!(samples.len(), seeds);
                }
            }
            Err(fault) => assert!(text.get(fault.at.start..fault.at.end).is_some() && !fault.message.is_empty()),
        }
    }
});
