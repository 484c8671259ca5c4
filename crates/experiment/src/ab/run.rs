//! An A/B run, carried out: turn by turn measured, judged and kept, and what the rounds come to.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fizeau_core::{LevelLoad, Timer};
use fizeau_harness::{DriveNotice, Measure, Observer};
use fizeau_metrics::{
    ComparedRequests, ComparisonSettings, ComparisonSide, ComparisonTable, FigureChoice,
    LevelFigure, LoadPacing, ReplyOutput, RequestPairing, RoundFigures, RunToRun, Slo,
};
use fizeau_record::{AbReport, AbRound, LevelReport, RunFolder};

use super::{AbRunner, AbSide, AbSpec, AbTurn, RoundCount, UpcomingTurn, turn_name};
use crate::basis::RunBasis;
use crate::evaluate::{EvaluationContext, LevelTallies, keep_level, released};
use crate::event::{AfterLevel, LevelPosition, LevelStarted, RunEvent, Telling, Watcher};
use crate::input::ExperimentError;
use crate::telemetry::LevelScrapers;

/// An A/B run, decided. Nothing has been measured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedAb {
    /// What every kind of run has; the endpoint is A's.
    pub basis: RunBasis,
    /// The rounds, and what is asked in them.
    pub spec: AbSpec,
    /// The baseline and the candidate.
    pub sides: [AbSide; 2],
    /// How strictly the sides are compared; at which figures shows when it is known whether there are tokens.
    pub comparison: ComparisonSettings,
    /// The figures that were asked for by name; empty for the usual ones.
    pub figures: Vec<LevelFigure>,
    /// What each side must keep over its rounds; none where nobody asks.
    pub slo: Option<Slo>,
    /// What sets the pace of the workload.
    pub pace: LoadPacing,
    /// How hard each side is pressed, as reports have it.
    pub load: LevelLoad,
    /// Whether each side has prompts of its own, where that is not as one might think.
    pub(super) note: Option<&'static str>,
}

impl PreparedAb {
    /// The time that all turns take with the pauses between them, where the arrivals tell.
    #[must_use]
    pub fn expected_time(&self) -> Option<Duration> {
        let turns = 2.0 * f64::from(self.spec.rounds.get());
        let pauses = (turns - 1.0) * self.spec.settle.as_secs_f64();
        let each = self.basis.work.arrival_time()?;
        Duration::try_from_secs_f64(turns * each.get() + pauses).ok()
    }
}

/// A turn's report, and of its tapes what the comparison needs.
struct MeasuredTurn {
    report: LevelReport,
    requests: ComparedRequests,
}

/// A round's turns, as far as they were measured.
struct RoundTurns {
    number: u32,
    a: Option<MeasuredTurn>,
    b: Option<MeasuredTurn>,
}

