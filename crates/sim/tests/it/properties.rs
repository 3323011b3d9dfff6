//! What holds of every run: random networks, schemes, queues, losses and changes. Seeds are fixed.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tidegate_core::ndn::consumer::profile::Tracking;
use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::Settings;
use tidegate_core::units::{BitRate, Span, Time};
use tidegate_results::measures;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{Change, Demand, FlowPlan, LinkPlan, Plan};
use tidegate_sim::world::{Ledger, ServiceLedger, World};

use crate::{arrivals, plan};

/// Flows stop then; lifetimes last half a second and no packet stays in the network for more than 6 s.
const STOP_MS: u32 = 1_500;

/// Draws the parts of a scenario.
struct Draw {
    rng: Rng,
}

impl Draw {
    /// A number in `from..=to`.
    fn number(&mut self, from: u32, to: u32) -> u32 {
        from + self.rng.below(to - from + 1)
    }

    fn part(&mut self, from: f64, to: f64) -> f64 {
        ((from + (to - from) * self.rng.uniform()) * 1e4).round() / 1e4
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.rng.chance(probability)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.rng.below(of.len() as u32) as usize]
    }

    fn scheme(&mut self, fits: fn(&Scheme) -> bool) -> &'static str {
        let fitting: Vec<&str> =
            SCHEMES.iter().filter(|scheme| fits(scheme)).map(|scheme| scheme.name).collect();
        self.one(&fitting)
    }

    fn plr(&mut self) -> String {
        format!(
            "{{ name = \"plr\", alpha = {}, tau = {}, interval = \"{}us\", residence = \"{}ms\", release = {:?}, \
             sent_counted = {:?}, cap = {}, released_counted = {}, full_for_notice = {:?}, recover_interests = {} }}",
            self.part(0.01, 1.0),
            self.part(0.01, 1.0),
            self.number(1, 20_000),
            self.number(1, 800),
            self.one(&["above-one", "from-one"]),
            self.one(&["enqueue", "dequeue"]),
            self.chance(0.5),
            self.chance(0.5),
            self.one(&["own-class", "any-class"]),
            self.chance(0.5),
        )
    }

    fn loss(&mut self) -> String {
        match self.number(0, 7) {
            0 => format!("{{ model = \"bernoulli\", probability = {} }}", self.part(0.0, 0.2)),
            1 => format!(
                "{{ model = \"gilbert-elliott\", to_bad = {}, to_good = {}, loss_bad = {} }}",
                self.part(0.0, 0.1),
                self.part(0.05, 1.0),
                self.part(0.0, 1.0)
            ),
            3 => format!(
                "{{ model = \"spells\", good = \"{}ms\", bad = \"{}ms\" }}",
                self.number(1, 200),
                self.number(1, 50)
            ),
            4 => format!(
                "{{ model = \"bursts\", probability = {}, most = {} }}",
                self.part(0.0, 0.2),
                self.number(1, 50)
            ),
            2 => {
                let length = self.number(5, 60);
                let pattern: String = (0..length).map(|_| if self.chance(0.1) { '1' } else { '0' }).collect();
                format!("{{ model = \"trace\", pattern = \"{pattern}\" }}")
            }
            _ => "\"none\"".to_owned(),
        }
    }

    /// A queue; `plr` says whether it may store packets itself.
    fn queue(&mut self, plr: bool) -> String {
        let limit = if self.chance(0.7) {
            format!("{}pkt", self.number(1, 40))
        } else {
            format!("{}B", self.number(100, 50_000))
        };
        let mut disciplines = Vec::new();
        if self.chance(0.6) {
            let fits: fn(&Scheme) -> bool = |scheme| scheme.discipline.is_some() && scheme.name != "plr";
            disciplines.push(format!("{:?}", self.scheme(fits)));
        }
        if plr && self.chance(0.3) {
            disciplines.push(self.plr());
        }
        format!("{{ limit = \"{limit}\", disciplines = [{}] }}", disciplines.join(", "))
    }

    /// The values of a link as lines (`,` between them for a table on one line).
    fn link(&mut self, reorder: bool, plr: bool) -> Vec<String> {
        // A scenario declares the medium in any case.
        let is_wireless = self.chance(0.2);
        let mut values = match is_wireless {
            true => vec!["medium = \"air\"".to_owned()],
            false => vec![format!("rate = \"{}kbps\"", self.number(1_000, 20_000))],
        };
        values.push(format!("delay = \"{}us\"", self.number(0, 30_000)));
        values.push(format!("queue = {}", self.queue(plr)));
        if self.chance(0.4) {
            values.push(format!("jitter = \"{}us\"", self.number(1, 20_000)));
            values.push(format!("reorder = {}", reorder && self.chance(0.5)));
        }
        if self.chance(0.3) {
            values.push(format!("mtu = \"{}B\"", self.number(128, 1_500)));
        }
        // Where frames may be sent again, packets do not keep their order.
        if reorder && self.chance(0.5) {
            values.push(format!("link_service = {:?}", ["belrp", "wldr"][self.number(0, 1) as usize]));
        }
        if is_wireless && self.chance(0.5) {
            values.push(format!("loss = {}", self.loss()));
        } else if !is_wireless && self.chance(0.5) {
            values.push(format!("forward = {{ loss = {} }}", self.loss()));
            values.push(format!(
                "backward = {{ loss = {}, rate = \"{}kbps\" }}",
                self.loss(),
                self.number(1_000, 20_000)
            ));
        }
        values
    }

    /// Nodes and links as text, and two nodes that are there.
    fn network(&mut self, reorder: bool, plr: bool) -> (String, [&'static str; 2]) {
        if self.chance(0.4) {
            return (self.graph(reorder, plr), ["n0", "n1"]);
        }
        let (builtin, ends) = match self.number(0, 8) {
            0 => (format!("\"linear\"\nrouters = {}", self.number(1, 4)), ["c1", "p1"]),
            1 => (format!("\"dumbbell\"\npairs = {}", self.number(1, 3)), ["c1", "p1"]),
            2 => (
                format!("\"star\"\nconsumers = {}\nproducers = {}", self.number(1, 4), self.number(1, 2)),
                ["c1", "p1"],
            ),
            3 => (
                format!("\"tree\"\ndepth = {}\nfanout = {}", self.number(1, 2), self.number(1, 2)),
                ["c1", "p1"],
            ),
            4 => (
                format!("\"grid\"\nrows = {}\ncolumns = {}", self.number(1, 3), self.number(2, 3)),
                ["r1", "r2"],
            ),
            5 => (format!("\"parking-lot\"\nhops = {}", self.number(1, 2)), ["c1", "p1"]),
            6 => (
                format!(
                    "\"waxman\"\nnodes = {}\nalpha = 0.3\nbeta = 0.6\nseed = {}",
                    self.number(2, 6),
                    self.number(0, 9)
                ),
                ["r1", "r2"],
            ),
            7 => (
                format!(
                    "\"barabasi-albert\"\nnodes = {}\nlinks = 2\nseed = {}",
                    self.number(3, 6),
                    self.number(0, 9)
                ),
                ["r1", "r3"],
            ),
            _ => (format!("\"multipath\"\npaths = {}", self.number(1, 3)), ["c1", "p1"]),
        };
        let link = self.link(reorder, plr).join(", ");
        (format!("[topology]\nbuiltin = {builtin}\nlink = {{ {link} }}\n"), ends)
    }

    /// A tree over 2 to 12 nodes, and up to four links more.
    fn graph(&mut self, reorder: bool, plr: bool) -> String {
        let nodes = self.number(2, 12);
        let mut text = String::new();
        for node in 0..nodes {
            writeln!(text, "[[node]]\nname = \"n{node}\"\n{}", self.clock()).expect("a string takes it");
        }
        let mut pairs: Vec<(u32, u32)> = (1..nodes).map(|node| (self.number(0, node - 1), node)).collect();
        for _ in 0..self.number(0, 4) {
            let (a, b) = (self.number(0, nodes - 1), self.number(0, nodes - 1));
            if a < b && !pairs.contains(&(a, b)) {
                pairs.push((a, b));
            }
        }
        for (a, b) in pairs {
            let link = self.link(reorder, plr).join("\n");
            let cost = self.number(1, 3);
            writeln!(text, "[[link]]\nends = [\"n{a}\", \"n{b}\"]\ncost = {cost}\n{link}").expect("as above");
        }
        text
    }

    fn flow(&mut self, number: usize, shape: &Plan) -> String {
        let count = shape.nodes.len() as u32;
        let consumer = self.number(0, count - 1);
        let mut producers: Vec<u32> = (0..self.number(1, 2)).map(|_| self.number(0, count - 1)).collect();
        producers.retain(|producer| *producer != consumer);
        producers.dedup();
        if producers.is_empty() {
            producers.push((consumer + 1) % count);
        }
        let name = |node: &u32| format!("{:?}", shape.nodes[*node as usize].name);
        let producers: Vec<String> = producers.iter().map(name).collect();
        let mut text = format!(
            "[[flow]]\nname = \"f{number}\"\nconsumer = {}\nproducer = [{}]\nprefix = \"/f/{number}\"\n",
            name(&consumer),
            producers.join(", ")
        );
        self.demand(&mut text);
        text
    }

    /// A TCP connection between any two nodes.
    fn connection(&mut self, number: usize, shape: &Plan) -> String {
        let count = shape.nodes.len() as u32;
        let sender = self.number(0, count - 1);
        let receiver = (sender + self.number(1, count - 1)) % count;
        let name = |node: u32| format!("{:?}", shape.nodes[node as usize].name);
        let demand = match self.number(0, 2) {
            0 => format!("size = \"{}kB\"", self.number(1, 600)),
            1 => format!("rate = \"{}kbps\"", self.number(100, 20_000)),
            _ => String::new(),
        };
        format!(
            "[[tcp]]\nname = \"t{number}\"\nsender = {}\nreceiver = {}\nscheme = {:?}\n{demand}\nmss = \"{}B\"\n\
             detection = {:?}\nrto = {:?}\nreceiver_ecn = {}\nburst = {}\nack_every = {}\nreceive_buffer = \"{}kB\"\nstart = \"{}ms\"\n\
             stop = \"{STOP_MS}ms\"\n",
            name(sender),
            name(receiver),
            self.scheme(|scheme| scheme.sender.is_some()),
            self.number(100, 9_000),
            self.one(&["rack-tlp", "sack"]),
            self.one(&["linux", "rfc6298"]),
            self.chance(0.8),
            self.number(1, 8),
            self.number(1, 4),
            self.number(10, 1_000),
            self.number(0, 500),
        )
    }

    fn demand(&mut self, text: &mut String) {
        let scheme = match self.scheme(|scheme| scheme.consumer.is_some()) {
            "fixed" => format!("{{ name = \"fixed\", window = {} }}", self.part(1.0, 200.0)),
            other => format!("{other:?}"),
        };
        let kind = self.one(&["ndnsim", "ndn-tools", "ndnts", "ndnd", "hicn", "own"]);
        let retries = self.one(&["", ", retry_limit = 0", ", retry_limit = 2", ", retry_limit = \"none\""]);
        if self.chance(0.3) {
            writeln!(text, "processing = {}", self.server()).expect("a string takes it");
        }
        let demand = match self.number(0, 4) {
            4 => self.requests(),
            0 => format!("segments = {}", self.number(1, 400)),
            1 => format!("size = \"{}kB\"", self.number(1, 300)),
            2 => {
                let at = self.number(0, 900);
                format!(
                    "rate = \"{}kbps\"\nbursts = [{{ at = \"{at}ms\", for = \"{}ms\" }}]",
                    self.number(100, 20_000),
                    self.number(1, 500)
                )
            }
            _ => String::new(),
        };
        writeln!(
            text,
            "scheme = {scheme}\nshell = {{ kind = {kind:?}, lifetime = \"500ms\"{retries} }}\n{demand}\npayload = \
             \"{}B\"\nstart = \"{}ms\"\nstop = \"{STOP_MS}ms\"\nmust_be_fresh = {}\nfreshness = \"{}ms\"",
            self.number(1, 1_200),
            self.number(0, 500),
            self.chance(0.3),
            self.number(0, 300),
        )
        .expect("a string takes it");
    }

    /// A content store of any kind.
    fn cache(&mut self) -> String {
        let admission = match self.number(0, 2) {
            0 => "admission = \"probabilistic\", probability = 0.5".to_owned(),
            1 => "admission = \"leave-copy-down\"".to_owned(),
            _ => "admission = \"everywhere\"".to_owned(),
        };
        format!(
            "{{ size = \"{}pkt\", policy = {:?}, placement = {:?}, {admission} }}",
            self.number(1, 300),
            self.one(&["lru", "fifo", "lfu", "random"]),
            self.one(&["all", "edge"]),
        )
    }

    /// A server that needs little time for each, so that all that waits is gone long before the end.
    fn server(&mut self) -> String {
        format!(
            "{{ time = \"{}us\", distribution = {:?}, queue = \"{}pkt\" }}",
            self.number(1, 300),
            self.one(&["constant", "exponential"]),
            self.number(0, 60),
        )
    }

    /// A clock with ticks, or none.
    fn clock(&mut self) -> String {
        if self.chance(0.7) {
            return String::new();
        }
        let phase =
            if self.chance(0.5) { "random".to_owned() } else { format!("{}us", self.number(0, 200_000)) };
        format!(
            "clock = {{ period = \"{}us\", phase = \"{phase}\", flush_on_arrival = {} }}",
            self.number(1, 100_000),
            self.chance(0.5)
        )
    }

    /// What `[router]` has beside its cache, strategy and parts.
    fn blocks(&mut self) -> String {
        let mut text = String::new();
        if self.chance(0.3) {
            writeln!(text, "service = {}", self.server()).expect("a string takes it");
        }
        if self.chance(0.3) {
            let cache = self.one(&["\"0pkt\"", "\"20pkt\"", "{ share = 0.5, policy = \"fifo\" }"]);
            writeln!(text, "[[router.prefix]]\nprefix = \"/f/1\"\ncache = {cache}").expect("as above");
        }
        text
    }

    /// Requests for objects, some without an end.
    fn requests(&mut self) -> String {
        let rate = if self.chance(0.7) {
            format!(", rate = \"{}/s\"", self.number(10, 2_000))
        } else {
            String::new()
        };
        let end = if self.chance(0.6) || rate.is_empty() {
            format!(", requests = {}", self.number(1, 300))
        } else {
            String::new()
        };
        format!(
            "demand = {{ model = \"zipf\", objects = {}, exponent = {}, segments = {}{rate}{end} }}",
            self.number(1, 200),
            self.part(0.0, 2.0),
            self.number(1, 5)
        )
    }

    /// Router parts: PLR's, those of another scheme, or none; whether they have a strategy.
    fn parts(&mut self, plr: bool) -> (String, bool) {
        if plr {
            return (self.plr(), false);
        }
        if self.chance(0.4) {
            return (String::new(), false);
        }
        let name = self.scheme(|scheme| scheme.router.is_some() && scheme.name != "plr");
        let scheme = tidegate_schemes::find(SCHEMES, name).expect("registered");
        (format!("{name:?}"), scheme.brings_strategy(&Settings::default()))
    }

    fn event(&mut self, shape: &Plan) -> String {
        let (from, length) = (self.number(0, 900), self.number(1, 400));
        let link = &shape.links[self.number(0, shape.links.len() as u32 - 1) as usize];
        let (link, is_wireless) = (&link.name, link.medium.is_some());
        let node = &shape.nodes[self.number(0, shape.nodes.len() as u32 - 1) as usize].name;
        let what = match self.number(0, 2) {
            0 => {
                let rate = self.number(1_000, 20_000);
                if is_wireless {
                    return String::new();
                }
                return format!("[[event]]\nat = \"{from}ms\"\nlink = {link:?}\nrate = \"{rate}kbps\"\n");
            }
            1 => format!("link = {link:?}"),
            _ => format!("node = {node:?}"),
        };
        let keep = if what.starts_with("link") {
            format!("keep_queue = {}\n", self.chance(0.5))
        } else {
            String::new()
        };
        let down = format!("[[event]]\nat = \"{from}ms\"\n{what}\nstate = \"down\"\n{keep}");
        format!("{down}[[event]]\nat = \"{}ms\"\n{what}\nstate = \"up\"\n", from + length)
    }

    fn scenario(&mut self) -> Case {
        let reorder = self.chance(0.4);
        let (plr_part, plr_queue) =
            [(true, false), (false, true), (false, false)][self.number(0, 2) as usize];
        let stops = self.chance(0.2);
        let mut text = format!(
            "format = 1\n[scenario]\nname = \"random\"\nduration = \"8s\"\nsample = \"20ms\"\n\
             events = [\"data-received\"]\nstop_when_complete = {stops}\nvary = {{ start = {}, delay = {} }}\n",
            self.chance(0.5),
            self.part(0.0, 0.5)
        );
        let (network, [consumer, producer]) = self.network(reorder, plr_queue);
        let access = self.one(&["dcf", "edca"]);
        let aggregate = self.one(&["", "aggregate = \"20kB\""]);
        let (mcs, attempts) = (self.number(0, 15), self.number(1, 7));
        writeln!(text, "[medium.air]\nmcs = {mcs}\naccess = {access:?}\nattempts = {attempts}\n{aggregate}")
            .expect("a string takes it");
        text.push_str(&network);
        let strategy = self.scheme(|scheme| scheme.strategy.is_some());
        let cache = if self.chance(0.5) { self.cache() } else { "\"0pkt\"".to_owned() };
        let (parts, brings_strategy) = self.parts(plr_part);
        let strategy = if brings_strategy { String::new() } else { format!("strategy = {strategy:?}\n") };
        let clock = self.clock();
        writeln!(text, "[router]\n{strategy}cache = {cache}\nrouter_parts = [{parts}]\n{clock}")
            .expect("as above");
        text.push_str(&self.blocks());
        if consumer == "c1" {
            writeln!(text, "[node.c1]\n{}", self.clock()).expect("as above");
        }
        let shape = plan(&format!(
            "{text}[[flow]]\nconsumer = {consumer:?}\nproducer = {producer:?}\nprefix = \"/x\"\nscheme = \"fixed\"\n"
        ));
        for number in 0..self.number(1, 4) as usize {
            text.push_str(&self.flow(number, &shape));
        }
        let is_tree = shape.links.len() + 1 == shape.nodes.len();
        for _ in 0..self.number(0, 4) {
            text.push_str(&self.event(&shape));
        }
        for number in 0..self.number(0, 3) as usize {
            text.push_str(&self.connection(number, &shape));
        }
        Case { keeps_order: is_tree && !reorder && !plr_part && !plr_queue, text }
    }
}

