//! The whole of a scheme: what belongs to it beside the roles that it fills, and which of its roles need each other.

use crate::scheme::Scheme;
use crate::scheme::params::{Setting, Settings};

/// A place that a scheme can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Exhaustive: a driver that had no place for a new role would leave it out of a run silently.
pub enum Role {
    /// The consumer of a flow.
    Consumer,
    /// The congestion control of a TCP sender.
    Sender,
    /// A discipline of a queue.
    Discipline,
    /// Parts on a router.
    Router,
    /// The forwarding strategy of a node.
    Strategy,
    /// The controller of the whole network.
    Controller,
    /// Loss recovery at both ends of a link.
    LinkService,
}

impl Role {
    /// Every role with its word, in the order of the catalogue.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Consumer, "consumer"),
        (Self::Sender, "tcp sender"),
        (Self::Discipline, "discipline"),
        (Self::Router, "router"),
        (Self::Strategy, "strategy"),
        (Self::Controller, "controller"),
        (Self::LinkService, "link service"),
    ];

    /// Word for the role in messages.
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(role, _)| *role == self).map_or("", |(_, word)| word)
    }
}

/// Components and settings that belong to a scheme in addition to the roles that it fills itself.
///
/// All roles of the scheme itself belong to the whole, except a discipline if the router part installs it.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Other schemes with which its source runs it.
    pub with: &'static [Companion],
    /// Whether routers list every neighbour that leads to a producer as a next hop, not only nearer ones.
    pub all_next_hops: bool,
    /// Roles that do not work alone.
    pub needs: &'static [Need],
    /// Reason why, with its defaults, it leaves a link that it does not share more than half empty; `None` if
    /// it does not.
    pub limit: Option<Limit>,
}

impl Whole {
    /// Nothing beside the scheme's own roles, none of which needs another.
    pub const ALONE: Self = Self { with: &[], all_next_hops: false, needs: &[], limit: None };
}

/// Reason why a scheme leaves a link partly unused.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The reason, a main clause.
    pub why: &'static str,
    /// Parameters that decide it; if one of them is given, the limit does not apply.
    pub unless: &'static [&'static str],
}

impl Limit {
    /// Whether the limit applies with these settings.
    pub fn holds(&self, settings: &Settings) -> bool {
        !self.unless.iter().any(|name| settings.get(name).is_some())
    }
}

/// Another scheme that belongs to a whole.
#[derive(Clone, Copy, Debug)]
pub struct Companion {
    /// Role that the other scheme fills.
    pub role: Role,
    /// Name of the other scheme in the catalogue.
    pub scheme: &'static str,
}

/// A role of a scheme that does not work without something else.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The role in use.
    pub role: Role,
    /// Counterpart without which the role does not work.
    pub other: Counterpart,
    /// Effect of its absence, a main clause.
    pub without: &'static str,
    /// Parameter of the role in use and its value with which it needs nothing.
    pub unless: Option<(&'static str, &'static str)>,
    /// Parameter of the other role and the value that it needs.
    pub by: Option<(&'static str, &'static str)>,
}

impl Need {
    /// A need that no parameter changes.
    pub const fn of(role: Role, other: Counterpart, without: &'static str) -> Self {
        Self { role, other, without, unless: None, by: None }
    }

    /// The same, but not where `parameter` of the role in use has `value`, given as a scenario writes it.
    pub const fn unless(self, parameter: &'static str, value: &'static str) -> Self {
        Self { unless: Some((parameter, value)), ..self }
    }

    /// The same, met only where `parameter` of the other role has `value`, given as a scenario writes it.
    pub const fn by(self, parameter: &'static str, value: &'static str) -> Self {
        Self { by: Some((parameter, value)), ..self }
    }
}

/// Counterpart that a role may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// Another role of the same scheme.
    Role(Role),
    /// A discipline or a router part that marks packets, of any scheme.
    Marks,
}

/// Whether the parts of a scheme mark packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Marking {
    /// The scheme never marks packets.
    Never,
    /// The scheme marks packets whatever its parameters are.
    Always,
    /// They do if this parameter has this value, given as a scenario writes it.
    If(&'static str, &'static str),
}

impl Scheme {
    /// Whether it fills `role`.
    pub fn fills(&self, role: Role) -> bool {
        match role {
            Role::Consumer => self.consumer.is_some(),
            Role::Sender => self.sender.is_some(),
            Role::Discipline => self.discipline.is_some(),
            Role::Router => self.router.is_some(),
            Role::Strategy => self.strategy.is_some(),
            Role::Controller => self.controller.is_some(),
            Role::LinkService => self.link_service.is_some(),
        }
    }

    /// The roles it fills, as words.
    pub fn roles(&self) -> Vec<&'static str> {
        Role::ALL.into_iter().filter(|(role, _)| self.fills(*role)).map(|(_, word)| word).collect()
    }

    /// The roles of its own that are installed with the whole.
    pub fn whole_roles(&self) -> impl Iterator<Item = Role> + '_ {
        let is_brought = |role| role == Role::Discipline && self.router.is_some();
        let roles = Role::ALL.into_iter().map(|(role, _)| role);
        roles.filter(move |role| self.fills(*role) && !is_brought(*role))
    }

    /// Whether its parts mark packets with these settings.
    pub fn marks_with(&self, settings: &Settings) -> bool {
        match self.marking {
            Marking::Never => false,
            Marking::Always => true,
            Marking::If(name, required) => self.has_value(settings, name, required),
        }
    }

    /// Whether, with these settings, the parameter `name` has the value `required`, given as a scenario
    /// writes it.
    pub fn has_value(&self, settings: &Settings, name: &str, required: &str) -> bool {
        match settings.get(name) {
            Some(Setting::Text(text)) => text == required,
            Some(value) => value.to_string() == required,
            None => {
                // A parameter that is not given has its default, which is written with quotes if it is a
                // text.
                let spec = self.params.iter().find(|spec| spec.name == name);
                spec.is_some_and(|spec| (spec.default)().trim_matches('"') == required)
            }
        }
    }
}

/// A scheme in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Role in which it is used.
    pub role: &'static str,
    /// Its name, with the parameters that were given.
    pub scheme: String,
    /// Names of the flows, nodes or links that have it; none for the network as a whole.
    pub at: Vec<String>,
}
