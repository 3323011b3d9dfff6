//! The page of `tidegate reproduce all`: an overview of the papers, each of which has a page of its own.

use super::board::{BoardPage, warnings};
use super::document::{self, Scripts};
use crate::markup::{Escaped, Markup};
use tidegate_results::claims::{ClaimVerdict, Judged};
use tidegate_results::text;

/// One offline HTML file that lists several reproductions with their verdicts; each paper's page is in a
/// folder beside this one's, named as its scheme. `command` makes all of them again.
pub fn boards_page(papers: &[BoardPage<'_>], command: &str) -> String {
    let mut body = Markup::default();
    body.0.push_str(
        "<header><p class=\"kicker\">Tidegate</p><h1>Reproduced papers</h1>\
         <p class=\"facts\">Claims of each paper, compared with our results.</p></header>\n",
    );
    document::command_line(&mut body, command);
    overview(&mut body, papers);
    for page in papers {
        paper(&mut body, page);
    }
    document::document("Reproduced papers", &body.0, &Scripts::Plain)
}

fn overview(body: &mut Markup, papers: &[BoardPage<'_>]) {
    body.0.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Papers\"><table><thead><tr>\
         <th scope=\"col\">Paper</th><th scope=\"col\">Venue</th><th scope=\"col\" class=\"number\">Claims</th>",
    );
    for verdict in ClaimVerdict::ALL {
        body.add(format_args!(
            "<th scope=\"col\" class=\"number\"><b class=\"verdict {0}\">{0}</b></th>",
            verdict.word()
        ));
    }
    body.0.push_str("<th scope=\"col\">Claims of ours</th></tr></thead>\n<tbody>\n");
    for page in papers {
        let (ours, of_paper): (Vec<&Judged>, Vec<&Judged>) =
            page.claims.iter().partition(|judged| judged.claim.is_ours);
        body.add(format_args!(
            "<tr><th scope=\"row\" class=\"wide\"><a href=\"../{}/report.html\">{}</a></th><td>{}</td><td class=\"number\">{}</td>",
            Escaped(&page.paper.scheme),
            Escaped(&page.paper.title),
            Escaped(&page.paper.venue),
            of_paper.len()
        ));
        let count = |claims: &[&Judged], verdict| {
            claims.iter().filter(|judged| judged.verdict == Some(verdict)).count()
        };
        for verdict in ClaimVerdict::ALL {
            body.add(format_args!("<td class=\"number\">{}</td>", count(&of_paper, verdict)));
        }
        let agreed = count(&ours, ClaimVerdict::Agrees);
        match ours.len() {
            0 => body.0.push_str("<td></td></tr>\n"),
            all => body.add(format_args!("<td>{all}, {agreed} agree</td></tr>\n")),
        }
    }
    body.0.push_str("</tbody></table></div>\n");
}

/// Summary of a paper: number of claims, figures and assumptions, and the claims that do not agree.
fn paper(body: &mut Markup, page: &BoardPage<'_>) {
    let scheme = Escaped(&page.paper.scheme);
    body.add(format_args!(
        "<section id=\"{scheme}\"><h2>{}</h2>\n<p class=\"facts\">{} · {}</p>\n\
         <p><a href=\"../{scheme}/report.html\">{} claims, {} figures, {} assumptions</a></p>\n",
        Escaped(&page.paper.title),
        Escaped(&page.paper.authors),
        Escaped(&page.paper.venue),
        page.claims.len(),
        page.figures.len(),
        page.paper.assumptions.len()
    ));
    warnings(body, page.claims);
    let apart: Vec<&Judged> = page
        .claims
        .iter()
        .filter(|judged| {
            matches!(
                judged.verdict,
                Some(ClaimVerdict::Direction | ClaimVerdict::Undecided | ClaimVerdict::Differs)
            )
        })
        .collect();
    if !apart.is_empty() {
        body.add(format_args!(
            "<details><summary>{} claims that do not agree</summary>\n<ul>\n",
            apart.len()
        ));
        for judged in apart {
            claim(body, page, judged);
        }
        body.0.push_str("</ul></details>\n");
    }
    body.0.push_str("</section>\n");
}

fn claim(body: &mut Markup, page: &BoardPage<'_>, judged: &Judged) {
    let unit = &judged.claim.unit;
    body.add(format_args!(
        "<li><a href=\"../{}/report.html#{1}\">{1}</a> <b class=\"verdict {2}\">{2}</b> {3}: published {4}, ours {5}</li>\n",
        Escaped(&page.paper.scheme),
        Escaped(&judged.claim.id),
        judged.word(),
        Escaped(&judged.claim.quantity),
        Escaped(&text::published(judged)),
        Escaped(&text::with_unit(judged.estimate, unit))
    ));
}