struct Case {
    text: String,
    /// One way between any two nodes, and nothing on it that changes the order of packets.
    keeps_order: bool,
}

/// The first thing that is wrong, if any.
macro_rules! check {
    ($holds:expr, $($what:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($what)*));
        }
    };
}

fn check_ledgers(ledgers: &[Ledger], record: &RunRecord) -> Result<(), String> {
    for (ledger, link) in ledgers.iter().zip(&record.links) {
        check!(ledger.balances(), "{}-{}: {ledger:?}", link.from, link.to);
        let reported = (link.offered_packets, link.dropped_packets, link.sent_packets, link.lost_packets);
        check!(
            reported == (ledger.offered, ledger.dropped, ledger.sent, ledger.lost),
            "{link:?} is not {ledger:?}"
        );
        check!(link.queue_delay.count == link.sent_packets, "{link:?}");
        let utilisation = measures::utilisation(link, record.ended).unwrap_or(0.0);
        check!((0.0..=1.0).contains(&utilisation), "utilisation {utilisation}: {link:?}");
        check!(link.released_packets <= link.stored_packets, "{link:?}");
        check!(link.sent_frames >= link.sent_packets && link.lost_frames <= link.sent_frames, "{link:?}");
        check!(link.lost_frames >= link.lost_packets, "{link:?}");
    }
    for medium in &record.media {
        let airtime = measures::airtime(medium, record.ended).unwrap_or(0.0);
        check!((0.0..=1.0).contains(&airtime), "airtime {airtime}: {medium:?}");
    }
    let delivered: u64 = ledgers.iter().map(|ledger| ledger.delivered).sum();
    check!(delivered == record.packet_hops, "{delivered} delivered, {} hops", record.packet_hops);
    Ok(())
}