impl PreparedAb {
    /// Measures all turns, each on disk before the next begins and `ab.json` at the end, on `a` and `b`, whose pauses `timer` waits for. A run that is called
    /// off gives what it has.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for an endpoint.
    pub async fn run<M: Measure, C: Timer>(
        &self,
        a: M,
        b: M,
        timer: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<AbReport, ExperimentError> {
        let mut ab = AbRunner::new(a, b, timer, &self.spec, folder);
        let mut rounds: Vec<RoundTurns> = Vec::new();
        while let Some(upcoming) = ab.upcoming() {
            let endpoint = usize::from(upcoming.side == ComparisonSide::Candidate);
            watcher.event(RunEvent::LevelStarted(self.started(upcoming)?));
            self.basis.caches.empty(endpoint).await?;
            let mut kept = TurnTallies {
                tallies: LevelTallies::default(),
                requests: ComparedRequests::new(self.pace, &self.spec.goals),
            };
            if folder.is_some() {
                kept.tallies = kept.tallies.with_histograms();
            }
            let mut scrapers = match upcoming.side {
                ComparisonSide::Baseline => LevelScrapers::default(),
                ComparisonSide::Candidate => self.basis.scrapers()?,
            };
            let mut observer = ((&mut kept, &mut scrapers), Telling(&mut *watcher));
            let next = ab.next_turn(&mut observer).await;
            let Some(turn) = next.map_err(ExperimentError::told)? else { break };
            kept.tallies.telemetry = scrapers.finish(&turn.run);
            let report = self.level(&turn, &kept.tallies)?;
            watcher.event(RunEvent::LevelEnded(Box::new(report.clone())));
            add(&mut rounds, &turn, MeasuredTurn { report, requests: kept.requests });
        }
        let report = self.report(rounds);
        let kept = folder.map(|folder| folder.write_json("ab.json", &report));
        kept.transpose().map_err(ExperimentError::broken)?;
        Ok(report)
    }

    fn started(
        &self,
        UpcomingTurn { round, side }: UpcomingTurn,
    ) -> Result<LevelStarted, ExperimentError> {
        let plan = self.spec.plan(round, side).map_err(ExperimentError::broken)?;
        let rounds = self.spec.rounds;
        let is_first = RoundCount::first_of(round) == side;
        let after_this = 2 * (rounds.get() - round) + u32::from(is_first);
        let name = match side {
            ComparisonSide::Baseline => "A",
            ComparisonSide::Candidate => "B",
        };
        Ok(LevelStarted {
            position: Some(LevelPosition {
                number: round as usize,
                of: Some(rounds.get() as usize),
            }),
            after: AfterLevel::Alike(after_this),
            clients: self.basis.client.count(),
            ..LevelStarted::new(name.to_owned(), plan.len().get())
        })
    }

    /// The report of a turn, once it is on disk.
    fn level(&self, turn: &AbTurn, tallies: &LevelTallies) -> Result<LevelReport, ExperimentError> {
        let repeated = turn.plan.repeats().map(|repeats| repeats.to_string());
        let context = EvaluationContext {
            light: self.basis.speed_of_light(),
            client: &self.basis.client,
            requested: self
                .basis
                .work
                .of_level(turn.plan.clone())
                .requested_share(NonZeroU64::MIN, released(&turn.run)),
            cap: self.spec.load.max_in_flight.map(NonZeroU32::get),
            repeated: repeated.as_deref(),
        };
        let mut report = context.report(&turn.run, tallies, self.load);
        report.folder = Some(turn_name(turn.side, turn.round));
        if let Some(folder) = &turn.folder {
            keep_level(folder, &report, tallies).map_err(ExperimentError::broken)?;
        }
        Ok(report)
    }

    fn report(&self, rounds: Vec<RoundTurns>) -> AbReport {
        let (rounds, requests): (Vec<AbRound>, Vec<_>) = rounds.into_iter().map(split).unzip();
        let comparison = self.compared(&rounds);
        let requests = comparison.as_ref().ok().map(|_| self.compared_requests(&rounds, requests));
        let sides = self.sides.each_ref().map(AbSide::party);
        let (setup, planned) = (self.basis.setup.clone(), self.spec.rounds.get());
        let mut report = AbReport::new(setup, sides, planned, rounds, comparison);
        report.settle = self.spec.settle.to_millis();
        (report.slo, report.requests) = (self.slo.clone(), requests);
        report
    }

    /// The rounds that count, against one another; why there is no answer, where there is none.
    fn compared(&self, rounds: &[AbRound]) -> Result<ComparisonTable, String> {
        let counted = counted(rounds);
        let figures = |level: &LevelReport| RoundFigures::of(&level.summary);
        let a: Vec<RoundFigures> = counted.iter().map(|(a, _)| figures(a)).collect();
        let b: Vec<RoundFigures> = counted.iter().map(|(_, b)| figures(b)).collect();
        let table = ComparisonTable::of_rounds(&a, &b, &self.settings_of(&counted));
        table.map_err(|_| {
            format!(
                "{} of {} rounds count, and at least {} are needed",
                counted.len(),
                self.spec.rounds.get(),
                ComparisonTable::LEAST_ROUNDS
            )
        })
    }

    /// The requests of the rounds that count, in pairs. Their figures get no answer: what differs from turn to turn is not in their
    /// errors.
    fn compared_requests(
        &self,
        rounds: &[AbRound],
        requests: Vec<[Option<ComparedRequests>; 2]>,
    ) -> ComparisonTable {
        let empty = || ComparedRequests::new(self.pace, &self.spec.goals);
        let (mut a, mut b) = (empty(), empty());
        let of_counted = rounds.iter().zip(requests).filter(|(round, _)| round.counted().is_ok());
        for (_, [of_a, of_b]) in of_counted {
            of_a.into_iter().for_each(|more| a.append(more));
            of_b.into_iter().for_each(|more| b.append(more));
        }
        let settings = self.settings_of(&counted(rounds));
        let (figures, run_to_run) = (settings.figures.undecided(), RunToRun::NONE);
        let settings = ComparisonSettings { figures, run_to_run, ..self.comparison.clone() };
        ComparisonTable::of_requests(&a, &b, RequestPairing::ByNumber, &settings)
    }

    /// As it was settled before the run, but for whether there are tokens, and failures.
    fn settings_of(&self, counted: &[(&LevelReport, &LevelReport)]) -> ComparisonSettings {
        let has = |level: &LevelReport| level.summary.tokens.output.get() > 0;
        let output = match counted.iter().any(|(a, b)| has(a) || has(b)) {
            true => ReplyOutput::Tokens,
            false => ReplyOutput::None,
        };
        let mut figures = FigureChoice::fitting(&self.figures, &self.spec.goals, output);
        let fails = |level: &LevelReport| {
            level.summary.requests.failed_share().is_some_and(|share| share > 0.0)
        };
        if counted.iter().any(|(a, b)| fails(a) || fails(b)) {
            figures = figures.with_failures();
        }
        ComparisonSettings { figures, ..self.comparison.clone() }
    }
}

fn counted(rounds: &[AbRound]) -> Vec<(&LevelReport, &LevelReport)> {
    rounds.iter().filter_map(|round| round.counted().ok()).collect()
}

/// Puts a turn into its round.
fn add(rounds: &mut Vec<RoundTurns>, turn: &AbTurn, measured: MeasuredTurn) {
    if rounds.last().is_none_or(|round| round.number != turn.round) {
        rounds.push(RoundTurns { number: turn.round, a: None, b: None });
    }
    if let Some(round) = rounds.last_mut() {
        match turn.side {
            ComparisonSide::Baseline => round.a = Some(measured),
            ComparisonSide::Candidate => round.b = Some(measured),
        }
    }
}

/// A round as the report has it, and what its turns' requests came to.
fn split(RoundTurns { number, a, b }: RoundTurns) -> (AbRound, [Option<ComparedRequests>; 2]) {
    let apart = |measured: Option<MeasuredTurn>| match measured {
        Some(MeasuredTurn { report, requests }) => (Some(report), Some(requests)),
        None => (None, None),
    };
    let ((a, of_a), (b, of_b)) = (apart(a), apart(b));
    (AbRound { number, first: RoundCount::first_of(number), a, b }, [of_a, of_b])
}

/// What is kept of the tapes of a turn.
struct TurnTallies {
    tallies: LevelTallies,
    requests: ComparedRequests,
}

impl Observer for TurnTallies {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.tallies.add(tape);
            self.requests.add(tape);
        }
    }
}
