//! A scheme: its name, paper and parameters, and the roles it fills.
//!
//! [`congestion`] is the role of a consumer or TCP sender, [`control`] that of a network controller; those of
//! queues, gates, strategies and links stand beside what they decide for. [`params`] declares parameters,
//! [`signal`] what packets carry between the parts, and [`whole`] what belongs together.

pub mod congestion;
pub mod control;
pub mod params;
pub mod signal;
pub mod whole;

use crate::link::service::LinkService;
use crate::ndn::consumer::profile::ConsumerProfile;
use crate::ndn::face::{FaceId, Limit, NodeId};
use crate::ndn::gate::FaceGate;
use crate::ndn::strategy::Strategy;
use crate::queue::QueueDiscipline;
use crate::rng::{Seed, Streams};
use crate::scheme::congestion::CongestionController;
use crate::scheme::control::{NetworkController, RouterAgent};
use crate::scheme::params::{ParamError, ParamSpec, Settings};
use crate::scheme::whole::{Marking, Whole};
use crate::tcp::SenderRule;
use crate::units::{BitRate, Packets, Span};

/// Catalogue entry of a scheme, with the constructors of its roles.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Id in scenarios and on the command line.
    pub name: &'static str,
    /// Function of the scheme, one sentence.
    pub summary: &'static str,
    /// Paper, RFC or program it follows.
    pub paper: &'static str,
    /// Source of its rules, as a measure of trust.
    pub provenance: Provenance,
    /// Differences from its source, one sentence each, which names the parameter that restores the literal
    /// form if there is one.
    pub deviations: &'static [&'static str],
    /// Whether its components draw random numbers, so that results differ between seeds.
    pub uses_randomness: bool,
    /// Declarations of its parameters, in order.
    pub params: &'static [ParamSpec],
    /// Consumer profile: timers and retransmission rules around its consumer.
    pub profile: ConsumerProfile,
    /// Constructor of the consumer's congestion controller.
    pub consumer: Option<Make<Box<dyn CongestionController>>>,
    /// Congestion control of a TCP sender.
    pub sender: Option<Make<SenderRule>>,
    /// Queue discipline of one device.
    pub discipline: Option<MakeFor<DeviceSetup, Box<dyn QueueDiscipline>>>,
    /// All parts on one router.
    pub router: Option<MakeFor<NodeSetup, RouterParts>>,
    /// Constructor of a forwarding strategy without other parts.
    pub strategy: Option<Make<Box<dyn Strategy>>>,
    /// Constructor of the network controller.
    pub controller: Option<Make<Box<dyn NetworkController>>>,
    /// Loss recovery at one end of a link.
    pub link_service: Option<Make<Box<dyn LinkService>>>,
    /// Whether its disciplines or router parts mark packets.
    pub marking: Marking,
    /// Settings that the whole scheme sets in addition to these roles.
    pub whole: Whole,
}

/// Creates a role from its settings, or returns all errors of them.
pub type Make<T> = fn(&Settings) -> Result<T, Vec<ParamError>>;

/// As [`Make`], for the place `P` of the role.
pub type MakeFor<P, T> = fn(&Settings, &P) -> Result<T, Vec<ParamError>>;

/// Reason why a component was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// The scheme does not fill this role.
    #[error("scheme {scheme} has no {role}")]
    NoRole {
        /// Name of the scheme in the catalogue.
        scheme: &'static str,
        /// The role, as the field of [`Scheme`] is called.
        role: &'static str,
    },
    /// Every parameter that is unknown or out of its range.
    #[error("{}", .0.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; "))]
    Settings(Vec<ParamError>),
}

/// Source of the rules of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Exhaustive: the catalogue has a word for each.
pub enum Provenance {
    /// A paper or RFC that states every rule.
    Paper,
    /// Public source code, read for its rules.
    Source,
    /// Rebuilt from an abstract or from figures; not the authors' scheme.
    Reconstruction,
}

