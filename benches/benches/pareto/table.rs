//! One case after the other, ours and moocore's in turn, and a row for each.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use fizeau::pareto::{Axis, Points};
use serde_json::Value;

use crate::rival::Rival;

/// How often each case is run, ours and moocore's in turn; medians count.
const ROUNDS: usize = 9;

/// What is measured.
pub(crate) struct Case<'a> {
    pub(crate) what: &'a str,
    /// Point by point, all to be minimized.
    pub(crate) figures: Vec<f64>,
    pub(crate) axes: usize,
    /// What is timed. It gives a number, which must be moocore's up to `agreement`: how many points, or the volume.
    pub(crate) ours: fn(&Points) -> Result<f64>,
    /// The function of moocore that does the same, and its keywords.
    pub(crate) theirs: (&'a str, Value),
    /// The greatest relative difference between both answers.
    pub(crate) agreement: f64,
    /// How many times as fast as moocore ours is asked to be; none where nothing is asked.
    pub(crate) asked: Option<f64>,
}

/// Where the rows go.
#[derive(Debug)]
pub(crate) struct Table {
    rival: Option<Rival>,
}

impl Table {
    /// Prints the head. Without a `rival`, ours stand alone.
    pub(crate) fn new(rival: Option<Rival>) -> Self {
        if let Some(rival) = &rival {
            println!("medians of {ROUNDS}, in turn with {}", rival.versions());
        }
        println!(
            "{:<39} {:>8} {:>8} {:>6} {:>5} {:>8}",
            "", "ours, ms", "moocore", "times", "asked", "apart"
        );
        Self { rival }
    }

    /// Measures `case` and prints its row.
    pub(crate) fn row(&mut self, case: &Case<'_>) -> Result<()> {
        let points = points(&case.figures, case.axes)?;
        let (mut ours, mut theirs, mut apart) = (Vec::new(), Vec::new(), None);
        if let Some(rival) = &mut self.rival {
            rival.load(&case.figures, case.axes)?;
        }
        for _ in 0..ROUNDS {
            let since = Instant::now();
            let value = (case.ours)(black_box(&points))?;
            ours.push(since.elapsed().as_secs_f64());
            let Some(rival) = &mut self.rival else { continue };
            let called = rival.call(case.theirs.0, &case.theirs.1)?;
            theirs.push(called.seconds);
            let difference = (value - called.value).abs() / called.value.abs();
            apart = Some(difference);
            let (what, most) = (case.what, case.agreement);
            ensure!(difference <= most, "{what}: ours is {value}, moocore's {}", called.value);
        }
        print(case, median(ours), apart.map(|apart| (median(theirs), apart)));
        Ok(())
    }
}

/// `theirs` is how long moocore took, and by which part its answer differs.
fn print(case: &Case<'_>, ours: f64, theirs: Option<(f64, f64)>) {
    let asked = case.asked.map_or_else(|| "-".to_owned(), |asked| format!("{asked:.1}"));
    let [theirs, times, apart] = theirs.map_or_else(
        || ["-"; 3].map(str::to_owned),
        |(theirs, apart)| {
            [
                format!("{:.2}", theirs * 1e3),
                format!("{:.1}", theirs / ours),
                format!("{apart:.1e}"),
            ]
        },
    );
    let (what, ours) = (case.what, ours * 1e3);
    println!("{what:<39} {ours:>8.2} {theirs:>8} {times:>6} {asked:>5} {apart:>8}");
}

fn points(figures: &[f64], axes: usize) -> Result<Points> {
    let mut points = Points::new((0..axes).map(|i| Axis::minimize(i.to_string())).collect())?;
    figures.chunks_exact(axes).try_for_each(|point| points.push(point))?;
    Ok(points)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_unstable_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}
