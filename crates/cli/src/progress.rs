//! Progress on a terminal; silent in a pipe.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use fizeau::core::{Part, Tape};
use fizeau::harness::{Notice, Observer};
use fizeau::metrics::{LatencyHistogram, RequestMetrics, Side};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that tells what runs, how far, how fast.
pub(crate) struct Progress {
    bar: ProgressBar,
    level: String,
    ttft: LatencyHistogram,
    tokens: u64,
    failed: u64,
    /// How many levels there are, where who measures knows better than the notice.
    of: Option<usize>,
    /// What is left of the time for all of them.
    left: Option<Duration>,
    /// How long the level goes on, where that alone ends it.
    seconds: Option<f64>,
    /// When the line was last made up.
    shown: Option<Instant>,
}

/// How often the line changes: finding a percentile for each of ten thousand requests a second would be work for nobody.
const EVERY: Duration = Duration::from_millis(250);

impl Progress {
    /// Shows on standard error if that is a terminal.
    pub(crate) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        let progress = Self {
            bar: ProgressBar::with_draw_target(Some(0), target),
            level: String::new(),
            ttft: LatencyHistogram::new(),
            tokens: 0,
            failed: 0,
            of: None,
            left: None,
            seconds: None,
            shown: None,
        };
        // indicatif's own style is a bar over the whole line.
        progress.style(WAITING);
        progress
    }

    /// Waits for a first reply from `url`, until it is dropped.
    pub(crate) fn checking(url: &str) -> Self {
        let checking = Self::new();
        checking.bar.set_prefix(format!("asking {url} for one reply"));
        checking.tick();
        checking
    }

    /// Finds out what the client itself can do, until it is dropped.
    pub(crate) fn calibrating() -> Self {
        let calibrating = Self::new();
        calibrating.bar.set_prefix("calibrating, about 15 s");
        calibrating.tick();
        calibrating
    }

    /// Of the next level: how many there are in all, what is left of the time for them, and how long it goes on where that alone
    /// ends it.
    pub(crate) fn next(&mut self, of: usize, left: Option<Duration>, seconds: Option<f64>) {
        (self.of, self.left, self.seconds) = (Some(of), left, seconds);
    }

    /// One level of a known size begins.
    pub(crate) fn start(&mut self, name: &str, requests: u64) {
        name.clone_into(&mut self.level);
        self.ttft = LatencyHistogram::new();
        (self.tokens, self.failed, self.shown) = (0, 0, None);
        self.style(WAITING);
        self.bar.set_prefix(format!("{name}: warming up"));
        self.bar.set_message("");
        self.bar.set_length(requests);
        self.bar.set_position(0);
        self.bar.reset_elapsed();
        self.tick();
    }

    fn tick(&self) {
        self.bar.enable_steady_tick(EVERY);
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    fn ended(&mut self, tape: &Tape) {
        if self.bar.is_hidden() {
            return;
        }
        if self.bar.position() == 0 {
            // Only now is there a pace to tell the rest by.
            self.style(match self.seconds {
                Some(_) => "{prefix}  {pos} requests  {elapsed}  {wide_msg}",
                None => "{prefix}  {pos}/{len}  {elapsed}, about {eta} left  {wide_msg}",
            });
        }
        self.bar.inc(1);
        self.tokens += tape.output_tokens().get();
        self.failed += u64::from(!tape.is_success());
        if let Some(ttft) = RequestMetrics::of(tape).ttft {
            self.ttft.record(ttft);
        }
        if self.shown.is_none_or(|shown| shown.elapsed() >= EVERY) {
            self.shown = Some(Instant::now());
            self.show();
        }
    }

    fn show(&self) {
        let seconds = self.bar.elapsed().as_secs_f64();
        let ttft =
            self.ttft.percentile(50.0).map_or_else(String::new, |p50| format!("  TTFT p50 {p50}"));
        let rate = if seconds > 0.0 { self.tokens as f64 / seconds } else { 0.0 };
        let failed =
            if self.failed > 0 { format!("  {} failed", self.failed) } else { String::new() };
        self.bar.set_message(format!("{rate:.0} tok/s{ttft}{failed}"));
    }
}

/// While nothing can be counted yet.
const WAITING: &str = "{prefix}  {elapsed}";

impl Observer for Progress {
    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::LevelStarted { load, index, of, requests } => {
                let of = self.of.unwrap_or(of).max(index + 1);
                let seconds = self.seconds.map(|seconds| format!(" for {seconds:.0} s"));
                let left = self.left.map(|left| {
                    format!(", {} min of the budget left", left.as_secs().div_ceil(60))
                });
                let (seconds, left) = (seconds.unwrap_or_default(), left.unwrap_or_default());
                self.start(&format!("[{}/{of}] {load}{seconds}{left}", index + 1), requests);
            }
            Notice::TurnStarted { round, of, side, requests } => {
                let side = match side {
                    Side::Baseline => 'A',
                    Side::Candidate => 'B',
                };
                self.start(&format!("[{round}/{of}] {side}"), requests.get());
            }
            Notice::WarmedUp { .. } => {
                self.bar.set_prefix(self.level.clone());
                self.bar.reset_elapsed();
                self.style(match self.seconds {
                    Some(_) => "{prefix}  {pos} requests  {elapsed}",
                    None => "{prefix}  {pos}/{len}  {elapsed}",
                });
            }
            // Probes are no part of what the line tells.
            Notice::RequestEnded(tape) if tape.part == Part::Load => self.ended(tape),
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
