//! Parser of expressions: from text to tree.

use tidegate_settings::suggest::{intended, question};

use super::{Binding, Call, Cell, Expression, Fault, MAX_DEPTH, Operator, Range, Word};
use crate::function::Function;

/// Characters of a word besides letters and digits: of settings, and of objects.
const SETTING: &[char] = &['_', '-', '.'];
const OBJECT: &[char] = &['_', '-', '.', '*', '>', '+'];

/// Reads an expression.
///
/// # Errors
/// The first error with its place: an unexpected character, a wrong number of values for a function, or
/// too deeply nested brackets.
pub fn parse(text: &str) -> Result<Expression, Fault> {
    whole(text, "an operator or the end", |parser| parser.sum())
}

/// Reads a binding alone, such as `a in alpha` or `a in alpha[0.25, 0.5]`.
///
/// # Errors
/// As [`parse`].
pub fn parse_binding(text: &str) -> Result<Binding, Fault> {
    whole(text, "the end", |parser| parser.binding())
}

fn whole<'a, T>(
    text: &'a str,
    end: &str,
    read: impl Fn(&mut Parser<'a>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let found = read(&mut parser)?;
    match parser.peek() {
        None => Ok(found),
        Some(_) => Err(parser.unexpected(end)),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Offset of the next byte.
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Skips spaces and returns the next character.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// Consumes `sign` if it is next.
    fn take(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.at += sign.len_utf8();
        }
        is_next
    }

    /// Consumes `word` if it is next.
    fn take_word(&mut self, word: &str) -> bool {
        self.peek();
        let start = self.at;
        // The whole word is compared, so that `format` does not begin with `for`.
        let is_next = self.word(&['_']) == word;
        if !is_next {
            self.at = start;
        }
        is_next
    }

    fn expect(&mut self, sign: char, or: &str) -> Result<(), Fault> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("{sign:?}{or}"))) }
    }

    /// The fault for the next character in place of `required`.
    fn unexpected(&mut self, required: &str) -> Fault {
        let found = self.peek().map_or("the end".to_owned(), |sign| format!("{sign:?}"));
        let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
        self.fault(self.at, end, format!("{found} where {required} is expected"))
    }

    fn fault(&self, start: usize, end: usize, message: String) -> Fault {
        Fault { at: Range { start, end }, message }
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        self.operators(0)
    }

    /// Parses factors with operators of this precedence or a higher one between them, from the left.
    fn operators(&mut self, min: usize) -> Result<Expression, Fault> {
        let mut left = self.factor()?;
        while let Some((operator, precedence)) = self.operator().filter(|(_, one)| *one >= min) {
            self.at += 1;
            // Chains are trees that lean to the left, so that their length counts as depth.
            self.deeper()?;
            left = Expression::Pair(operator, Box::new([left, self.operators(precedence + 1)?]));
        }
        Ok(left)
    }

    /// The next operator with its precedence.
    fn operator(&mut self) -> Option<(Operator, usize)> {
        match self.peek()? {
            '+' => Some((Operator::Plus, 0)),
            '-' => Some((Operator::Minus, 0)),
            '*' => Some((Operator::Times, 1)),
            '/' => Some((Operator::Over, 1)),
            _ => None,
        }
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!(
                "more than {MAX_DEPTH} operators and brackets; make a part of it a measure of its own"
            );
            return Err(self.fault(self.at, self.text.len(), message));
        }
        Ok(())
    }

    fn factor(&mut self) -> Result<Expression, Fault> {
        if self.take('-') {
            self.deeper()?;
            return Ok(Expression::Minus(Box::new(self.factor()?)));
        }
        let part = self.part()?;
        if self.peek() == Some('[') { self.cell(part) } else { Ok(part) }
    }

    fn part(&mut self) -> Result<Expression, Fault> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.deeper()?;
                let inner = self.sum()?;
                self.expect(')', " or an operator")?;
                Ok(inner)
            }
            Some(digit) if digit.is_ascii_digit() => self.number(),
            Some(letter) if letter.is_ascii_alphabetic() => self.named(),
            _ => Err(self.unexpected("a number, a function, a measure or an opening bracket")),
        }
    }

    fn number(&mut self) -> Result<Expression, Fault> {
        let start = self.at;
        // All characters that could belong to a number are taken, so that the message shows "1.2.3" and not
        // ".3".
        let written = self.take_while(|before, sign| {
            let is_sign_of_exponent = matches!(sign, '+' | '-') && before.ends_with(['e', 'E']);
            sign.is_ascii_alphanumeric() || sign == '.' || is_sign_of_exponent
        });
        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Expression::Number(value)),
            _ => {
                let message = format!("{written:?} is not a finite number such as 0.5 or 1e-3");
                Err(self.fault(start, self.at, message))
            }
        }
    }

    /// Consumes letters, digits and the characters in `more`.
    fn word(&mut self, more: &[char]) -> &'a str {
        self.take_while(|_, sign| sign.is_alphanumeric() || more.contains(&sign))
    }

    /// Consumes characters while `is_part` holds, which receives the consumed text and the next character.
    fn take_while(&mut self, is_part: impl Fn(&str, char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.char_indices().find(|(at, sign)| !is_part(&rest[..*at], *sign));
        let taken = &rest[..end.map_or(rest.len(), |(at, _)| at)];
        self.at += taken.len();
        taken
    }

    /// Parses a function of values, or a measure with its arguments.
    fn named(&mut self) -> Result<Expression, Fault> {
        let start = self.at;
        let name = self.word(&['_', '.']);
        let at = Range { start, end: self.at };
        // Not a measure: claims use it as a bound, in the notation of TOML.
        if name == "inf" {
            return Ok(Expression::Number(f64::INFINITY));
        }
        let (objects, named) = (Vec::new(), Vec::new());
        let mut call = Call { name: name.to_owned(), objects, named, definition: None, at };
        if !self.take('(') {
            return Ok(Expression::Call(call));
        }
        // Functions have expressions as arguments and measures have words, so that the name selects the
        // parser.
        if let Some(function) = Function::find(name) {
            return self.apply(function, start);
        }
        self.arguments(&mut call).map_err(|fault| {
            // Only functions take cells and calls.
            let is_of_function = self.text[fault.at.start..].starts_with(['[', '(']);
            let names = crate::function::TABLE.iter().map(|known| known.1);
            if is_of_function { Fault { at, message: unknown("function", name, names) } } else { fault }
        })?;
        call.at.end = self.at;
        Ok(Expression::Call(call))
    }

    fn apply(&mut self, function: Function, start: usize) -> Result<Expression, Fault> {
        self.deeper()?;
        let arguments = self.separated(Self::list)?;
        self.expect(')', ", ',', for or an operator")?;
        let at = Range { start, end: self.at };
        match function.wrong_count(arguments.len()).or_else(|| function.wrong_literals(&arguments)) {
            Some(message) => Err(Fault { at, message }),
            None => Ok(Expression::Apply(function, arguments, at)),
        }
    }

    /// Parses an expression, or its values for all settings of some axes.
    fn list(&mut self) -> Result<Expression, Fault> {
        let body = self.sum()?;
        let mut bindings = Vec::new();
        while self.take_word("for") {
            // Each takes stack where the list is expanded.
            self.deeper()?;
            bindings.push(self.binding()?);
        }
        if bindings.is_empty() { Ok(body) } else { Ok(Expression::For(Box::new(body), bindings)) }
    }

    fn binding(&mut self) -> Result<Binding, Fault> {
        self.peek();
        let start = self.at;
        let variable = self.plain("the name of a variable")?;
        if !self.take_word("in") {
            return Err(self.unexpected("\"in\""));
        }
        let axis = self.plain("the name of an axis")?;
        let mut settings = Vec::new();
        if self.take('[') {
            settings = self.separated(|parser| Ok(parser.setting()?.text))?;
            self.expect(']', " or ','")?;
            let is_twice = |(place, setting): &(usize, &String)| settings[..*place].contains(setting);
            if let Some((_, setting)) = settings.iter().enumerate().find(is_twice) {
                return Err(self.fault(start, self.at, format!("setting {setting:?} is listed twice")));
            }
        }
        Ok(Binding { variable, axis, settings, at: Range { start, end: self.at } })
    }

    fn plain(&mut self, what: &str) -> Result<String, Fault> {
        self.peek();
        match self.word(&['_', '-']) {
            "" => Err(self.unexpected(what)),
            word => Ok(word.to_owned()),
        }
    }

    fn arguments(&mut self, call: &mut Call) -> Result<(), Fault> {
        self.separated(|parser| {
            let word = parser.quoted(OBJECT, "the name of an object, such as a flow, or KEY = VALUE")?;
            if !word.is_quoted && parser.take('=') {
                call.named.push((word.text, parser.quoted(OBJECT, "a value")?));
            } else {
                call.objects.push(word);
            }
            Ok(())
        })?;
        self.expect(')', " or ','")
    }

    fn cell(&mut self, of: Expression) -> Result<Expression, Fault> {
        let start = self.at;
        self.at += 1;
        self.deeper()?;
        let experiment = self.quoted(SETTING, "the name of an experiment")?.text;
        let settings = if self.take(',') { self.separated(Self::setting)? } else { Vec::new() };
        self.expect(']', " or ','")?;
        let at = Range { start, end: self.at };
        Ok(Expression::Cell(Box::new(of), Cell { experiment, settings, at }))
    }

    /// Parses one part or more, separated by commas.
    fn separated<T>(&mut self, mut part: impl FnMut(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut parts = vec![part(self)?];
        while self.take(',') {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    fn setting(&mut self) -> Result<Word, Fault> {
        self.quoted(SETTING, "the name of a setting")
    }

    /// Parses a word with these characters, or a text in quotes.
    fn quoted(&mut self, signs: &[char], what: &str) -> Result<Word, Fault> {
        let quote = self.peek().filter(|sign| matches!(sign, '"' | '\''));
        if let Some(quote) = quote {
            let start = self.at;
            self.at += 1;
            // There are no escapes: a name with one kind of quote can be put in the other, and TOML has
            // escapes of its own.
            let Some(length) = self.rest().find(quote) else {
                return Err(self.fault(start, self.text.len(), format!("the quote {quote} has no end")));
            };
            let inner = &self.rest()[..length];
            self.at += length + 1;
            return Ok(Word { text: inner.to_owned(), is_quoted: true });
        }
        match self.word(signs) {
            "" => Err(self.unexpected(what)),
            word => Ok(Word { text: word.to_owned(), is_quoted: false }),
        }
    }
}

/// The message for a name that is not among `known`.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let hint = match intended(name, known.clone()).as_slice() {
        [] => format!("; known: {}", known.collect::<Vec<_>>().join(", ")),
        near => question(near),
    };
    format!("{what} {name:?} is not known{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_fault(text: &str, part: &str, message: &str) {
        let fault = parse(text).expect_err("it is wrong");
        assert_eq!(&text[fault.at.start..fault.at.end], part, "{}", fault.message);
        assert_eq!(fault.message, message);
    }

    fn written(text: &str) -> String {
        parse(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.message)).to_string()
    }

    #[test]
    fn a_cell_has_its_experiment_and_its_settings_in_order() {
        assert_eq!(
            written(" goodput_mbps [grid, bbr-cd, 1, 'no losses', 0.5]"),
            "goodput_mbps[grid, bbr-cd, 1, no losses, 0.5]"
        );
        assert_eq!(written("max(a(*), b) [x]"), "max(a(*), b)[x]");
    }

    #[test]
    fn a_measure_has_objects_and_named_arguments() {
        let expression = parse("brf.rate(F1, \"r 1>c1\", r*>c1, from = 2, to = inf)").expect("sound");
        let [call] = expression.calls()[..] else { panic!("one call") };
        assert_eq!(
            call.objects.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(),
            ["F1", "r 1>c1", "r*>c1"]
        );
        assert_eq!(call.to_string(), "brf.rate(F1, \"r 1>c1\", r*>c1, from = 2, to = inf)");
    }

    #[test]
    fn a_list_takes_all_settings_of_an_axis_or_some() {
        let text = "max(a[x, s, t] for s in scheme for t in tick[1, 0.5], 3)";
        assert_eq!(written(text), "max(a[x, s, t] for s in scheme for t in tick, 3)");
        let binding = parse_binding("t in tick[1, 0.5]").expect("sound");
        assert_eq!(
            (binding.variable.as_str(), binding.settings.as_slice()),
            ("t", &["1".to_owned(), "0.5".to_owned()][..])
        );
    }

    #[test]
    fn products_bind_closer_than_sums_and_both_go_from_the_left() {
        assert_eq!(written("1 + 2 * 3 - 4"), "((1 + (2 * 3)) - 4)");
        assert_eq!(written("100 / 10 / 5"), "((100 / 10) / 5)");
        assert_eq!(written("-2 * -(1 + 2)"), "(-2 * -(1 + 2))");
        assert_eq!(written("1e-1 + 2E+1 - inf"), "((0.1 + 20) - inf)");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let required = "a number, a function, a measure or an opening bracket";
        assert_fault("g[x] +", "", &format!("the end where {required} is expected"));
        assert_fault("", "", &format!("the end where {required} is expected"));
        assert_fault("g[x] g[y]", "g", "'g' where an operator or the end is expected");
        assert_fault("ratio(g[x])", "ratio(g[x])", "ratio takes 2 values; it is given 1");
        for (text, message) in [
            ("quantile(a, 2)", "quantile takes a part from 0 to 1; it is given 2"),
            ("quantile(a, -0.1)", "quantile takes a part from 0 to 1; it is given -0.1"),
            ("bins(a, 0)", "bins takes a width above 0; it is given 0"),
            ("bins(a, -1)", "bins takes a width above 0; it is given -1"),
            ("every(a, 0)", "every takes a step above 0; it is given 0"),
            ("every(a, inf)", "every takes a step above 0; it is given inf"),
            (
                "moving(a, 1.5)",
                "moving takes a whole number of neighbours from 1 to 1000000; it is given 1.5",
            ),
            ("moving(a, 0)", "moving takes a whole number of neighbours from 1 to 1000000; it is given 0"),
            ("between(a, 2, 2)", "between takes from < x <= to, and nothing is above 2 and up to 2"),
            ("within(a, 2, 1)", "within takes low <= a <= high, and low is 2, high 1"),
        ] {
            assert_fault(text, text, message);
        }
        assert_fault("g[x,]", "]", "']' where the name of a setting is expected");
        assert_fault("g['x]", "'x]", "the quote ' has no end");
        assert_fault("1.2.3", "1.2.3", "\"1.2.3\" is not a finite number such as 0.5 or 1e-3");
        assert_fault("(1 + 2", "", "the end where ')' or an operator is expected");
        assert_fault("max(a for b of c)", "o", "'o' where \"in\" is expected");
        assert_fault(
            "ratoi(a[x], b[x])",
            "ratoi",
            "function \"ratoi\" is not known; did you mean \"ratio\"?",
        );
        assert_fault("a(b", "", "the end where ')' or ',' is expected");
        assert_fault("a(from = )", ")", "')' where a value is expected");
    }

    #[test]
    fn long_and_deep_texts_are_refused_without_a_deep_stack() {
        for text in [
            "(".repeat(100_000),
            "-".repeat(100_000),
            "1+".repeat(100_000),
            "abs(".repeat(100_000),
            format!("max(a{})", " for a in b".repeat(1_000)),
        ] {
            let fault = parse(&text).expect_err("too deep");
            assert!(fault.message.starts_with("more than 200 operators and brackets"), "{}", fault.message);
        }
    }
}
