//! Every kind of figure through every writer.

use std::path::{Path, PathBuf};
use std::process::Command;

use tidegate_core::rng::{Rng, Seed};
use tidegate_pages::figure::{
    BarSeries, BoxStats, Cloud, Columns, Curve, Figure, FigureKind, Look, SegmentEvents, Series,
    write_figures,
};
use tidegate_results::stats::Estimate;

use support::skipped::skipped;

const LOOKS: [Look; 4] = [
    Look { columns: Columns::One, greyscale: false },
    Look { columns: Columns::Two, greyscale: false },
    Look { columns: Columns::One, greyscale: true },
    Look { columns: Columns::Two, greyscale: true },
];
const SPECIAL: &str = "<&\"%$_#\\{}~^|` αλ → 漢字 עברית";

fn figure(id: &str, kind: FigureKind) -> Figure {
    Figure {
        id: id.into(),
        title: format!("Sample {id}"),
        caption: "Invented data, five seeds.".into(),
        x_label: "time [s]".into(),
        y_label: "throughput [Mbit/s]".into(),
        kind,
    }
}

fn wave(phase: f64, height: f64) -> Vec<(f64, f64)> {
    (0..1000)
        .map(|i| f64::from(i) * 0.01)
        .map(|t| (t, height * (1.0 + 0.5 * (t * 2.0 + phase).sin())))
        .collect()
}

fn samples(mean: f64, spread: f64) -> Estimate {
    Estimate::of(&[-1.0, 0.3, 0.9, -0.4, 0.2].map(|step| mean + spread * step))
}

fn curve(name: &str, points: Vec<(f64, f64)>) -> Curve {
    Curve::new(name, points)
}

fn cdf(name: &str, scale: f64) -> Curve {
    curve(name, (1..=200).map(|i| (scale * (f64::from(i) / 40.0).powi(2), f64::from(i) / 200.0)).collect())
}

fn cloud(name: &str, x: f64, y: f64) -> Cloud {
    let offsets = [(-1.0, -0.7), (0.2, 0.4), (0.9, 0.6), (-0.3, 0.1), (0.2, -0.4)];
    Cloud { name: name.into(), points: offsets.iter().map(|(a, b)| (x + 3.0 * a, y + 0.3 * b)).collect() }
}

fn boxed(name: &str, median: f64) -> BoxStats {
    BoxStats {
        name: name.into(),
        low: median * 0.5,
        first_quartile: median * 0.8,
        median,
        third_quartile: median * 1.3,
        high: median * 2.0,
        mean: median * 1.1,
    }
}

/// One figure of each kind.
fn samples_of_all() -> Vec<Figure> {
    let series = |name: &str, factor: f64| Series {
        name: name.into(),
        points: [0.125, 0.25, 0.5, 1.0].map(|x| (x, samples(factor / x, factor))).to_vec(),
        published: vec![(0.25, factor * 5.0), (1.0, factor)],
        ..Series::default()
    };
    let bars = |name: &str, factor: f64| BarSeries {
        name: name.into(),
        values: vec![Some(samples(factor, 0.5)), Some(samples(-factor / 3.0, 0.3)), None],
        published: vec![Some(factor * 1.3), None, Some(2.0)],
    };
    let curves = ["icp", "catchunks-cubic", "bbr-cd", "pcon"].iter().enumerate();
    let events = |name: &str, step: f64, delay: f64| SegmentEvents {
        name: name.into(),
        points: (0..150).map(|i| f64::from(i) * step).map(|n| (n * 0.01 + delay, n)).collect(),
        look: None,
    };
    vec![
        figure("lines", FigureKind::Lines { series: vec![series("AIMD", 2.0), series("CUBIC", 3.0)] }),
        figure(
            "bars",
            FigureKind::Bars {
                groups: ["one group", "another group of some length", "third"].map(String::from).to_vec(),
                series: vec![bars("queue of 32 packets", 4.0), bars("queue of 64 packets", 7.0)],
            },
        ),
        figure(
            "curves",
            FigureKind::Curves {
                curves: curves.map(|(i, name)| curve(name, wave(i as f64, 4.0 + i as f64))).collect(),
            },
        ),
        figure(
            "cdf",
            FigureKind::Cdf {
                curves: vec![cdf("c1:/a", 1.0), cdf("c2:/b", 1.4), cdf("c3:/c", 3.0)],
                is_x_logarithmic: false,
            },
        ),
        figure(
            "decades",
            FigureKind::Cdf { curves: vec![cdf("c1:/a", 1.0), cdf("c2:/b", 100.0)], is_x_logarithmic: true },
        ),
        figure(
            "boxes",
            FigureKind::Boxes {
                boxes: vec![boxed("c1:/a", 20.0), boxed("c2:/b", 35.0), boxed("c3:/c", 12.0)],
            },
        ),
        figure(
            "scatter",
            FigureKind::Scatter {
                is_x_reversed: true,
                clouds: vec![cloud("icp", 30.0, 8.0), cloud("cubic", 60.0, 9.2), cloud("bbr-cd", 24.0, 8.8)],
            },
        ),
        figure(
            "segments",
            FigureKind::Segments {
                kinds: vec![
                    events("Interest", 1.0, 0.0),
                    events("Data", 1.0, 0.2),
                    events("retransmission", 1.7, 0.6),
                ],
            },
        ),
    ]
}