/// Every packet has ended, but for those that wait or are on a link.
fn check_ended(world: &World) -> Result<(), String> {
    let ledgers = world.ledgers();
    let on_links: u64 = ledgers.iter().map(|ledger| ledger.queued + ledger.stored + ledger.in_flight).sum();
    let in_servers: u64 = world.service_ledgers().iter().map(|ledger| ledger.waiting).sum();
    let (living, known) = (world.living_packets(), on_links + in_servers);
    check!(living == known, "{living} packets have not ended, {known} of them are somewhere");
    Ok(())
}

/// Once all flows have stopped nothing is on a link; WLDR alone may wait forever for word of a frame.
fn check_empty(ledgers: &[Ledger], plan: &Plan) -> Result<(), String> {
    for (ledger, link) in ledgers.chunks(2).zip(&plan.links) {
        let waits = link.link_service.as_ref().is_some_and(|service| service.scheme.name == "wldr");
        let left: u64 = ledger.iter().map(|ledger| ledger.in_flight).sum();
        check!(left == 0 || waits, "link {} has packets under way: {ledger:?}", link.name);
    }
    Ok(())
}

/// Whether a flow that has no end of its own may be over, because it stopped or gave up what was left.
fn may_be_over(flow: &FlowRecord, time: Time) -> bool {
    time >= Time::ZERO + Span::from_millis(STOP_MS.into())
        || flow.segments.is_some_and(|all| flow.delivered_segments + flow.abandoned >= all)
}

