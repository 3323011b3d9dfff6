//! `tidegate sweep why`: reasons why a run is not in the store, by comparison with the most similar stored
//! run.

use serde_json::{Value, json};
use tidegate_core::rng::Seed;
use tidegate_results::tables;

use super::plan::{Sweep, SweepArguments};
use crate::code::{code, short};
use crate::exit::{Exit, Failure, Outcome};
use crate::store::{Found, Store, differences};
use crate::{Format, SEMANTICS, Session};

/// Maximum number of differing values that are listed; the rest is counted.
const MAX_DIFFERENCES: usize = 8;

/// Sweep to explain, with the seed to look at.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sweep: SweepArguments,
    /// Show only the runs with this seed.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

/// A run that is in the store, whatever its scenario.
struct Stored {
    text: String,
    seed: u64,
    semantics: u32,
    /// `None` if it is not known.
    code: Option<String>,
}

/// Runs the command `tidegate sweep why`.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let sweep = Sweep::read(session, &arguments.sweep)?;
    let store = Store::at(&arguments.sweep.store());
    let stored = read_all(&store)?;
    let mut reported = Vec::new();
    for run in 0..sweep.len() {
        let (point, seed) = sweep.run(run);
        if arguments.seed.is_some_and(|only| only != seed.0) {
            continue;
        }
        let key = point.identity.key(seed);
        let why = match sweep.look_at(&store, run) {
            Found::Whole => format!("is stored: {}", store.path(&key).display()),
            Found::Damaged(why) => format!("is damaged and will be run again: {why}"),
            Found::Missing => format!("is missing: {}", nearest(&stored, &point.identity.text, seed)),
        };
        reported.push((run, key, why));
    }
    if reported.is_empty() {
        return Err(Failure::usage("the sweep has no run with this seed"));
    }
    session.show(&match session.format {
        Format::Text => {
            reported.iter().map(|(run, _, why)| format!("{} {why}\n", sweep.run_name(*run))).collect()
        }
        Format::Json => {
            let entry = |(run, key, why): &(usize, String, String)| {
                json!({ "run": sweep.run_name(*run), "key": key, "why": why })
            };
            reported.iter().map(entry).collect::<Value>().to_string() + "\n"
        }
    });
    Ok(Exit::Ok)
}

/// Every run of the store that can be read.
fn read_all(store: &Store) -> Result<Vec<Stored>, Failure> {
    let read = |key: &String| {
        let path = store.path(key);
        let context = tables::read_context(&path).ok()?;
        let seed = tables::read_run_summary(&path).ok()?.seed;
        Some(Stored {
            text: context.scenario_text,
            seed,
            semantics: context.semantics,
            code: store.code_of(key),
        })
    };
    Ok(store.keys()?.iter().filter_map(read).collect())
}

/// Differences of the run of `text` and `seed` from the most similar stored run.
fn nearest(stored: &[Stored], text: &str, seed: Seed) -> String {
    // The scenario comes first: a run of it with other code explains more than a run of another scenario.
    let distance = |stored: &&Stored| {
        let changes = differences(&stored.text, text).len();
        let is_other = stored.code.as_deref() != Some(code());
        (changes, stored.seed != seed.0, stored.semantics != SEMANTICS, is_other, stored.seed)
    };
    let Some(nearest) = stored.iter().min_by_key(distance) else {
        return "the store has no runs that can be read".to_owned();
    };
    let mut reasons = differences(&nearest.text, text);
    let more = reasons.len().saturating_sub(MAX_DIFFERENCES);
    reasons.truncate(MAX_DIFFERENCES);
    if more > 0 {
        reasons.push(format!("{more} more values differ"));
    }
    if nearest.semantics != SEMANTICS {
        reasons.push(format!(
            "semantics {SEMANTICS} here, {} there: results may have changed since",
            nearest.semantics
        ));
    }
    if nearest.code.as_deref() != Some(code()) {
        let theirs = nearest.code.as_deref().map_or("an earlier version".to_owned(), short);
        reasons.push(format!(
            "code {} here, {theirs} there: the program was built from other sources",
            short(code())
        ));
    }
    if nearest.seed != seed.0 {
        reasons.push(format!("seed {} here, {} there", seed.0, nearest.seed));
    }
    // Everything else in the key of a run has been compared above.
    if reasons.is_empty() {
        reasons.push("only the version of the tables differs".to_owned());
    }
    format!("differences from the most similar stored run: {}", reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &str, seed: u64, semantics: u32) -> Stored {
        Stored { text: text.to_owned(), seed, semantics, code: Some(code().to_owned()) }
    }

    #[test]
    fn other_code_is_a_reason() {
        let made =
            |code: Option<&str>| Stored { code: code.map(str::to_owned), ..stored("a = 1\n", 3, SEMANTICS) };
        let why = nearest(&[made(Some("0123456789abcdef"))], "a = 1\n", Seed(3));
        assert!(why.contains("01234567 there: the program was built from other sources"), "{why}");
        assert!(nearest(&[made(None)], "a = 1\n", Seed(3)).contains("an earlier version there"));
    }

    #[test]
    fn the_nearest_run_is_reported_by_what_differs() {
        let known = [stored("a = 1\nb = 2\n", 1, SEMANTICS), stored("a = 1\nb = 2\nc = 3\n", 2, SEMANTICS)];
        let reported = nearest(&known, "a = 1\nb = 5\nc = 3\n", Seed(2));
        assert_eq!(reported, "differences from the most similar stored run: b: 5 here, 2 there");
        let reported = nearest(&known, "a = 1\nb = 2\n", Seed(7));
        assert_eq!(reported, "differences from the most similar stored run: seed 7 here, 1 there");
    }

    #[test]
    fn an_earlier_meaning_of_results_is_a_reason() {
        let reported = nearest(&[stored("a = 1\n", 3, SEMANTICS - 1)], "a = 1\n", Seed(3));
        assert!(reported.contains("semantics"), "{reported}");
        assert!(nearest(&[], "a = 1\n", Seed(3)).contains("no runs"));
    }
}
