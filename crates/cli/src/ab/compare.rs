//! What the rounds of an A/B run come to.

use fizeau::experiment::turn_name;
use fizeau::metrics::{
    ComparedRequests, ComparisonSettings, ComparisonTable, FigureChoice, Pairing, RoundFigures,
    Side,
};
use fizeau::record::StoredRun;
use fizeau::report::{AbRound, LevelReport};

use super::prepare::Job;
use crate::compare::{Output, figures, pace};
use crate::exit::Fail;

/// The rounds that count, against one another; why there is no answer, where there is none.
pub(super) fn rounds(job: &Job, rounds: &[AbRound]) -> Result<ComparisonTable, String> {
    let counted: Vec<(&LevelReport, &LevelReport)> =
        rounds.iter().filter_map(|round| round.counted().ok()).collect();
    let figures = |level: &LevelReport| RoundFigures::of(&level.summary);
    let a: Vec<RoundFigures> = counted.iter().map(|(a, _)| figures(a)).collect();
    let b: Vec<RoundFigures> = counted.iter().map(|(_, b)| figures(b)).collect();
    ComparisonTable::of_rounds(&a, &b, &settings(job, &counted)).map_err(|_| {
        format!(
            "{} of {} rounds count, and at least {} are needed",
            counted.len(),
            job.spec.rounds.get(),
            ComparisonTable::LEAST_ROUNDS
        )
    })
}

/// As it was settled before the run, but for whether there are tokens.
fn settings(job: &Job, counted: &[(&LevelReport, &LevelReport)]) -> ComparisonSettings {
    let has = |level: &LevelReport| level.summary.tokens.output.get() > 0;
    let output = match counted.iter().any(|(a, b)| has(a) || has(b)) {
        true => Output::Tokens,
        false => Output::None,
    };
    let figures = figures(&job.asked, &job.spec.goals, output);
    ComparisonSettings { figures, ..job.settings.clone() }
}

/// The requests of the rounds that count, in pairs, as the run's folder has them. Their figures get no answer: what differs
/// from turn to turn is not in their errors.
pub(super) fn requests(job: &Job, rounds: &[AbRound]) -> Result<ComparisonTable, Fail> {
    let stored = StoredRun::open(job.out.folder().path()).map_err(Fail::broken)?;
    let pace = pace(stored.record());
    let mut sides = [Side::Baseline, Side::Candidate]
        .map(|side| (side, ComparedRequests::new(pace, &job.spec.goals)));
    for round in rounds.iter().filter(|round| round.counted().is_ok()) {
        for (side, requests) in &mut sides {
            let name = turn_name(*side, round.number);
            let level = stored.levels().iter().find(|level| level.name() == name);
            let level = level.ok_or_else(|| Fail::broken(format!("{name}: no tapes there")))?;
            requests.next_round();
            for tape in level.tapes().map_err(Fail::broken)? {
                requests.add(&tape.map_err(Fail::broken)?);
            }
        }
    }
    let [(_, a), (_, b)] = sides;
    let counted: Vec<(&LevelReport, &LevelReport)> =
        rounds.iter().filter_map(|round| round.counted().ok()).collect();
    let settings = settings(job, &counted);
    let figures = FigureChoice { decided: Vec::new(), beside: settings.figures.decided };
    let settings = ComparisonSettings { figures, ..job.settings.clone() };
    Ok(ComparisonTable::of_requests(&a, &b, Pairing::ByNumber, &settings))
}