fn check_samples(record: &RunRecord) -> Result<(), String> {
    let samples = &record.flow_samples;
    for (row, window) in samples.window_packets.iter().enumerate() {
        let (time, flow) = (samples.time[row], samples.flow[row]);
        let ends = &record.flows[flow as usize];
        let is_outside = time < ends.start || ends.completed.is_some_and(|completed| completed < time);
        let is_bound = window.is_finite() || samples.pacing_per_second[row].is_finite();
        let has_round_trip = samples.smoothed_rtt[row] > Span::ZERO;
        check!(!is_outside || !(is_bound || has_round_trip), "flow {flow} is seen at {time}: {ends:?}");
        check!(
            is_bound || is_outside || may_be_over(ends, time),
            "flow {flow} is not seen at {time}: {ends:?}"
        );
        check!(*window >= 1.0, "flow {flow} has a window of {window} at {time}");
    }
    let mut last = vec![0; record.flows.len()];
    for (flow, delivered) in samples.flow.iter().zip(&samples.delivered_segments) {
        let before = std::mem::replace(&mut last[*flow as usize], *delivered);
        check!(before <= *delivered, "flow {flow} delivered {before}, then {delivered}");
    }
    Ok(())
}

/// A FIN that leaves alone is one segment more than those with data; a probe of the receiver's window may split one.
fn check_connection(flow: &FlowRecord, planned: &FlowPlan) -> Result<(), String> {
    let (requested, mss) = (flow.interests - flow.retransmissions, planned.payload.get());
    check!(flow.delivered_payload.get() <= requested * mss, "{flow:?}");
    check!(flow.delivered_segments == flow.delivered_payload.get().div_ceil(mss), "{flow:?}");
    check!(flow.duplicates <= flow.retransmissions, "only what is sent again comes twice: {flow:?}");
    check!(flow.segments.is_some() == planned.demand.has_end(), "{flow:?}");
    if let Some(all) = flow.segments {
        check!(flow.delivered_segments <= all, "{flow:?}");
        check!(flow.completed.is_none() || flow.delivered_segments == all, "{flow:?}");
    }
    Ok(())
}

