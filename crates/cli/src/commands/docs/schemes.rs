//! The catalogue of schemes, one section each.

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::ParamSpec;

use super::row;
use crate::Session;
use crate::commands::schemes::provenance;

/// Path of a scheme of each role in a scenario.
const PLACES: [(&str, &str); 7] = [
    ("consumer", "`scheme` of a `[[flow]]`"),
    ("tcp sender", "`scheme` of a `[[tcp]]`"),
    ("discipline", "`queue.disciplines` of a link"),
    ("router", "`router_parts` of `[router]` or a node"),
    ("link service", "`link_service` of a link"),
    ("strategy", "`strategy` of `[router]`, a node or a `[[router.prefix]]`"),
    ("controller", "`scheme` of `[controller]`"),
];

/// Renders the reference of all schemes as Markdown.
pub(super) fn body(session: &Session) -> String {
    let mut text =
        "The role of a scheme determines its place in a scenario; a scheme can fill several roles:\n\n"
            .to_owned();
    text.push_str("| role | place |\n|---|---|\n");
    text.extend(PLACES.map(|(role, place)| row(&[role, place])));
    text.push_str(
        "\nA name alone uses the default parameters; a table sets parameters, as in `{ name = \"icp\", beta = 0.5 }`.\n\n",
    );
    text.push_str("| scheme | roles | what it does |\n|---|---|---|\n");
    for scheme in &session.schemes {
        let link = format!("[`{0}`](#scheme-{0})", scheme.name);
        text.push_str(&row(&[&link, &scheme.roles().join(", "), scheme.summary]));
    }
    text.push('\n');
    text.extend(session.schemes.iter().map(|scheme| section(scheme)));
    text
}

fn section(scheme: &Scheme) -> String {
    let mut text = format!("<a id=\"scheme-{0}\"></a>\n\n## `{0}`\n\n", scheme.name);
    let roles = scheme.roles().join(", ");
    let facts = [
        ("what it does", scheme.summary),
        ("roles", &roles),
        ("follows", scheme.paper),
        ("rules from", provenance(scheme.provenance)),
    ];
    text.extend(facts.map(|(what, fact)| format!("* {what}: {fact}\n")));
    text.push('\n');
    if !scheme.deviations.is_empty() {
        text.push_str("Different from its source:\n\n");
        text.extend(scheme.deviations.iter().map(|deviation| format!("* {deviation}\n")));
        text.push('\n');
    }
    if scheme.params.is_empty() {
        return text + "No parameters.\n\n";
    }
    text.push_str("| parameter | default | unit | accepted | meaning |\n|---|---|---|---|---|\n");
    text.extend(scheme.params.iter().map(parameter));
    text + "\n"
}

fn parameter(spec: &ParamSpec) -> String {
    let code = |text: &str| format!("`{text}`");
    let meaning: Vec<&str> = spec.doc.iter().map(|line| line.trim()).collect();
    row(&[&code(spec.name), &code(&(spec.default)()), spec.unit, &(spec.range)(), &meaning.join(" ")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_role_in_the_catalogue_has_a_place() {
        let roles: BTreeSet<&str> =
            tidegate_schemes::SCHEMES.iter().flat_map(|scheme| scheme.roles()).collect();
        assert_eq!(roles, PLACES.map(|(role, _)| role).into());
    }
}
