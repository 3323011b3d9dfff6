use super::*;

const TEXT: &str = r#"format = 1
[[figure]]
id = "fig1{letter}"
title = "Fig. 1"
kind = "lines"
for = "t in tick"
x_label = "alpha [1]"
y_label = "loss [1]"
points = "a in alpha"
series = [{ for = "s in scheme", name = "{s}", y = "loss[grid, s, t, a]", published = [[1, 0.5], [2, 0.4]] }]
[[figure]]
id = "table1"
title = "TablePlan 1"
kind = "bars"
y_label = "loss [1]"
groups = ["one", "two"]
series = [{ name = "ours", values = ["loss[one]", "loss[two]"], published = [0.1, nan] }]
[[table]]
title = "At most {= max(loss[one]) } of it"
rows = ["s in scheme"]
heads = ["scheme"]
columns = [{ head = "loss", y = "loss[one, s]", not_done = "open[one, s]" }, { head = "published", text = ["a", "b"] }]
[[table]]
title = "Free"
full = true
heads = ["", "value"]
cells = [["one", "=loss[one]"]]
"#;

#[test]
fn figures_and_tables_have_their_words_and_expressions() {
    let board = Board::parse("board.toml", TEXT).unwrap_or_else(|errors| panic!("{errors}"));
    let [lines, bars] = board.figures.as_slice() else { panic!("two figures") };
    assert_eq!((lines.id.as_str(), lines.bindings[0].axis.as_str()), ("fig1{letter}", "tick"));
    assert_eq!(lines.series[0].published[..3], [1.0, 0.5, 2.0]);
    assert_eq!(bars.groups, Groups::Names(vec!["one".to_owned(), "two".to_owned()]));
    assert!(bars.series[0].published[1].is_nan());
    let names = |is_full| -> Vec<String> {
        let sources = board.sources(is_full);
        sources.iter().map(|(around, source)| format!("{} {}", around.len(), source.expression)).collect()
    };
    let quick = [
        "3 loss[grid, s, t, a]",
        "0 loss[one]",
        "0 loss[two]",
        "0 max(loss[one])",
        "1 loss[one, s]",
        "1 open[one, s]",
    ];
    assert_eq!(names(false), quick);
    assert_eq!(names(true)[6..], ["0 loss[one]"]);
    for (_, source) in board.sources(true) {
        let start = &TEXT[source.at.start..];
        let text = source.expression.to_string();
        let first = &text[..text.find(['[', '(']).unwrap_or(0)];
        assert!(start.trim_start().starts_with(first), "{text} is not at {start:.40}");
    }
}

#[track_caller]
fn assert_refused(from: &str, to: &str, place: &str, message: &str) {
    assert!(TEXT.contains(from), "{from}");
    let errors = Board::parse("b.toml", &TEXT.replacen(from, to, 1)).expect_err("wrong");
    assert_eq!(crate::first_of(&errors), (place.to_owned(), message.to_owned()));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    assert_refused("loss[grid, s,", "loss[grid s,", "10:63", "'s' where ']' or ',' is expected");
    assert_refused("\"t in tick\"", "\"t of tick\"", "6:10", "'o' where \"in\" is expected");
    assert_refused("points = \"a in alpha\"\n", "", "2:1", "\"points\" is missing; [[figure]] requires it");
    assert_refused(", \"loss[two]\"", "", "17:11", "series \"ours\" needs 2 values, one for each group");
    assert_refused("heads = [\"scheme\"]", "heads = []", "21:9", "0 heads for 1 columns of labels");
    assert_refused(
        "[\"one\", \"=loss[one]\"]",
        "[\"one\"]",
        "27:9",
        "a row has 1 cells and there are 2 heads",
    );
    assert_refused(
        "y = \"loss[one, s]\", not_done = \"open[one, s]\"",
        "",
        "22:12",
        "\"y\" is missing; columns requires it",
    );
    assert_refused("[1, 0.5]", "[1, \"x\"]", "10:92", "a number is expected; this is a text");
}