impl Scheme {
    /// A scheme without roles, to build others from.
    pub const NONE: Self = Self {
        name: "",
        summary: "",
        paper: "",
        provenance: Provenance::Paper,
        deviations: &[],
        uses_randomness: false,
        params: &[],
        profile: ConsumerProfile::Own,
        consumer: None,
        sender: None,
        discipline: None,
        router: None,
        strategy: None,
        controller: None,
        link_service: None,
        marking: Marking::Never,
        whole: Whole::ALONE,
    };

    /// The congestion controller of one flow of Interests.
    ///
    /// `settings` is a `Params` of the scheme's module or a [`Settings`].
    ///
    /// # Errors
    /// If the scheme has no such role, or a parameter is unknown or out of its range.
    pub fn make_consumer(
        &self,
        settings: impl Into<Settings>,
    ) -> Result<Box<dyn CongestionController>, MakeError> {
        let make = self.consumer.ok_or(MakeError::NoRole { scheme: self.name, role: "consumer" })?;
        make(&settings.into()).map_err(MakeError::Settings)
    }

    /// The congestion control of one TCP connection, of which `controller` is the window rule.
    ///
    /// `settings` is a `Params` of the scheme's module or a [`Settings`].
    ///
    /// # Errors
    /// If the scheme has no such role, or a parameter is unknown or out of its range.
    pub fn make_sender(&self, settings: impl Into<Settings>) -> Result<SenderRule, MakeError> {
        let make = self.sender.ok_or(MakeError::NoRole { scheme: self.name, role: "sender" })?;
        make(&settings.into()).map_err(MakeError::Settings)
    }

    /// The first name in `schemes` that two entries have; `None` if each name is that of one. An entry is a `static`, which
    /// may be in the list several times.
    pub fn shared_name(schemes: &[&Self]) -> Option<&'static str> {
        let is_second = |(index, scheme): &(usize, &&Self)| {
            let mut earlier = schemes[..*index].iter();
            earlier.any(|earlier| earlier.name == scheme.name && !std::ptr::eq(*earlier, **scheme))
        };
        schemes.iter().enumerate().find(is_second).map(|(_, scheme)| scheme.name)
    }

    /// Checks settings by making every role with them.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn check(&self, settings: &Settings) -> Result<(), Vec<ParamError>> {
        let device = DeviceSetup::trial();
        if let Some(make) = self.consumer {
            make(settings)?;
        }
        if let Some(make) = self.sender {
            make(settings)?;
        }
        if let Some(make) = self.discipline {
            make(settings, &device)?;
        }
        if let Some(make) = self.router {
            make(settings, &NodeSetup::trial())?;
        }
        if let Some(make) = self.strategy {
            make(settings)?;
        }
        if let Some(make) = self.controller {
            make(settings)?;
        }
        if let Some(make) = self.link_service {
            make(settings)?;
        }
        Ok(())
    }

    /// Whether it is a discipline with lanes of its own, of which a queue can have one; `false` for invalid
    /// settings.
    pub fn has_lanes(&self, settings: &Settings) -> bool {
        let made = self.discipline.map(|make| make(settings, &DeviceSetup::trial()));
        matches!(made, Some(Ok(discipline)) if discipline.lanes() > 0)
    }

    /// Whether its router part installs a discipline with lanes at each queue; `false` for invalid settings.
    pub fn brings_lanes(&self, settings: &Settings) -> bool {
        let parts = self.router.map(|make| make(settings, &NodeSetup::trial()));
        matches!(parts, Some(Ok(parts)) if parts.disciplines.iter().any(|(_, discipline)| discipline.lanes() > 0))
    }

    /// Whether its router part with these settings has a strategy, which replaces the scenario's; `false` for
    /// invalid settings.
    pub fn brings_strategy(&self, settings: &Settings) -> bool {
        let parts = self.router.map(|make| make(settings, &NodeSetup::trial()));
        matches!(parts, Some(Ok(RouterParts { strategy: Some(_), .. })))
    }
}

