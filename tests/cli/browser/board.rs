//! A paper's page with claims of every verdict, figures of every kind that has a key, and a line aside.

use tidegate_pages::figure::{BarSeries, Cloud, Curve, Figure, FigureKind, Series, stated};
use tidegate_pages::page::{BoardPage, board_page};
use tidegate_papers::claims::Claims;
use tidegate_results::claims::{Claim, Judged};
use tidegate_results::stats::Estimate;

/// The page: claims of a real paper with invented samples.
pub fn page() -> String {
    let text = include_str!("../../../scenarios/papers/plr/claims.toml");
    let paper = Claims::parse("claims.toml", text).expect("the paper's claims are good").paper;
    let claims: Vec<Judged> = paper.claims.iter().enumerate().map(judged).collect();
    let mut figures = figures();
    figures.extend(stated(&claims, &figures));
    board_page(&BoardPage {
        paper: &paper,
        claims: &claims,
        figures: &figures,
        tables: &[],
        files: &[],
        command: "tidegate reproduce plr",
        code: "0123456789abcdef",
        semantics: 1,
    })
}

/// Every second claim has samples in its band.
fn judged((place, claim): (usize, &Claim)) -> Judged {
    let ends = [claim.band.low, claim.band.high];
    let value = ends.into_iter().find(|end| end.is_finite()).unwrap_or(0.0);
    let value = if place % 2 == 0 { value } else { 3.0 * value.abs() + 100.0 };
    Judged::full(claim.clone(), &[value; 3])
}

fn estimate(mean: f64) -> Estimate {
    Estimate::of(&[0.95 * mean, mean, 1.05 * mean])
}

fn figures() -> Vec<Figure> {
    let names = ["ICP", "BIC", "CUBIC", "PCON"];
    let line = |(place, name): (usize, &&str)| Series {
        name: (*name).to_owned(),
        points: (0..6).map(|x| (f64::from(x), estimate(40.0 + place as f64))).collect(),
        ..Series::default()
    };
    let mut series: Vec<Series> = names.iter().enumerate().map(line).collect();
    let far = (0..6).map(|x| (f64::from(x), estimate(4000.0))).collect();
    series.push(Series { name: "far away".to_owned(), points: far, is_aside: true, ..Series::default() });
    let bars = |(place, name): (usize, &&str)| BarSeries {
        name: format!("queue of 32 packets, with {name}"),
        values: (0..4).map(|group| Some(estimate(877.33 - 0.123 * (place + group) as f64))).collect(),
        published: vec![Some(900.0), None, Some(870.0), None],
    };
    let curve = |name: &&str| Curve::new(*name, (0..50).map(|x| (f64::from(x), f64::from(x % 7))).collect());
    let cloud = |(place, name): (usize, &&str)| Cloud {
        name: (*name).to_owned(),
        points: (0..5).map(|x| (f64::from(x), place as f64 + f64::from(x % 2))).collect(),
    };
    let groups = ["without PLR, queue of 32", "multipath1", "S1-dumbbell-literal", "PCON"].map(str::to_owned);
    vec![
        figure("fig7b", FigureKind::Lines { series }),
        figure(
            "fig8a",
            FigureKind::Bars {
                groups: groups.to_vec(),
                series: names.iter().enumerate().map(bars).collect(),
            },
        ),
        figure("fig9a", FigureKind::Curves { curves: names.iter().map(curve).collect() }),
        figure(
            "fig9c",
            FigureKind::Scatter {
                is_x_reversed: true,
                clouds: names.iter().enumerate().map(cloud).collect(),
            },
        ),
    ]
}

fn figure(id: &str, kind: FigureKind) -> Figure {
    Figure {
        id: id.to_owned(),
        title: format!("Fig. {}: invented", &id[3..]),
        caption: String::new(),
        x_label: "time [s]".to_owned(),
        y_label: "completion time [s]".to_owned(),
        kind,
    }
}
