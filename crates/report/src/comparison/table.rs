//! The table of a comparison, in 80 columns.

use fizeau_metrics::{ComparedFigure, ComparisonAnswer, Estimate, TestFindings};

use super::p_value;
use crate::text::{WIDTH, plain};
use crate::{Verbosity, grid};
use fizeau_record::ComparisonView;
use fizeau_record::text::{number, wrap};

/// One line of the table.
pub(crate) enum ComparisonLine {
    /// Cells that stand under their heads.
    Tested([String; COLUMNS]),
    /// A figure without a test: its name and values, and the reason.
    Untested([String; 3], String),
}

const COLUMNS: usize = 7;

/// What stands above the cells of both sides.
pub(crate) fn heads(baseline: &str, candidate: &str) -> [String; COLUMNS] {
    ["", baseline, candidate, "change", "interval", "adj. p", "result"].map(str::to_owned)
}

/// The longest name of a side that a column's head takes.
const LONGEST_NAME: usize = 12;

/// The table: figures with an answer, and in full those that are for information only.
pub(super) fn lines(view: &ComparisonView<'_>, verbosity: Verbosity) -> Vec<String> {
    let rows = view.table.rows.iter();
    let rows = rows.filter(|row| row.is_decided || verbosity == Verbosity::Full);
    let (decided, beside): (Vec<_>, Vec<_>) = rows.partition(|row| row.is_decided);
    let heads = heads(&short(view.baseline, "A"), &short(view.candidate, "B"));
    let decided: Vec<ComparisonLine> = decided.into_iter().map(ComparisonLine::of).collect();
    let beside: Vec<ComparisonLine> = beside.into_iter().map(ComparisonLine::of).collect();
    let rows = decided.iter().chain(&beside).map(|cells| cells.parts().0);
    let widths = grid::widths([&heads[..]].into_iter().chain(rows));
    let mut out = vec![draw(&heads, &widths)];
    out.extend(decided.iter().map(|line| drawn(line, &widths)));
    if !beside.is_empty() {
        out.push("For information only (p is not adjusted for several tests):".to_owned());
        out.extend(beside.iter().map(|line| drawn(line, &widths)));
    }
    out
}

/// The name of a side where it is short, else a letter.
fn short(name: &str, letter: &str) -> String {
    let fits = !name.is_empty() && name.chars().count() <= LONGEST_NAME;
    if fits { plain(name) } else { letter.to_owned() }
}

impl ComparisonLine {
    /// A figure of both sides, and what was found of it.
    pub(crate) fn of(row: &ComparedFigure) -> Self {
        let figure = format!("{}, {}", row.figure.label(), row.figure.unit());
        let figure = figure.trim_end_matches(", ").to_owned();
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let (baseline, candidate) = (value(row.baseline), value(row.candidate));
        match &row.tested {
            Ok(tested) => {
                let (change, interval) = change(tested);
                let p = tested.decision.map(|decision| decision.adjusted).or_else(|| tested.p());
                let p = p.map_or_else(|| "-".to_owned(), |p| p_value(p.get()));
                let answer = answer(row).to_owned();
                Self::Tested([figure, baseline, candidate, change, interval, p, answer])
            }
            Err(why) => Self::Untested([figure, baseline, candidate], why.to_string()),
        }
    }
}

impl ComparisonLine {
    /// The cells, and why there are no more.
    fn parts(&self) -> (&[String], Option<&str>) {
        match self {
            Self::Tested(cells) => (cells, None),
            Self::Untested(cells, why) => (cells, Some(why)),
        }
    }
}

/// The answer as it fits into a column.
pub(crate) fn answer(row: &ComparedFigure) -> &'static str {
    let decision = row.tested.as_ref().ok().and_then(|tested| tested.decision);
    match row.answer() {
        Some(ComparisonAnswer::Better) => "better",
        Some(ComparisonAnswer::Worse) => "worse",
        Some(ComparisonAnswer::NoDetectableDifference) => {
            if decision.is_some_and(|decision| decision.is_too_small) {
                "too small"
            } else {
                "not detected"
            }
        }
        None => "-",
    }
}

/// The difference in percent and its interval; in the figure's unit where the baseline is zero.
pub(crate) fn change(tested: &TestFindings) -> (String, String) {
    match tested.relative {
        Some(relative) => with_sign(relative, 100.0, " %"),
        None => with_sign(tested.difference, 1.0, ""),
    }
}

/// An effect times `factor` with its sign and `unit`, and its interval.
pub(super) fn with_sign(effect: Estimate<f64>, factor: f64, unit: &str) -> (String, String) {
    let decimals = decimals(effect, factor);
    // Adding zero makes what is rounded to a negative zero positive.
    let signed = |value: f64| format!("{:+.decimals$}", round(value * factor, decimals));
    let interval = effect.interval().map_or_else(
        || "-".to_owned(),
        |interval| format!("{} to {}{unit}", signed(interval.low), signed(interval.high)),
    );
    (format!("{}{unit}", signed(effect.value())), interval)
}

fn round(value: f64, decimals: usize) -> f64 {
    let shift = 10_f64.powi(decimals as i32);
    (value * shift).round() / shift + 0.0
}

/// Two digits of how far the interval reaches, or of the difference where there is none; and where zero is not within it, one
/// digit of the difference at least, so that it is not shown as none.
fn decimals(effect: Estimate<f64>, factor: f64) -> usize {
    let reach =
        effect.interval().map_or_else(|| effect.value(), |interval| interval.high - interval.low);
    let size = (effect.value() * factor).abs();
    let by_reach = match (reach * factor).abs() {
        // Of hundreds of percent nobody reads a fraction, of tens one digit of it, and more makes the table wider than a terminal.
        reach if reach >= 20.0 || size >= 100.0 => 0,
        reach if reach >= 2.0 || size >= 10.0 => 1,
        _ => 2,
    };
    if effect.interval().is_some_and(|interval| interval.low <= 0.0 && 0.0 <= interval.high) {
        return by_reach;
    }
    let needed = (0..=MOST_DECIMALS).find(|decimals| round(size, *decimals) > 0.0);
    needed.map_or(by_reach, |needed| needed.max(by_reach))
}

/// What is less than this shows is rounding alone.
const MOST_DECIMALS: usize = 6;

fn drawn(line: &ComparisonLine, widths: &[usize]) -> String {
    let (cells, why) = line.parts();
    let line = draw(cells, widths);
    let Some(why) = why else { return line };
    let whole = format!("{line}  {why}");
    if whole.chars().count() <= WIDTH {
        return whole;
    }
    format!("{line}\n{}", wrap(&format!("    {why}"), WIDTH))
}

/// Names to the left, figures to the right, the answer to the left again.
fn draw(cells: &[String], widths: &[usize]) -> String {
    grid::line(cells, widths, |_| true, |column| column == 0 || column == 6)
}
