//! The claims of the papers in `scenarios/papers`, as pages and figures show them.

use std::fs;
use std::path::Path;

use tidegate_pages::figure::{Columns, Figure, FigureKind, Look, stated};
use tidegate_papers::claims::Claims;
use tidegate_results::claims::{Claim, Judged, Paper, Published};

/// Every paper that has claims.
fn papers() -> Vec<Paper> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers");
    let folders = fs::read_dir(folder).expect("readable").flatten();
    let files = folders.map(|folder| folder.path().join("claims.toml")).filter(|file| file.is_file());
    let read = |file: std::path::PathBuf| {
        let text = fs::read_to_string(&file).expect("readable");
        Claims::parse(&file.display().to_string(), &text).unwrap_or_else(|why| panic!("{why}")).paper
    };
    let papers: Vec<Paper> = files.map(read).collect();
    assert!(papers.len() >= 5, "{} papers", papers.len());
    papers
}

#[test]
fn no_published_words_are_a_number() {
    for paper in papers() {
        for claim in &paper.claims {
            if let Published::Text(text) = &claim.published {
                assert!(text.trim().parse::<f64>().is_err(), "{} {}: {text:?}", paper.scheme, claim.id);
            }
        }
    }
}

/// Whether a claim has a published number and names for a figure.
fn is_named(claim: &&Claim) -> bool {
    matches!(claim.published, Published::Number(_)) && (claim.bar.is_some() || claim.quantity.contains(": "))
}

/// The figures of a paper none of whose numbers stand in another one.
fn figures(paper: &Paper) -> Vec<Figure> {
    let claims = paper.claims.iter().filter(is_named);
    let judged: Vec<Judged> = claims.map(|claim| Judged::reduced(claim.clone(), &[1.0, 2.0, 4.0])).collect();
    assert!(!judged.is_empty(), "{}", paper.scheme);
    stated(&judged, &[])
}

#[test]
fn a_figure_of_stated_numbers_has_one_quantity_and_names_its_groups_in_words() {
    for paper in papers() {
        for figure in figures(&paper) {
            let FigureKind::Bars { groups, .. } = &figure.kind else { panic!("{} has no bars", figure.id) };
            let of_group = |group: &String| {
                let has =
                    |claim: &&Claim| claim.bar().1 == group && figure.y_label.starts_with(claim.bar().0);
                paper.claims.iter().filter(is_named).filter(has).count()
            };
            let counts: Vec<usize> = groups.iter().map(of_group).collect();
            assert!(
                counts.iter().all(|count| *count == 1),
                "{} {:?}: {groups:?}",
                paper.scheme,
                figure.y_label
            );
            for claim in &paper.claims {
                assert!(!groups.contains(&claim.id), "{} {}", paper.scheme, claim.id);
            }
        }
    }
}

#[test]
fn names_in_figures_of_stated_numbers_are_whole_on_pages_and_on_paper() {
    let drawn = |figure: &Figure| {
        let on_paper = [Columns::One, Columns::Two].map(|columns| Look { columns, ..Look::default() });
        let files = on_paper.map(|look| figure.to_svg(look));
        files.into_iter().chain([figure.inline_svg()]).collect::<Vec<String>>()
    };
    for paper in papers() {
        for figure in figures(&paper) {
            let FigureKind::Bars { groups, .. } = &figure.kind else { panic!("{} has no bars", figure.id) };
            for svg in drawn(&figure) {
                let what = format!("{}, {:?}: {groups:?}", paper.scheme, figure.y_label);
                for word in groups.iter().flat_map(|group| group.split([' ', '-'])) {
                    assert!(svg.contains(word), "{what}: {word:?} is not there");
                }
            }
        }
    }
}

#[test]
fn groups_that_are_values_have_the_name_of_their_quantity_below_them() {
    for paper in papers() {
        let Some(mut figure) = figures(&paper).into_iter().next() else { panic!("{}", paper.scheme) };
        figure.x_label = "clock tick [ms]".to_owned();
        let on_paper = figure.to_svg(Look::default());
        for svg in [figure.inline_svg(), on_paper] {
            assert!(svg.contains(">clock tick [ms]</text>"), "{}", paper.scheme);
        }
    }
}
