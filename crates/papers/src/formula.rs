//! Expressions over the cells of experiments, resolved and computed.

use crate::experiments::Experiments;
use crate::expression::{Binding, Cell, Expression, Fault, Operator, Range, Word};
use crate::function::{Function, median};
use crate::quantity;
use crate::value::MeasureValue;

/// Maximum number of parts of a formula after all lists are expanded.
const MAX_PARTS: usize = 200_000;

/// Variables of lists with their settings: name of the variable, name of the setting.
pub type Bindings = Vec<(String, String)>;

/// A quantity of the runs of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Index of the experiment.
    pub experiment: usize,
    /// Index of its cell.
    pub cell: usize,
    /// Expression that is computed for each run, with definitions expanded.
    pub quantity: Expression,
    /// Text for messages, such as `goodput_mbps[grid, icp]`.
    pub name: String,
    /// Place in the text of the expression.
    pub at: Range,
}

/// An expression whose cells are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    node: Node,
    /// Quantities of cells in the formula, in the order of the text.
    pub leaves: Vec<Leaf>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    /// Index of a leaf.
    Leaf(usize),
    Minus(Box<Self>),
    Pair(Operator, Box<[Self; 2]>),
    Apply(Function, Vec<Self>, Range),
    List(Vec<Self>),
}

/// Values of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum SeedColumn {
    /// One value for all seeds, whatever their number.
    Same(MeasureValue),
    /// One value per seed, and the name of the quantity.
    Seeds(Vec<MeasureValue>, String),
}

impl Formula {
    /// Finds the cells of `expression`; `scope` has the variables of lists around it.
    ///
    /// # Errors
    /// Unknown names, wrong numbers of settings, or more than 200,000 parts.
    pub fn resolve(
        expression: &Expression,
        scope: &Bindings,
        experiments: &Experiments,
    ) -> Result<Self, Fault> {
        let mut resolver = Resolver { experiments, leaves: Vec::new(), scope: scope.clone(), parts: 0 };
        let node = resolver.node(expression)?;
        Ok(Self { node, leaves: resolver.leaves })
    }

    /// The formula that consists of one quantity.
    pub fn of_leaf(leaf: Leaf) -> Self {
        Self { node: Node::Leaf(0), leaves: vec![leaf] }
    }

    /// Values of the formula; `values` returns those of a leaf, one per seed.
    ///
    /// # Errors
    /// The first error of `values`, cells with different numbers of seeds, which cannot be paired, or a
    /// function with values that it does not accept.
    pub fn column(
        &self,
        values: &mut dyn FnMut(&Leaf) -> Result<Vec<MeasureValue>, String>,
    ) -> Result<SeedColumn, Fault> {
        let column = |leaf: &Leaf| match values(leaf) {
            Ok(values) => Ok(SeedColumn::Seeds(values, leaf.name.clone())),
            Err(message) => Err(Fault { at: leaf.at, message }),
        };
        let columns = self.leaves.iter().map(column).collect::<Result<Vec<SeedColumn>, Fault>>()?;
        let whole = self.leaves.first().map(|leaf| leaf.at).unwrap_or_default();
        self.node.column(&columns).map_err(|(at, message)| Fault { at: at.unwrap_or(whole), message })
    }
}

struct Resolver<'a> {
    experiments: &'a Experiments,
    leaves: Vec<Leaf>,
    scope: Bindings,
    /// Number of parts so far.
    parts: usize,
}

