//! Shards in virtual time: what all of them measured is judged as if one client had, so that a search takes the decisions of one.

use std::io::Cursor;
use std::num::NonZeroU64;

use fizeau::core::split_mix::mixed;
use fizeau::core::{LoadKind, Nanos, Stamp, Tape, TapeSink, Tokens, Transport};
use fizeau::experiment::{
    LevelSize, LoadSearch, LoadSearchSpec, SearchStep, SweepRunner, SweepSpec,
};
use fizeau::harness::{
    Cancel, DriveError, DriveNotice, LevelRun, Measure, Observer, PlannedLevel, SelfWatch,
    StartGate, TaskDriver,
};
use fizeau::metrics::LevelSummary;
use fizeau::record::{ClockAxis, ClockReading, ClockSource, MergedTapes, StoredTapes};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Length, Lengths, PlanSpec, PromptContent, Seed, Shard, WalkError};
use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

type OneClient<'a> = TaskDriver<'a, SimTransport, VirtualTime>;

/// Clients that measure each level together, each on a clock of its own. One alone measures as it always does.
struct Clients<'a> {
    rig: OneClient<'a>,
    count: u64,
    seed: u64,
}

/// All begin at one instant, late enough that no clock shows what is before its epoch.
#[derive(Debug)]
struct Agreed(Stamp);

impl StartGate for Agreed {
    fn begin(&self, _: Stamp) -> Option<Stamp> {
        Some(self.0)
    }
}

type Transported = <SimTransport as Transport>::Error;

impl Measure for Clients<'_> {
    type Error = Transported;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, Transported, K::Error>> {
        let agreed = Agreed(self.rig.now() + Nanos::from_secs(10));
        let level = PlannedLevel { start: Some(&agreed), ..level };
        if self.count == 1 {
            return self.rig.measure(level, sink, observer).await;
        }
        // The slots of a closed loop belong to one client each, so that who is next is not the same with several: of that load the
        // tapes of one client are dealt out.
        let (mut run, parts) = match level.load.max_in_flight {
            None => self.together(level).await,
            Some(_) => self.dealt(level).await,
        };
        let mut tally = level.tally();
        for tape in MergedTapes::by_clocks(
            parts.iter().zip(0..).map(|(part, index)| self.file(part, index)),
        ) {
            let tape = tape.unwrap();
            sink.record(&tape).map_err(DriveError::Sink)?;
            tally.add(&tape);
            observer.notice(DriveNotice::RequestEnded(&tape));
        }
        tally.settle();
        run.summary = tally.summary();
        Ok(run)
    }

    fn cancel(&self) -> &Cancel {
        self.rig.cancel
    }

    fn now(&self) -> Stamp {
        self.rig.now()
    }
}

