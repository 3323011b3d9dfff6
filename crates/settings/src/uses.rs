//! Schemes named in a text, with their settings checked.

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::{Setting, Settings};

use crate::document::{Entry, Item, Table, TomlValue};
use crate::error::Place;
use crate::fields::Fields;
use crate::keys::NamedRole;
use crate::read_context::{ReadContext, show};
use crate::suggest::nearest;
use crate::values::shown;

/// Keys that name the scheme in a table.
const NAMING: [&str; 2] = ["name", "scheme"];
/// Maximum length of a setting's text, bytes.
const LONGEST_SETTING: usize = 256;
/// Maximum number of schemes in one list.
const MAX_LISTED: usize = 16;

/// A scheme with its settings, checked.
#[derive(Clone, Debug)]
pub struct SchemeUse {
    /// Entry of the scheme in the catalogue.
    pub scheme: &'static Scheme,
    /// Parameters given for the scheme.
    pub settings: Settings,
}

impl PartialEq for SchemeUse {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.scheme, other.scheme) && self.settings == other.settings
    }
}

impl SchemeUse {
    /// Whether its router components include a strategy, which replaces that of the scenario.
    pub fn brings_strategy(&self) -> bool {
        self.scheme.brings_strategy(&self.settings)
    }
}

/// Estimate of the memory of these, bytes.
pub fn bytes(uses: &[SchemeUse]) -> u64 {
    let setting = |(name, value): &(String, Setting)| match value {
        Setting::Text(text) => 100 + name.len() + text.len(),
        _ => 100 + name.len(),
    };
    let one = |used: &SchemeUse| 50 + used.settings.0.iter().map(setting).sum::<usize>();
    uses.iter().map(one).sum::<usize>() as u64
}

/// Reads the schemes of the list under `key`.
pub fn read_list(fields: &Fields<'_>, key: &str, role: &'static NamedRole) -> Vec<SchemeUse> {
    let items = fields.list(key);
    if items.len() > MAX_LISTED {
        fields.refuse(key, format!("{key}: {} entries; at most {MAX_LISTED}", items.len()));
        return Vec::new();
    }
    items.iter().filter_map(|item| read(fields.context, item, role)).collect()
}

/// Reads a scheme's name, or a table with its name and settings.
pub fn read(context: &ReadContext<'_>, item: &Item, role: &'static NamedRole) -> Option<SchemeUse> {
    match &item.value {
        TomlValue::Text(name) => {
            let scheme = find(context, item.place, name, role)?;
            check(context, item.place, scheme, &[])
        }
        TomlValue::Table(table) => read_table(context, item.place, table, role),
        other => context.refused(
            item.place,
            format!("{} is not the name of a {}, nor a table with one", shown(other), role.word),
        ),
    }
}

fn read_table(
    context: &ReadContext<'_>,
    place: Place,
    table: &Table,
    role: &'static NamedRole,
) -> Option<SchemeUse> {
    let mut names = table.0.iter().filter(|entry| NAMING.contains(&entry.key.as_str()));
    let Some(name) = names.next() else {
        return context.refused(
            place,
            format!("this table does not name its {}; write {{ name = \"...\" }}", role.word),
        );
    };
    if let Some(second) = names.next() {
        return context.refused(
            second.place,
            format!("{:?} and {:?} both name the scheme; remove one of them", second.key, name.key),
        );
    }
    let TomlValue::Text(text) = &name.item.value else {
        return context.refused(
            name.item.place,
            format!("{} is not the name of a {}", shown(&name.item.value), role.word),
        );
    };
    let scheme = find(context, name.item.place, text, role)?;
    let settings: Vec<&Entry> =
        table.0.iter().filter(|entry| !NAMING.contains(&entry.key.as_str())).collect();
    check(context, place, scheme, &settings)
}

/// The scheme with this name, if it fits the role.
fn find(context: &ReadContext<'_>, place: Place, name: &str, role: &NamedRole) -> Option<&'static Scheme> {
    let Some(scheme) = context.schemes.iter().copied().find(|scheme| scheme.name == name) else {
        let fitting = context.schemes.iter().filter(|scheme| (role.fits)(scheme)).map(|scheme| scheme.name);
        context.refuse_word(place, role.word, name, fitting);
        return None;
    };
    if (role.fits)(scheme) {
        return Some(scheme);
    }
    let roles = scheme.roles();
    let roles = if roles.is_empty() { "none".to_owned() } else { roles.join(", ") };
    context.refused(place, format!("scheme {name:?} is not a {}; its roles: {roles}", role.word))
}

/// Checks the settings of a scheme and notes each problem at the setting concerned.
fn check(
    context: &ReadContext<'_>,
    place: Place,
    scheme: &'static Scheme,
    given: &[&Entry],
) -> Option<SchemeUse> {
    let mut settings = Settings::default();
    let mut is_sound = true;
    for entry in given {
        match setting(scheme, entry) {
            Ok(value) => settings.0.push((entry.key.clone(), value)),
            Err((place, message)) => {
                is_sound = false;
                let known = scheme.params.iter().map(|spec| spec.name);
                let is_unknown = scheme.params.iter().all(|spec| spec.name != entry.key);
                let suggestion =
                    if is_unknown { nearest(&entry.key, known).map(str::to_owned) } else { None };
                context.problems.borrow_mut().add(place, message, suggestion);
            }
        }
    }
    for error in scheme.check(&settings).err().unwrap_or_default() {
        is_sound = false;
        let at = given.iter().find(|entry| entry.key == error.name).map_or(place, |entry| entry.item.place);
        context.refuse(at, format!("scheme {:?}: {}", scheme.name, error.message));
    }
    is_sound.then_some(SchemeUse { scheme, settings })
}

fn setting(scheme: &Scheme, entry: &Entry) -> Result<Setting, (Place, String)> {
    if scheme.params.iter().all(|spec| spec.name != entry.key) {
        let known: Vec<&str> = scheme.params.iter().map(|spec| spec.name).collect();
        let known = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
        return Err((entry.place, format!("scheme {:?} has {known}, not {}", scheme.name, show(&entry.key))));
    }
    match &entry.item.value {
        TomlValue::Text(text) if text.len() <= LONGEST_SETTING => Ok(Setting::Text(text.clone())),
        TomlValue::Number(number) if number.value.is_finite() => Ok(Setting::Number(number.value)),
        TomlValue::Bool(truth) => Ok(Setting::Bool(*truth)),
        other => {
            let message = format!(
                "scheme {:?}: parameter {:?}: {} is not a setting",
                scheme.name,
                entry.key,
                shown(other)
            );
            Err((entry.item.place, message))
        }
    }
}