impl Resolver<'_> {
    fn node(&mut self, expression: &Expression) -> Result<Node, Fault> {
        self.parts += 1;
        // Lists within lists multiply: a line of text can expand to more nodes than fit into memory.
        if self.parts > MAX_PARTS {
            let at = expression.calls().first().map(|call| call.at).unwrap_or_default();
            return Err(Fault { at, message: format!("more than {MAX_PARTS} values and operators") });
        }
        Ok(match expression {
            Expression::Number(number) => Node::Number(*number),
            Expression::Call(call) => self.variable(call)?,
            Expression::Cell(quantity, cell) => self.leaf(quantity, cell)?,
            Expression::Minus(inner) => Node::Minus(Box::new(self.node(inner)?)),
            Expression::Pair(operator, sides) => {
                let left = self.node(&sides[0])?;
                Node::Pair(*operator, Box::new([left, self.node(&sides[1])?]))
            }
            Expression::Apply(function, arguments, at) => {
                let nodes = arguments.iter().map(|argument| self.node(argument));
                let nodes: Vec<Node> = nodes.collect::<Result<_, _>>()?;
                // The settings that variables stand for are known only here.
                let numbers: Vec<Option<f64>> = nodes.iter().map(Node::literal).collect();
                if let Some(message) = function.wrong_numbers(&numbers) {
                    return Err(Fault { at: *at, message });
                }
                Node::Apply(*function, nodes, *at)
            }
            Expression::For(body, bindings) => {
                if let Some(unused) = unused(body, bindings) {
                    let message =
                        format!("variable {} is not used in what stands before it", unused.variable);
                    return Err(Fault { at: unused.at, message });
                }
                let mut list = Vec::new();
                self.list(body, bindings, &mut list)?;
                Node::List(list)
            }
        })
    }

    /// The number of a variable, whose setting has to be a number.
    fn variable(&self, call: &crate::expression::Call) -> Result<Node, Fault> {
        let fault = |message| Err(Fault { at: call.at, message });
        // Arguments belong to measures, which have a value in a run only; a variable has none.
        if !call.is_bare() {
            return fault(format!("{call} is of no cell; write {call}[experiment, setting, ...]"));
        }
        match self.setting_of(&call.name) {
            Some(setting) => match quantity::number(setting) {
                Some(number) => Ok(Node::Number(number)),
                None => fault(format!("{} is {setting:?} here, which is not a number", call.name)),
            },
            None => fault(format!(
                "{0} is of no cell and no variable of a list; write {0}[experiment, setting, ...]",
                call.name
            )),
        }
    }

    fn setting_of(&self, variable: &str) -> Option<&str> {
        // The innermost list wins where two use the same name.
        self.scope.iter().rev().find(|(known, _)| known == variable).map(|(_, setting)| setting.as_str())
    }

    fn leaf(&mut self, of: &Expression, cell: &Cell) -> Result<Node, Fault> {
        // A quoted word is a name even if a variable has the same name.
        let setting = |word: &Word| match self.setting_of(&word.text).filter(|_| !word.is_quoted) {
            Some(setting) => setting.to_owned(),
            None => word.text.clone(),
        };
        let settings: Vec<String> = cell.settings.iter().map(setting).collect();
        let start = of.calls().first().map_or(cell.at.start, |call| call.at.start);
        let at = Range { start, end: cell.at.end };
        let found = self.experiments.find(&cell.experiment, &settings);
        let (experiment, place) = found.map_err(|message| Fault { at, message })?;
        // Variables come before definitions: inside a definition the same word could be a parameter.
        let of = &quantity::with_objects(of, &|word| self.setting_of(word).map(str::to_owned));
        let quantity = quantity::expand(of, &self.experiments.measures)?;
        let name = format!(
            "{of}[{}]",
            [std::slice::from_ref(&cell.experiment), settings.as_slice()].concat().join(", ")
        );
        self.leaves.push(Leaf { experiment, cell: place, quantity, name, at });
        Ok(Node::Leaf(self.leaves.len() - 1))
    }

    fn list(&mut self, body: &Expression, bindings: &[Binding], list: &mut Vec<Node>) -> Result<(), Fault> {
        let Some((binding, rest)) = bindings.split_first() else {
            list.push(self.node(body)?);
            return Ok(());
        };
        let settings =
            self.experiments.settings_of(binding).map_err(|message| Fault { at: binding.at, message })?;
        for setting in settings {
            self.scope.push((binding.variable.clone(), setting.name.clone()));
            let done = self.list(body, rest, list);
            self.scope.pop();
            done?;
        }
        Ok(())
    }
}

/// The first variable of a list without which the list would be the same values several times.
fn unused<'a>(body: &Expression, bindings: &'a [Binding]) -> Option<&'a Binding> {
    let is_hidden = |(place, binding): (usize, &Binding)| {
        bindings[place + 1..].iter().any(|inner| inner.variable == binding.variable)
    };
    let mut all = bindings.iter().enumerate();
    all.find(|one| !body.uses(&one.1.variable) || is_hidden(*one)).map(|(_, binding)| binding)
}

/// An error and its place, if that is known.
type Wrong = (Option<Range>, String);