fn check_flows(plan: &Plan, record: &RunRecord) -> Result<(), String> {
    for (index, (flow, planned)) in record.flows.iter().zip(&plan.flows).enumerate() {
        let requested = flow.interests - flow.retransmissions;
        if planned.tcp.is_some() {
            check_connection(flow, planned)?;
            continue;
        }
        check!(flow.delivered_segments + flow.abandoned <= requested, "{flow:?}");
        check!(flow.delivered_payload.get() == flow.delivered_segments * planned.payload.get(), "{flow:?}");
        check!(flow.full_delay.count == flow.delivered_segments, "{flow:?}");
        check!(
            flow.last_delay.max <= flow.full_delay.max && flow.last_delay.mean <= flow.full_delay.mean,
            "{flow:?}"
        );
        check!(flow.marks + flow.loss_notices == 0 || flow.interests > 0, "{flow:?}");
        if let Demand::File { segments } = planned.demand {
            let all = u64::from(segments);
            check!(
                flow.segments == Some(all) && flow.delivered_segments <= all && requested <= all,
                "{flow:?}"
            );
            check!(flow.completed.is_some() == (flow.delivered_segments == all), "{flow:?}");
        } else {
            check!(flow.segments.is_some() == planned.demand.has_end(), "{flow:?}");
            // Bursts that lie before the start have nothing to complete.
            let is_complete = flow.delivered_segments > 0 && flow.segments == Some(flow.delivered_segments);
            check!(flow.completed.is_some() == is_complete, "{flow:?}");
        }
        let row = record.flow_samples.flow.iter().rposition(|flow| *flow as usize == index);
        if let (Some(row), Tracking::Exact) = (row, planned.profile.tracking) {
            let (in_flight, delivered) = (
                u64::from(record.flow_samples.in_flight_packets[row]),
                record.flow_samples.delivered_segments[row],
            );
            check!(delivered + in_flight <= requested, "{in_flight} under way: {flow:?}");
        }
    }
    Ok(())
}

