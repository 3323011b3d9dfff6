use std::path::Path;

use tidegate_core::observe::records::{FlowRecord, LinkRecord};
use tidegate_pages::figure::run::{RUN_FIGURES, RunFigure, Window, of_run};
use tidegate_pages::figure::{BarSeries, Curve, Figure, FigureKind, Look, Series, stated};
use tidegate_pages::page::{self, BoardPage, RunPage, SeedPlots, Timeline, TopologyView};
use tidegate_papers::claims::Claims;
use tidegate_results::claims::{self, ClaimVerdict, Judged, Paper};
use tidegate_results::stats::Estimate;
use tidegate_results::tables::{self, RunContext};
use tidegate_results::text;

use crate::invented;

/// What names the code on pages: of the program, and behind it of an executable with schemes from outside.
const CODE: &str = "0123456789abcdef0123456789abcdef-fedcba9876543210fedcba9876543210";
const COMMAND: &str = "tidegate run scenarios/examples/dumbbell.toml --seeds 3";

fn context() -> RunContext {
    RunContext {
        scenario_text: "[scenario]\nname = \"dumbbell\"\n".into(),
        semantics: 7,
        code: CODE.into(),
        ..RunContext::default()
    }
}

fn sample_run_page(seeds: u64) -> String {
    let runs: Vec<_> = (1..=seeds).map(invented::dumbbell).collect();
    let context = context();
    let mut plots = SeedPlots::new(&runs[0], &Timeline::default(), runs.len() - 1);
    runs[1..].iter().for_each(|run| plots.add(std::slice::from_ref(run)));
    page::run_page(&RunPage {
        title: "dumbbell",
        runs: &runs,
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: (seeds > 1).then_some(&plots),
        command: COMMAND,
        context: &context,
        is_live: false,
    })
}

fn paper() -> Paper {
    Claims::parse("invented.toml", include_str!("invented.toml")).expect("the file is good").paper
}

/// Five samples around `mean`.
fn samples(mean: f64, spread: f64) -> Vec<f64> {
    [-1.0, 0.3, 0.9, -0.4, 0.2].iter().map(|step| mean + spread * step).collect()
}

fn judged(paper: &Paper, is_reduced: bool) -> Vec<Judged> {
    let ours = [(0.0, 0.0), (17.4, 3.0), (0.4, 0.3), (24.0, 2.0), (0.97, 0.0), (f64::NAN, 1.0)];
    let judge = |(claim, (mean, spread)): (&claims::Claim, &(f64, f64))| {
        let samples = samples(*mean, *spread);
        if is_reduced {
            Judged::reduced(claim.clone(), &samples)
        } else {
            Judged::full(claim.clone(), &samples)
        }
    };
    paper.claims.iter().zip(&ours).map(judge).collect()
}

fn line(name: &str, ours: [f64; 5], published: [f64; 5], spread: f64) -> Series {
    let alpha = [0.125, 0.25, 0.5, 0.75, 1.0];
    let points = alpha.iter().zip(ours).map(|(x, y)| (*x, Estimate::of(&samples(y, spread)))).collect();
    Series {
        name: name.into(),
        points,
        published: alpha.into_iter().zip(published).collect(),
        ..Series::default()
    }
}

