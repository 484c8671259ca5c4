//! Whether the figures are the server's, of the workload that was asked for, and can be.

use fizeau_metrics::{CacheExpectation, LengthDifference, VerdictConcern, VerdictReason};
use fizeau_roofline::BoundShare;

use super::inputs::{CheckFinding, CheckInputs};
use super::sample::is_tokenless;
use crate::text::{number, percent};
use crate::{LatencyBasis, LevelReport, TailLatency, text};

impl CheckInputs<'_> {
    pub(super) fn client(&self) -> CheckFinding {
        if self.levels.iter().all(|level| level.is_simulated()) {
            return CheckFinding::simulated("virtual time, no client");
        }
        if let Some(finding) = self.spoken_against(&[VerdictConcern::Client]) {
            return finding;
        }
        let most = |of: fn(&LevelReport) -> Option<f64>| {
            self.levels.iter().filter_map(|level| of(level)).max_by(f64::total_cmp)
        };
        let tails = self.levels.iter();
        let tails = tails.filter_map(|level| TailLatency::of(&level.summary.metrics.send_lateness));
        let late = tails.max_by(|a, b| a.ms().total_cmp(&b.ms())).map(|tail| {
            let basis = match tail.basis {
                LatencyBasis::P99 => "p99",
                LatencyBasis::Max => "max",
            };
            format!("send lateness {basis} {} ms", number(tail.ms()))
        });
        let parts = [
            late,
            most(|level| level.client.watch.cpu_share).map(|cpu| format!("CPU {}", percent(cpu))),
            most(LevelReport::ceiling_share).map(|s| format!("{} of its own ceiling", percent(s))),
        ];
        let figures = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let unknown = self.levels_where(|level| level.client.watch.cpu_share.is_none());
        match unknown.is_empty() {
            true => CheckFinding::pass(format!("at worst {figures}")),
            false => CheckFinding::unknown(format!(
                "CPU time not known{}; at worst {figures}",
                self.at(&unknown)
            )),
        }
    }

    pub(super) fn workload(&self) -> CheckFinding {
        let against = [
            VerdictConcern::Failures,
            VerdictConcern::Workload,
            VerdictConcern::Ending,
            VerdictConcern::Shards,
        ];
        if let Some(finding) = self.spoken_against(&against) {
            return finding;
        }
        let completed = |level: &LevelReport| level.summary.requests.completed;
        let unchecked = self.levels_where(|level| {
            let difference = level.summary.lengths.prompt.difference;
            difference.map_or(0, |difference| difference.n) < completed(level)
        });
        if !unchecked.is_empty() {
            let at = self.at(&unchecked);
            return CheckFinding::unknown(format!("some prompt lengths not known{at}"));
        }
        let uncounted = self.levels_where(|level| {
            !is_tokenless(level) && level.summary.lengths.output.seen.n < completed(level)
        });
        if !uncounted.is_empty() {
            let at = self.at(&uncounted);
            return CheckFinding::unknown(format!("reply lengths are estimates{at}"));
        }
        let off = |of: fn(&LevelReport) -> Option<LengthDifference>| {
            let shares = self.levels.iter().filter_map(|level| of(level)?.share());
            percent(shares.max_by(f64::total_cmp).unwrap_or(0.0))
        };
        let prompts = off(|level| level.summary.lengths.prompt.difference);
        let outputs = off(|level| level.summary.lengths.output.difference);
        let source = self.levels.iter().filter_map(|level| level.summary.tokens.source).max();
        let source = source.map_or("none", text::token_source);
        CheckFinding::pass(format!(
            "prompt lengths off by at most {prompts}, output lengths by {outputs}; tokens counted \
             by {source}"
        ))
    }

    pub(super) fn caches(&self) -> CheckFinding {
        if let Some(finding) = self.spoken_against(&[VerdictConcern::Cache]) {
            return finding;
        }
        let requested = match self.levels.first().map(|level| level.requested.cache) {
            Some(CacheExpectation::Share(share)) => format!("{} requested", percent(share)),
            Some(CacheExpectation::Reuse) => "prompts reused on purpose".to_owned(),
            Some(CacheExpectation::None) | None => "no cache hits expected".to_owned(),
        };
        let counted = |level: &LevelReport| level.telemetry.as_ref()?.prefix_hit_share();
        let said = |level: &LevelReport| level.summary.tokens.cached_share;
        let share = |level: &LevelReport| said(level).or_else(|| counted(level));
        let silent = self.levels_where(|level| share(level).is_none());
        if !silent.is_empty() {
            let at = self.at(&silent);
            return CheckFinding::unknown(format!(
                "{requested}; the server does not report hits{at}"
            ));
        }
        let seen = self.range(percent, share).unwrap_or_default();
        let by = match self.levels_where(|level| said(level).is_none()).is_empty() {
            true => "",
            false => " (server's counters)",
        };
        CheckFinding::pass(format!("{requested}; {seen} of prompt tokens cached{by}"))
    }

    pub(super) fn speed_of_light(&self) -> CheckFinding {
        let beyond = self.levels.iter().copied();
        let beyond = beyond.filter_map(|level| Some((level, level.speed_of_light.violation()?)));
        if let Some((level, violation)) = beyond.max_by(|a, b| a.1.times.total_cmp(&b.1.times)) {
            let (figure, times) = (violation.figure.as_str(), number(violation.times));
            let at = self.at(&[level]);
            return CheckFinding::fail(format!(
                "{figure} is {times} times better than the bound allows{at}"
            ));
        }
        let undecided = self.levels_where(|level| level.speed_of_light.undecided().is_some());
        if let Some(first) = undecided.first().and_then(|level| level.speed_of_light.undecided()) {
            return CheckFinding::unknown(format!(
                "the model's config was not understood whole ({}), so that {} beyond its bound decides nothing{}",
                first.unread.join(", "),
                first.figure.as_str(),
                self.at(&undecided)
            ));
        }
        let unbound = self.levels_where(|level| level.speed_of_light.reason().is_some());
        if let Some(reason) = unbound.iter().find_map(|level| level.speed_of_light.reason()) {
            return CheckFinding::unknown(format!("{reason}{}", self.at(&unbound)));
        }
        let share = |level: &LevelReport| match level.left_out() {
            None => {
                level.speed_of_light.comparison()?.shares.output_tokens_per_s.map(BoundShare::get)
            }
            Some(_) => None,
        };
        let most = self.levels.iter().filter_map(|level| Some((level, share(level)?)));
        match most.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((level, share)) => CheckFinding::pass(format!(
                "nothing beyond it; nearest {} of its output tokens/s, at {}",
                percent(share),
                level.load
            )),
            None => CheckFinding::pass("nothing beyond it"),
        }
    }

    /// What the verdict says against any level about one of these; none if it says nothing.
    fn spoken_against(&self, about: &[VerdictConcern]) -> Option<CheckFinding> {
        let reasons = |level: &LevelReport| {
            let reasons = level.validity.reasons.iter();
            reasons
                .filter(|reason| about.contains(&reason.about))
                .max_by_key(|r| r.verdict)
                .cloned()
        };
        let these = self.levels_where(|level| reasons(level).is_some());
        let all = these.iter().filter_map(|level| Some((*level, reasons(level)?)));
        // Of equal ones the first.
        let (level, gravest) = all.reduce(|a, b| if b.1.verdict > a.1.verdict { b } else { a })?;
        let others = these.len() - 1;
        let headline = VerdictReason::headline(&gravest.text);
        Some(CheckFinding::fail(match others {
            0 => format!("{headline}{}", self.at(&[level])),
            n => {
                let plural = if n == 1 { "" } else { "s" };
                format!("{headline}{}; {n} more level{plural}", self.at(&[level]))
            }
        }))
    }
}