impl Node {
    fn literal(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Minus(inner) => inner.literal().map(|number| -number),
            _ => None,
        }
    }

    fn column(&self, leaves: &[SeedColumn]) -> Result<SeedColumn, Wrong> {
        match self {
            Self::Number(number) => Ok(SeedColumn::Same(MeasureValue::Number(*number))),
            Self::Leaf(place) => Ok(leaves[*place].clone()),
            Self::Minus(inner) => inner.column(leaves)?.each(|values| Ok(values[0].each(|number| -number))),
            Self::Pair(operator, sides) => {
                let sides = [sides[0].column(leaves)?, sides[1].column(leaves)?];
                together(&sides, |values| values[0].pair(&values[1], |left, right| operator.of(left, right)))
            }
            // Functions of lists do not distinguish their numbers, so that a list or series within a list is
            // flattened.
            Self::List(nodes) => together(&columns(nodes, leaves)?, |values| {
                Ok(MeasureValue::List(values.iter().flat_map(MeasureValue::numbers).collect()))
            }),
            Self::Apply(function, nodes, at) => {
                let column = if function.is_over_seeds() {
                    over_seeds(*function, nodes, leaves)
                } else {
                    together(&columns(nodes, leaves)?, |values| function.of(values))
                };
                // The innermost function is nearest to the mistake, so a place that is known is kept.
                column.map_err(|(place, message)| (place.or(Some(*at)), message))
            }
        }
    }
}

fn columns(nodes: &[Node], leaves: &[SeedColumn]) -> Result<Vec<SeedColumn>, Wrong> {
    nodes.iter().map(|node| node.column(leaves)).collect()
}

impl SeedColumn {
    fn each(self, of: impl Fn(&[MeasureValue]) -> Result<MeasureValue, String>) -> Result<Self, Wrong> {
        together(&[self], of)
    }

    fn name(&self) -> &str {
        match self {
            Self::Same(_) => "",
            Self::Seeds(_, name) => name,
        }
    }

    fn seeds(&self) -> Option<usize> {
        match self {
            Self::Same(_) => None,
            Self::Seeds(values, _) => Some(values.len()),
        }
    }

    fn at(&self, seed: usize) -> Option<&MeasureValue> {
        match self {
            Self::Same(value) => Some(value),
            Self::Seeds(values, _) => values.get(seed),
        }
    }

    /// The samples.
    ///
    /// # Errors
    /// Values that are lists or series.
    pub fn samples(&self) -> Result<Vec<f64>, String> {
        let number = |value: &MeasureValue| {
            value
                .number()
                .ok_or_else(|| format!("the value must be one number per seed, and is {}", value.kind()))
        };
        match self {
            Self::Same(value) => Ok(vec![number(value)?]),
            Self::Seeds(values, _) => values.iter().map(number).collect(),
        }
    }

    /// The value of the first seed.
    pub fn first(&self) -> Option<&MeasureValue> {
        self.at(0)
    }
}

/// Applies `of` to the values of all columns, seed by seed.
fn together(
    columns: &[SeedColumn],
    of: impl Fn(&[MeasureValue]) -> Result<MeasureValue, String>,
) -> Result<SeedColumn, Wrong> {
    let mut of_seeds = columns.iter().filter(|column| column.seeds().is_some());
    // Constants alone have no seeds. The result remains constant, so that it can be combined with any number
    // of seeds.
    let Some(first) = of_seeds.next() else {
        let values: Vec<MeasureValue> = columns.iter().filter_map(|column| column.at(0).cloned()).collect();
        return of(&values).map(SeedColumn::Same).map_err(|message| (None, message));
    };
    let seeds = first.seeds().unwrap_or(0);
    // Seed n of one cell is compared with seed n of the other, as both have the same random numbers
    // (common random numbers); a seed without its partner would break the pairs.
    if let Some(other) = of_seeds.find(|other| other.seeds() != Some(seeds)) {
        let message = format!(
            "{} has {} seeds and {} has {seeds}; values are paired by seed, so give both experiments as many",
            other.name(),
            other.seeds().unwrap_or(0),
            first.name()
        );
        return Err((None, message));
    }
    let at = |seed: usize| {
        let values: Vec<MeasureValue> =
            columns.iter().filter_map(|column| column.at(seed).cloned()).collect();
        of(&values).map_err(|message| (None, message))
    };
    Ok(SeedColumn::Seeds((0..seeds).map(at).collect::<Result<_, _>>()?, first.name().to_owned()))
}