fn figures() -> Vec<Figure> {
    let lines = FigureKind::Lines {
        series: vec![
            line("AIMD", [310.0, 120.0, 8.0, 2.0, 0.0], [520.0, 330.0, 160.0, 60.0, 12.0], 30.0),
            line("BIC", [870.0, 640.0, 220.0, 60.0, 3.0], [950.0, 610.0, 330.0, 140.0, 30.0], 60.0),
            line("CUBIC", [480.0, 200.0, 30.0, 6.0, 1.0], [700.0, 450.0, 210.0, 90.0, 20.0], 40.0),
            line("ICP", [250.0, 100.0, 12.0, 4.0, 0.0], [380.0, 260.0, 120.0, 50.0, 9.0], 20.0),
        ],
    };
    let bars = FigureKind::Bars {
        groups: ["AIMD", "BIC", "CUBIC", "ICP"].map(String::from).to_vec(),
        series: vec![
            BarSeries {
                name: "queue of 32 packets".into(),
                values: [4.1, 0.2, 3.0, 17.4].map(|mean| Some(Estimate::of(&samples(mean, 1.5)))).to_vec(),
                published: [None, Some(14.9), Some(14.4), Some(21.8)].to_vec(),
            },
            BarSeries {
                name: "queue of 64 packets".into(),
                values: vec![
                    Some(Estimate::of(&[2.0; 5])),
                    Some(Estimate::of(&samples(-3.0, 1.0))),
                    None,
                    Some(Estimate::of(&samples(9.0, 2.0))),
                ],
                published: [Some(5.0), Some(6.1), Some(7.3), None].to_vec(),
            },
        ],
    };
    let figure = |id: &str, title: &str, caption: &str, y_label: &str, kind| Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x_label: "α: share of the queue that makes loss notices".into(),
        y_label: y_label.into(),
        kind,
    };
    vec![
        figure(
            "fig7a",
            "Fig. 7a: retransmissions over α",
            "Linear topology, queue of 32 packets, 50 MiB, five seeds.",
            "retransmissions",
            lines,
        ),
        figure(
            "fig7b",
            "Fig. 7b: decrease of completion time",
            "Largest decrease over α against the same scheme without PLR.",
            "decrease [%]",
            bars,
        ),
    ]
}

fn board_tables() -> Vec<(String, text::TextTable)> {
    let mut table = text::TextTable::new(&[("row", text::Align::Left), ("delay, ms", text::Align::Right)]);
    table.row(["<ICP>".to_owned(), "1.2".to_owned()]);
    vec![("Table 4: delays & more".to_owned(), table)]
}

fn sample_board(is_reduced: bool) -> String {
    let paper = paper();
    let claims = judged(&paper, is_reduced);
    let command = "tidegate reproduce plr --full";
    page::board_page(&BoardPage {
        paper: &paper,
        claims: &claims,
        figures: &figures(),
        tables: &board_tables(),
        files: &["linear.toml".to_owned()],
        command,
        semantics: 7,
        code: CODE,
    })
}

#[test]
fn pages_name_the_code_that_computed_their_results() {
    let short = "semantics 7 · code 01234567-fedcba98</p>";
    let run = sample_run_page(2);
    assert!(run.contains(short) && run.contains(&format!("<dd>{CODE}</dd>")), "{run}");
    assert!(sample_board(false).contains(short));
}

#[track_caller]
fn assert_offline(page: &str) {
    // uPlot's banner and the SVG namespace are names, not addresses that are fetched.
    let rest =
        page.replace("http://www.w3.org/2000/svg", "").replace("https://github.com/leeoniya/uPlot", "");
    for sign in ["http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket"] {
        assert!(
            !rest.contains(sign),
            "{sign} at {:?}",
            rest.find(sign).map(|at| &rest[at.saturating_sub(60)..at + 60])
        );
    }
}

#[test]
fn pages_need_no_network() {
    assert_offline(&sample_run_page(2));
    assert_offline(&sample_board(false));
}

