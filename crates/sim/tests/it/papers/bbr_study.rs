//! BBR-CD's study (MILCOM 2021) on wires: its two topologies with 42 Mbit/s for each radio hop.

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::{FlowRecord, RunRecord};

use crate::papers::runs::runs;

/// How packets are lost: not at all, one by one, or in bursts of 20 on average of which half are lost. Both lose 3 % of
/// what reaches consumer and access point and 4 % of what reaches the producer.
#[derive(Clone, Copy, Debug)]
enum Loss {
    None,
    Single,
    Bursts,
}

impl Loss {
    fn of(self, percent: f64) -> String {
        let part = percent / 100.0;
        match self {
            Self::None => "\"none\"".to_owned(),
            Self::Single => format!("{{ model = \"bernoulli\", probability = {part} }}"),
            Self::Bursts => {
                let bad = 2.0 * part;
                format!(
                    "{{ model = \"gilbert-elliott\", to_bad = {}, to_good = 0.05, loss_good = 0.0, loss_bad = 0.5 }}",
                    0.05 * bad / (1.0 - bad)
                )
            }
        }
    }
}

fn wire(name: &str, ends: [&str; 2], rate: &str, loss: Loss, [there, back]: [f64; 2]) -> String {
    format!(
        "[[link]]\nname = \"{name}\"\nends = [\"{}\", \"{}\"]\nrate = \"{rate}\"\ndelay = \"2ms\"\njitter = \"1ms\"\n\
         queue = {{ limit = \"100pkt\" }}\nforward = {{ loss = {} }}\nbackward = {{ loss = {} }}\n",
        ends[0],
        ends[1],
        loss.of(there),
        loss.of(back)
    )
}

fn flow(consumer: &str, prefix: &str, scheme: &str) -> String {
    format!(
        "[[flow]]\nconsumer = \"{consumer}\"\nproducer = \"p\"\nprefix = \"{prefix}\"\npayload = \"8000B\"\nsize = \"20MB\"\nscheme = {scheme}\n"
    )
}

const HEAD: &str = "format = 1\n[scenario]\nname = \"study\"\nduration = \"600s\"\nstop_when_complete = true\nsample = \"1s\"\nvary = { start = true }\nevents = [\"interest-sent\"]\n";

/// One consumer.
fn one(scheme: &str, loss: Loss) -> String {
    HEAD.to_owned()
        + "[[node]]\nname = \"c\"\n[[node]]\nname = \"ap\"\ncache = \"65536pkt\"\n[[node]]\nname = \"p\"\n"
        + &wire("near", ["c", "ap"], "42Mbps", loss, [3.0, 3.0])
        + &wire("far", ["ap", "p"], "42Mbps", loss, [4.0, 3.0])
        + &flow("c", "/file", scheme)
}

/// Ten consumers, each with a file of its own, behind one hop of 42 Mbit/s.
fn ten(scheme: &str, loss: Loss) -> String {
    let mut text = HEAD.to_owned()
        + "[[node]]\nname = \"w\"\n[[node]]\nname = \"ap\"\n[[node]]\nname = \"p\"\n"
        + &wire("near", ["w", "ap"], "42Mbps", loss, [3.0, 3.0])
        + &wire("far", ["ap", "p"], "50Mbps", loss, [4.0, 3.0]);
    for number in 0..10 {
        text += &format!(
            "[[node]]\nname = \"c{number}\"\n[[link]]\nends = [\"c{number}\", \"w\"]\nrate = \"1Gbps\"\ndelay = \"10us\"\nqueue = {{ limit = \"1000pkt\" }}\n"
        );
    }
    for number in 0..10 {
        text += &flow(&format!("c{number}"), &format!("/{number}"), scheme);
    }
    text
}

const CD: &str = "{ name = \"bbr-cd\" }";
const BBR: &str = "{ name = \"bbr\" }";
const BBR_PROFILE: &str = "{ name = \"bbr\", loss_timer = \"profile\" }";
const AIMD: &str = "{ name = \"catchunks-aimd\", initial_window = 1.0 }";
const CUBIC: &str = "{ name = \"catchunks-cubic\", initial_window = 1.0 }";

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Goodput of each flow, Mbit/s; every file has to be complete.
fn goodputs(record: &RunRecord) -> Vec<f64> {
    let time = |flow: &FlowRecord| flow.completion_time().expect("complete").as_secs_f64();
    record.flows.iter().map(|flow| 160.0 / time(flow)).collect()
}

/// Goodput of one consumer, Mbit/s, mean of ten runs as in the study.
fn goodput(scheme: &str, loss: Loss) -> f64 {
    mean(runs(&one(scheme, loss), 1..=10).iter().map(|record| goodputs(record)[0]))
}

/// Means of three runs with ten consumers.
struct Shared {
    /// Sum of all goodputs, Mbit/s.
    sum: f64,
    jain: f64,
    /// Queueing delay of Data before the shared hop, ms.
    queue: f64,
}