fn over_seeds(function: Function, nodes: &[Node], leaves: &[SeedColumn]) -> Result<SeedColumn, Wrong> {
    // `best(g[x, a] for a in alpha)` chooses among settings, so that each element of a list counts by itself.
    let elements: Vec<&Node> = nodes
        .iter()
        .flat_map(|node| match node {
            Node::List(nodes) => nodes.iter().collect(),
            other => vec![other],
        })
        .collect();
    let elements =
        elements.into_iter().map(|node| node.column(leaves)).collect::<Result<Vec<SeedColumn>, Wrong>>()?;
    let samples = |column: &SeedColumn| column.samples().map_err(|message| (None, message));
    let all = elements.iter().map(samples).collect::<Result<Vec<Vec<f64>>, Wrong>>()?;
    let mean = |samples: &Vec<f64>| samples.iter().sum::<f64>() / samples.len() as f64;
    let chosen = |place: Option<usize>| {
        place.and_then(|place| elements.get(place).cloned()).ok_or((None, "it has no element".to_owned()))
    };
    let places = 0..all.len();
    match function {
        // The choice is by the mean of all seeds. A choice in each seed would pick the largest noise and be biased.
        Function::Best => chosen(places.max_by(|a, b| mean(&all[*a]).total_cmp(&mean(&all[*b])))),
        Function::Worst => chosen(places.min_by(|a, b| mean(&all[*a]).total_cmp(&mean(&all[*b])))),
        // The samples count as those of further seeds, so that they are no longer paired with others.
        Function::Pool => {
            let names: Vec<&str> = elements.iter().take(2).map(SeedColumn::name).collect();
            let more = if elements.len() > 2 { ", ..." } else { "" };
            let name = format!("pool({}{more})", names.join(", "));
            Ok(SeedColumn::Seeds(all.concat().into_iter().map(MeasureValue::Number).collect(), name))
        }
        _ => {
            // These functions take one value, which was checked when the text was read.
            let samples = all.into_iter().next().unwrap_or_default();
            Ok(SeedColumn::Same(MeasureValue::Number(one_of(function, samples))))
        }
    }
}