/// Most that a direction of a link carries at any time, bit/s: `[from a, from b]`.
fn max_rates(plan: &Plan, index: usize, link: &LinkPlan) -> [u64; 2] {
    let changed = plan.events.iter().filter_map(|event| match event.change {
        Change::LinkRate { link, rate } if link == index => Some(rate),
        _ => None,
    });
    let changed = changed.map(BitRate::as_bps).max().unwrap_or(0);
    link.rate.map(|rate| rate.as_bps().max(changed))
}

/// A path with room from one of `from` to one of `to`, as pairs of nodes.
fn path_with_room(room: &[Vec<u64>], from: &[usize], to: &[usize]) -> Option<Vec<(usize, usize)>> {
    let mut before: Vec<Option<usize>> = vec![None; room.len()];
    let mut found: Vec<usize> = from.to_vec();
    let mut at = 0;
    while let Some(&node) = found.get(at) {
        if to.contains(&node) {
            let mut path = Vec::new();
            let mut node = node;
            while let Some(last) = before[node] {
                path.push((last, node));
                node = last;
            }
            return Some(path);
        }
        for next in 0..room.len() {
            if room[node][next] > 0 && !found.contains(&next) {
                before[next] = Some(node);
                found.push(next);
            }
        }
        at += 1;
    }
    None
}

