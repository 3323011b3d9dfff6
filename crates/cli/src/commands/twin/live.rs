//! The scenario on real sockets.

use std::os::fd::AsFd;

use tidegate_core::ndn::face::Limit;
use tidegate_core::scheme::params::Settings;
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::daemon::status::StatusLine;
use tidegate_live::fetch::{
    FetchError, FetchSettings, RECEIVE_WINDOW, RETRIES, Trust, fetch, live_profile, newest_version,
};
use tidegate_live::name_uri;
use tidegate_live::signals::StopSignal;
use tidegate_sim::plan::{LinkPlan, Plan};

use super::compare::Comparison;
use super::{PAYLOAD, Roles, segments};
use crate::commands::children::{Running, Scratch, Speaks, shown};
use crate::commands::fetch::failure;
use crate::commands::status::{self, uplink};
use crate::exit::Failure;

/// Time for the server to register its prefix.
const WAIT: Span = Span::from_secs(5);

const PREFIX: &str = "/twin/file";

/// Measurements of one live run.
pub(super) struct LiveRun {
    /// Measures of the transfer over sockets.
    pub(super) measures: Comparison,
    /// Mean bytes of a packet towards the consumer.
    pub(super) data_bytes: f64,
}

/// The processes around the consumer, and where it connects.
struct TwinTestbed {
    _processes: Vec<Running>,
    near: String,
    far: String,
    _folder: Scratch,
}

/// Fetches the file of `plan` once over real sockets.
pub(super) fn run(plan: &Plan, roles: &Roles<'_>, stop: &StopSignal) -> Result<LiveRun, Failure> {
    let scheme = roles.scheme;
    let network = TwinTestbed::start(plan, roles.parts)?;
    let mut client = Client::connect(&uplink(Some(&network.near))?).map_err(Failure::error)?;
    client.stop_on(stop.as_fd().try_clone_to_owned().map_err(Failure::error)?).map_err(Failure::error)?;
    let name = name_uri::parse(PREFIX).map_err(Failure::error)?;
    let failed = |why: FetchError| failure(&why, PREFIX);
    let name = newest_version(&mut client, &name, &Trust::Digest, WAIT).map_err(failed)?;
    let make = scheme.consumer.ok_or_else(|| Failure::error(format!("{} is not a consumer", scheme.name)))?;
    let controller = make(&Settings::default()).map_err(|_| Failure::error("the scheme needs parameters"))?;
    let settings = FetchSettings {
        must_be_fresh: false,
        name,
        first_segment: 0,
        content_id: None,
        scheme: scheme.name,
        controller,
        profile: live_profile(scheme.profile, RETRIES, None),
        trust: Trust::Digest,
        receive_window: RECEIVE_WINDOW,
        reconnect: Span::ZERO,
        wait: WAIT,
    };
    let fetched = fetch(&mut client, settings, &mut std::io::sink(), &mut |_| {}).map_err(Failure::error)?;
    fetched.end.map_err(failed)?;
    let bottleneck = network.bottleneck()?;
    let value =
        |key: &str| bottleneck.get(key).and_then(|value| value.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let measures = Comparison {
        queue_delay_ms: value("queue_delay_mean_ms"),
        ..Comparison::of_flow(&fetched.record, PAYLOAD)
    };
    Ok(LiveRun { measures, data_bytes: value("sent_bytes") / value("sent_packets") })
}

impl TwinTestbed {
    fn start(plan: &Plan, parts: &str) -> Result<Self, Failure> {
        let folder = Scratch::new("twin")?;
        let bottleneck = plan.links.iter().find(|link| link.name == "r1-r2");
        let bottleneck = bottleneck.ok_or_else(|| Failure::error("the scenario has no link r1-r2"))?;
        let count = plan.flows.first().map_or(0, segments);
        let file = folder.write("file", &vec![b'x'; count as usize * PAYLOAD as usize])?;
        let (near, far) = (unix(&folder, "r1"), unix(&folder, "r2"));
        let shaped = shaped(bottleneck, parts);

        let config = folder.write("r2.toml", format!("format = 1\n[face_defaults]\n{shaped}").as_bytes())?;
        let listen = ["--listen", &far, "--listen", "udp4://127.0.0.1:0"];
        // From the producer's side: each process needs the port that the system gave to the one before.
        let r2 = Running::start(
            &[&["forward", &shown(&config)], &listen[..]].concat(),
            Speaks::OnError,
            "listening at udp4://",
        )?;
        let delay = format!("{}us", bottleneck.delay.as_nanos() / 1000);
        let link = ["link", "--listen", "127.0.0.1:0", "--to", r2.stated(), "--delay", &delay];
        let link = Running::start(&link, Speaks::OnError, "carrying ")?;
        let middle = link.stated().split(' ').next().unwrap_or_default().to_owned();
        let text = format!(
            "format = 1\n[[face]]\nname = \"r2\"\nuri = \"udp4://{middle}\"\n{shaped}\
             [[route]]\nprefix = \"/twin\"\nface = \"r2\"\n"
        );
        let config = folder.write("r1.toml", text.as_bytes())?;
        let r1 = Running::start(
            &["forward", &shown(&config), "--listen", &near],
            Speaks::OnError,
            "listening at unix://",
        )?;
        let size = PAYLOAD.to_string();
        let serve = ["serve", PREFIX, &shown(&file), "--segment-size", &size, "--transport", &far];
        let serve = Running::start(&serve, Speaks::OnOutput, "serving ")?;
        Ok(Self { _processes: vec![serve, r1, link, r2], near, far, _folder: folder })
    }

    /// The second forwarder's face towards the first.
    fn bottleneck(&self) -> Result<StatusLine, Failure> {
        let lines = status::read(&mut Client::connect(&uplink(Some(&self.far))?).map_err(Failure::error)?)?;
        let is_link = |line: &StatusLine| {
            line.about == "face" && line.get("remote").is_some_and(|remote| remote.starts_with("udp"))
        };
        lines
            .into_iter()
            .find(is_link)
            .ok_or_else(|| Failure::error("the face of the bottleneck no longer exists"))
    }
}

fn unix(folder: &Scratch, name: &str) -> String {
    format!("unix://{}", folder.path(name).display())
}

/// Keys of a face with the rate, the queue and the router parts of the bottleneck.
fn shaped(link: &LinkPlan, parts: &str) -> String {
    let limit = match link.queue[0].limit {
        Limit::Packets(packets) => format!("{}pkt", packets.get()),
        Limit::Bytes(bytes) => format!("{}B", bytes.get()),
    };
    let rate = link.rate[0].as_bps();
    format!(
        "rate = \"{rate}bps\"\nqueue = {{ limit = \"{limit}\", disciplines = [] }}\nrouter_parts = {parts}\n"
    )
}
