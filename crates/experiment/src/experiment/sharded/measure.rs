//! Shard 0's way to measure a level: all shards measure their parts, and what comes of it is as if one client had.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fizeau_core::{Nanos, Stamp, Tape, TapeSink};
use fizeau_harness::{
    Cancel, DriveEnding, DriveError, DriveNotice, LevelRun, Measure, Observer, PlannedLevel,
};
use fizeau_metrics::{ClientCeiling, ClientWatch, LevelTally, SystemHeadroom};
use fizeau_record::{MergedTapes, ShardHealth, ShardRecord, ShardsReport, StoredTapes, TailShares};
use fizeau_workload::{Shard, WalkError};

use super::share::{self, MeasuredShare, ShareFolder};
use crate::experiment::PreparedRun;
use crate::shards::{
    AbsenceTime, LevelParts, LostShard, PartOf, ShardError, ShardFault, ShardGroup,
};

/// Measures levels with all shards of a run.
#[derive(Debug)]
pub(crate) struct ShardedMeasure<'a, M, R> {
    pub(super) with: M,
    pub(super) run: &'a R,
    pub(super) group: ShardGroup,
    pub(super) folder: &'a ShareFolder,
}

/// Hears of the warm-up alone: of requests that ended it is told once all are together.
struct Begun<'a, O>(&'a mut O);

impl<O: Observer> Observer for Begun<'_, O> {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::WarmedUp { .. } = notice {
            self.0.notice(notice);
        }
    }
}

impl<M: Measure, R: PreparedRun> Measure for ShardedMeasure<'_, M, R> {
    type Error = M::Error;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, M::Error, K::Error>> {
        let cancel = self.with.cancel().clone();
        let ordered = match self.run.ordered(level.name) {
            Ok(ordered) => ordered,
            Err(error) => {
                return Ok(self.called_off(ShardError::Unusable(error.to_string().into()), &level));
            }
        };
        if let Err(error) = self.group.order(level.name) {
            return Ok(self.called_off(error, &level));
        }
        let basis = self.run.basis();
        let mut begun = Begun(observer);
        let own =
            share::measure(&mut self.with, &ordered, self.folder, basis, &self.group, &mut begun);
        let Some(MeasuredShare { mut run, report, took, .. }) =
            own.await.map_err(DriveError::widen)?
        else {
            let error = self.group.error().unwrap_or(ShardError::CalledOff);
            return Ok(self.called_off(error, &level));
        };
        let observer = begun.0;
        let tapes = report.tapes.clone();
        let mut parts = vec![PartOf { report, tapes }];
        parts.extend(self.parts_of_others(Path::new(&ordered.folder), took));
        let mut tally = level.tally();
        let mut tail =
            TailShares::of(parts.iter().map(|part| part.report.record.health.sent).sum());
        let taken = take_tapes(&parts, |number, tape| {
            sink.record(tape)?;
            tally.add(tape);
            tail.add(number, tape);
            observer.notice(DriveNotice::RequestEnded(tape));
            Ok(())
        });
        if let Some(error) = taken.map_err(DriveError::Sink)? {
            self.group.fail(error, &cancel);
        }
        sink.flush().map_err(DriveError::Sink)?;
        tally.settle();
        let is_cut = parts.iter().any(|part| part.report.is_cancelled);
        if is_cut || self.group.error().is_some() {
            run.driven.ended = DriveEnding::Cancelled;
            cancel.cancel();
        } else if parts.iter().any(|part| part.report.is_time_up) {
            run.driven.ended = DriveEnding::TimeUp;
        }
        together(&mut run, &tally, &parts);
        self.report(parts, &tail);
        Ok(run)
    }

    fn cancel(&self) -> &Cancel {
        self.with.cancel()
    }

    fn now(&self) -> Stamp {
        self.with.now()
    }
}

impl<M: Measure, R> ShardedMeasure<'_, M, R> {
    /// A level of which nothing was measured.
    fn called_off(&self, error: ShardError, level: &PlannedLevel<'_>) -> LevelRun {
        self.group.fail(error, self.with.cancel());
        LevelRun::nothing(level, self.with.now())
    }

    /// What the other shards measured in this level, whose folder has this name. A shard that is lost calls the run off.
    fn parts_of_others(&self, folder: &Path, took: Nanos) -> Vec<PartOf> {
        let others = match self.group.error() {
            Some(error) => Ok(LevelParts { parts: Vec::new(), lost: Some(error) }),
            None => self.group.parts(folder, took),
        };
        let cancel = self.with.cancel();
        match others {
            Ok(LevelParts { parts, lost }) => {
                if let Some(error) = lost {
                    // The others need not wait for what nobody can keep.
                    self.group.give_up(&error);
                    self.group.fail(error, cancel);
                }
                parts
            }
            Err(error) => {
                self.group.fail(error, cancel);
                Vec::new()
            }
        }
    }

    /// Keeps what each shard did in this level.
    fn report(&self, parts: Vec<PartOf>, tail: &TailShares) {
        let records: Vec<ShardRecord> = parts.into_iter().map(|part| part.report.record).collect();
        let count = self.group.shard().count().get();
        let mut report = ShardsReport::of_parts(count, &records, tail);
        let gone = self.group.gone();
        report.missing = missing(count, &report, &gone);
        let in_level = gone.iter().filter(|lost| lost.when == AbsenceTime::InLevel);
        report.gone_in_level = in_level.map(|lost| lost.shard.to_string()).collect();
        // They met, and are of one plan.
        report.doubts = Some(Vec::new());
        self.group.keep_report(report);
    }
}

