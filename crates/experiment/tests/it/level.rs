use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::LevelLoad;
use fizeau_core::Nanos;
use fizeau_experiment::LevelSize;
use fizeau_experiment::{SweepRunner, SweepSpec};
use fizeau_harness::{Cancel, DriveNotice, Observer, SelfWatch, TaskDriver};
use fizeau_metrics::Verdict;
use fizeau_workload::{Lengths, PlanSpec};

use crate::stand::{Paused, Server, paused};

fn spec(levels: &[u32], requests: u64) -> SweepSpec {
    let levels = levels.iter().copied().filter_map(NonZeroU32::new).map(LevelLoad::from);
    let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(1).unwrap() };
    let size = LevelSize::new(NonZeroU64::new(requests), None, Some(3));
    let mut spec = SweepSpec::new(levels, workload);
    spec.size = size;
    spec
}

#[test]
fn a_sweep_measures_each_level_and_warm_up_never_counts() {
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let spec = spec(&[1, 4], 20);
        let mut sweep = SweepRunner::new(rig, &spec, None);
        let mut rates = Vec::new();
        for ask in spec.asks() {
            let level = sweep.level(ask, &mut ()).await.unwrap().unwrap();
            assert_eq!(level.run.warmup.sent, 3);
            assert_eq!(level.run.summary.requests.sent, 20);
            assert_eq!(
                level.run.validity().verdict,
                Verdict::Suspect,
                "one token: counts are events"
            );
            rates.push(level.run.summary.throughput.requests_per_s.get());
        }
        // 100 ms each: ten a second a slot.
        assert!((rates[0] - 10.0).abs() < 1e-6 && (rates[1] - 40.0).abs() < 1e-6, "{rates:?}");
    });
}

#[test]
fn a_level_has_ten_requests_a_slot_and_enough_for_a_p99() {
    let size = LevelSize::default();
    let at = |n: u32| {
        let concurrency = LevelLoad::Concurrency(NonZeroU32::new(n).unwrap());
        (size.requests_at(concurrency).get(), size.warmup_at(concurrency))
    };
    assert_eq!([at(1), at(8), at(64), at(128)], [(100, 1), (100, 8), (640, 50), (1_280, 50)]);
}

#[test]
fn calling_off_ends_the_sweep_after_a_partial_level() {
    struct CallOff(Cancel, u64);
    impl Observer for CallOff {
        fn notice(&mut self, notice: DriveNotice<'_>) {
            if let DriveNotice::RequestEnded(_) = notice {
                self.1 += 1;
                if self.1 == 25 {
                    self.0.cancel();
                }
            }
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let spec = spec(&[1, 2, 4], 20);
        let mut sweep = SweepRunner::new(rig, &spec, None);
        let mut watcher = CallOff(cancel.clone(), 0);
        let [one, two, three] = [0, 1, 2].map(|k| spec.asks().nth(k).unwrap());
        let first = sweep.level(one, &mut watcher).await.unwrap().unwrap();
        assert!(!first.run.is_partial());
        let second = sweep.level(two, &mut watcher).await.unwrap().unwrap();
        assert!(second.run.is_partial());
        // Five had been recorded, and one more was as good as over.
        assert_eq!(second.run.summary.requests.completed, 6);
        assert!(sweep.level(three, &mut watcher).await.unwrap().is_none());
    });
}
