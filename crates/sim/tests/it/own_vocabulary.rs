//! A scheme from outside with a signal, a report and a directive of its own, none of which core names.

use tidegate_core::prelude::*;
use tidegate_sim::scenario;

/// Free places in the smallest queue of the path, packets.
const ROOM: Signal = Signal::new(872, Merge::Min);

/// Report: packets that wait at the router.
#[derive(Debug)]
struct Backlog(u32);

impl Message for Backlog {
    fn kind(&self) -> &'static str {
        "backlog"
    }
}

/// Directive: maximum of the signal.
#[derive(Debug)]
struct Ceiling(u32);

impl Message for Ceiling {
    fn kind(&self) -> &'static str {
        "ceiling"
    }
}

static ROOMS: Scheme = Scheme {
    name: "rooms",
    consumer: Some(|_| Ok(Box::new(Follower(2)))),
    router: Some(|_, node| {
        let stamper = |device: &DeviceSetup| Stamper { face: device.face, ceiling: 30 };
        Ok(RouterParts::default().with_gates(node, stamper).with_agent(Reporter { next: Time::ZERO }))
    }),
    controller: Some(|_| Ok(Box::new(Planner))),
    ..Scheme::NONE
};

/// Takes the signal as its window.
#[derive(Debug)]
struct Follower(u32);

impl CongestionController for Follower {
    fn window(&self) -> f64 {
        f64::from(self.0)
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        self.0 = delivery.hop.get(ROOM).map_or(1, |room| room.max(1));
    }
}

/// Writes the signal on Data.
#[derive(Debug)]
struct Stamper {
    face: FaceId,
    ceiling: u32,
}

impl FaceGate for Stamper {
    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, _: DataSource) {
        let view = cx.face(self.face);
        data.hop.put(ROOM, (view.limit_packets() - view.queued_packets()).min(self.ceiling));
    }

    fn on_directive(&mut self, _: &mut Context<'_>, directive: &dyn Message) {
        self.ceiling = directive.get::<Ceiling>().map_or(self.ceiling, |ceiling| ceiling.0);
    }
}

/// Reports the backlog of its router every 100 ms.
#[derive(Debug)]
struct Reporter {
    next: Time,
}

impl RouterAgent for Reporter {
    fn on_wake(&mut self, cx: &mut Context<'_>) {
        self.next = cx.now + Span::from_millis(100);
        cx.report(Backlog(cx.faces.iter().map(FaceView::queued_packets).sum()));
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.next)
    }
}

/// Orders a ceiling of 7 packets after a second.
#[derive(Debug)]
struct Planner;

impl NetworkController for Planner {
    fn on_report(&mut self, now: Time, from: NodeId, _: Time, report: &dyn Message, orders: &mut Orders) {
        assert!(report.get::<Ceiling>().is_none(), "{report:?}");
        let Some(Backlog(packets)) = report.get() else { panic!("{report:?} is of no other scheme") };
        assert!(*packets <= 6 * 40, "{packets}");
        if now >= Time::ZERO + Span::from_secs(1) {
            orders.direct(from, Ceiling(7));
        }
    }
}

const SCENARIO: &str = r#"format = 1
[scenario]
name = "rooms"
duration = "2s"
events = ["reported", "directed"]
[topology]
builtin = "linear"
routers = 2
link = { rate = "10Mbps", delay = "1ms", queue = { limit = "40pkt" } }
[router]
parts = ["rooms"]
[controller]
scheme = "rooms"
delay = "5ms"
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "rooms"
"#;

#[test]
fn an_outside_scheme_carries_a_signal_a_report_and_a_directive_of_its_own() {
    let schemes: Vec<_> = tidegate_schemes::SCHEMES.iter().copied().chain([&ROOMS]).collect();
    let plan = scenario::parse("rooms.toml", SCENARIO, &[], &schemes).expect("a valid scenario");
    let run = tidegate_sim::run::run(&plan, Seed(1));
    let windows = &run.flow_samples.window_packets;
    let at = |share: f64| windows[(share * (windows.len() - 1) as f64) as usize];
    assert!((8.0..=30.0).contains(&at(0.4)), "{windows:?}");
    assert_eq!(at(1.0), 7.0, "{windows:?}");
    let kinds: Vec<&str> = run
        .events
        .iter()
        .filter_map(|record| match record.event {
            Event::Reported { kind } | Event::Directed { kind } => Some(kind.0),
            _ => None,
        })
        .collect();
    assert!(kinds.contains(&"backlog") && kinds.contains(&"ceiling"), "{kinds:?}");
}
