//! The 802.11 media that links can share.

use tidegate_core::link::medium::{Access, MediumSetup};
use tidegate_core::units::ByteCount;
use tidegate_settings::document::TomlValue;
use tidegate_settings::fields::Fields;

use super::keys;
use crate::plan::MediumPlan;

/// Media with their names.
#[derive(Default)]
pub(super) struct Media(pub Vec<MediumPlan>);

impl Media {
    /// Reads the tables `[medium.NAME]` of a scenario.
    pub fn read(root: &Fields<'_>) -> Self {
        let Some(TomlValue::Table(table)) = root.item("medium").map(|item| &item.value) else {
            return Self::default();
        };
        let media = table.0.iter().filter_map(|entry| {
            let fields = Fields::open(root.context, &entry.item, &keys::MEDIUM)?;
            Some(MediumPlan { name: entry.key.clone(), setup: read_setup(&fields) })
        });
        Self(media.collect())
    }

    /// The medium that a link names; reports if there is none.
    pub fn of_link(&self, link: &Fields<'_>) -> Option<usize> {
        let name = link.text("medium")?;
        let found = self.0.iter().position(|medium| medium.name == name);
        if found.is_none() {
            let place = link.place_of("medium");
            link.context.refuse_word(
                place,
                "medium",
                &name,
                self.0.iter().map(|medium| medium.name.as_str()),
            );
        }
        found
    }

    /// The medium with this number.
    pub fn get(&self, number: usize) -> Option<&MediumSetup> {
        self.0.get(number).map(|medium| &medium.setup)
    }
}

fn read_setup(fields: &Fields<'_>) -> MediumSetup {
    let usual = MediumSetup::default();
    let small =
        |key, otherwise: u16| fields.count_u32(key).map_or(otherwise, |count| count.min(65_535) as u16);
    let is_edca = fields.word("access", &[(false, "dcf"), (true, "edca")]).unwrap_or(true);
    let aifsn = small("aifsn", 3) as u8;
    if fields.item("aifsn").is_some() && !is_edca {
        fields.refuse("aifsn", "aifsn requires access = \"edca\"");
    }
    let setup = MediumSetup {
        mcs: small("mcs", u16::from(usual.mcs)) as u8,
        width_mhz: fields.word("width", &[(20, "20MHz"), (40, "40MHz")]).unwrap_or(usual.width_mhz),
        short_guard: fields.flag("short_guard").unwrap_or(usual.short_guard),
        basic_rate: fields.rate("basic_rate").unwrap_or(usual.basic_rate),
        access: if is_edca { Access::Edca { aifsn } } else { Access::Dcf },
        cw_min: small("cw_min", usual.cw_min),
        cw_max: small("cw_max", usual.cw_max),
        attempts: small("attempts", u16::from(usual.attempts)) as u8,
        slot: fields.time("slot").unwrap_or(usual.slot),
        sifs: fields.time("sifs").unwrap_or(usual.sifs),
        overhead: fields.size("overhead").unwrap_or(usual.overhead),
        aggregate: fields.size("aggregate").filter(|max| *max > ByteCount::ZERO),
    };
    if let Err(why) = setup.check() {
        // The texts of `check` begin with the name of the field.
        let field = why.split(' ').next().unwrap_or("");
        let key = if field == "width_mhz" { "width" } else { field };
        fields.context.refuse(fields.place_of(key), why);
    }
    setup
}