/// Hands `take` the tapes of all parts with their parts' numbers, on shard 0's clock, in the order in which they ended. Tells why
/// they are not all, if so.
///
/// # Errors
/// The first of `take`.
fn take_tapes<E>(
    parts: &[PartOf],
    mut take: impl FnMut(usize, &Tape) -> Result<(), E>,
) -> Result<Option<ShardError>, E> {
    let mut tapes = match merged(parts) {
        Ok(tapes) => tapes,
        Err(error) => return Ok(Some(error)),
    };
    while let Some(next) = tapes.next_of() {
        match next {
            Ok((number, tape)) => take(number, &tape)?,
            Err(error) => return Ok(Some(ShardError::Unusable(error.to_string().into()))),
        }
    }
    Ok(cut_tapes(parts, &tapes))
}

/// The tapes of all parts, on shard 0's clock, in the order in which they ended.
fn merged(parts: &[PartOf]) -> Result<MergedTapes<BufReader<File>>, ShardError> {
    let open = |part: &PartOf| {
        let file = File::open(&part.tapes);
        let file = file
            .map_err(|error| ShardError::Unusable(ShardFault::at(&part.tapes.display(), &error)))?;
        let tapes = StoredTapes::new(&part.tapes, BufReader::new(file));
        Ok((tapes.counted(Some(part.report.tapes_written)), part.report.record.clock))
    };
    let files = parts.iter().map(open).collect::<Result<Vec<_>, ShardError>>()?;
    Ok(MergedTapes::by_clocks(files).each_once())
}

/// The shards of which nothing is in `report`, of so many, and why: `gone` has those of which that is known.
fn missing(count: u64, report: &ShardsReport, gone: &[LostShard]) -> Vec<String> {
    let shards = (0..count).filter_map(|index| Shard::new(index, count).ok());
    let is_here = |shard: &Shard| {
        let name = shard.to_string();
        report.health.iter().any(|one| one.shard == name)
    };
    let named = |shard: Shard| {
        let known = gone.iter().find(|lost| lost.shard == shard);
        let why = known.map_or("its part was not taken in", |lost| &*lost.why);
        format!("{shard}: {why}")
    };
    shards.filter(|shard| !is_here(shard)).map(named).collect()
}

/// That a file is not what its shard wrote, as where this machine sees an older state of it: figures of fewer requests would be wrong.
fn cut_tapes(parts: &[PartOf], tapes: &MergedTapes<BufReader<File>>) -> Option<ShardError> {
    let mut files = parts.iter().zip(tapes.files());
    let (part, cut) = files.find_map(|(part, file)| Some((part, file.cut()?)))?;
    Some(ShardError::Unusable(format!("{} is {cut}", part.tapes.display()).into()))
}

/// Makes `run`, which is of one part, that of all.
fn together(run: &mut LevelRun, tally: &LevelTally, parts: &[PartOf]) {
    let reports = || parts.iter().map(|part| &part.report);
    let most = |of: fn(&ShardHealth) -> Option<f64>| {
        reports().filter_map(|report| of(&report.record.health)).max_by(f64::total_cmp)
    };
    run.driven.held_back = reports().map(|report| report.held_back).sum();
    run.driven.abandoned = reports().map(|report| report.abandoned).sum();
    run.driven.unsent = reports().map(|report| report.unsent).sum();
    run.warmup.sent = reports().map(|report| report.warm_up.sent).sum();
    run.warmup.failed = reports().map(|report| report.warm_up.failed).sum();
    run.summary = tally.summary();
    run.summary.requests.held_back = run.driven.held_back;
    run.summary.requests.abandoned = run.driven.abandoned;
    run.summary.note_unsent(run.driven.unsent);
    run.client = tally.proof(ClientWatch {
        threads: reports().map(|report| report.threads).sum(),
        cpu_share: most(|health| health.cpu_share),
        run_delay_share: most(|health| health.run_delay_share),
        steal_share: most(|health| health.steal_share),
        headroom: SystemHeadroom::scarcest(reports().filter_map(|report| report.headroom)),
        ceiling: ceiling(reports().map(|report| report.ceiling)),
    });
}

