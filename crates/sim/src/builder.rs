//! A scenario put together in Rust: nodes, links, flows and connections in place of TOML.
//!
//! ```
//! use tidegate_core::prelude::*;
//! use tidegate_schemes::{codel, icp};
//! use tidegate_sim::builder::Builder;
//! use tidegate_sim::run::run;
//!
//! let mut network = Builder::new("one flow", Span::from_secs(2));
//! let [client, router, server] = ["client", "router", "server"].map(|name| network.node(name));
//! network.link(client, router, BitRate::from_mbps(10.0), Span::from_millis(5));
//! network
//!     .link(router, server, BitRate::from_mbps(2.0), Span::from_millis(10))
//!     .queue(Packets::new(50))
//!     .discipline(&codel::SCHEME, codel::Params { mark: true, ..Default::default() });
//! network.flow(client, server, "/file", &icp::SCHEME, icp::Params::default());
//!
//! let record = run(&network.build()?, Seed(1));
//! assert!(record.flows[0].delivered_segments > 300);
//! # Ok::<(), tidegate_sim::scenario::Errors>(())
//! ```

use std::fmt::Write as _;

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::{Setting, Settings};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_settings::error::{Place, Problems, Sources};
use tidegate_settings::write::written_key;

use crate::plan::Plan;
use crate::scenario::{Errors, Parser};

/// A node of one [`Builder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeHandle(usize);

/// A scenario that is being put together. Values that are not set have the defaults of scenario files.
#[derive(Debug)]
pub struct Builder {
    head: Table,
    nodes: Vec<String>,
    links: Vec<LinkBuilder>,
    flows: Vec<FlowBuilder>,
}

/// A link of a scenario.
#[derive(Debug)]
pub struct LinkBuilder {
    table: Table,
    queue: Table,
    disciplines: Vec<Use>,
}

/// A flow of Interests and Data, or a TCP connection.
#[derive(Debug)]
pub struct FlowBuilder {
    section: &'static str,
    table: Table,
    scheme: Use,
}

/// A scheme with its settings.
#[derive(Debug)]
struct Use {
    scheme: &'static Scheme,
    settings: Settings,
}

