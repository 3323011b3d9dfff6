use super::SCHEME;
use crate::testing::dumbbell::*;
use tidegate_core::tcp::AckHabit;
use tidegate_core::units::Span;

#[test]
fn probe() {
    for delayed in [false, true] {
        let flow = || {
            let mut f = Flow::of(&SCHEME, &[("finds_policers", tidegate_core::params::Value::Bool(!delayed))], 20);
            
            f
        };
        let mut path = Dumbbell::new(Bottleneck::new(100.0, 1000), vec![flow()]);
        path.run(seconds(0.5));
        println!("startup peak {:?} stats {:?}", path.queue_stats().peak, path.stats(0));
        let g = path.goodputs(2.0, 30.0);
        println!("delayed {delayed} lone {g:?} {:?}", path.queue_stats());
        let tr = path.trace(32.0, Span::from_millis(5), |p| (p.window(0), p.in_flight(0), p.queued()));
        let q: Vec<f64> = tr.iter().map(|t| f64::from(t.2)).collect();
        println!("queue mean {} max {:?} win {:?}", mean(&q), q.iter().cloned().fold(0.0, f64::max), &tr[..20]);
        for p in [0.001, 0.02, 0.05, 0.10, 0.15, 0.18] {
            let b = Bottleneck { loss: Loss::Random(p), ..Bottleneck::new(100.0, 1000) };
            let mut path = Dumbbell::new(b, vec![flow()]);
            println!("{p} {:?} {:?}", path.goodputs(0.0, 60.0), path.stats(0));
        }
    }
}