/// Rate of the smallest cut between the nodes `from` and the nodes `to`, Mbit/s (Edmonds and Karp).
fn smallest_cut(plan: &Plan, from: &[usize], to: &[usize]) -> f64 {
    let mut room = vec![vec![0; plan.nodes.len()]; plan.nodes.len()];
    for (index, link) in plan.links.iter().enumerate() {
        let [forward, backward] = max_rates(plan, index, link);
        room[link.a][link.b] += forward;
        room[link.b][link.a] += backward;
    }
    let mut cut = 0;
    while let Some(path) = path_with_room(&room, from, to) {
        let min = path.iter().map(|(from, to)| room[*from][*to]).min().expect("no node is at both ends");
        for (from, to) in path {
            room[from][to] -= min;
            room[to][from] += min;
        }
        cut += min;
    }
    cut as f64 / 1e6
}

/// The flows together get no more than the smallest cut between their producers and their receivers carries. Answers
/// whether the cut is smaller than the sum of the flows' own rates, which would be wrong as a total.
fn check_total(plan: &Plan, record: &RunRecord) -> Result<bool, String> {
    let is_drawn = |flow: &FlowPlan| matches!(flow.demand, Demand::Objects(_));
    let receivers: Vec<usize> = plan.flows.iter().map(|flow| flow.consumer).collect();
    let producers: Vec<usize> = plan.flows.iter().flat_map(|flow| flow.producers.iter().copied()).collect();
    // What was fetched before may lie in a cache, and what is on the node itself crosses no link.
    if plan.flows.iter().any(is_drawn) || receivers.iter().any(|node| producers.contains(node)) {
        return Ok(false);
    }
    let cut = smallest_cut(plan, &producers, &receivers);
    let total = measures::total_goodput_mbps(record).unwrap_or(0.0);
    check!(total <= cut, "{total} Mbit/s arrived over a cut of {cut} Mbit/s");
    let own = record.flows.iter().filter_map(|flow| measures::goodput_mbps(flow, record.ended));
    Ok(own.sum::<f64>() > cut)
}

/// Segments asked for once arrive in the order in which they were asked for.
fn check_order(record: &RunRecord, plan: &Plan) -> Result<(), String> {
    for (index, flow) in record.flows.iter().enumerate() {
        let planned = &plan.flows[index];
        let is_drawn = matches!(planned.demand, Demand::Objects(_));
        if flow.retransmissions > 0 || planned.producers.len() > 1 || is_drawn {
            continue;
        }
        let numbers: Vec<u32> = arrivals(record, index as u32).iter().map(|arrival| arrival.2).collect();
        check!(numbers.is_sorted(), "{} got its segments out of order: {numbers:?}", flow.name);
    }
    Ok(())
}