/// Keys with their values in TOML.
#[derive(Debug, Default)]
struct Table(Vec<(&'static str, String)>);

impl Builder {
    /// A scenario called `name` that lasts `duration` of simulated time, with one seed.
    pub fn new(name: &str, duration: Span) -> Self {
        let mut head = Table::default();
        head.set("name", quoted(name));
        head.set("duration", quoted(duration));
        Self { head, nodes: Vec::new(), links: Vec::new(), flows: Vec::new() }
    }

    /// Sets the interval between two samples of windows and queues.
    pub fn sample(&mut self, pause: Span) -> &mut Self {
        self.head.set("sample", quoted(pause));
        self
    }

    /// Adds a node called `name`. A node with several links is a router.
    pub fn node(&mut self, name: &str) -> NodeHandle {
        self.nodes.push(name.to_owned());
        NodeHandle(self.nodes.len() - 1)
    }

    /// Adds a link between `a` and `b`, with `rate` in each direction and the propagation delay `delay`.
    pub fn link(&mut self, a: NodeHandle, b: NodeHandle, rate: BitRate, delay: Span) -> &mut LinkBuilder {
        let mut table = Table::default();
        table.set("ends", format!("[{}, {}]", self.name(a), self.name(b)));
        table.set("rate", quoted(rate));
        table.set("delay", quoted(delay));
        self.links.push(LinkBuilder { table, queue: Table::default(), disciplines: Vec::new() });
        self.links.last_mut().expect("one was added")
    }

    /// Adds a flow: `consumer` requests the segments below `prefix` from `producer`, under the consumer of
    /// `scheme` with `settings`, a `Params` of the scheme's module or a [`Settings`].
    pub fn flow(
        &mut self,
        consumer: NodeHandle,
        producer: NodeHandle,
        prefix: &str,
        scheme: &'static Scheme,
        settings: impl Into<Settings>,
    ) -> &mut FlowBuilder {
        let mut table = Table::default();
        table.set("consumer", self.name(consumer));
        table.set("producer", self.name(producer));
        table.set("prefix", quoted(prefix));
        self.add("flow", table, Use { scheme, settings: settings.into() })
    }

    /// Adds a TCP connection: `sender` sends to `receiver`, under the TCP sender of `scheme` with `settings`, a `Params` of
    /// the scheme's module or a [`Settings`].
    pub fn connection(
        &mut self,
        sender: NodeHandle,
        receiver: NodeHandle,
        scheme: &'static Scheme,
        settings: impl Into<Settings>,
    ) -> &mut FlowBuilder {
        let mut table = Table::default();
        table.set("sender", self.name(sender));
        table.set("receiver", self.name(receiver));
        self.add("tcp", table, Use { scheme, settings: settings.into() })
    }

    fn add(&mut self, section: &'static str, table: Table, scheme: Use) -> &mut FlowBuilder {
        self.flows.push(FlowBuilder { section, table, scheme });
        self.flows.last_mut().expect("one was added")
    }

    fn name(&self, node: NodeHandle) -> String {
        quoted(&self.nodes[node.0])
    }

    /// The scenario as the text of a file, which `tidegate run` takes too.
    pub fn to_toml(&self) -> String {
        let mut text = format!("format = 1\n[scenario]\n{}", self.head.lines());
        for name in &self.nodes {
            write!(text, "[[node]]\nname = {}\n", quoted(name)).expect("a string takes it");
        }
        self.links.iter().for_each(|link| link.write(&mut text));
        for FlowBuilder { section, table, scheme } in &self.flows {
            write!(text, "[[{section}]]\n{}scheme = {}\n", table.lines(), scheme.inline())
                .expect("a string takes it");
        }
        text
    }

    /// The plan of the scenario, which [`run`](crate::run::run) takes.
    ///
    /// # Errors
    /// Everything that is wrong with it, at the lines of [`to_toml`](Self::to_toml): two nodes of one name, two
    /// schemes of one name, a scheme without the role, a parameter out of its range, a producer that no path leads to.
    pub fn build(&self) -> Result<Plan, Errors> {
        let disciplines = self.links.iter().flat_map(|link| &link.disciplines);
        let uses = disciplines.chain(self.flows.iter().map(|flow| &flow.scheme));
        let used: Vec<&'static Scheme> = uses.map(|used| used.scheme).collect();
        let text = self.to_toml();
        if let Some(name) = Scheme::shared_name(&used) {
            return Err(ambiguous(name, &text));
        }
        let mut schemes: Vec<&'static Scheme> = Vec::new();
        for scheme in used {
            if schemes.iter().all(|known| known.name != scheme.name) {
                schemes.push(scheme);
            }
        }
        // Whatever is not set has a default of the catalogue, such as the forwarding strategy.
        let is_new = |scheme: &&&'static Scheme| schemes.iter().all(|known| known.name != scheme.name);
        let catalogue: Vec<&'static Scheme> = SCHEMES.iter().filter(is_new).copied().collect();
        schemes.extend(catalogue);
        Parser::new("builder", &schemes).parse(&text)
    }
}

impl LinkBuilder {
    /// Sets the limit of the queue of each direction.
    pub fn queue(&mut self, limit: Packets) -> &mut Self {
        self.queue.set("limit", quoted(limit));
        self
    }

    /// Adds the discipline of `scheme` with `settings` to the queue of each direction.
    pub fn discipline(&mut self, scheme: &'static Scheme, settings: impl Into<Settings>) -> &mut Self {
        self.disciplines.push(Use { scheme, settings: settings.into() });
        self
    }

    /// Loses each packet with this probability, 0 to 1.
    pub fn loss(&mut self, probability: f64) -> &mut Self {
        self.table.set("loss", format!("{{ model = \"bernoulli\", probability = {} }}", number(probability)));
        self
    }

    fn write(&self, text: &mut String) {
        let disciplines: Vec<String> = self.disciplines.iter().map(Use::inline).collect();
        write!(text, "[[link]]\n{}", self.table.lines()).expect("a string takes it");
        if !self.queue.0.is_empty() || !disciplines.is_empty() {
            let disciplines = format!("queue.disciplines = [{}]\n", disciplines.join(", "));
            let limit = self.queue.0.iter().map(|(key, value)| format!("queue.{key} = {value}\n"));
            text.extend(limit.chain([disciplines]));
        }
    }
}

impl FlowBuilder {
    /// Ends the flow after `size` of content.
    pub fn size(&mut self, size: ByteCount) -> &mut Self {
        self.set("size", size)
    }

    /// Starts the flow at `at`.
    pub fn start(&mut self, at: Time) -> &mut Self {
        self.set("start", at.since(Time::ZERO))
    }

    /// Ends the flow at `at`.
    pub fn stop(&mut self, at: Time) -> &mut Self {
        self.set("stop", at.since(Time::ZERO))
    }

    fn set(&mut self, key: &'static str, value: impl ToString) -> &mut Self {
        self.table.set(key, quoted(value));
        self
    }
}

impl Use {
    /// As an inline table of TOML.
    fn inline(&self) -> String {
        let name = ("name".to_owned(), Setting::Text(self.scheme.name.to_owned()));
        let pairs = [name].into_iter().chain(self.settings.0.iter().cloned());
        let pairs: Vec<String> =
            pairs.map(|(key, value)| format!("{} = {}", written_key(&key), written(&value))).collect();
        format!("{{ {} }}", pairs.join(", "))
    }
}

impl Table {
    /// Sets `key`, in place of an earlier value.
    fn set(&mut self, key: &'static str, value: String) {
        // TOML refuses a key that stands twice.
        self.0.retain(|(known, _)| *known != key);
        self.0.push((key, value));
    }

    fn lines(&self) -> String {
        self.0.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
    }
}

/// A value in TOML.
fn written(value: &Setting) -> String {
    match value {
        Setting::Text(text) => quoted(text),
        Setting::Number(value) => number(*value),
        other => other.to_string(),
    }
}

/// A number in TOML.
fn number(value: f64) -> String {
    // `Debug` keeps the point of a whole number, and every bit of the others; TOML has another word for NaN.
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// Error of the scenario `text`, in which two schemes are called `name`, at the first that is.
fn ambiguous(name: &str, text: &str) -> Errors {
    let quoted = quoted(name);
    let start = text.find(&format!("{{ name = {quoted}")).map_or(0, |start| start + "{ name = ".len());
    let mut problems = Problems::default();
    let message = format!("two schemes are called {quoted}; each scheme of a network needs its own name");
    problems.add(Place { origin: 0, start, end: start + quoted.len() }, message, None);
    problems.locate(&Sources { name: "builder", text, overrides: &[] })
}

/// A basic string of TOML.
fn quoted(text: impl ToString) -> String {
    let mut out = String::from("\"");
    for c in text.to_string().chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // TOML takes control characters in a basic string only as escapes.
            c if c.is_control() => write!(out, "\\u{:04X}", c as u32).expect("a string takes it"),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use tidegate_core::rng::Seed;
    use tidegate_schemes::{codel, icp, tcp_cubic};

    use super::*;
    use crate::run::run;
    use crate::scenario;

    fn network() -> Builder {
        let mut network = Builder::new("a \"name\"", Span::from_secs(3));
        let [a, b, c] = ["a", "b", "c"].map(|name| network.node(name));
        network.sample(Span::from_millis(100)).link(a, b, BitRate::from_mbps(10.0), Span::from_millis(2));
        network
            .link(b, c, BitRate::from_mbps(2.0), Span::from_millis(5))
            .queue(Packets::new(30))
            .discipline(&codel::SCHEME, codel::Params { mark: true, ..codel::Params::default() })
            .loss(0.001);
        network
            .flow(a, c, "/f", &icp::SCHEME, icp::Params { beta: 0.7, ..icp::Params::default() })
            .size(ByteCount::new(200_000))
            .start(Time::ZERO + Span::from_millis(20));
        network
            .connection(c, a, &tcp_cubic::SCHEME, Settings::default())
            .stop(Time::ZERO + Span::from_secs(2));
        network
    }

    #[test]
    fn a_network_in_rust_runs_as_its_text_does() {
        let network = network();
        let plan = network.build().expect("sound");
        assert_eq!((plan.name.as_str(), plan.nodes[1].is_router), ("a \"name\"", true));
        let read = scenario::parse("test.toml", &network.to_toml(), &[], SCHEMES).expect("sound");
        assert_eq!(read.canonical, plan.canonical);
        let (ours, theirs) = (run(&plan, Seed(1)), run(&read, Seed(1)));
        assert!(ours.flows[0].delivered_segments > 100);
        assert_eq!(format!("{:?}", ours.flows), format!("{:?}", theirs.flows));
    }

    #[test]
    fn a_mistake_is_an_error_at_its_line() {
        let mut network = network();
        let island = network.node("island");
        network.flow(island, NodeHandle(0), "/g", &codel::SCHEME, Settings::default());
        let errors = network.build().expect_err("codel is no consumer").to_string();
        assert!(errors.contains("builder:") && errors.contains("codel"), "{errors}");
    }

    #[test]
    fn two_schemes_of_one_name_are_an_error_that_names_them() {
        static OWN: Scheme = Scheme { name: "icp", summary: "another scheme", ..icp::SCHEME };
        let mut network = network();
        network.flow(NodeHandle(0), NodeHandle(2), "/h", &icp::SCHEME, Settings::default());
        network.build().expect("two flows have the same scheme");
        network.flow(NodeHandle(0), NodeHandle(2), "/g", &OWN, Settings::default());
        let errors = network.build().expect_err("the catalogue has it too").to_string();
        assert!(errors.contains(": two schemes are called \"icp\"; each scheme"), "{errors}");
        assert!(errors.contains("\n  scheme = { name = \"icp\""), "{errors}");
    }

    #[test]
    fn a_setting_with_any_key_is_refused_by_its_name() {
        let mut network = network();
        let settings = Settings(vec![("beta = 0.7, delta".to_owned(), Setting::Number(1.0))]);
        network.flow(NodeHandle(0), NodeHandle(2), "/g", &icp::SCHEME, settings);
        let errors = network.build().expect_err("no such parameter").to_string();
        assert!(errors.contains("not \"beta = 0.7, delta\""), "{errors}");
    }

    #[test]
    fn what_is_not_a_number_is_outside_of_every_range() {
        let mut network = network();
        let node = network.node("node");
        network.link(NodeHandle(0), node, BitRate::from_mbps(1.0), Span::ZERO).loss(f64::NAN);
        let params = icp::Params { beta: f64::NAN, ..icp::Params::default() };
        network.flow(NodeHandle(0), node, "/g", &icp::SCHEME, params);
        let errors = network.build().expect_err("two values are no numbers").to_string();
        assert!(errors.contains("probability") && errors.contains("parameter \"beta\""), "{errors}");
    }
}
