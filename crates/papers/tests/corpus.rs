//! Inputs of the fuzz target `papers`, replayed: texts of `experiments.toml`, then expressions, each after a zero byte; each
//! text is read as a `board.toml` and a `claims.toml`, too.

use std::fs;
use std::path::Path;

use tidegate_papers::board::Board;
use tidegate_papers::claims::Claims;
use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression;
use tidegate_papers::formula::Formula;

#[test]
fn no_input_of_the_corpus_panics_and_every_fault_has_its_place() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/papers");
    let files = fs::read_dir(corpus).expect("the corpus is there").flatten();
    let (mut sound, mut wrong) = (0, 0);
    for file in files {
        let content = fs::read(file.path()).expect("readable");
        let mut parts = content.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok());
        let text = parts.next().unwrap_or("");
        let _ = (Board::parse("board.toml", text), Claims::parse("claims.toml", text));
        let experiments = match Experiments::parse("experiments.toml", text) {
            Ok(experiments) => experiments,
            Err(errors) => {
                wrong += errors.iter().count();
                Experiments::default()
            }
        };
        sound += experiments.list.len();
        for text in parts {
            let formula = expression::parse(text)
                .and_then(|expression| Formula::resolve(&expression, &Vec::new(), &experiments));
            if let Err(fault) = formula {
                assert!(text.get(fault.at.start..fault.at.end).is_some(), "{text:?}: {fault:?}");
                wrong += 1;
            }
        }
    }
    assert!(sound >= 2 && wrong >= 8, "{sound} experiments, {wrong} faults");
}
