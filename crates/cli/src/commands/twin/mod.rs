//! `tidegate twin`: one scenario simulated and live, compared measure by measure.
//!
//! Live, every part is a process of this program: two forwarders, between them `tidegate link` for the delay,
//! and `tidegate serve`. The bottleneck is the shaper of the second forwarder, so that the queue is the same
//! code in both.

mod compare;
mod lateness;
mod live;

use serde_json::Value;
use tidegate_core::scheme::Scheme;
use tidegate_live::signals::StopSignal;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::run as simulate;
use tidegate_sim::scenario;

use crate::exit::{Exit, Failure, Outcome};
use crate::progress::ProgressLine;
use crate::{Format, Session};
use compare::{Comparison, TwinCase};
use lateness::{LatenessWatch, MAX_LATE};
use live::LiveRun;

const SCENARIO: &str = include_str!("../../../scenarios/live/twin.toml");
const SOURCE: &str = "twin.toml";

/// Content bytes of a live segment.
const PAYLOAD: u64 = 1200;

/// Cases of the comparison: name, consumer scheme, router roles.
const CASES: [(&str, &str, &str); 3] = [
    ("catchunks-cubic", "catchunks-cubic", "[]"),
    ("ndnsim-aimd", "ndnsim-aimd", "[]"),
    ("ndnsim-aimd, plr", "ndnsim-aimd", "[{ scheme = \"plr\" }]"),
];

/// Arguments of the command `tidegate twin`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of live runs, and of simulated seeds, of each case.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Number of segments of the file, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    segments: Option<u32>,
}

/// Runs the command `tidegate twin`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let line = ProgressLine::new("live runs", CASES.len() * arguments.runs as usize, session);
    // Without it a signal would end this process alone, and leave those of the live run behind.
    let stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut cases = Vec::new();
    for (name, scheme, parts) in CASES {
        let found = session.schemes.iter().find(|known| known.name == scheme);
        let scheme = found.ok_or_else(|| Failure::error(format!("scheme {scheme:?} is not known")))?;
        let live =
            |planned: &Plan, roles: &Roles<'_>| live::run(planned, roles, &stop).inspect(|_| line.one_done());
        cases.push(compare_case(session, arguments, name, &Roles { scheme, parts }, live)?);
    }
    session.show(&match session.format {
        Format::Text => compare::table(&cases, session.screen),
        Format::Json => cases.iter().map(TwinCase::json).collect::<Value>().to_string() + "\n",
    });
    let exit = compare::exit(&cases);
    if exit == Exit::NotJudged {
        session.warn(&format!(
            "not judged, this machine was busy: timers fired more than {} ms late (99th percentile) while measures outside \
             their tolerance were taken; run the same command on an idle machine",
            MAX_LATE.as_millis_f64()
        ));
    }
    Ok(exit)
}

/// Schemes of a case.
struct Roles<'a> {
    /// Scheme of the consumer.
    scheme: &'static Scheme,
    /// Router roles, as in a scenario.
    parts: &'a str,
}

fn compare_case(
    session: &Session,
    arguments: &Arguments,
    name: &'static str,
    roles: &Roles<'_>,
    live: impl Fn(&Plan, &Roles<'_>) -> Result<LiveRun, Failure>,
) -> Result<TwinCase, Failure> {
    let planned = plan(session, roles, PAYLOAD, arguments)?;
    let mut case = TwinCase::new(name);
    let mut data_bytes = 0.0;
    for _ in 0..arguments.runs {
        let watch = LatenessWatch::start();
        let run = live(&planned, roles)?;
        case.lateness.push(watch.finish());
        data_bytes = run.data_bytes;
        case.live.push(run.measures);
    }
    // Live Data are larger than simulated ones by signature and fields; for equal packets, the content grows.
    let segment = planned.flows.first().map_or(0, segments);
    let overhead = simulated_data_bytes(&planned, segment)? - PAYLOAD as f64;
    let planned = plan(session, roles, (data_bytes - overhead).round() as u64, arguments)?;
    // `--runs` may be more than the seeds of the scenario.
    for seed in planned.seeds.iter().cycle().take(arguments.runs as usize) {
        case.simulated.push(Comparison::of_simulation(&simulate(&planned, *seed), PAYLOAD));
    }
    Ok(case)
}

/// The scenario with these roles, and `payload` bytes per segment.
fn plan(session: &Session, roles: &Roles<'_>, payload: u64, arguments: &Arguments) -> Result<Plan, Failure> {
    let written = scenario::parse(SOURCE, SCENARIO, &[], &session.schemes).map_err(Failure::error)?;
    let segments = arguments.segments.unwrap_or_else(|| written.flows.first().map_or(0, segments));
    let set = |key: &str, value: String| (key.to_owned(), value);
    let overrides = [
        set("flow.0.scheme", roles.scheme.name.to_owned()),
        set("router.router_parts", roles.parts.to_owned()),
        set("flow.0.payload", format!("{payload}B")),
        set("flow.0.size", format!("{}B", u64::from(segments) * payload)),
    ];
    scenario::parse(SOURCE, SCENARIO, &overrides, &session.schemes).map_err(Failure::error)
}

fn segments(flow: &tidegate_sim::plan::FlowPlan) -> u32 {
    match flow.demand {
        tidegate_sim::plan::Demand::File { segments } => segments,
        _ => 0,
    }
}

/// Bytes of a simulated Data in the middle of the file.
fn simulated_data_bytes(plan: &Plan, segments: u32) -> Result<f64, Failure> {
    let mut names = tidegate_core::ndn::name::NameTable::new();
    let flow = plan.flows.first().ok_or_else(|| Failure::error("the scenario has no flow"))?;
    let prefix = names.intern_uri(&flow.prefix).map_err(Failure::error)?;
    let name = tidegate_core::ndn::name::Name::segment(prefix, segments / 2);
    let size =
        tidegate_core::ndn::packet::wire_size::data(names.encoded_len(name), flow.payload.get() as u32);
    Ok(size.get() as f64)
}