/// A folder for files of one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the target folder is writable");
    path
}

/// Output of a program; `None`, reported as skipped, where it is not installed.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(done) => {
            assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
            Some(String::from_utf8_lossy(&done.stdout).into_owned())
        }
        Err(_) => {
            skipped("figures in other programs", &format!("{program} is not installed"));
            None
        }
    }
}

#[test]
fn equal_figures_give_equal_bytes() {
    for (figure, again) in samples_of_all().iter().zip(samples_of_all()) {
        for look in LOOKS {
            assert_eq!(figure.to_svg(look), again.to_svg(look));
            assert_eq!(figure.to_pdf(look), again.to_pdf(look));
            assert_eq!(figure.to_pgf(look, "a.dat"), again.to_pgf(look, "a.dat"));
        }
    }
}

#[test]
fn figures_survive_their_file() {
    let mut figures = samples_of_all();
    figures[0].title = SPECIAL.into();
    assert_eq!(Figure::read_all(&write_figures(&figures)).expect("readable"), figures);
    // What JSON cannot hold comes back as what is not drawn, and a single run as a single run.
    let odd = Series {
        name: "a".into(),
        points: vec![(1.0, Estimate::of(&[2.0])), (f64::INFINITY, Estimate::NONE)],
        published: vec![(f64::NAN, 1.0)],
        ..Series::default()
    };
    let odd = figure("odd", FigureKind::Lines { series: vec![odd] });
    let again = Figure::read_all(&write_figures(std::slice::from_ref(&odd))).expect("readable");
    assert_eq!(again[0].to_svg(Look::default()), odd.to_svg(Look::default()));
    let fault = Figure::read_all("[\n{\"id\": 3}]").expect_err("no figure");
    assert!(fault.contains("line 2 column 8"), "{fault}");
}

#[test]
fn an_svg_file_is_sound_xml_with_its_size_its_font_and_its_words() {
    for figure in samples_of_all() {
        let svg = figure.to_svg(Look { columns: Columns::Two, greyscale: false });
        assert!(
            svg.contains("width=\"180mm\" height=\"76mm\"")
                && svg.contains("src:url(data:font/ttf;base64,AAEAAA")
        );
        assert!(svg.contains(">throughput [Mbit/s]</text>"), "{}", figure.id);
        // The font is most of a small file.
        assert!(svg.len() < 400_000, "{}: {}", figure.id, svg.len());
        let opened = svg.matches('<').count() - svg.matches("</").count() - svg.matches("/>").count();
        assert_eq!(opened, svg.matches("</").count(), "{}: every element ends", figure.id);
    }
}

