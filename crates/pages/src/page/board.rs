//! The page of `tidegate reproduce`: figures and claims of a paper beside our results.

use super::claim_strip;
use super::document::{self, Scripts};
use super::tables::text_table;
use crate::figure::{Figure, has_group, is_stated};
use crate::markup::{Escaped, Markup};
use tidegate_results::claims::{Claim, ClaimVerdict, Judged, Paper, Published};
use tidegate_results::text::{self, TextTable};

/// Content of the page of a paper.
#[derive(Clone, Copy, Debug)]
pub struct BoardPage<'a> {
    /// The paper with its assumptions.
    pub paper: &'a Paper,
    /// Its claims with our results, in the order of the page.
    pub claims: &'a [Judged],
    /// Figures in the order of the page.
    pub figures: &'a [Figure],
    /// Tables with their titles, in the order of the page.
    pub tables: &'a [(String, TextTable)],
    /// Names of the paper's files in the folder of the page.
    pub files: &'a [String],
    /// The command that reproduces these results.
    pub command: &'a str,
    /// Version of the results' meaning.
    pub semantics: u32,
    /// Identity of the code that computed the results, in hexadecimal digits.
    pub code: &'a str,
}

/// Ids of elements of the page that are neither figures nor claims.
const IDS: &[&str] =
    &["assumptions", "claims", "content", "figures", "glossary", "panels", "tables", "theme"];

/// Whether the page uses `id` for something else than a figure of the paper.
pub fn is_taken(id: &str) -> bool {
    IDS.contains(&id) || is_stated(id)
}

/// One offline HTML file about a reproduction: claims first, then the figures that show them.
pub fn board_page(page: &BoardPage<'_>) -> String {
    let mut body = Markup::default();
    header(&mut body, page);
    warnings(&mut body, page.claims);
    contents(&mut body, page);
    claims(&mut body, page);
    figures(&mut body, page);
    tables(&mut body, page.tables);
    assumptions(&mut body, page.paper);
    document::glossary(&mut body, false);
    let title = format!("{}: reproduction", page.paper.scheme);
    document::document(&title, &body.0, &Scripts::Plain)
}

fn header(body: &mut Markup, page: &BoardPage<'_>) {
    let paper = page.paper;
    body.add(format_args!(
        "<header><p class=\"kicker\">Tidegate reproduction of {}</p><h1>{}</h1><p class=\"facts\">{} · {} · semantics {}{}</p></header>\n",
        Escaped(&paper.scheme),
        Escaped(&paper.title),
        Escaped(&paper.authors),
        Escaped(&paper.venue),
        page.semantics,
        Escaped(&document::code(page.code))
    ));
    document::command_line(body, page.command);
    body.0.push_str("<ul class=\"cards counts\">\n");
    let of_paper = |verdict| {
        // Claims of ours are counted apart, see below.
        page.claims.iter().filter(|judged| !judged.claim.is_ours && judged.verdict == verdict).count()
    };
    for verdict in ClaimVerdict::ALL {
        body.add(format_args!(
            "<li><span class=\"label\"><b class=\"verdict {0}\">{0}</b></span><span class=\"value\">{1}</span>\
             <span class=\"hint\">{2}</span></li>\n",
            verdict.word(),
            of_paper(Some(verdict)),
            meaning(verdict)
        ));
    }
    body.0.push_str("</ul>\n");
    if page.claims.iter().any(|judged| judged.claim.is_ours) {
        body.add(format_args!(
            "<p class=\"note\">Claims that the paper does not make are marked <span class=\"tag\">ours</span> and counted \
             separately. All claims: {}.</p>\n",
            text::verdict_counts(page.claims)
        ));
    }
    if !page.files.is_empty() {
        body.0.push_str("<p class=\"note\">Files:");
        for file in page.files {
            body.add(format_args!(" <a href=\"{0}\">{0}</a>", Escaped(file)));
        }
        body.0.push_str("</p>\n");
    }
}

/// Claims with a verdict; with `None`, claims without one.
pub(super) fn count(claims: &[Judged], verdict: Option<ClaimVerdict>) -> usize {
    claims.iter().filter(|judged| judged.verdict == verdict).count()
}

/// Warnings that precede the numbers.
pub(super) fn warnings(body: &mut Markup, claims: &[Judged]) {
    let reduced = count(claims, None);
    if reduced > 0 {
        body.add(format_args!(
            "<p class=\"warning\"><b>Reduced run.</b> {reduced} of {} claims come from shortened experiments and have no verdict.</p>\n",
            claims.len()
        ));
    }
    let surprises = claims.iter().filter(|judged| judged.contradicts_record()).count();
    if surprises > 0 {
        body.add(format_args!(
            "<p class=\"warning\"><b>Changed verdicts: {surprises}.</b> They differ from the recorded ones.</p>\n"
        ));
    }
}

