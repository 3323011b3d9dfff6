//! What holds for every TCP sender, whatever the path does.

use tidegate_testkit::invariants::{check_sender, values};
use tidegate_testkit::settings;

use super::*;

/// The bottleneck, under the scheme's router part if it has one.
fn bottleneck(scheme: &Scheme, mbps: f64, buffer: u32) -> Bottleneck {
    let bottleneck = Bottleneck::new(mbps, buffer);
    if scheme.router.is_some() { bottleneck.behind(scheme, &[]) } else { bottleneck }
}

#[test]
fn every_sender_gets_its_files_through_whatever_the_path_does() {
    for scheme in senders() {
        check_sender(scheme);
    }
}

#[test]
fn every_sender_uses_most_of_a_line_of_its_own() {
    for scheme in senders() {
        let mut path = Dumbbell::new(bottleneck(scheme, 20.0, 100), vec![DumbbellFlow::of(scheme, &[], 40)]);
        let goodput = path.goodputs(10.0, 40.0)[0];
        let full = 20.0 * dumbbell::PAYLOAD / dumbbell::WIRE;
        assert!(goodput > 0.85 * full, "{}: {goodput:.2} of {full:.2}", scheme.name);
    }
}

/// A value with those that it cannot do without.
fn companions<'a>(scheme: &Scheme, name: &'a str, value: &Setting) -> Vec<(&'a str, Setting)> {
    let mut given = vec![(name, value.clone())];
    // BRF's two limits go together, of which only the printed form takes any pair.
    if scheme.name == "brf" && ["headroom", "limited_below"].contains(&name) {
        given.push(("mode", Setting::Text("literal".to_owned())));
    }
    given
}

#[test]
fn every_default_and_every_end_of_a_range_makes_a_sender_that_runs() {
    for scheme in senders() {
        for spec in scheme.params {
            for value in values(spec) {
                let given = companions(scheme, spec.name, &value);
                assert_eq!(scheme.check(&settings(&given)), Ok(()), "{}", scheme.name);
                let setup = Bottleneck { loss: DumbbellLoss::Every(300), ..Bottleneck::new(10.0, 50) };
                let setup = if scheme.router.is_some() { setup.behind(scheme, &given) } else { setup };
                let mut path = Dumbbell::new(setup, vec![DumbbellFlow::of(scheme, &given, 20)]);
                path.run(seconds(2.0));
                assert!(path.received(0) > 0, "{} {given:?}", scheme.name);
            }
        }
    }
}