#[test]
fn a_pdf_embeds_its_font_and_keeps_its_words() {
    let folder = folder("pdf");
    for figure in samples_of_all() {
        for look in LOOKS {
            let path = folder.join(format!("{}-{:?}-{}.pdf", figure.id, look.columns, look.greyscale));
            std::fs::write(&path, figure.to_pdf(look)).expect("writable");
            let path = path.to_str().expect("a path in UTF-8");
            let Some(fonts) = output("pdffonts", &[path]) else { return };
            let rows: Vec<&str> = fonts.lines().skip(2).collect();
            assert_eq!(rows.len(), 1, "{fonts}");
            assert!(rows[0].contains("DejaVuSansCondensed") && rows[0].contains("CID TrueType"), "{fonts}");
            assert!(rows[0].contains("yes yes yes") && !fonts.contains("Type 3"), "{fonts}");
            let text = output("pdftotext", &[path, "-"]).unwrap_or_default();
            assert!(text.contains("Mbit/s"), "{text}");
            let info = output("pdfinfo", &[path]).unwrap_or_default();
            assert!(info.contains(&figure.title) && !info.contains("CreationDate"), "{info}");
            let size =
                if look.columns == Columns::One { "249.45 x 170.08 pts" } else { "510.24 x 215.43 pts" };
            assert!(info.contains(size), "{info}");
        }
    }
}

#[test]
fn pgfplots_gets_native_axes_and_a_table() {
    for figure in samples_of_all() {
        let pgf = figure.to_pgf(Look::default(), "data.dat");
        assert!(pgf.tex.contains("\\begin{axis}[") && pgf.tex.contains("ylabel={throughput [Mbit/s]}"));
        assert!(pgf.tex.matches("\\addplot").count() >= 2 && pgf.tex.ends_with("\\end{document}\n"));
        let rows: Vec<&str> = pgf.data.lines().filter(|line| !line.starts_with('#')).collect();
        let width = rows[0].split(' ').count();
        assert!(rows.len() > 1 && rows.iter().all(|row| row.split(' ').count() == width), "{}", figure.id);
        for column in pgf.tex.split("table[").skip(1).map(|rest| rest.split(']').next().unwrap_or("")) {
            let names = column.split(", ").map(|part| part.split('=').nth(1).unwrap_or(""));
            assert!(
                names.into_iter().all(|name| rows[0].split(' ').any(|column| column == name)),
                "{column}"
            );
        }
    }
}

/// Everything that a writer makes of a figure, for checks of soundness.
fn written(figure: &Figure) -> [String; 3] {
    let look = LOOKS[figure.id.len() % 4];
    let pgf = figure.to_pgf(look, "data.dat");
    let pdf = figure.to_pdf(look);
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"));
    // Content is the only stream of plain text.
    let pdf = String::from_utf8_lossy(&pdf).into_owned();
    let content = pdf.split("stream\n").nth(1).unwrap_or("").to_owned();
    [figure.to_svg(look), content, pgf.tex + &pgf.data]
}

#[track_caller]
fn assert_sound(figure: &Figure) {
    let [svg, pdf, pgf] = written(figure);
    for sign in ["NaN", "inf"] {
        let head = svg.find("</style>").unwrap_or(0);
        assert!(!svg[head..].contains(sign), "svg of {figure:?}");
        assert!(!pdf.split_whitespace().any(|word| word.starts_with(sign)), "pdf of {figure:?}");
    }
    assert!(!pgf.contains("NaN") && !pgf.contains("inf "), "pgf of {figure:?}");
}

#[test]
fn empty_figures_and_single_points_are_figures() {
    let empty = [
        FigureKind::Lines { series: vec![] },
        FigureKind::Bars { groups: vec![], series: vec![] },
        FigureKind::Curves { curves: vec![] },
        FigureKind::Cdf { curves: vec![Curve::default()], is_x_logarithmic: false },
        FigureKind::Cdf { curves: vec![curve("zero", vec![(0.0, 1.0)])], is_x_logarithmic: true },
        FigureKind::Boxes { boxes: vec![] },
        FigureKind::Scatter { is_x_reversed: false, clouds: vec![Cloud::default()] },
        FigureKind::Segments { kinds: vec![SegmentEvents::default()] },
        FigureKind::Curves { curves: vec![curve("one", vec![(1.0, 2.0)])] },
        FigureKind::Scatter {
            is_x_reversed: true,
            clouds: vec![Cloud { name: "one".into(), points: vec![(1.0, 2.0)] }],
        },
    ];
    empty.into_iter().for_each(|kind| assert_sound(&figure("empty", kind)));
}