fn shared(scheme: &str, loss: Loss) -> Shared {
    let records = runs(&ten(scheme, loss), 1..=3);
    let jain = |record: &RunRecord| {
        let goodputs = goodputs(record);
        let squares: f64 = goodputs.iter().map(|goodput| goodput * goodput).sum();
        goodputs.iter().sum::<f64>().powi(2) / (goodputs.len() as f64 * squares)
    };
    let queue = |record: &RunRecord| {
        let link = record.links.iter().find(|link| link.from == "ap" && link.to == "w");
        link.expect("it is there").queue_delay.mean.as_millis_f64()
    };
    Shared {
        sum: mean(records.iter().map(|record| goodputs(record).iter().sum())),
        jain: mean(records.iter().map(jain)),
        queue: mean(records.iter().map(queue)),
    }
}

/// Times between Interests that follow each other, ms, in ascending order.
fn gaps(scheme: &str) -> Vec<f64> {
    let mut gaps = Vec::new();
    for record in runs(&one(scheme, Loss::None), 1..=3) {
        let sent = record.events.iter().filter(|record| matches!(record.event, Event::InterestSent { .. }));
        let times: Vec<f64> = sent.map(|record| record.time.as_secs_f64() * 1e3).collect();
        gaps.extend(times.windows(2).map(|pair| pair[1] - pair[0]));
    }
    gaps.sort_by(f64::total_cmp);
    gaps
}

#[test]
fn one_consumer_without_losses_gets_the_same_of_every_scheme_on_wires() {
    // B1, of which Figure 5's order does not hold: on wires another small simulation found all within 6 %.
    let all = [CD, BBR, AIMD, CUBIC].map(|scheme| goodput(scheme, Loss::None));
    let best = all.iter().copied().fold(0.0, f64::max);
    assert!(all.iter().all(|goodput| *goodput > 0.94 * best), "{all:?}");
}

#[test]
fn bbr_cd_spaces_its_interests_evenly_and_aimd_does_not() {
    // B7: four in five gaps lie within 1 to 10 ms. B8 has no value: AIMD's first percentile is zero, as one Data lets two
    // Interests go.
    let cd = gaps(CD);
    let within = cd.iter().filter(|gap| (1.0..=10.0).contains(*gap)).count() as f64 / cd.len() as f64;
    assert!(within >= 0.8, "{within}");
    let percentile = |gaps: &[f64], part: f64| gaps[(gaps.len() as f64 * part) as usize];
    let aimd = gaps(AIMD);
    assert_eq!(percentile(&aimd, 0.01), 0.0);
    assert!(percentile(&cd, 0.01) > 0.1, "{}", percentile(&cd, 0.01));
}

#[test]
fn under_losses_bbr_cd_beats_aimd_and_a_port_of_bbr_only_if_that_waits_for_the_shells_timer() {
    for loss in [Loss::Single, Loss::Bursts] {
        let [cd, bbr, slow, aimd] = [CD, BBR, BBR_PROFILE, AIMD].map(|scheme| goodput(scheme, loss));
        assert!(cd >= 1.1 * aimd, "B3, {loss:?}: {cd}, AIMD {aimd}");
        // Figure 7's order of the two BBRs is that of their timers.
        assert!(cd > slow, "{loss:?}: {cd}, BBR {slow}");
        assert!(bbr > cd, "{loss:?}: {cd}, BBR {bbr}");
    }
}

#[test]
fn a_tenth_of_the_interests_of_both_are_retransmissions() {
    // B5: 8 to 16 %. B6 does not hold: those of AIMD are no half, because no timer of ours ends early.
    for scheme in [CD, BBR, AIMD] {
        let share = |record: &RunRecord| {
            let flow = &record.flows[0];
            flow.retransmissions as f64 / flow.interests as f64
        };
        let share = mean(runs(&one(scheme, Loss::Single), 1..=3).iter().map(share));
        assert!((0.08..=0.16).contains(&share), "{scheme}: {share}");
    }
}

#[test]
fn ten_consumers_together_get_at_least_as_much_of_bbr_cd_and_fairly() {
    let [cd, bbr, aimd] = [CD, BBR, AIMD].map(|scheme| shared(scheme, Loss::None));
    assert!(cd.sum >= 0.97 * bbr.sum.max(aimd.sum), "B2: {}, BBR {}, AIMD {}", cd.sum, bbr.sum, aimd.sum);
    assert!(cd.jain >= 0.9, "B9: {}", cd.jain);
    // B13 does not hold here: the queue is full with either.
    assert!(cd.queue > bbr.queue, "{} ms, BBR {} ms", cd.queue, bbr.queue);
    for loss in [Loss::Single, Loss::Bursts] {
        let [cd, aimd] = [CD, AIMD].map(|scheme| shared(scheme, loss));
        assert!(cd.sum >= aimd.sum, "B4, {loss:?}: {}, AIMD {}", cd.sum, aimd.sum);
        assert!(cd.jain >= 0.9, "B9, {loss:?}: {}", cd.jain);
        assert!(cd.queue < aimd.queue, "B13, {loss:?}: {} ms, AIMD {} ms", cd.queue, aimd.queue);
    }
}
