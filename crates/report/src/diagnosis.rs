//! A diagnosis as text: the waterfall from bound to measurement, cause by cause.

#[cfg(feature = "html")]
mod page;
#[cfg(any(feature = "html", feature = "pictures"))]
mod picture;

use fizeau_core::{LevelLoad, Millis};
use fizeau_record::{
    DiagnosedFigure, DiagnosisDocument, LevelDiagnosis, SlowdownCause, Waterfall, WaterfallStep,
};

use crate::Shown;
use crate::text::{Verbosity, line, sentence};

/// How wide the bars are.
const BAR: usize = 18;

impl Shown<'_, DiagnosisDocument> {
    /// Where the time goes, at 80 columns: of the fullest level, or of all levels with the evidence for each step.
    #[must_use]
    pub fn text(&self, verbosity: Verbosity) -> String {
        let mut out = String::new();
        line(&mut out, &format!("{} on {}", self.model, self.device));
        if let Some(probed) = &self.probed {
            line(&mut out, &format!("measured silicon: {probed}"));
        }
        let shown: Vec<&LevelDiagnosis> = match verbosity {
            Verbosity::Brief => self.fullest().into_iter().collect(),
            Verbosity::Full => self.levels.iter().collect(),
        };
        for level in &shown {
            out.push('\n');
            line(&mut out, &level_title(level));
            cautions(level).for_each(|words| sentence(&mut out, &words));
            for (name, figure) in figures(level) {
                out.push('\n');
                of_figure(&mut out, name, figure, verbosity);
            }
        }
        match self.levels.len() - shown.len() {
            0 if self.levels.is_empty() && self.left_out.is_empty() => {
                sentence(&mut out, "There is no level, and so nothing to explain.");
            }
            0 => {}
            rest => {
                out.push('\n');
                sentence(
                    &mut out,
                    &format!("This is the level with the most in flight; -v shows {rest} more."),
                );
            }
        }
        self.left_out().for_each(|words| sentence(&mut out, &words));
        out
    }

    /// Of which levels nothing is explained, and why.
    fn left_out(&self) -> impl Iterator<Item = String> {
        self.left_out.iter().map(|reason| format!("Nothing to explain at {reason}."))
    }
}

/// That a level is faster than the hardware allows, and what else speaks against its figures.
fn cautions(level: &LevelDiagnosis) -> impl Iterator<Item = String> {
    let beyond = level.beyond_bound.iter().map(|beyond| format!("Impossible: {beyond}."));
    let doubts = level.doubts.iter().map(|doubt| format!("Check before use: {doubt}."));
    beyond.chain(doubts)
}

/// Why a figure is not explained.
fn unexplained(name: &str, reason: &str) -> String {
    format!("{name}: nothing to explain, since {reason}.")
}

/// The two figures of a level, by their names.
pub(crate) fn figures(level: &LevelDiagnosis) -> [(&'static str, &DiagnosedFigure); 2] {
    [("TTFT", &level.ttft), ("TPOT", &level.tpot)]
}

pub(crate) fn level_title(level: &LevelDiagnosis) -> String {
    let load = match level.load {
        LevelLoad::Concurrency(slots) => format!("Concurrency {slots}"),
        LevelLoad::Rate(_) => format!("{} requests/s", level.load.number()),
    };
    let (in_flight, decoding) = (level.in_flight, level.decoding);
    format!("{load}: {in_flight:.1} in flight, {decoding:.1} decoding, on average")
}

fn of_figure(out: &mut String, name: &str, figure: &DiagnosedFigure, verbosity: Verbosity) {
    let waterfall = match figure {
        DiagnosedFigure::Explained(waterfall) => waterfall,
        DiagnosedFigure::Absent { reason } => {
            return sentence(out, &unexplained(name, reason));
        }
    };
    line(out, &format!("{:<27}{:>9}{:>16}{:>7}", format!("Mean {name}"), "ms", "range", "share"));
    let mut from = 0.0;
    for step in &waterfall.steps {
        let bar = bar(waterfall, from, step.adds_ms);
        from += step.adds_ms.get();
        let sign = if step.cause.is_bound() { "" } else { "+" };
        let adds = number(step.adds_ms);
        let adds = if adds.starts_with('-') { adds } else { format!("{sign}{adds}") };
        let range = range(step.range_ms);
        let share = format!("{:.0} %", step.share * 100.0);
        line(out, &format!("{:<27}{adds:>9}{range:>16}{share:>7}  {bar}", step.cause.title()));
    }
    let measured = number(waterfall.measured_ms);
    let range = range(waterfall.measured_interval_ms);
    line(out, &format!("{:<27}{measured:>9}{range:>16}{:>7}", "measured", "100 %"));
    let is_full = verbosity == Verbosity::Full;
    // That less was measured than is expected is a doubt about what was said of the hardware.
    let is_doubt = |step: &&WaterfallStep| {
        step.cause == SlowdownCause::Unexplained && step.share < -WORTH_A_WORD
    };
    for step in waterfall.steps.iter().filter(|step| is_full || is_doubt(step)) {
        sentence(out, &format!("- {}: {}", step.cause.title(), step.evidence));
    }
    sentence(out, &format!("Try first: {}", waterfall.try_first.advice));
}

/// A share below zero that is more than models are off by.
const WORTH_A_WORD: f64 = 0.1;

/// Where a step lies between nothing and the longest that is shown.
fn bar(waterfall: &Waterfall, from: f64, adds: Millis) -> String {
    let whole = longest(waterfall);
    let to = from + adds.get();
    let cell = |ms: f64| ((ms / whole) * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    let (low, high) = (cell(from.min(to)), cell(from.max(to)));
    format!("{}{}", " ".repeat(low.min(BAR - 1)), "#".repeat((high - low).max(1)))
}

/// The furthest that a waterfall reaches.
pub(crate) fn longest(waterfall: &Waterfall) -> f64 {
    let mut reached = 0.0;
    let tops = waterfall.steps.iter().map(|step| {
        reached += step.adds_ms.get();
        reached
    });
    tops.fold(waterfall.measured_ms.get(), f64::max)
}

/// A time with three digits that count.
pub(crate) fn number(time: Millis) -> String {
    let ms = time.get();
    let digits = match ms.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{ms:.digits$}")
}

pub(crate) fn range(ends: Option<[Millis; 2]>) -> String {
    let shown = ends.map(|ends| ends.map(number)).filter(|[low, high]| low != high);
    shown.map_or_else(String::new, |[low, high]| format!("[{low}, {high}]"))
}