#[test]
fn words_that_mean_something_to_a_format_stay_words() {
    for mut figure in samples_of_all() {
        for text in [&mut figure.title, &mut figure.caption, &mut figure.x_label, &mut figure.y_label] {
            SPECIAL.clone_into(text);
        }
        if let FigureKind::Lines { series } = &mut figure.kind {
            SPECIAL.clone_into(&mut series[0].name);
        }
        assert_sound(&figure);
        let [svg, _, pgf] = written(&figure);
        assert!(svg.contains("&lt;&amp;&quot;%$_#\\{}~^") && pgf.contains("\\textasciitilde{}"));
        assert!(!figure.inline_svg().contains("<&"));
    }
}

/// A number that may be anything.
fn any_number(rng: &mut Rng) -> f64 {
    match rng.below(12) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => f64::MAX,
        4 => -f64::MAX,
        5 => f64::from_bits(rng.bits()),
        6 => 1e-310,
        7 => 0.0,
        _ => (rng.uniform() - 0.3) * 100.0,
    }
}

fn any_points(rng: &mut Rng) -> Vec<(f64, f64)> {
    (0..rng.below(30)).map(|_| (any_number(rng), any_number(rng))).collect()
}

fn any_estimate(rng: &mut Rng) -> Estimate {
    let count = rng.below(4);
    let values: Vec<f64> = (0..count).map(|_| any_number(rng)).collect();
    Estimate::of(&values)
}

fn any_kind(rng: &mut Rng) -> FigureKind {
    let count = rng.below(9);
    let name = |rng: &mut Rng| {
        SPECIAL.chars().cycle().skip(rng.below(9) as usize).take(rng.below(60) as usize).collect()
    };
    match rng.below(7) {
        0 => FigureKind::Lines {
            series: (0..count)
                .map(|_| Series {
                    name: name(rng),
                    points: (0..rng.below(9)).map(|_| (any_number(rng), any_estimate(rng))).collect(),
                    published: any_points(rng),
                    ..Series::default()
                })
                .collect(),
        },
        1 => FigureKind::Bars {
            groups: (0..rng.below(7)).map(|_| name(rng)).collect(),
            series: (0..count)
                .map(|_| BarSeries {
                    name: name(rng),
                    values: (0..rng.below(9))
                        .map(|_| Some(any_estimate(rng)).filter(|one| one.n != 1))
                        .collect(),
                    published: (0..rng.below(9)).map(|_| Some(any_number(rng))).collect(),
                })
                .collect(),
        },
        2 => FigureKind::Curves {
            curves: (0..count).map(|_| Curve::new(name(rng), any_points(rng))).collect(),
        },
        3 => FigureKind::Cdf {
            curves: (0..count).map(|_| Curve::new(name(rng), any_points(rng))).collect(),
            is_x_logarithmic: rng.below(2) == 1,
        },
        4 => FigureKind::Boxes {
            boxes: (0..count)
                .map(|_| BoxStats {
                    name: name(rng),
                    low: any_number(rng),
                    first_quartile: any_number(rng),
                    median: any_number(rng),
                    third_quartile: any_number(rng),
                    high: any_number(rng),
                    mean: any_number(rng),
                })
                .collect(),
        },
        5 => FigureKind::Scatter {
            is_x_reversed: rng.below(2) == 0,
            clouds: (0..count).map(|_| Cloud { name: name(rng), points: any_points(rng) }).collect(),
        },
        _ => FigureKind::Segments {
            kinds: (0..count)
                .map(|_| SegmentEvents { name: name(rng), points: any_points(rng), look: None })
                .collect(),
        },
    }
}

#[test]
fn no_data_breaks_a_writer() {
    let mut rng = Rng::stream(Seed(1), "figures");
    for _ in 0..300 {
        assert_sound(&figure("any", any_kind(&mut rng)));
    }
}