/// A transmitting device that parts are made for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DeviceSetup {
    /// Face that the device transmits for.
    pub face: FaceId,
    /// Sending rate of the device.
    pub rate: BitRate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// The node at the other end; `None` when it is not known.
    pub neighbour: Option<NodeId>,
    /// Queue limit of the device.
    pub limit: Limit,
    /// Where a part draws from: a stream called as its scheme is its own.
    pub streams: Streams,
}

impl DeviceSetup {
    /// A device without propagation delay, whose neighbour is not known; `delay` and `neighbour` can be set
    /// afterwards.
    pub const fn new(face: FaceId, rate: BitRate, limit: Limit, streams: Streams) -> Self {
        Self { face, rate, delay: Span::ZERO, neighbour: None, limit, streams }
    }

    /// One to try settings on.
    fn trial() -> Self {
        let limit = Limit::Packets(Packets::new(1));
        Self::new(FaceId(0), BitRate::from_bps(1), limit, Streams::of(Seed(0)))
    }

    /// Set-up for the discipline in this place of the device's list, with separate random streams: two
    /// disciplines of one scheme draw independently.
    pub fn of_discipline(&self, place: usize) -> Self {
        Self { streams: self.streams.under(&format!("discipline/{place}/")), ..*self }
    }
}

/// A router that parts are made for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeSetup {
    /// Number of the router's node.
    pub node: NodeId,
    /// Its devices, by face.
    pub devices: Vec<DeviceSetup>,
    /// Where a part draws from: a stream called as its scheme is its own.
    pub streams: Streams,
}

impl NodeSetup {
    /// The router `node` with these devices, by face.
    pub const fn new(node: NodeId, devices: Vec<DeviceSetup>, streams: Streams) -> Self {
        Self { node, devices, streams }
    }

    /// One to try settings on.
    fn trial() -> Self {
        let device = DeviceSetup::trial();
        Self::new(NodeId(0), vec![device], device.streams)
    }
}

/// All parts of one scheme on one router; they may share state.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RouterParts {
    /// Queue disciplines by face.
    pub disciplines: Vec<(FaceId, Box<dyn QueueDiscipline>)>,
    /// Gates with the faces that they belong to.
    pub gates: Vec<(FaceId, Box<dyn FaceGate>)>,
    /// Strategy, in place of the scenario's.
    pub strategy: Option<Box<dyn Strategy>>,
    /// The component that exchanges messages with the controller.
    pub agent: Option<Box<dyn RouterAgent>>,
}

impl RouterParts {
    /// The same parts and, for every device of `node`, the discipline that `make` returns.
    #[must_use]
    pub fn with_disciplines<D: QueueDiscipline + 'static>(
        mut self,
        node: &NodeSetup,
        mut make: impl FnMut(&DeviceSetup) -> D,
    ) -> Self {
        let made = |device: &DeviceSetup| (device.face, Box::new(make(device)) as Box<dyn QueueDiscipline>);
        self.disciplines.extend(node.devices.iter().map(made));
        self
    }

    /// The same parts and, for every device of `node`, the gate that `make` returns.
    #[must_use]
    pub fn with_gates<G: FaceGate + 'static>(
        mut self,
        node: &NodeSetup,
        mut make: impl FnMut(&DeviceSetup) -> G,
    ) -> Self {
        let made = |device: &DeviceSetup| (device.face, Box::new(make(device)) as Box<dyn FaceGate>);
        self.gates.extend(node.devices.iter().map(made));
        self
    }

    /// The same parts with this strategy, in place of the scenario's.
    #[must_use]
    pub fn with_strategy(mut self, strategy: impl Strategy + 'static) -> Self {
        self.strategy = Some(Box::new(strategy));
        self
    }

    /// The same parts with this agent, which talks to the network controller.
    #[must_use]
    pub fn with_agent(mut self, agent: impl RouterAgent + 'static) -> Self {
        self.agent = Some(Box::new(agent));
        self
    }
}