#[test]
fn a_page_without_its_data_is_below_one_megabyte() {
    let page = sample_run_page(1);
    let data = page.split("id=\"panels\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let data = data.expect("the plots have data").len();
    assert!(data > 1000 && page.len() - data < 1_000_000, "{} bytes of which {data} data", page.len());
}

#[test]
fn a_page_of_several_seeds_has_the_series_of_each_and_a_band_over_them_within_a_budget() {
    let page = sample_run_page(3);
    assert!(page.contains("\"seeds\":[\"1\",\"2\",\"3\"]"), "the seeds can be chosen");
    let panels = page.matches("\"quantity\"").count().max(page.matches("\"is_stepped\"").count());
    assert!(panels > 3 && page.matches("\"band\":{").count() == panels, "{panels} panels");
    assert!(page.contains("The plots can show all 3 seeds"));
    let alone = sample_run_page(1);
    assert!(alone.contains("\"seeds\":[]") && !alone.contains("\"band\":{"));

    let many: Vec<_> = (1..=60).map(invented::dumbbell).collect();
    let mut plots = SeedPlots::new(&many[0], &Timeline::default(), SeedPlots::MAX_SEEDS - 1);
    many[1..SeedPlots::MAX_SEEDS].iter().for_each(|run| plots.add(std::slice::from_ref(run)));
    let context = context();
    let page = page::run_page(&RunPage {
        title: "dumbbell",
        runs: &many,
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: Some(&plots),
        command: COMMAND,
        context: &context,
        is_live: false,
    });
    assert!(page.contains("The plots can show the first 20 of 60 seeds"), "the page says what it leaves out");
    assert!(page.len() - alone.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn a_page_and_exported_figures_have_the_same_series_words_and_looks() {
    let run = invented::dumbbell(1);
    let page = sample_run_page(1);
    let drawn = |figure: &RunFigure| of_run(&run, &[], figure.name, Window::ALL);
    let figures: Vec<Figure> = RUN_FIGURES.iter().filter_map(drawn).collect();
    assert!(figures.len() >= 5, "{} figures", figures.len());
    for figure in figures {
        let id = &figure.id;
        let panel =
            page.split(&format!("{{\"id\":\"{id}\",")).nth(1).unwrap_or_else(|| panic!("no panel {id}"));
        let panel = &panel[..panel.find("{\"id\":").unwrap_or(panel.len())];
        let title = figure.title.rsplit(": ").next().unwrap_or_default();
        assert!(
            panel.starts_with(&format!("\"title\":\"{title}\",\"label\":\"{}\"", figure.y_label)),
            "{id}"
        );
        let FigureKind::Curves { curves } = &figure.kind else { panic!("{id} has no curves") };
        assert_eq!(panel.matches("\"colour\":").count(), curves.len(), "{id}");
        for Curve { name, look, .. } in curves {
            let look = look.expect("the curve has its own look");
            assert!(panel.contains(&format!("\"name\":\"{name}\",\"colour\":{look},")), "{id}: {name}");
        }
    }
}

#[test]
fn times_in_the_text_stay_on_paper() {
    let page = sample_run_page(1);
    let print = page.split("@media print").nth(1).expect("there is a style for paper");
    assert!(print.contains("button:not(.moment)"), "times are buttons, which paper hides otherwise");
}

#[test]
fn equal_input_gives_equal_pages() {
    assert_eq!(sample_run_page(2), sample_run_page(2));
    assert_eq!(sample_board(false), sample_board(false));
}

#[test]
fn names_from_a_scenario_cannot_break_out_of_the_page() {
    let evil = "</script><script>alert(1)</script><!--\"'&\u{2028}";
    let mut run = invented::dumbbell(1);
    run.scenario = evil.into();
    for flow in &mut run.flows {
        (flow.name, flow.scheme, flow.consumer) = (evil.into(), evil.into(), evil.into());
    }
    for link in &mut run.links {
        link.from = evil.into();
    }
    let context = RunContext { scenario_text: evil.into(), ..context() };
    let page = page::run_page(&RunPage {
        title: evil,
        runs: &[run],
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: None,
        command: evil,
        context: &context,
        is_live: false,
    });
    assert!(
        !page.contains("alert(1)</script>") && !page.contains("<script>alert"),
        "the name is in the page as markup"
    );
    // The plots' data, uPlot, and two scripts of ours.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (4, 4));
}

#[test]
fn text_of_a_paper_cannot_break_out_of_its_board() {
    let evil = "</table><script>";
    let mut paper = paper();
    (paper.title, paper.authors, paper.assumptions[0].why) = (evil.into(), evil.into(), evil.into());
    paper.claims[0].note = Some(evil.into());
    paper.claims[0].id = evil.into();
    let claims = judged(&paper, false);
    let mut figures = figures();
    (figures[0].title, figures[0].caption, figures[0].id) = (evil.into(), evil.into(), evil.into());
    let page = page::board_page(&BoardPage {
        paper: &paper,
        claims: &claims,
        figures: &figures,
        tables: &[],
        files: &[evil.to_owned()],
        command: evil,
        semantics: 7,
        code: CODE,
    });
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn a_page_of_all_papers_leads_to_the_page_of_each_and_to_claims_that_do_not_agree() {
    let (first, mut second) = (paper(), paper());
    second.scheme = "other".into();
    let claims = [judged(&first, false), judged(&second, true)];
    let (figures, tables) = (figures(), board_tables());
    let scenarios = ["linear.toml".to_owned()];
    let board = |paper, claims| BoardPage {
        paper,
        claims,
        figures: &figures,
        tables: &tables,
        files: &scenarios,
        command: "",
        semantics: 7,
        code: CODE,
    };
    let page = page::boards_page(&[board(&first, &claims[0]), board(&second, &claims[1])], "all");
    assert_offline(&page);
    let scheme = &first.scheme;
    for folder in [scheme.as_str(), "other"] {
        assert_eq!(page.matches(&format!("href=\"../{folder}/report.html\"")).count(), 2, "{folder}");
    }
    for judged in &claims[0] {
        let link = format!("href=\"../{scheme}/report.html#{}\"", judged.claim.id);
        let expected = usize::from(judged.verdict != Some(ClaimVerdict::Agrees));
        assert_eq!(page.matches(&link).count(), expected, "{link}");
    }
    assert!(!page.contains("<svg") && !page.contains("other/report.html#"), "figures stand on papers' pages");
    assert_eq!(page.matches("Reduced run.").count(), 1);
}

#[test]
fn claims_stand_before_figures_with_a_filter_and_links_both_ways() {
    let page = sample_board(false);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text:?} is not on the page"));
    assert!(at("<h2>Claims</h2>") < at("<h2>Figures</h2>"));
    for (verdict, count) in [("agrees", 3), ("direction", 2), ("differs", 1)] {
        assert_eq!(page.matches(&format!("data-verdict=\"{verdict}\"><th")).count(), count, "{verdict}");
        assert_eq!(page.matches(&format!("<button type=\"button\" data-verdict=\"{verdict}\"")).count(), 1);
    }
    let row = &page[at("<tr id=\"P5-icp\"")..];
    assert!(
        row[..row.find("</tr>").unwrap_or(0)].contains("href=\"#fig7b\""),
        "the claim leads to its figure"
    );
    let figure = &page[at("<figure id=\"fig7b\"")..];
    let figure = &figure[..figure.find("</figure>").unwrap_or(0)];
    for claim in ["P5-icp", "P5-bic"] {
        assert!(figure.contains(&format!("href=\"#{claim}\"")), "the figure leads to {claim}");
    }
    assert!(!figure.contains("href=\"#P1\""), "claims of other figures are not linked");
}

#[test]
fn stated_numbers_that_no_figure_overlays_get_bars_of_their_own() {
    let paper = paper();
    let claims = judged(&paper, false);
    let mut axes: Vec<String> = Vec::new();
    for figure in stated(&claims, &figures()) {
        let FigureKind::Bars { groups, series } = figure.kind else { panic!("it has no bars") };
        assert!(series[0].published.iter().all(Option::is_some), "{groups:?}");
        axes.push(figure.y_label);
    }
    // 21.8 and 14.9 stand in figure 7b; what has no number of ours cannot be drawn.
    let has = |id: &str| {
        let claim = paper.claims.iter().find(|claim| claim.id == id).expect("the claim is there");
        axes.iter().any(|axis| axis.starts_with(&claim.quantity))
    };
    assert!(has("P1") && !has("P5-icp") && !has("P5-bic"), "{axes:?}");
}

#[test]
fn a_line_aside_is_named_with_its_range_and_drawn_only_in_the_second_drawing_of_a_page() {
    let mut figure = figures().remove(0);
    let FigureKind::Lines { series } = &mut figure.kind else { panic!("it has lines") };
    series[3].is_aside = true;
    series[3].points.iter_mut().for_each(|(_, estimate)| estimate.mean += 9000.0);
    let inline = figure.inline_svg();
    let drawings: Vec<&str> = inline.split("<svg ").skip(1).collect();
    assert_eq!(drawings.len(), 2);
    let has = |drawing: &str, series: usize| drawing.contains(&format!("<g data-series=\"{series}\">"));
    assert!((0..3).all(|series| has(drawings[0], series) && has(drawings[1], series)));
    assert!(!has(drawings[0], 3) && has(drawings[1], 3), "only the whole drawing has the line");
    let named = "ICP, not drawn: 9000 to 9250";
    assert!(drawings[0].contains(named) && !drawings[1].contains(named), "{}", drawings[0]);
    let file = figure.to_svg(Look::default());
    assert!(file.contains(named) && !file.contains("data-series"), "a file draws what the page draws first");
}

#[test]
fn a_page_without_runs_samples_or_claims_is_a_page() {
    let context = RunContext::default();
    let topology = TopologyView::default();
    let empty = RunPage {
        title: "",
        runs: &[],
        topology: Some(&topology),
        summary: None,
        timeline: &Timeline::default(),
        seeds: None,
        command: "",
        context: &context,
        is_live: false,
    };
    assert!(page::run_page(&empty).ends_with("</html>\n"));
    let runs = [Default::default()];
    let page = page::run_page(&RunPage { runs: &runs, topology: None, ..empty });
    assert!(page.contains("The run was not sampled.") && !page.contains("uPlot"));
    let paper = Paper { claims: Vec::new(), assumptions: Vec::new(), ..paper() };
    let board = BoardPage {
        paper: &paper,
        claims: &[],
        figures: &[],
        tables: &[],
        files: &[],
        command: "",
        semantics: 1,
        code: CODE,
    };
    assert!(page::board_page(&board).ends_with("</html>\n"));
    assert!(page::boards_page(&[], "").ends_with("</html>\n"));
}

#[test]
fn a_page_of_a_transfer_says_nothing_of_links_and_seeds() {
    let runs = [invented::dumbbell(1)];
    let context = context();
    let page = RunPage {
        title: "/file",
        runs: &runs,
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: None,
        command: COMMAND,
        context: &context,
        is_live: true,
    };
    let live = page::run_page(&page);
    assert!(live.contains("measured on real sockets") && live.contains("Congestion window"));
    for texts in ["Links</h2>", "Topology", "seed 1", "semantics"] {
        assert!(!live.contains(texts), "{texts}");
        assert!(page::run_page(&RunPage { is_live: false, ..page }).contains(texts), "{texts}");
    }
}

#[test]
fn a_board_shows_each_verdict_as_a_word_and_says_when_it_is_not_the_recorded_one() {
    let page = sample_board(false);
    assert!(
        page.contains("the interval excludes the value of no effect"),
        "what a verdict means is in words"
    );
    for word in ["agrees", "direction", "differs"] {
        assert!(page.contains(&format!("<b class=\"verdict {word}\">{word}</b>")), "{word}");
    }
    assert!(page.contains("Changed verdicts: 1.") && page.contains("recorded: agrees"));
    let reduced = sample_board(true);
    assert!(reduced.contains("Reduced run.") && !reduced.contains("Changed verdicts"));
}

/// Forty flows through a parking lot of eight routers.
fn crowded_page() -> String {
    let mut run = invented::dumbbell(1);
    let (flow, link) = (run.flows[0].clone(), run.links[5].clone());
    run.links.clear();
    run.flows.clear();
    for index in 0..40 {
        let (consumer, producer) = (format!("consumer{index}"), format!("producer{}", index % 8));
        let (router, next) = (format!("r{}", index % 8), format!("r{}", (index + 1) % 8));
        let flow = flow.clone();
        let name = format!("a-rather-long-flow-name-{index}");
        run.flows.push(FlowRecord { name, consumer: consumer.clone(), producer: producer.clone(), ..flow });
        for (from, to) in
            [(&consumer, &router), (&router, &consumer), (&router, &producer), (&producer, &router)]
        {
            run.links.push(LinkRecord { from: from.clone(), to: to.clone(), ..link.clone() });
        }
        run.links.push(LinkRecord { from: router, to: next, ..link.clone() });
    }
    let context = context();
    page::run_page(&RunPage {
        title: "crowded",
        runs: &[run],
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: None,
        command: COMMAND,
        context: &context,
        is_live: false,
    })
}

#[test]
fn summaries_name_every_flow_and_claim_and_end_with_what_is_not_on_record() {
    let runs: Vec<_> = (1..=3).map(invented::dumbbell).collect();
    let summary = text::run_summary(&runs, text::Screen::PLAIN);
    assert!(summary.starts_with("dumbbell, seeds 1 to 3\n\nflow "), "{summary}");
    assert!(
        summary.lines().any(|line| line.starts_with("c2:/b  bbr-cd ") && line.contains(" ± ")),
        "{summary}"
    );
    let paper = paper();
    let claims = judged(&paper, false);
    let table = text::claims_table(&claims, text::Screen::PLAIN);
    let firsts: Vec<&str> = table.lines().skip(2).filter_map(|line| line.split("  ").next()).collect();
    assert!(paper.claims.iter().all(|claim| firsts.contains(&claim.id.as_str())), "{table}");
    let end =
        "3 agree, 2 direction, 0 undecided, 1 differ\nP8: direction is not the verdict on record, agrees\n";
    assert!(table.ends_with(end), "{table}");
    let json = text::claims_json(&paper, &claims).to_string();
    assert!(json.contains(r#""band":[null,0.1]"#) && json.contains(r#""verdict":"agrees""#), "{json}");
    assert!(
        text::run_summary_json(&runs)
            .to_string()
            .starts_with(r#"{"scenario":"dumbbell","seeds":[1,2,3],"flows":[{"#)
    );
}

/// Writes sample pages for a look at them: `TIDEGATE_SAMPLES=DIR cargo test -p tidegate-pages -- --ignored`.
#[test]
#[ignore = "writes files for a look at them"]
fn sample_pages_are_written() {
    let folder = std::env::var("TIDEGATE_SAMPLES").expect("TIDEGATE_SAMPLES names a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&folder).join(name), text).expect("the folder is writable")
    };
    write("run.html", &sample_run_page(1));
    write("runs.html", &sample_run_page(3));
    write("crowded.html", &crowded_page());
    write(
        "summary.txt",
        &text::run_summary(&[invented::dumbbell(1), invented::dumbbell(2)], text::Screen::PLAIN),
    );
    write("claims.txt", &text::claims_table(&judged(&paper(), false), text::Screen::PLAIN));
    write("board.html", &sample_board(false));
    write("reduced.html", &sample_board(true));
    for table in tables::build(&[invented::dumbbell(1), invented::dumbbell(2)], &context()) {
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).expect("writing to memory");
        std::fs::write(Path::new(&folder).join(format!("{}.parquet", table.name)), bytes)
            .expect("the folder is writable");
    }
    for figure in figures() {
        write(&format!("{}.svg", figure.id), &figure.to_svg(Look::default()));
    }
}
