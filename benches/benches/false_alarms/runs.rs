//! Many runs of one server, and what a comparison needs to know of each.

use std::error::Error;
use std::path::{Path, PathBuf};

use fizeau::core::{Nanos, Stamp, Tape};
use fizeau::experiment::{AbSettings, EndpointSpec, Experiment, RoundCount, WorkloadSpec};
use fizeau::harness::{DriveNotice, Observer};
use fizeau::metrics::{
    BetterDirection, ComparedRequests, ComparisonSide, FigureChoice, GoodputGoals, LevelFigure,
    LevelSummary, LoadPacing, Verdict,
};
use fizeau::record::StoredRun;
use fizeau::workload::Lengths;

use super::weather::{Size, USUAL, Weather, watched};

/// By how much a server is slower, in the order of all lists here; the first is not.
pub(super) const SLOWER: [f64; 4] = [1.0, 1.03, 1.05, 1.1];

/// How many runs, and of how many requests each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Many {
    pub(super) runs: u32,
    pub(super) requests: u64,
}

/// One run, as it was and as if all of it had taken longer.
pub(super) struct Run {
    /// The figures that are decided, with how the greater of two is better.
    figures: Vec<(LevelFigure, f64)>,
    pub(super) requests: [ComparedRequests; SLOWER.len()],
}

impl Run {
    fn new(summary: &LevelSummary, tapes: &[Tape]) -> Self {
        let figures = FigureChoice::usual().decided.into_iter();
        let figures = figures.filter_map(|figure| {
            Some((figure, figure.metric.measured(figure.statistic, summary)?))
        });
        let slower = |by: f64| {
            let mut requests = ComparedRequests::new(LoadPacing::ClosedLoop, &GoodputGoals::NONE);
            tapes.iter().for_each(|tape| requests.add(&stretched(tape, by)));
            requests
        };
        Self { figures: figures.collect(), requests: SLOWER.map(slower) }
    }

    /// Its figures, were it slower by this factor.
    pub(super) fn figures(&self, by: f64) -> impl Iterator<Item = (LevelFigure, f64)> + '_ {
        self.figures.iter().map(move |&(figure, value)| match figure.direction() {
            BetterDirection::HigherIsBetter => (figure, value / by),
            BetterDirection::LowerIsBetter => (figure, value * by),
        })
    }
}

/// The same request where all of its run took `by` times as long.
fn stretched(tape: &Tape, by: f64) -> Tape {
    let later =
        |stamp: Stamp| Stamp::EPOCH + Nanos::from_nanos((stamp.as_nanos() as f64 * by) as u64);
    let mut tape = tape.clone();
    let marks = &mut tape.marks;
    for mark in [&mut marks.intended, &mut marks.released] {
        *mark = later(*mark);
    }
    for mark in [&mut marks.send_start, &mut marks.end] {
        *mark = mark.map(later);
    }
    for arrival in &mut tape.arrivals {
        arrival.at = later(arrival.at);
    }
    tape
}

/// The tapes of a level.
#[derive(Default)]
struct Tapes(Vec<Tape>);

impl Observer for Tapes {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.0.push(tape.clone());
        }
    }
}

/// In virtual time: runs differ by 2 %, and no more than by chance.
pub(super) fn simulated(many: Many) -> Vec<Run> {
    let weather = Weather { drift_a_minute: 0.0, of_round: 0.0, of_turn: 0.02, ..USUAL };
    let size = Size { rounds: many.runs / 2, requests: many.requests };
    let turns = watched(size, weather, 1, Tapes::default).into_iter();
    turns.map(|(turn, Tapes(tapes))| Run::new(&turn.run.summary, &tapes)).collect()
}

/// The runs of a server over HTTP, one after the other: an A/B run of it against itself, kept in `kept`.
pub(super) fn measured(
    url: &str,
    model: &str,
    many: Many,
    kept: Option<PathBuf>,
) -> Result<Vec<Run>, Box<dyn Error>> {
    let endpoint = || EndpointSpec::new(url, model);
    let mut workload = WorkloadSpec::default();
    workload.lengths = Lengths::fixed(64, 32);
    workload.requests = many.requests.try_into().ok();
    let mut settings = AbSettings::new(endpoint(), workload, RoundCount::new(many.runs / 2)?);
    settings.max_in_flight = 8.try_into().ok();
    settings.settle = Nanos::ZERO;
    settings.warmups = Some(8);
    let is_kept = kept.is_some();
    let folder = kept.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("fizeau-false-alarms-{}", std::process::id()))
    });
    let experiment = Experiment::new(endpoint()).settings(settings).folder(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(experiment.run(&mut ()))?;
    let runs = stored(&folder);
    if !is_kept {
        std::fs::remove_dir_all(&folder)?;
    }
    runs
}

/// The turns of an A/B run, or of all A/B runs in the folder, in the order in which they were measured. Invalid ones are left out, as
/// no command compares them.
pub(super) fn stored(folder: &Path) -> Result<Vec<Run>, Box<dyn Error>> {
    if folder.join("run.json").is_file() {
        return turns(folder);
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    folders.retain(|path| path.join("run.json").is_file());
    folders.sort();
    let runs: Result<Vec<Vec<Run>>, _> = folders.iter().map(|path| turns(path)).collect();
    Ok(runs?.into_iter().flatten().collect())
}

fn turns(folder: &Path) -> Result<Vec<Run>, Box<dyn Error>> {
    let stored = StoredRun::open(folder)?;
    let mut turns = Vec::new();
    for level in stored.levels() {
        let (letter, round) = level.name().split_once('-').ok_or("a folder of no turn")?;
        let (round, side) = (
            round.parse::<u32>()?,
            if letter == "a" { ComparisonSide::Baseline } else { ComparisonSide::Candidate },
        );
        let mut tapes = Vec::new();
        level.each_tape(|tape| tapes.push(tape))?;
        let Some(summary) = level.summary()? else { continue };
        if summary.validity.verdict == Verdict::Invalid {
            continue;
        }
        turns.push((
            (round, side != RoundCount::first_of(round)),
            Run::new(&summary.summary, &tapes),
        ));
    }
    turns.sort_by_key(|(place, _)| *place);
    Ok(turns.into_iter().map(|(_, run)| run).collect())
}
