//! The steps of a test run: their results, their times and the closing lines.

use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{Counts, process};

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// It could not run here, which is no failure; why.
    Skipped(&'static str),
}

impl Outcome {
    pub(crate) const fn of(success: bool) -> Self {
        if success { Self::Passed } else { Self::Failed }
    }
}

/// All steps so far.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    steps: Vec<Step>,
    counts: Counts,
}

#[derive(Debug)]
struct Step {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

impl Gate {
    /// Runs one step; a step that cannot be tried has failed. Whether it did not fail.
    pub(crate) fn step(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<Outcome>,
    ) -> bool {
        let step = Step::take(name, work);
        let outcome = step.outcome;
        self.steps.push(step);
        outcome != Outcome::Failed
    }

    /// Runs one step at the same time as the steps of `rest`, which it comes behind in the table.
    pub(crate) fn beside(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<Outcome> + Send,
        rest: impl FnOnce(&mut Self),
    ) {
        let step = thread::scope(|scope| {
            let running = scope.spawn(|| Step::take(name, work));
            rest(self);
            running.join()
        });
        let panicked = |_| Step { name, outcome: Outcome::Failed, took: Duration::ZERO };
        self.steps.push(step.unwrap_or_else(panicked));
    }

    /// Runs a test runner as a step; its tests are added to those counted so far.
    pub(crate) fn counted_step(&mut self, name: &'static str, runner: &mut Command) {
        let counts = self.run_counted(name, runner);
        self.counts = self.counts + counts;
    }

    /// Runs a test runner as a step, over tests that an earlier step had to skip.
    pub(crate) fn late_step(&mut self, name: &'static str, runner: &mut Command) {
        let late = self.run_counted(name, runner);
        self.counts = self.counts.with_late(late);
    }

    fn run_counted(&mut self, name: &'static str, runner: &mut Command) -> Counts {
        let mut counts = Counts::default();
        self.step(name, || {
            let (success, found) = process::count_tests(runner)?;
            counts = found;
            Ok(Outcome::of(success))
        });
        counts
    }

    /// Prints the table and, as the last line, how many tests ran.
    pub(crate) fn close(self) -> ExitCode {
        println!("\n{:<18} {:<8} {:>8}", "step", "result", "seconds");
        for step in &self.steps {
            println!("{step}");
        }
        let failed = self.steps.iter().filter(|step| step.outcome == Outcome::Failed).count();
        println!(
            "\n{} steps, {failed} failed. In all steps together, counted test by test:",
            self.steps.len()
        );
        println!("{}", self.counts);
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Step {
    /// Does the work, and says when it begins and how it ended.
    fn take(name: &'static str, work: impl FnOnce() -> Result<Outcome>) -> Self {
        eprintln!("=== {name}");
        let began = Instant::now();
        let outcome = work().unwrap_or_else(|error| {
            eprintln!("{name}: {error:#}");
            Outcome::Failed
        });
        let step = Self { name, outcome, took: began.elapsed() };
        eprintln!("=== {step}");
        step
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (result, why) = match self.outcome {
            Outcome::Passed => ("ok", ""),
            Outcome::Failed => ("FAILED", ""),
            Outcome::Skipped(why) => ("skipped", why),
        };
        write!(f, "{:<18} {result:<8} {:>8.1}", self.name, self.took.as_secs_f64())?;
        if why.is_empty() { Ok(()) } else { write!(f, "  {why}") }
    }
}