/// What all clients together can do at most; none where one of them does not know it of itself, or there are none.
fn ceiling(mut parts: impl Iterator<Item = Option<ClientCeiling>>) -> Option<ClientCeiling> {
    let first = parts.next()?;
    parts.fold(first, |sum, next| Some(sum?.beside(next?)))
}

#[cfg(test)]
mod tests {
    use fizeau_core::{PerSec, RequestId, Tape, WarmUp};
    use fizeau_metrics::OnTimeLimit;

    use super::*;
    use crate::shards::PartReport;

    #[test]
    fn tapes_that_are_fewer_than_their_shard_wrote_are_noticed() {
        let path = |name: &str| {
            std::env::temp_dir().join(format!("fizeau-part-{name}-{}", std::process::id()))
        };
        let line = |request| {
            let tape = Tape { request: RequestId(request), ..Tape::sent_at(Stamp::EPOCH) };
            serde_json::to_string(&tape).unwrap() + "\n"
        };
        std::fs::write(path("even"), [line(0), line(2)].concat()).unwrap();
        std::fs::write(path("odd"), [line(1), line(3)].concat()).unwrap();
        let part = |tapes_written, name| {
            let report = PartReport {
                failed: None,
                is_cancelled: false,
                is_time_up: false,
                warm_up: WarmUp::default(),
                held_back: 0,
                abandoned: 0,
                unsent: 0,
                threads: 1,
                headroom: None,
                ceiling: None,
                record: ShardRecord::of_health(ShardHealth::default()),
                tapes_written,
                tapes: path(name),
            };
            PartOf { report, tapes: path(name) }
        };
        let error = |parts: &[PartOf]| {
            let mut tapes = merged(parts).unwrap();
            assert_eq!(tapes.by_ref().filter_map(Result::ok).count(), 2 * parts.len());
            cut_tapes(parts, &tapes).map(|error| error.to_string())
        };
        assert_eq!(error(&[part(2, "even"), part(2, "odd")]), None);
        let said = error(&[part(2, "even"), part(3, "odd")]).unwrap();
        assert!(said.contains("cut between lines") && said.contains("there were 3"), "{said}");
        // One that sent what is another's is no part of the level.
        std::fs::write(path("odd"), [line(1), line(2)].concat()).unwrap();
        let mut tapes = merged(&[part(2, "even"), part(2, "odd")]).unwrap();
        let twice = tapes.find_map(Result::err).unwrap().to_string();
        assert!(twice.contains("request 2 is also in"), "{twice}");
        assert!(["even", "odd"].iter().all(|name| twice.contains(path(name).to_str().unwrap())));
        assert!(tapes.next().is_none());
        ["even", "odd"].iter().for_each(|name| std::fs::remove_file(path(name)).unwrap());
    }

    #[test]
    fn who_has_no_part_is_missing_and_why_is_said_where_it_is_known() {
        let mut report = ShardsReport::of(4);
        report.health = ["0/4", "2/4"].map(ShardHealth::of).into();
        let gone = [(3, 4), (1, 40)].map(|(index, count)| LostShard {
            shard: Shard::new(index, count).unwrap(),
            when: AbsenceTime::InLevel,
            why: "it is gone".to_owned(),
        });
        let found = missing(4, &report, &gone);
        assert_eq!(found, ["1/4: its part was not taken in", "3/4: it is gone"]);
    }

    #[test]
    fn clients_together_can_do_what_each_can_and_nobody_knows_where_one_does_not() {
        let limit = |streams, rate| OnTimeLimit { streams, tokens_per_s: PerSec::new(rate) };
        let of = |streams, rate, on_time| ClientCeiling {
            streams,
            tokens_per_s: PerSec::new(rate),
            on_time,
        };
        let (one, other) = (of(10, 1e6, Some(limit(100, 1e4))), of(20, 5e5, Some(limit(50, 2e4))));
        let both = of(30, 1.5e6, Some(limit(150, 3e4)));
        assert_eq!(ceiling([Some(one), Some(other)].into_iter()), Some(both));
        assert_eq!(ceiling([Some(one)].into_iter()), Some(one));
        assert_eq!(ceiling([Some(one), None].into_iter()), None);
        assert_eq!(ceiling([None, Some(one)].into_iter()), None);
        let unlimited = of(20, 5e5, None);
        assert_eq!(one.beside(unlimited).on_time, None);
    }
}
