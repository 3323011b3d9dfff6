//! Inputs of the fuzz target `papers`, replayed: texts of `experiments.toml`, then expressions, each after a zero byte.

use std::fs;
use std::path::Path;

use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression;

#[test]
fn no_input_of_the_corpus_panics_and_every_fault_has_its_place() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/papers");
    let files = fs::read_dir(corpus).expect("the corpus is there").flatten();
    let (mut sound, mut wrong) = (0, 0);
    for file in files {
        let content = fs::read(file.path()).expect("readable");
        let mut parts = content.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok());
        match Experiments::parse("experiments.toml", parts.next().unwrap_or("")) {
            Ok(experiments) => sound += experiments.list.len(),
            Err(errors) => wrong += errors.iter().count(),
        }
        for text in parts {
            if let Err(fault) = expression::parse(text) {
                assert!(text.get(fault.at.start..fault.at.end).is_some(), "{text:?}: {fault:?}");
                wrong += 1;
            }
        }
    }
    assert!(sound >= 2 && wrong >= 8, "{sound} experiments, {wrong} faults");
}