impl<'a> Clients<'a> {
    /// Another client of the same engine.
    const fn one(&self) -> OneClient<'a> {
        let TaskDriver { transport, timer, watch, cancel } = self.rig;
        TaskDriver { transport, timer, watch, cancel }
    }

    /// Each measures its share, all at the same time.
    async fn together(&self, level: PlannedLevel<'_>) -> (LevelRun, Vec<Vec<Tape>>) {
        let all = (0..self.count).map(|index| async move {
            let (mut rig, mut tapes) = (self.one(), Vec::new());
            let share = level.share(Shard::new(index, self.count).unwrap());
            (rig.measure(share, &mut tapes, &mut ()).await.unwrap(), tapes)
        });
        let (mut runs, parts): (Vec<_>, Vec<_>) = join_all(all).await.into_iter().unzip();
        (runs.remove(0), parts)
    }

    /// One measures, and each of the others is given what it would have had.
    async fn dealt(&self, level: PlannedLevel<'_>) -> (LevelRun, Vec<Vec<Tape>>) {
        let (mut rig, mut tapes) = (self.one(), Vec::new());
        let run = rig.measure(level, &mut tapes, &mut ()).await.unwrap();
        let mut parts = vec![Vec::new(); self.count as usize];
        for tape in tapes {
            parts[(tape.request.0 % self.count) as usize].push(tape);
        }
        (run, parts)
    }

    /// What client number `index` sends of its `tapes`, and what is known of its clock: that of the first is everybody's.
    fn file(
        &self,
        tapes: &[Tape],
        index: u64,
    ) -> (StoredTapes<Cursor<Vec<u8>>>, Option<ClockAxis>) {
        const MOST: u64 = 3_000_000_000;
        let ahead = (mixed(self.seed ^ index) % (2 * MOST)) as i64 - MOST as i64;
        let ahead = if index == 0 { 0 } else { ahead };
        let mut lines = Vec::new();
        for mut tape in tapes.iter().cloned() {
            tape.map_stamps(|at| Stamp::from_nanos(at.as_nanos().saturating_add_signed(ahead)));
            serde_json::to_writer(&mut lines, &tape).unwrap();
            lines.push(b'\n');
        }
        let read = ClockReading {
            at: Stamp::EPOCH,
            ahead_ns: ahead,
            uncertainty_ns: Some(0),
            source: ClockSource::RoundTrips,
        };
        let clock = (index > 0).then(|| ClockAxis::at(read));
        (StoredTapes::new("tapes.jsonl", Cursor::new(lines)), clock)
    }
}

/// A search of the simulated engine by so many clients, and what each of its levels came to.
fn searched(spec: &LoadSearchSpec, count: u64, seed: u64) -> (LoadSearch, Vec<LevelSummary>) {
    let about = |nominal| Length::Uniform { nominal: Tokens::new(nominal), ratio: 0.2 };
    let workload = PlanSpec {
        lengths: Lengths::Independent { input: about(500), output: about(60) },
        content: PromptContent::Unread,
        seed: Seed(seed),
        ..PlanSpec::new(1).unwrap()
    };
    let sweep = SweepSpec::new([], workload);
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100().unwrap().serve());
    let rig =
        TaskDriver { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut runner = SweepRunner::new(Clients { rig, count, seed }, &sweep, None);
    let (mut search, mut levels) = (LoadSearch::new(spec.clone()).unwrap(), Vec::new());
    let all = time.block_on(async {
        while let SearchStep::Measure(ask) | SearchStep::Confirm(ask) = search.next() {
            let level = runner.level(ask, &mut ()).await.unwrap().unwrap();
            search.observe(&level.run.summary);
            levels.push(level.run.summary);
        }
    });
    all.unwrap();
    (search, levels)
}

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1862), ..Config::default() }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Level for level what one client came to, and so load for load what it would try next; at the end the same answer.
    #[test]
    fn a_search_decides_as_one_client_does(
        count in 2_u64..=64,
        seed in 0_u64..1_000,
        (over, slo) in prop::sample::select(vec![
            (LoadKind::Rate, "p99 ttft<300ms"),
            (LoadKind::Rate, "mean tpot<9ms"),
            (LoadKind::Concurrency, "mean tpot<9ms"),
            (LoadKind::Concurrency, "p95 e2el<800ms"),
        ]),
    ) {
        let size = LevelSize::new(NonZeroU64::new(300), None, Some(0));
        let mut spec = LoadSearchSpec::new(over, slo.parse().unwrap());
        (spec.size, spec.from, spec.to, spec.most_levels) = (size, Some(4.0), Some(256.0), 8);
        let (one, its_levels) = searched(&spec, 1, seed);
        let (all, their_levels) = searched(&spec, count, seed);
        prop_assert!(one.trials().len() >= 3, "a search that decides: {:?}", one.trials());
        for (own, theirs) in its_levels.iter().zip(&their_levels) {
            prop_assert_eq!(own, theirs);
        }
        prop_assert_eq!(one.trials(), all.trials());
        prop_assert_eq!(one.result(), all.result());
    }
}
