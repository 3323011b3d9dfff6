//! Suggestions: known words that are similar to an unknown one.

/// Maximum length of a word with similar words, characters; it limits the cost of the distance.
const LONGEST: usize = 64;

/// All words of `known` that have every part of `word`, separated by hyphens: for "cubic", "tcp-cubic" and
/// "ndnd-cubic". Without any, the [`nearest`].
pub fn intended<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let has_parts = |candidate: &&str| {
        !word.is_empty() && word.split('-').all(|part| candidate.split('-').any(|other| other == part))
    };
    let whole: Vec<&str> = known.clone().into_iter().filter(has_parts).collect();
    if whole.is_empty() { nearest(word, known).into_iter().collect() } else { whole }
}

/// `; did you mean "a", "b" or "c"?`, to be appended to a message; empty without words.
pub fn question<T: AsRef<str>>(words: &[T]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{:?}", word.as_ref())).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; did you mean {only}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// The word of `known` that differs from `word` by at most two edits: the nearest, or the first of several.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().filter_map(|candidate| Some((near(word, candidate)?, candidate)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The distance, if it is small for words of this length.
fn near(word: &str, candidate: &str) -> Option<usize> {
    let length = |word: &str| word.chars().take(LONGEST + 1).count();
    let (given, known) = (length(word), length(candidate));
    let longer = given.max(known);
    if longer > LONGEST || given.abs_diff(known) > 2 {
        return None;
    }
    // Upper and lower case are distinct in every format, and a word in the wrong case is still recognisable.
    let distance = strsim::osa_distance(&word.to_lowercase(), &candidate.to_lowercase());
    // In a short word two edits lead to any other word.
    (distance <= 2 && 3 * distance <= longer).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_an_insertion_a_deletion_a_change_or_a_swap_of_neighbours() {
        let edits = strsim::osa_distance;
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
        assert_eq!(intended("cubic", known), ["tcp-cubic", "cubic-like"]);
        assert_eq!(intended("cubic-tcp", known), ["tcp-cubic"]);
        assert_eq!(intended("tcp-bbr", known), ["tcp-bbr1"]);
        assert!(intended("", known).is_empty() && intended("vegas", known).is_empty());
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
        assert_eq!(nearest("ICP", ["icp", "hr-icp"]), Some("icp"));
        assert_eq!(nearest("c7", ["c1", "r7"]), None);
        assert_eq!(nearest("bogus", ["rate", "delay"]), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), ["x"]), None);
    }
}
