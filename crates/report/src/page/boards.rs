//! The page of `tidegate reproduce all`: every paper's figures and claims, one after the other.

use super::board::{BoardPage, Part, warnings};
use super::markup::{self, Escaped, Markup, Scripts};
use crate::claims::Verdict;

/// One offline HTML file about several reproductions; each paper's own page lies in a folder beside this one's, named
/// as its scheme. `command` makes all of them again.
pub fn boards_page(papers: &[BoardPage<'_>], command: &str) -> String {
    let mut body = Markup::default();
    body.0.push_str(
        "<header><p class=\"kicker\">Tidegate</p><h1>Reproduced papers</h1>\
         <p class=\"facts\">What each paper says, what comes out here, and how the two compare.</p></header>\n",
    );
    markup::command_line(&mut body, command);
    contents(&mut body, papers);
    for page in papers {
        paper(&mut body, page);
    }
    markup::glossary(&mut body, false);
    markup::document("Reproduced papers", &body.0, &Scripts::Plain)
}

fn contents(body: &mut Markup, papers: &[BoardPage<'_>]) {
    body.0.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Papers\"><table><thead><tr>\
         <th scope=\"col\">Paper</th><th scope=\"col\">Venue</th><th scope=\"col\" class=\"number\">Claims</th>",
    );
    for verdict in Verdict::ALL {
        body.add(format_args!(
            "<th scope=\"col\" class=\"number\"><b class=\"verdict {0}\">{0}</b></th>",
            verdict.word()
        ));
    }
    body.0.push_str("</tr></thead>\n<tbody>\n");
    for page in papers {
        body.add(format_args!(
            "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td><td class=\"number\">{}</td>",
            Escaped(&page.paper.scheme),
            Escaped(&page.paper.title),
            Escaped(&page.paper.venue),
            page.claims.len()
        ));
        for verdict in Verdict::ALL {
            let count = page.claims.iter().filter(|judged| judged.verdict == Some(verdict)).count();
            body.add(format_args!("<td class=\"number\">{count}</td>"));
        }
        body.0.push_str("</tr>\n");
    }
    body.0.push_str("</tbody></table></div>\n");
}

fn paper(body: &mut Markup, page: &BoardPage<'_>) {
    let scheme = &page.paper.scheme;
    body.add(format_args!(
        "<section id=\"{0}\"><h2>{1}</h2>\n<p class=\"facts\">{2}. {3}. \
         <a href=\"../{0}/report.html\">Its own page, with all assumptions</a></p>\n",
        Escaped(scheme),
        Escaped(&page.paper.title),
        Escaped(&page.paper.authors),
        Escaped(&page.paper.venue)
    ));
    warnings(body, page.claims);
    let (folder, anchor) = (format!("../{scheme}/"), format!("{scheme}-"));
    Part { page, folder: &folder, anchor: &anchor, level: 3 }.results(body);
    body.0.push_str("</section>\n");
}
