//! "Did you mean": known words that are similar to an unknown one.

/// Words longer than this have no similar words, which bounds the cost of the distance.
const LONGEST: usize = 64;

/// Every word of `known` that has all the parts of `word`, parts being what hyphens separate: of "cubic", "tcp-cubic" and
/// "ndnd-cubic". Without any, the [`nearest`].
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let has_parts = |candidate: &&str| {
        !word.is_empty() && word.split('-').all(|part| candidate.split('-').any(|other| other == part))
    };
    let whole: Vec<&str> = known.clone().into_iter().filter(has_parts).collect();
    if whole.is_empty() { nearest(word, known).into_iter().collect() } else { whole }
}

/// `; did you mean "a", "b" or "c"?`, to follow a message; empty without words.
pub fn question<T: AsRef<str>>(words: &[T]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{:?}", word.as_ref())).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; did you mean {only}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// The word of `known` that differs from `word` by at most two edits; the nearest, else the first.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = word.chars().take(LONGEST + 1).collect();
    if given.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let Some(distance) = near(&given, candidate) else { continue };
        if best.is_none_or(|(smallest, _)| distance < smallest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The distance, if it is small for words of this length. In a short word every letter may be the wrong one.
fn near(given: &[char], candidate: &str) -> Option<usize> {
    let candidate: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
    let longer = given.len().max(candidate.len());
    if candidate.len() > LONGEST || given.len().abs_diff(candidate.len()) > 2 {
        return None;
    }
    let distance = distance(given, &candidate);
    (distance <= 2 && 3 * distance <= longer).then_some(distance)
}

/// Edits (insert, delete, change, swap of neighbours) between two words: Damerau-Levenshtein, each place
/// edited at most once.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut this = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let at = |costs: &[usize], index: usize| costs.get(index).copied().unwrap_or(usize::MAX / 2);
            let change = at(&last, column) + usize::from(letter != other);
            let mut cost = change.min(at(&last, column + 1) + 1).min(at(&this, column) + 1);
            let swapped = row > 0
                && column > 0
                && from.get(row - 1) == Some(&other)
                && to.get(column - 1) == Some(&letter);
            if swapped {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            this.push(cost);
        }
        before = std::mem::replace(&mut last, this);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(from: &str, to: &str) -> usize {
        distance(&from.chars().collect::<Vec<_>>(), &to.chars().collect::<Vec<_>>())
    }

    #[test]
    fn an_edit_is_an_insertion_a_deletion_a_change_or_a_swap_of_neighbours() {
        assert_eq!(edits("bandwith", "bandwidth"), 1);
        assert_eq!(edits("codell", "codel"), 1);
        assert_eq!(edits("dleay", "delay"), 1);
        assert_eq!(edits("rote", "rate"), 1);
        assert_eq!(edits("r2-r1", "r1-r2"), 2);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
    }

    #[test]
    fn a_part_of_names_stands_for_all_of_them() {
        let known = ["tcp-cubic", "cubic-like", "tcp-bbr1", "cubicle"];
        assert_eq!(meant("cubic", known), ["tcp-cubic", "cubic-like"]);
        assert_eq!(meant("cubic-tcp", known), ["tcp-cubic"]);
        assert_eq!(meant("tcp-bbr", known), ["tcp-bbr1"]);
        assert!(meant("", known).is_empty() && meant("vegas", known).is_empty());
    }

    #[test]
    fn a_question_names_every_word() {
        assert_eq!(question::<&str>(&[]), "");
        assert_eq!(question(&["a"]), "; did you mean \"a\"?");
        assert_eq!(question(&["a", "b", "c"]), "; did you mean \"a\", \"b\" or \"c\"?");
    }

    #[test]
    fn only_words_that_share_most_of_their_letters_are_suggested() {
        assert_eq!(nearest("queu", ["loss", "queue"]), Some("queue"));
        assert_eq!(nearest("c7", ["c1", "r7"]), None);
        assert_eq!(nearest("bogus", ["rate", "delay"]), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), ["x"]), None);
    }
}