#[test]
fn what_would_be_left_out_is_refused() {
    let lines = "points belongs to figures of the kind lines; this one is of the kind bars";
    let published = "published belongs to figures of the kind lines or bars; this one is of the kind boxes";
    for (from, to, place, message) in [
        (
            "groups = [\"one\", \"two\"]",
            "groups = [\"one\", \"two\"]\npoints = \"a in alpha\"",
            "17:1",
            lines,
        ),
        (
            "kind = \"lines\"",
            "kind = \"boxes\"",
            "9:1",
            "points belongs to figures of the kind lines; this one is of the kind boxes",
        ),
        (
            "kind = \"lines\"\nfor = \"t in tick\"\nx_label = \"alpha [1]\"\ny_label = \"loss [1]\"\npoints = \"a in alpha\"\n",
            "kind = \"boxes\"\nfor = \"t in tick\"\ny_label = \"loss [1]\"\n",
            "8:75",
            published,
        ),
        (
            "groups = [\"one\", \"two\"]",
            "groups = []",
            "16:10",
            "groups is empty; it needs at least one element",
        ),
        ("[0.1, nan]", "[0.1]", "17:77", "1 published values for 2 groups; write nan where there is none"),
        ("[0.1, nan]", "[]", "17:77", "published is empty; it needs at least one element"),
        ("[0.1, nan]", "[0.1, inf]", "17:83", "an infinite number cannot be drawn"),
        ("[0.1, nan]", "[[0.1, 1], nan]", "17:78", "a number is expected; this is a list"),
        ("[1, 0.5]", "[1, 0.5, 2]", "10:88", "a point is [x, y]; this has 3 numbers"),
        ("[1, 0.5]", "1", "10:88", "a point is [x, y]; this is a number"),
        ("[1, 0.5]", "[1, nan]", "10:87", "a published point is not a number; leave it out"),
        (
            "values = [\"loss[one]\", \"loss[two]\"]",
            "values = [\"loss[one]\"], y = \"loss[two]\"",
            "17:28",
            "y and values exclude each other; remove one of them",
        ),
        (
            "text = [\"a\", \"b\"]",
            "text = [\"a\", \"b\"], y = \"loss[one]\"",
            "22:119",
            "text and y exclude each other; remove one of them",
        ),
        ("text = [\"a\", \"b\"]", "text = []", "22:107", "text is empty; it needs at least one element"),
        (
            "cells = [[\"one\", \"=loss[one]\"]]",
            "",
            "23:1",
            "\"columns\", \"cells\" or \"claims\" is missing; [[table]] requires it",
        ),
        (
            "cells = [[\"one\", \"=loss[one]\"]]",
            "cells = []",
            "27:9",
            "cells is empty; it needs at least one element",
        ),
        (
            "cells = [[\"one\", \"=loss[one]\"]]",
            "cells = [5]",
            "27:10",
            "a row is a list of texts; this is a number",
        ),
        (
            "full = true\n",
            "full = true\nrows = [\"s in scheme\"]\n",
            "26:1",
            "cells and rows exclude each other; remove one of them",
        ),
        (
            "full = true\n",
            "claims = true\n",
            "26:1",
            "claims and heads exclude each other; remove one of them",
        ),
        (
            "rows = [\"s in scheme\"]",
            "rows = [[\"s in scheme\"], \"a in alpha\"]",
            "20:8",
            "rows are texts, or lists of texts, and not both",
        ),
    ] {
        assert_refused(from, to, place, message);
    }
    let curve = |points: &str| {
        let text = format!(
            "format = 1\nfigure = [{{ id = \"a\", title = \"A\", kind = \"curves\", y_label = \"y\", series = [{points}] }}]"
        );
        Board::parse("b.toml", &text).map_err(|errors| crate::first_of(&errors).1)
    };
    assert!(curve("{ name = \"a\", points = [[0, 1], [0, 2]] }").is_ok());
    let message = |points: &str| curve(points).expect_err("wrong");
    assert_eq!(message(""), "series is empty; it needs at least one element");
    let descending = message("{ name = \"a\", points = [[1, 1], [0, 2]] }");
    assert_eq!(descending, "x descends from 1 to 0; it has to ascend");
    assert_eq!(message("{ name = \"a\", points = [[0, nan]] }"), "a point of a curve is not a number");
    assert_eq!(message("{ name = \"a\" }"), "series \"a\" needs y");
}

#[test]
fn empty_texts_and_variables_that_are_declared_twice_are_refused() {
    for (from, to, place, message) in [
        ("name = \"{s}\"", "name = \"\"", "10:41", "name is empty; a text is needed"),
        ("y_label = \"loss [1]\"", "y_label = \" \"", "8:11", "y_label is empty; a text is needed"),
        ("head = \"loss\"", "head = \"\"", "22:21", "head is empty; a text is needed"),
        ("[\"one\", \"two\"]", "[\"one\", \"\"]", "16:10", "a name of groups is empty; a text is needed"),
        ("\"t in tick\"", "[\"t in tick\", \"t in tick\"]", "6:7", "variable t is declared twice"),
        ("for = \"s in scheme\"", "for = \"t in scheme\"", "10:19", "variable t is declared twice"),
        (
            "rows = [\"s in scheme\"]\nheads = [\"scheme\"]",
            "rows = [\"s in scheme\", \"s in scheme\"]\nheads = [\"scheme\", \"\"]",
            "20:8",
            "variable s is declared twice",
        ),
        ("\"a in alpha\"", "\"a in alpha[1, 1]\"", "9:11", "setting \"1\" is listed twice"),
    ] {
        assert_refused(from, to, place, message);
    }
}

#[test]
fn braces_that_would_be_shown_as_they_are_written_are_refused() {
    let not_here = "an expression in a text is computed only in the title and in `text` of a table";
    for (from, to, place, message) in [
        ("fig1{letter}", "fig1{letter", "3:11", "'{' has no '}' behind it"),
        (
            "title = \"Fig. 1\"",
            "title = \"Fig. {s}\"",
            "4:15",
            "{s} in \"Fig. {s}\" is not a variable of its `for`",
        ),
        ("title = \"Fig. 1\"", "title = \"{= 1 + 1}\"", "4:10", not_here),
        ("name = \"{s}\"", "name = \"{s\"", "10:42", "'{' has no '}' behind it"),
        ("alpha [1]", "alpha {t}", "7:18", "{t} is not replaced here"),
        ("{= max(loss[one]) }", "{= max(loss[one])", "19:18", "'{' has no '}' behind it"),
        ("{= max(loss[one]) }", "{s}", "19:18", "{s} is not replaced here; {= expression} is, by its value"),
        ("head = \"published\"", "head = \"{r}\"", "22:88", "{r} in \"{r}\" is not a variable of its `for`"),
        ("[\"a\", \"b\"]", "[\"a\", \"{= 1\"]", "22:114", "'{' has no '}' behind it"),
        ("heads = [\"scheme\"]", "heads = [\"{s}\"]", "21:11", "{s} is not replaced here"),
        ("[[\"one\"", "[[\"{= 1}\"", "27:12", not_here),
    ] {
        assert_refused(from, to, place, message);
    }
}