/// Applies a function over seeds to all samples.
fn one_of(function: Function, samples: Vec<f64>) -> f64 {
    let sum = samples.iter().sum::<f64>();
    match function {
        Function::SeedsMax => samples.into_iter().reduce(f64::max).unwrap_or(f64::NAN),
        Function::SeedsMin => samples.into_iter().reduce(f64::min).unwrap_or(f64::NAN),
        Function::SeedsMedian => median(samples),
        Function::SeedsCount => samples.len() as f64,
        Function::SeedsMean => sum / samples.len() as f64,
        _ => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;

    const EXPERIMENTS: &str = r#"
format = 1
[axis.scheme]
bbr-cd = []
aimd = []
[axis.alpha]
"0.5" = []
1 = []
2 = []
[[experiment]]
name = "x"
scenario = "s.toml"
axes = ["scheme", "alpha"]
[[experiment]]
name = "three"
scenario = "s.toml"
[measure]
half = "g / 2"
"#;

    fn column(text: &str) -> Result<SeedColumn, Fault> {
        let experiments = Experiments::parse("experiments.toml", EXPERIMENTS).expect("sound");
        let formula = Formula::resolve(&parse(text)?, &Vec::new(), &experiments)?;
        formula.column(&mut |leaf| {
            let of_run = |seed: usize| {
                let base = [[1.0, 2.0, 4.0], [10.0, 5.0, 1.0]];
                let number = match leaf.experiment {
                    0 => base[leaf.cell / 3][leaf.cell % 3] * (1.0 + seed as f64),
                    _ => seed as f64,
                };
                quantity::value(&leaf.quantity, &mut |call| match call.name.as_str() {
                    "g" => Ok(Some(MeasureValue::Number(number))),
                    other => Err(format!("no {other}")),
                })
            };
            let seeds = if leaf.experiment == 0 { 2 } else { 3 };
            (0..seeds).map(|seed| of_run(seed).map(|value| value.expect("there is one"))).collect()
        })
    }

    fn samples(text: &str) -> Vec<f64> {
        column(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.message)).samples().expect("numbers")
    }

    #[track_caller]
    fn assert_fault(text: &str, part: &str, message: &str) {
        let fault = column(text).expect_err("it is wrong");
        assert_eq!((&text[fault.at.start..fault.at.end], fault.message.as_str()), (part, message));
    }

    #[test]
    fn values_of_cells_are_paired_by_seed() {
        assert_eq!(samples("ratio(g[x, aimd, 1], g[x, bbr-cd, 1])"), [2.5, 2.5]);
        assert_eq!(samples("g[x, aimd, 1] - g[x, bbr-cd, 1] * 2"), [1.0, 2.0]);
        assert_eq!(samples("decrease(g[x, bbr-cd, 1], g[x, aimd, 1])"), [60.0, 60.0]);
        assert_eq!(samples("max(g[x, aimd, 1], g[x, bbr-cd, 2], 9)"), [9.0, 10.0]);
        assert_eq!(samples("-half[x, aimd, 1] + abs(-1)"), [-1.5, -4.0]);
        assert_eq!(samples("1 + 2"), [3.0]);
    }

    #[test]
    fn a_list_over_settings_takes_its_variable_as_setting_and_as_number() {
        assert_eq!(samples("max(steps(g[x, bbr-cd, a] for a in alpha))"), [2.0, 4.0]);
        assert_eq!(samples("sum(a * g[x, bbr-cd, a] for a in alpha[2, 1])"), [10.0, 20.0]);
        assert_eq!(samples("count(g[x, s, a] for s in scheme for a in alpha)"), [6.0, 6.0]);
    }

    #[test]
    fn some_functions_take_the_samples_of_all_seeds() {
        assert_eq!(samples("best(g[x, bbr-cd, a] for a in alpha)"), [4.0, 8.0]);
        assert_eq!(samples("worst(g[x, s, 1] for s in scheme)"), [2.0, 4.0]);
        assert_eq!(samples("pool(g[x, s, 1] for s in scheme)"), [2.0, 4.0, 5.0, 10.0]);
        assert_eq!(samples("g[x, aimd, 1] / seeds_max(g[x, aimd, 1])"), [0.5, 1.0]);
        assert_eq!(samples("seeds_median(g[three])"), [1.0]);
        assert_eq!(samples("seeds_sum(above(g[three], 0.5)) + seeds_mean(g[three])"), [3.0]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert_fault(
            "1 + sum(g[x, aimd, 1], g[three])",
            "sum(g[x, aimd, 1], g[three])",
            "g[three] has 3 seeds and g[x, aimd, 1] has 2; values are paired by seed, so give both experiments as many",
        );
        assert_fault(
            "pool(g[x, aimd, a] for a in alpha) - g[x, aimd, 1]",
            "g[x, aimd, a]",
            "g[x, aimd, 1] has 2 seeds and pool(g[x, aimd, 0.5], g[x, aimd, 1], ...) has 6; values are paired by seed, so \
             give both experiments as many",
        );
        assert_fault(
            "2 * g",
            "g",
            "g is of no cell and no variable of a list; write g[experiment, setting, ...]",
        );
        assert_fault("g(c1)", "g(c1)", "g(c1) is of no cell; write g(c1)[experiment, setting, ...]");
        assert_fault("sum(s for s in scheme)", "s", "s is \"bbr-cd\" here, which is not a number");
        assert_fault("h[three]", "h[three]", "no h");
        assert_fault(
            "sum(a for a in alhpa)",
            "a in alhpa",
            "axis \"alhpa\" is not known; did you mean \"alpha\"?",
        );
        let unused = "variable s is not used in what stands before it";
        assert_fault("max(g[x, aimd, a] for a in alpha for s in scheme)", "s in scheme", unused);
        assert_fault("max(g[x, aimd, \"s\"] for s in scheme)", "s in scheme", unused);
        assert_fault(
            "max(g[x, aimd, a] for a in alpha[1] for a in alpha)",
            "a in alpha[1]",
            "variable a is not used in what stands before it",
        );
        assert_fault(
            "max(quantile(g[x, aimd, 1], a) for a in alpha)",
            "quantile(g[x, aimd, 1], a)",
            "quantile takes a part from 0 to 1; it is given 2",
        );
        // Known before any run, without a value of the cell.
        let experiments = Experiments::parse("experiments.toml", EXPERIMENTS).expect("sound");
        let parsed = parse("max(moving(g[x, aimd, 1], a) for a in alpha)").expect("sound");
        let fault = Formula::resolve(&parsed, &Vec::new(), &experiments).expect_err("half a neighbour");
        assert!(fault.message.ends_with("it is given 0.5"), "{}", fault.message);
        assert_fault("best(g)[three]", "best(g)", "best is over seeds, and this is of one run");
    }
}
