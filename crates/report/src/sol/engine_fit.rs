//! The calibration of an engine for a person: its constants, how sure they are, and how well they meet what was measured.

use fizeau_core::Millis;
use fizeau_record::LevelReport;
use fizeau_record::text::{number, wrap_hanging};
use fizeau_roofline::{Constants, JudgedFit, UniformLoad};

use super::fit::{one_by_one, shown_in};
use super::grid::Grid;

/// The calibration of one engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineCalibrationView<'a> {
    /// What was calibrated, in a few words.
    pub subject: &'a str,
    /// Its constants.
    pub constants: &'a Constants,
    /// The loads that were measured.
    pub rows: &'a [EngineCalibrationRow<'a>],
}

/// A load that was measured for it.
#[derive(Debug, Clone)]
pub struct EngineCalibrationRow<'a> {
    /// What was asked for; the lengths are means.
    pub load: UniformLoad,
    /// What was measured.
    pub report: &'a LevelReport,
    /// How well the constants meet it; why it was not fitted otherwise.
    pub judged: Result<&'a JudgedFit, String>,
}

impl EngineCalibrationView<'_> {
    /// Loads and constants in tables of at most 80 columns. Without a newline at the end.
    #[must_use]
    pub fn text(&self) -> String {
        let fitted = self.rows.iter().filter(|row| row.judged.is_ok()).count();
        let title = format!("{}: fitted on {fitted} of {} loads", self.subject, self.rows.len());
        let borrowed = self.constants.borrowed().map(|estimate| estimate.constant.title());
        let too_few = too_few(fitted, self.rows.len(), &borrowed.collect::<Vec<_>>());
        let mut lines = vec![title];
        lines.extend(too_few);
        lines.push(String::new());
        lines.extend(self.loads());
        lines.push(String::new());
        lines.extend(self.constants());
        lines.extend(self.remarks());
        lines.join("\n")
    }

    /// What each load took, and what the constants make of it.
    fn loads(&self) -> Vec<String> {
        let heads = ["in flight", "in", "out", "TPOT ms", "fit error", "TTFT ms", "fit error"];
        let mut grid = Grid::new(&heads);
        for row in self.rows {
            let UniformLoad { input_tokens, output_tokens, concurrency, .. } = row.load;
            let metrics = &row.report.summary.metrics;
            let mean = |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), number);
            let judged = row.judged.as_ref().ok();
            let off = |error: Option<f64>| error.map_or_else(|| "-".to_owned(), signed);
            grid.row([
                concurrency.to_string(),
                input_tokens.get().to_string(),
                output_tokens.get().to_string(),
                mean(metrics.tpot.mean.map(Millis::get)),
                off(judged.map(|judged| judged.in_sample)),
                mean(metrics.ttft.mean.map(Millis::get)),
                off(judged.and_then(|judged| judged.ttft_in_sample)),
            ]);
        }
        grid.lines()
    }

    /// Each constant with its interval, and whether it is known better than before.
    fn constants(&self) -> Vec<String> {
        let heads = ["constant", "", "value", "95 % from", "to", ""];
        let mut grid = Grid::new(&heads).with_notes();
        for estimate in &self.constants.estimates {
            let (unit, scale) = shown_in(estimate.constant);
            let [low, high] = estimate.interval().ends();
            let [value, low, high] = [estimate.value, low, high].map(|value| number(value * scale));
            let title = estimate.constant.title().to_owned();
            let note = if estimate.is_determined() { "" } else { "borrowed" };
            grid.row([title, unit.to_owned(), value, low, high, note.to_owned()]);
        }
        grid.lines()
    }

    /// What is worth a sentence: constants outside of their usual range, and loads that were left out.
    fn remarks(&self) -> Vec<String> {
        let mut lines = vec![
            "measured with one model: only the sum of the constant costs of a step (weights,"
                .to_owned(),
            "kernels, step) is known; it is divided as usual, which their intervals do not show"
                .to_owned(),
        ];
        let is_any_borrowed = self.constants.borrowed().next().is_some();
        lines.extend(is_any_borrowed.then(|| {
            "borrowed: these loads hardly determine it, so it is close to the usual value"
                .to_owned()
        }));
        lines.extend(self.constants.unusual().map(|estimate| {
            let (unit, scale) = shown_in(estimate.constant);
            let (low, high) = estimate.constant.range();
            let [value, low, high] = [estimate.value, low, high].map(|value| number(value * scale));
            let title = estimate.constant.title();
            format!("unusual: {title} is {value} {unit}; accelerators have {low} to {high}")
        }));
        lines.extend(self.constants.intake.map(one_by_one));
        let left_out = self.rows.iter().filter_map(|row| row.judged.as_ref().err());
        lines.extend(left_out.map(|why| format!("left out: {why}")));
        lines.insert(0, String::new());
        lines
    }
}

/// With fewer loads than this constants are mostly what is usual.
const FEWEST: usize = 5;

/// That `fitted` loads of so many tell too little, and which constants are `borrowed`; none where they are enough.
fn too_few(fitted: usize, loads: usize, borrowed: &[&str]) -> Option<String> {
    let are = if fitted == 1 { "is" } else { "are" };
    let which = match borrowed {
        [] => String::new(),
        borrowed => format!("; borrowed are: {}", borrowed.join("; ")),
    };
    let said = format!(
        "{fitted} of {loads} loads {are} too few: predictions follow a usual engine more than this one; measure the others as well{which}"
    );
    (fitted < FEWEST).then(|| wrap_hanging(&said, WIDTH, "  "))
}

/// The columns of a terminal.
const WIDTH: usize = 80;

/// By how much a figure is above or below another: `+3.1 %`.
fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::too_few;

    #[test]
    fn a_fit_of_few_loads_says_which_constants_it_borrowed() {
        let said = too_few(1, 7, &["link bandwidth reached", "time per kernel"]).unwrap();
        assert!(said.starts_with("1 of 7 loads is too few: "), "{said}");
        let line = said.replace("\n  ", " ");
        assert!(line.ends_with("borrowed are: link bandwidth reached; time per kernel"), "{line}");
        assert!(said.lines().all(|line| line.len() <= 80), "{said}");
        assert!(too_few(2, 7, &[]).unwrap().ends_with("as well"));
        assert_eq!(too_few(5, 7, &["time per kernel"]), None);
    }
}