const fn meaning(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Agrees => "Our 95 % interval lies inside the acceptance band.",
        ClaimVerdict::Direction => {
            "Not inside the band, but the interval excludes the value of no effect and is on the side of the published effect."
        }
        ClaimVerdict::Undecided => {
            "The interval reaches both inside and outside of the band, and the sign of the effect is uncertain."
        }
        ClaimVerdict::Differs => "None of the other cases.",
    }
}

fn contents(body: &mut Markup, page: &BoardPage<'_>) {
    let parts = [
        ("claims", "Claims", true),
        ("figures", "Figures", !page.figures.is_empty()),
        ("tables", "Tables", !page.tables.is_empty()),
        ("assumptions", "Assumptions", true),
        ("glossary", "Glossary", true),
    ];
    body.0.push_str("<nav aria-label=\"Contents\"><ul>\n");
    for (id, title, _) in parts.iter().filter(|(_, _, is_there)| *is_there) {
        body.add(format_args!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    }
    body.0.push_str("</ul></nav>\n");
}

fn claims(body: &mut Markup, page: &BoardPage<'_>) {
    body.0.push_str("<section id=\"claims\"><h2>Claims</h2>\n");
    filter(body, page.claims);
    body.0.push_str(
        "<p class=\"note\">In the strip: the acceptance band (shaded), the published value (◇), our value with \
         its 95 % interval (●), and the value of no effect (dashed).</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Claims\"><table class=\"claims\"><thead><tr>\
         <th scope=\"col\">Id</th><th scope=\"col\">Claim</th><th scope=\"col\" class=\"number\">Published</th>\
         <th scope=\"col\" class=\"number\">Ours ± 95 %</th><th scope=\"col\">Band</th><th scope=\"col\">Strip</th>\
         <th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n",
    );
    for judged in page.claims {
        claim_row(body, page, judged);
    }
    body.0.push_str("</tbody></table></div></section>\n");
}

/// Buttons that leave the claims of one verdict in the table; the page's script shows them.
fn filter(body: &mut Markup, claims: &[Judged]) {
    body.add(format_args!(
        "<div class=\"tools filter\" role=\"group\" aria-label=\"Filter by verdict\" hidden><span class=\"label\">Show</span>\
         <button type=\"button\" data-verdict=\"\" aria-pressed=\"true\">all ({})</button>",
        claims.len()
    ));
    for verdict in ClaimVerdict::ALL.map(Some).into_iter().chain([None]) {
        let word = verdict.map_or(Judged::REDUCED, ClaimVerdict::word);
        let count = count(claims, verdict);
        // A button that empties the table would be of no use.
        if count > 0 {
            body.add(format_args!(
                "<button type=\"button\" data-verdict=\"{word}\" aria-pressed=\"false\"><b class=\"verdict {word}\">{word}</b> ({count})</button>"
            ));
        }
    }
    body.0.push_str("</div>\n");
}

fn claim_row(body: &mut Markup, page: &BoardPage<'_>, judged: &Judged) {
    let claim = &judged.claim;
    let ours =
        if judged.estimate.n == 0 { "–".to_owned() } else { text::with_unit(judged.estimate, &claim.unit) };
    body.add(format_args!(
        "<tr id=\"{0}\" data-verdict=\"{8}\"><th scope=\"row\">{0}{12}</th><td class=\"wide\">{1} <span class=\"soft\">{2}</span>{11}{3}</td>\
         <td class=\"{10}\" data-label=\"Published\">{4}</td><td class=\"number\" data-label=\"Ours ± 95 %\">{5}</td><td class=\"band\" data-label=\"Band\"><span>{6}</span></td><td>{7}</td>\
         <td><b class=\"verdict {8}\">{8}</b>{9}</td></tr>\n",
        Escaped(&claim.id),
        Escaped(&claim.quantity),
        Escaped(&claim.place),
        note(claim),
        Escaped(&text::published(judged)),
        Escaped(&ours),
        band(claim),
        claim_strip::svg(judged),
        judged.word(),
        record(judged),
        if matches!(claim.published, Published::Number(_)) { "number" } else { "words" },
        figure_links(claim, page.figures),
        if claim.is_ours { " <span class=\"tag\">ours</span>" } else { "" }
    ));
}

/// Whether a figure shows the subject of a claim, or has a group for the claim.
fn is_shown(claim: &Claim, figure: &Figure) -> bool {
    has_group(figure, claim) || claim.is_shown_in(&figure.id)
}

/// Links to the figures that show the subject of the claim.
fn figure_links(claim: &Claim, figures: &[Figure]) -> String {
    let mut links = Markup::default();
    for figure in figures.iter().filter(|figure| is_shown(claim, figure)) {
        // Most titles begin with the number of the figure in the paper and a colon.
        let name = figure.title.split(':').next().unwrap_or(&figure.title);
        links.add(format_args!(
            " <a class=\"shown\" href=\"#{}\" title=\"{}\">{}</a>",
            Escaped(&figure.id),
            Escaped(&figure.title),
            Escaped(name)
        ));
    }
    links.0
}

fn figures(body: &mut Markup, page: &BoardPage<'_>) {
    if page.figures.is_empty() {
        return;
    }
    body.0.push_str(
        "<section id=\"figures\"><h2>Figures</h2>\n<p class=\"note script\" hidden>A click on a name in a \
         legend hides or shows its series.</p>\n<div class=\"figures\">\n",
    );
    for figure in page.figures {
        document::figure(body, figure, &claim_links(figure, page.claims));
    }
    body.0.push_str("</div></section>\n");
}

/// Links to the claims that the figure shows, with their verdicts.
fn claim_links(figure: &Figure, claims: &[Judged]) -> String {
    let mut links = Markup::default();
    for judged in claims.iter().filter(|judged| is_shown(&judged.claim, figure)) {
        links.add(format_args!(
            "{} <a href=\"#{1}\" title=\"{2}\">{1}</a>",
            if links.0.is_empty() { "<br>Claims:" } else { "," },
            Escaped(&judged.claim.id),
            Escaped(&judged.claim.quantity)
        ));
        if let Some(verdict) = judged.verdict {
            links.add(format_args!(" <b class=\"verdict {verdict}\">{verdict}</b>"));
        }
    }
    links.0
}

fn tables(body: &mut Markup, tables: &[(String, TextTable)]) {
    if tables.is_empty() {
        return;
    }
    body.0.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    for (title, table) in tables {
        body.add(format_args!("<h3>{}</h3>\n", Escaped(title)));
        text_table(body, title, "", table);
    }
    body.0.push_str("</section>\n");
}

fn note(claim: &Claim) -> String {
    let Some(note) = &claim.note else { return String::new() };
    format!("<p class=\"note\">{}</p>", Escaped(note))
}

/// The band, and the one that it replaced with the reason.
fn band(claim: &Claim) -> String {
    let exact = if claim.exact { "<p class=\"note\">every run</p>" } else { "" };
    let now = format!("{}{exact}", Escaped(&text::with_unit(claim.band, &claim.unit)));
    // A band that was changed after the fact is shown with the one before.
    let (Some(earlier), Some(reason)) = (&claim.earlier_band, &claim.band_reason) else { return now };
    format!(
        "{now}<p class=\"note\">before: <s>{}</s>: {}</p>",
        Escaped(&earlier.to_string()),
        Escaped(reason)
    )
}

fn record(judged: &Judged) -> String {
    match judged.claim.recorded {
        Some(recorded) if judged.contradicts_record() => {
            format!("<p class=\"note\">recorded: {}</p>", recorded.word())
        }
        _ => String::new(),
    }
}

fn assumptions(body: &mut Markup, paper: &Paper) {
    body.0.push_str("<section id=\"assumptions\"><h2>Assumptions</h2>\n");
    if paper.assumptions.is_empty() {
        body.0.push_str("<p class=\"note\">The paper specifies all values.</p></section>\n");
        return;
    }
    body.0.push_str(
        "<p class=\"note\">Values that the claims depend on. <b>paper</b>: stated in the paper; <b>source</b>: \
         read in source code; <b>reconstruction</b>: inferred from other statements; <b>fitted</b>: chosen \
         because it brings results closer to the published ones.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Assumptions\"><table><thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Value</th><th scope=\"col\">Provenance</th><th scope=\"col\">Why</th></tr></thead>\n<tbody>\n",
    );
    for assumption in &paper.assumptions {
        body.add(format_args!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td><span class=\"tag {2}\">{2}</span></td><td class=\"wide\">{3}</td></tr>\n",
            Escaped(&assumption.name),
            Escaped(&assumption.value),
            assumption.provenance.word(),
            Escaped(&assumption.why)
        ));
    }
    body.0.push_str("</tbody></table></div></section>\n");
}