/// Runs a case and says what it was worth: hops, flows complete, flows whose order was looked at.
fn check_case(case: &Case, seed: Seed) -> Result<[u64; 3], String> {
    let plan = plan(&case.text);
    let mut world = World::new(&plan, seed);
    world.step_until(Time::ZERO + plan.duration / 8);
    check!(world.ledgers().iter().all(Ledger::balances), "after 1 s: {:?}", world.ledgers());
    check!(world.service_ledgers().iter().all(ServiceLedger::balances), "{:?}", world.service_ledgers());
    check_ended(&world)?;
    world.run();
    check!(world.service_ledgers().iter().all(ServiceLedger::balances), "{:?}", world.service_ledgers());
    check_ended(&world)?;
    let (ledgers, pending) = (world.ledgers(), world.pending_interests());
    let record = world.into_record(&plan, seed);
    check_ledgers(&ledgers, &record)?;
    check_samples(&record)?;
    check_flows(&plan, &record)?;
    check_total(&plan, &record)?;
    check!(record.events.is_sorted_by_key(|event| event.time), "time runs backwards: {:?}", record.events);
    let all_done = record.flows.iter().all(|flow| flow.completed.is_some());
    check!(
        record.ended == Time::ZERO + plan.duration || all_done || plan.stop_when_complete,
        "{}",
        record.ended
    );
    if record.ended == Time::ZERO + plan.duration {
        let left: usize = pending.iter().map(|(entries, _)| entries).sum();
        check!(left == 0, "pending Interests are left: {pending:?}");
        check_empty(&ledgers, &plan)?;
    }
    if case.keeps_order {
        check_order(&record, &plan)?;
    }
    let complete = record.flows.iter().filter(|flow| flow.completed.is_some()).count() as u64;
    Ok([record.packet_hops, complete, u64::from(case.keeps_order)])
}

#[test]
fn two_hundred_random_runs_lose_count_of_nothing() {
    let mut worth = [0; 3];
    for seed in 1..=200 {
        let case = Draw { rng: Rng::stream(Seed(seed), "scenario") }.scenario();
        let answer = catch_unwind(AssertUnwindSafe(|| check_case(&case, Seed(seed))));
        let answer = answer.unwrap_or_else(|_| Err("it panics".to_owned()));
        let counts = answer.unwrap_or_else(|problem| panic!("seed {seed}: {problem}\n{}", case.text));
        worth.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    println!("hops, complete flows, cases in order: {worth:?}");
    assert!(worth[0] > 500_000 && worth[1] > 50 && worth[2] > 20, "the runs are worth looking at: {worth:?}");
}

/// Files and streams, mostly one after the other, over the bottleneck of a dumbbell.
fn one_after_the_other(draw: &mut Draw) -> String {
    let pairs = draw.number(2, 5);
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"total\"\nduration = \"6s\"\n[topology]\nbuiltin = \"dumbbell\"\npairs = {pairs}\n\
         access = {{ rate = \"100Mbps\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"{}Mbps\", delay = \"{}ms\" }}\n",
        draw.number(4, 20),
        draw.number(1, 10),
    );
    for pair in 1..=pairs {
        let end = match draw.chance(0.6) {
            true => format!("size = \"{}kB\"", draw.number(300, 1_200)),
            false => format!("stop = \"{}ms\"", draw.number(pair * 1_000, 6_000)),
        };
        let (start, scheme) =
            (draw.number(0, 900) + (pair - 1) * 600, draw.one(&["bbr", "pcon", "catchunks-cubic"]));
        writeln!(
            text,
            "[[flow]]\nconsumer = \"c{pair}\"\nproducer = \"p{pair}\"\nprefix = \"/f/{pair}\"\nscheme = {scheme:?}\n\
             start = \"{start}ms\"\n{end}"
        )
        .expect("a string takes it");
    }
    text
}

#[test]
fn a_total_is_never_above_the_smallest_cut_where_flows_follow_each_other() {
    let mut telling = 0;
    for seed in 1..=40 {
        let text = one_after_the_other(&mut Draw { rng: Rng::stream(Seed(seed), "total") });
        let plan = plan(&text);
        let record = tidegate_sim::run::run(&plan, Seed(seed));
        let is_telling = check_total(&plan, &record);
        telling += u32::from(is_telling.unwrap_or_else(|problem| panic!("seed {seed}: {problem}\n{text}")));
    }
    assert!(telling >= 20, "the sum of the flows' own rates is above the cut in {telling} runs");
}