#[test]
fn many_points_make_small_files() {
    let points: Vec<(f64, f64)> = (0..100_000).map(f64::from).map(|i| (i, (i * 0.7).sin() * i)).collect();
    let curves = FigureKind::Curves { curves: vec![curve("many", points.clone())] };
    let events =
        FigureKind::Segments { kinds: vec![SegmentEvents { name: "many".into(), points, look: None }] };
    for kind in [curves, events] {
        let figure = figure("many", kind);
        assert_sound(&figure);
        let sizes = written(&figure).map(|text| text.len());
        assert!(sizes.iter().all(|size| *size < 2_500_000), "{sizes:?}");
    }
}

#[test]
fn neighbours_differ_without_colour() {
    for figure in samples_of_all() {
        let svg = figure.to_svg(Look { columns: Columns::One, greyscale: true });
        let colours = svg.split(['"', ':']).filter(|part| part.starts_with('#') && part.len() == 7);
        for colour in colours {
            assert!(
                colour[1..3] == colour[3..5] || ["#1b1e22", "#5b6066", "#dfe2e6"].contains(&colour),
                "{colour}"
            );
        }
    }
    let curves = FigureKind::Curves {
        curves: (0..7).map(|i| curve(&format!("s{i}"), wave(f64::from(i), 5.0))).collect(),
    };
    let tex = figure("seven", curves).to_pgf(Look::default(), "d.dat").tex;
    let styles: Vec<&str> = tex
        .lines()
        .filter(|line| line.contains("tidegate line ") && line.contains(".style"))
        .filter_map(|line| line.split_once("line width=0.9pt").map(|(_, rest)| rest))
        .collect();
    assert_eq!(styles.len(), 7);
    for (index, style) in styles.iter().enumerate() {
        assert!(!styles[index + 1..].contains(style), "dash and mark of {index} are used again: {style}");
    }
}

/// Writes all sample figures for a look at them: `TIDEGATE_SAMPLES=DIR cargo test -p tidegate-pages -- --ignored`.
#[test]
#[ignore = "writes files for a look at them"]
fn sample_figures_are_written() {
    let folder = PathBuf::from(std::env::var("TIDEGATE_SAMPLES").expect("TIDEGATE_SAMPLES names a folder"));
    for figure in samples_of_all() {
        for look in LOOKS {
            let name = format!(
                "{}-{}{}",
                figure.id,
                if look.columns == Columns::One { 1 } else { 2 },
                if look.greyscale { "-grey" } else { "" }
            );
            let write = |extension: &str, bytes: &[u8]| {
                std::fs::write(folder.join(format!("{name}.{extension}")), bytes)
                    .expect("the folder is writable")
            };
            write("svg", figure.to_svg(look).as_bytes());
            write("pdf", &figure.to_pdf(look));
            let pgf = figure.to_pgf(look, &format!("{name}.dat"));
            write("tex", pgf.tex.as_bytes());
            write("dat", pgf.data.as_bytes());
        }
        std::fs::write(folder.join(format!("{}-page.svg", figure.id)), figure.inline_svg())
            .expect("writable");
    }
}

#[test]
fn the_only_series_of_bars_has_one_entry_in_the_key() {
    let bars = |names: &[&str]| {
        let one = |name: &&str| BarSeries {
            name: (*name).into(),
            values: vec![Some(samples(1.0, 0.1))],
            published: vec![Some(1.1)],
        };
        let series = names.iter().map(one).collect();
        figure("bars", FigureKind::Bars { groups: vec!["group".into()], series }).inline_svg()
    };
    let entries = |svg: &str, text: &str| svg.matches(&format!(">{text}</text>")).count();
    let single = bars(&["ours"]);
    assert_eq!(entries(&single, "ours, mean ± 95 % interval"), 1, "{single}");
    assert_eq!((entries(&single, "ours"), entries(&single, "published")), (0, 1), "{single}");
    let both = bars(&["one", "two"]);
    assert_eq!(
        (entries(&both, "one"), entries(&both, "two"), entries(&both, "published")),
        (1, 1, 1),
        "{both}"
    );
}
