//! What holds for every TCP sender, whatever the path does.

use tidegate_core::params::{ParamSpec, Settings};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::tcp::{Detection, SenderSettings, Source};
use tidegate_core::units::ByteCount;

use super::*;

/// The bottleneck, under the scheme's router part if it has one.
fn bottleneck(scheme: &Scheme, mbps: f64, buffer: u32) -> Bottleneck {
    let bottleneck = Bottleneck::new(mbps, buffer);
    if scheme.router.is_some() { bottleneck.behind(scheme, &[]) } else { bottleneck }
}

/// Files of three flows over a path drawn from `seed`.
fn history(scheme: &Scheme, seed: u64) {
    let mut draw = Rng::stream(Seed(seed), "history");
    let mbps = 1.0 + 50.0 * draw.uniform();
    let setup = Bottleneck {
        loss: Loss::Random(0.1 * draw.uniform() * draw.uniform()),
        seed,
        ..bottleneck(scheme, mbps, 2 + draw.below(200))
    };
    let mut flows = Vec::new();
    for _ in 0..3 {
        let detection = if draw.below(2) == 0 { Detection::RackTlp } else { Detection::Sack };
        let file = Source::File(ByteCount::new(u64::from(draw.below(1_000_000))));
        flows.push(Flow {
            settings: SenderSettings { detection, ..SenderSettings::default() },
            source: file,
            start: seconds(draw.uniform()),
            ..Flow::of(scheme, &[], 2 + u64::from(draw.below(200)))
        });
    }
    let mut path = Dumbbell::new(setup, flows);
    for _ in 0..6_000 {
        path.run(path.now + Span::from_millis(100));
        for flow in 0..3 {
            let window = path.window(flow);
            assert!(window >= 1.0, "{} seed {seed}: window {window} at {}", scheme.name, path.now);
        }
        if (0..3).all(|flow| path.completed_at(flow).is_some()) {
            return;
        }
    }
    panic!("{} seed {seed}: not finished at {}: {:?}", scheme.name, path.now, path.stats(0));
}

#[test]
fn every_sender_gets_its_files_through_whatever_the_path_does() {
    for scheme in senders() {
        for seed in 0..12 {
            history(scheme, seed);
        }
    }
}

#[test]
fn every_sender_uses_most_of_a_line_of_its_own() {
    for scheme in senders() {
        let mut path = Dumbbell::new(bottleneck(scheme, 20.0, 100), vec![Flow::of(scheme, &[], 40)]);
        let goodput = path.goodputs(10.0, 40.0)[0];
        let full = 20.0 * dumbbell::PAYLOAD / dumbbell::WIRE;
        assert!(goodput > 0.85 * full, "{}: {goodput:.2} of {full:.2}", scheme.name);
    }
}

/// Both ends of a parameter's range, and its default, where they are numbers or words.
fn values(spec: &ParamSpec) -> Vec<Value> {
    let range = (spec.range)();
    let ends = range.split_once(" to ").map(|(low, high)| [low.to_owned(), high.to_owned()]);
    ends.into_iter().flatten().chain([(spec.default)()]).map(|text| read(&text)).collect()
}

fn read(text: &str) -> Value {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(word) => Value::Text(word.to_owned()),
        None if text == "true" || text == "false" => Value::Bool(text == "true"),
        None => Value::Number(text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))),
    }
}

/// A value with those that it cannot do without.
fn companions<'a>(scheme: &Scheme, name: &'a str, value: &Value) -> Vec<(&'a str, Value)> {
    let mut given = vec![(name, value.clone())];
    // BRF's two limits go together, of which only the printed form takes any pair.
    if scheme.name == "brf" && ["headroom", "limited_below"].contains(&name) {
        given.push(("mode", Value::Text("literal".to_owned())));
    }
    given
}

#[test]
fn every_default_and_every_end_of_a_range_makes_a_sender_that_runs() {
    for scheme in senders() {
        for spec in scheme.params {
            for value in values(spec) {
                let given = companions(scheme, spec.name, &value);
                let settings =
                    given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                assert_eq!(scheme.check(&Settings(settings)), Ok(()), "{}", scheme.name);
                let setup = Bottleneck { loss: Loss::Every(300), ..Bottleneck::new(10.0, 50) };
                let setup = if scheme.router.is_some() { setup.behind(scheme, &given) } else { setup };
                let mut path = Dumbbell::new(setup, vec![Flow::of(scheme, &given, 20)]);
                path.run(seconds(2.0));
                assert!(path.received(0) > 0, "{} {given:?}", scheme.name);
            }
        }
    }
}
