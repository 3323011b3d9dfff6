//! From the text of an expression to its tree.

use tidegate_settings::suggest::{meant, question};

use super::{Cell, Expression, Fault, Function, MAX_DEPTH, Operator, Range};

/// Reads an expression.
///
/// # Errors
/// What is wrong first, and where: a sign in the wrong place, an unknown function, a wrong number of arguments, brackets
/// nested too deeply.
pub fn parse(text: &str) -> Result<Expression, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expression = parser.sum()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The next byte.
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Passes over `sign` if it comes next.
    fn take(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.at += sign.len_utf8();
        }
        is_next
    }

    fn expect(&mut self, sign: char, or: &str) -> Result<(), Fault> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("{sign:?}{or}"))) }
    }

    /// The fault of what comes next in place of `wanted`.
    fn unexpected(&mut self, wanted: &str) -> Fault {
        let found = self.peek().map_or("the end".to_owned(), |sign| format!("{sign:?}"));
        let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
        self.fault(self.at, end, format!("{found} where {wanted} is expected"))
    }

    fn fault(&self, start: usize, end: usize, message: String) -> Fault {
        Fault { at: Range { start, end }, message }
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        self.chain(Self::product, &[('+', Operator::Plus), ('-', Operator::Minus)])
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        self.chain(Self::factor, &[('*', Operator::Times), ('/', Operator::Over)])
    }

    /// Parts with operators of one rank between them, from the left.
    fn chain(
        &mut self,
        part: fn(&mut Self) -> Result<Expression, Fault>,
        operators: &[(char, Operator)],
    ) -> Result<Expression, Fault> {
        let mut left = part(self)?;
        while let Some((sign, operator)) = operators.iter().find(|(sign, _)| self.peek() == Some(*sign)) {
            self.at += sign.len_utf8();
            // Chains are trees that lean to the left, so that their length counts as depth.
            self.deeper()?;
            left = Expression::Pair(*operator, Box::new([left, part(self)?]));
        }
        Ok(left)
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message =
                format!("more than {MAX_DEPTH} operators and brackets; give a part of it a claim of its own");
            return Err(self.fault(self.at, self.text.len(), message));
        }
        Ok(())
    }

    fn factor(&mut self) -> Result<Expression, Fault> {
        match self.peek() {
            Some('-') => {
                self.at += 1;
                self.deeper()?;
                Ok(Expression::Minus(Box::new(self.factor()?)))
            }
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
        let rest = self.rest();
        let is_part = |(at, sign): (usize, char)| {
            let is_sign_of_exponent = matches!(sign, '+' | '-') && rest[..at].ends_with(['e', 'E']);
            sign.is_ascii_alphanumeric() || sign == '.' || is_sign_of_exponent
        };
        let length = rest.char_indices().find(|part| !is_part(*part)).map_or(rest.len(), |(at, _)| at);
        self.at += length;
        let written = &rest[..length];
        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Expression::Number(value)),
            _ => Err(self.fault(
                start,
                self.at,
                format!("{written:?} is not a finite number such as 0.5 or 1e-3"),
            )),
        }
    }

    /// Letters, digits and the signs that `more` has, from here on.
    fn word(&mut self, more: &[char]) -> &'a str {
        let rest = self.rest();
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || more.contains(&sign);
        let word = &rest[..rest.find(|sign| !is_part(sign)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// A function's call or a measure of a cell.
    fn named(&mut self) -> Result<Expression, Fault> {
        let start = self.at;
        let name = self.word(&[]);
        let end = self.at;
        match self.peek() {
            Some('(') => self.call(name, Range { start, end }),
            Some('[') => self.cell(name, start),
            _ => Err(self.fault(
                start,
                end,
                format!(
                    "{name:?} is neither a function with (...) nor a measure with [experiment, setting, ...]"
                ),
            )),
        }
    }

    fn call(&mut self, name: &str, at: Range) -> Result<Expression, Fault> {
        let Some((function, _, min, max, _)) = Function::ALL.iter().find(|known| known.1 == name) else {
            let known = || Function::ALL.iter().map(|known| known.1);
            let hint = match meant(name, known()).as_slice() {
                [] => format!("; known: {}", known().collect::<Vec<_>>().join(", ")),
                near => question(near),
            };
            return Err(Fault { at, message: format!("function {name:?} is not known{hint}") });
        };
        self.at += 1;
        self.deeper()?;
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        self.expect(')', ", ',' or an operator")?;
        if !(*min..=*max).contains(&arguments.len()) {
            let (count, end) = (arguments.len(), self.at);
            return Err(self.fault(at.start, end, format!("{name} takes {min} values; it is given {count}")));
        }
        Ok(Expression::Call(*function, arguments))
    }

    fn cell(&mut self, measure: &str, start: usize) -> Result<Expression, Fault> {
        self.at += 1;
        let experiment = self.setting("the name of an experiment")?;
        let mut settings = Vec::new();
        while self.take(',') {
            settings.push(self.setting("the name of a setting")?);
        }
        self.expect(']', " or ','")?;
        let at = Range { start, end: self.at };
        Ok(Expression::Cell(Cell { measure: measure.to_owned(), experiment, settings, at }))
    }

    /// A word or a text in quotes.
    fn setting(&mut self, what: &str) -> Result<String, Fault> {
        let quote = self.peek().filter(|sign| matches!(sign, '"' | '\''));
        if let Some(quote) = quote {
            let start = self.at;
            self.at += 1;
            let Some(length) = self.rest().find(quote) else {
                return Err(self.fault(start, self.text.len(), format!("the quote {quote} has no end")));
            };
            let inner = &self.rest()[..length];
            self.at += length + 1;
            return Ok(inner.to_owned());
        }
        match self.word(&['-', '.']) {
            "" => Err(self.unexpected(what)),
            word => Ok(word.to_owned()),
        }
    }
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

    #[test]
    fn a_cell_has_its_experiment_and_its_settings_in_order() {
        let expression = parse(" goodput_mbps [grid, bbr-cd, 1, 'no losses', 0.5]").expect("sound");
        let cells = expression.cells();
        assert_eq!(cells.len(), 1);
        assert_eq!(cells[0].to_string(), "goodput_mbps[grid, bbr-cd, 1, no losses, 0.5]");
    }

    #[test]
    fn products_bind_closer_than_sums_and_both_go_from_the_left() {
        let value = |text: &str| {
            let whole = format!("{text} + 0 * g[x]");
            parse(&whole).expect("sound").samples(&mut |_| Ok(vec![1.0])).expect("one seed")[0]
        };
        assert_eq!(value("1 + 2 * 3 - 4"), 3.0);
        assert_eq!(value("100 / 10 / 5"), 2.0);
        assert_eq!(value("2 - 1 - 1"), 0.0);
        assert_eq!(value("-2 * -(1 + 2)"), 6.0);
        assert_eq!(value("1e-1 + 2E+1"), 20.1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert_fault(
            "g[x] +",
            "",
            "the end where a number, a function, a measure or an opening bracket is expected",
        );
        assert_fault("g[x] g[y]", "g", "'g' where an operator or the end is expected");
        assert_fault("ratoi(1, 2)", "ratoi", "function \"ratoi\" is not known; did you mean \"ratio\"?");
        assert_fault("ratio(g[x])", "ratio(g[x])", "ratio takes 2 values; it is given 1");
        assert_fault(
            "goodput",
            "goodput",
            "\"goodput\" is neither a function with (...) nor a measure with [experiment, setting, ...]",
        );
        assert_fault("g[x,]", "]", "']' where the name of a setting is expected");
        assert_fault("g['x]", "'x]", "the quote ' has no end");
        assert_fault("1.2.3", "1.2.3", "\"1.2.3\" is not a finite number such as 0.5 or 1e-3");
        assert_fault("(1 + 2", "", "the end where ')' or an operator is expected");
        assert_fault(
            "",
            "",
            "the end where a number, a function, a measure or an opening bracket is expected",
        );
    }

    #[test]
    fn long_and_deep_texts_are_refused_without_a_deep_stack() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1+".repeat(100_000), "abs(".repeat(100_000)] {
            let fault = parse(&text).expect_err("too deep");
            assert!(fault.message.starts_with("more than 200 operators and brackets"), "{}", fault.message);
        }
    }
}
