//! Labelled values: a list of facts about one subject.

use std::fmt::Display;

use super::screen::visible;

/// Labelled values in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// Adds a value with its unit in its text.
    pub fn add(&mut self, label: impl Into<String>, value: impl Display) {
        self.0.push((label.into(), value.to_string()));
    }

    /// Adds a value if there is one.
    pub fn add_some(&mut self, label: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(label, value);
        }
    }

    /// Labels with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(label, value)| (label.as_str(), value.as_str()))
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Plain text, one fact in each line, with the values aligned; each line ends with `\n`.
    pub fn render(&self) -> String {
        let width = self.0.iter().map(|(label, _)| visible(label)).max().unwrap_or(0);
        let space = |label: &str| " ".repeat(width - visible(label));
        self.iter().map(|(label, value)| format!("  {label}{}  {value}\n", space(label))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_aligned_behind_the_widest_label() {
        let mut facts = Facts::default();
        facts.add("goodput", "3 Mbit/s");
        facts.add_some("RTT", Some("20 ms"));
        facts.add_some("bottleneck", None::<&str>);
        assert_eq!(facts.render(), "  goodput  3 Mbit/s\n  RTT      20 ms\n");
    }
}
