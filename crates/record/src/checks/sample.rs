//! What was measured: enough of it, of mixed lengths, in both phases.

use fizeau_core::{TokenSource, Tokens};
use fizeau_metrics::{Distribution, LengthCheck, TokenDistribution};

use super::inputs::{CheckFinding, CheckInputs};
use crate::LevelReport;
use crate::text::listed;
use crate::text::number;

/// How many values a 99th percentile needs, and a 99.9th.
const NEEDS: [u64; 2] = [100, 1_000];

/// Lengths that are nearer together than this are one length: a tokenizer makes such differences.
const SPREAD: f64 = 1.1;

impl CheckInputs<'_> {
    pub(super) fn tail(&self) -> CheckFinding {
        let without = |level: &LevelReport| {
            samples(level).iter().any(|(_, sample)| sample.p99.value().is_none())
        };
        let lacking = self.levels_where(without);
        let fewest = self.levels.iter().flat_map(|level| {
            samples(level).into_iter().map(move |(name, sample)| (sample.n, name, level))
        });
        let Some((n, name, level)) = fewest.min_by_key(|few| few.0) else {
            return CheckFinding::unknown("nothing was measured");
        };
        let place = match self.levels.len() {
            1 => String::new(),
            _ => format!(" at {}", level.load),
        };
        let [p99, p999] = NEEDS;
        if !lacking.is_empty() {
            let at = self.at(&lacking);
            return CheckFinding::fail(format!(
                "no p99{at}: {name}{place} has {n} values and needs {p99}"
            ));
        }
        let with = |level: &LevelReport| {
            samples(level).iter().all(|(_, sample)| sample.p999.value().is_some())
        };
        let rare = self.levels_where(with);
        let rare = match rare.len() {
            0 => format!("no p99.9 (needs {p999})"),
            n if n == self.levels.len() => "p99.9 as well".to_owned(),
            _ => format!("p99.9{}", self.at(&rare)),
        };
        let names: Vec<String> =
            samples(level).iter().map(|(name, _)| (*name).to_owned()).collect();
        let names = listed(&names);
        CheckFinding::pass(format!("p99 of {names}; fewest values {n} ({name}{place}); {rare}"))
    }

    pub(super) fn lengths(&self) -> CheckFinding {
        let mut parts = vec![("prompts", self.length_spread(|level| Some(prompt(level))))];
        if !self.levels.iter().all(|level| is_tokenless(level)) {
            let output = |level: &LevelReport| {
                (!is_tokenless(level)).then_some(known(&level.summary.lengths.output))
            };
            parts.push(("outputs", self.length_spread(output)));
        }
        let words = |(what, spread): &(&str, LengthSpread)| match spread {
            LengthSpread::Fixed(words) | LengthSpread::Mixed(words) => format!("{what} {words}"),
            LengthSpread::Unknown => format!("{what} of unknown lengths"),
        };
        let words = parts.iter().map(words).collect::<Vec<_>>().join(", ");
        let has =
            |wanted: fn(&LengthSpread) -> bool| parts.iter().any(|(_, spread)| wanted(spread));
        if has(|spread| matches!(spread, LengthSpread::Fixed(_))) {
            let advice = "vary the lengths";
            CheckFinding::fail(format!("{words}; {advice}"))
        } else if has(|spread| matches!(spread, LengthSpread::Unknown)) {
            CheckFinding::unknown(words)
        } else {
            CheckFinding::pass(format!("{words} ({})", self.setup.workload.dataset))
        }
    }

    /// How one kind of length is spread at all levels that have it.
    fn length_spread(
        &self,
        of: impl Fn(&LevelReport) -> Option<TokenDistribution>,
    ) -> LengthSpread {
        let lengths = |level: &LevelReport| of(level).filter(|lengths| lengths.n > 1);
        let all: Vec<TokenDistribution> =
            self.levels.iter().filter_map(|level| lengths(level)).collect();
        let ends = |sample: &TokenDistribution| Some((sample.min?.get(), sample.max?.get()));
        let is_fixed = |sample: &TokenDistribution| {
            ends(sample).is_some_and(|(min, max)| (max as f64) < SPREAD * min as f64)
        };
        let fixed = self.levels_where(|level| lengths(level).as_ref().is_some_and(is_fixed));
        let min = all.iter().filter_map(|sample| sample.min).min().map_or(0, Tokens::get);
        let max = all.iter().filter_map(|sample| sample.max).max().map_or(0, Tokens::get);
        let expected = self.levels.iter().filter(|level| of(level).is_some()).count();
        match (fixed.is_empty(), min == max) {
            (false, true) => LengthSpread::Fixed(format!("always {max} tokens")),
            (false, false) => {
                LengthSpread::Fixed(format!("all about equally long{}", self.at(&fixed)))
            }
            (true, _) if all.len() < expected => LengthSpread::Unknown,
            (true, _) => LengthSpread::Mixed(format!("{min} to {max} tokens")),
        }
    }

    pub(super) fn phases(&self) -> CheckFinding {
        let troubles: [LevelProblem; 4] = [
            (is_tokenless, "embeddings have no decode"),
            (|level| level.summary.metrics.ttft.n == 0, "no first token was seen"),
            (
                |level| level.summary.metrics.tpot.n == 0,
                "no TPOT: every reply is one token, or one chunk",
            ),
            (|level| longest(&prompt(level)) == Some(1), "prompts of one token"),
        ];
        for (is_so, words) in troubles {
            let these = self.levels_where(is_so);
            if !these.is_empty() {
                return CheckFinding::fail(format!("{words}{}", self.at(&these)));
            }
        }
        let median = |of: fn(&LevelReport) -> &Distribution| {
            self.range(number, |level| Some(of(level).p50.value()?.get())).unwrap_or_default()
        };
        let ttft = median(|level| &level.summary.metrics.ttft);
        let tpot = median(|level| &level.summary.metrics.tpot);
        let words = format!("prefill: TTFT p50 {ttft} ms; decode: TPOT p50 {tpot} ms");
        let unknown = self.levels_where(|level| prompt(level).n == 0);
        match unknown.is_empty() {
            true => CheckFinding::pass(words),
            false => CheckFinding::unknown(format!(
                "prompt lengths are not known{}; {words}",
                self.at(&unknown)
            )),
        }
    }
}

/// What may be wrong with a level, and that in words.
type LevelProblem = (fn(&LevelReport) -> bool, &'static str);

/// How one kind of length is spread.
enum LengthSpread {
    /// At some level all are of one length.
    Fixed(String),
    /// At no level.
    Mixed(String),
    /// Some level does not tell.
    Unknown,
}

/// The latencies that a level must have: all of them, unless its replies have no tokens.
fn samples(level: &LevelReport) -> Vec<(&'static str, &Distribution)> {
    let metrics = &level.summary.metrics;
    let mut all = vec![("TTFT", &metrics.ttft), ("TPOT", &metrics.tpot)];
    // What has no values at all is missing for another reason, and the row of the phases says so.
    all.retain(|(_, sample)| sample.n > 0 && !is_tokenless(level));
    all.push(("E2EL", &metrics.e2el));
    all
}

pub(super) fn is_tokenless(level: &LevelReport) -> bool {
    level.summary.tokens.source == Some(TokenSource::Tokenless)
}

fn prompt(level: &LevelReport) -> TokenDistribution {
    known(&level.summary.lengths.prompt)
}

/// As the server saw them, else as they were asked for.
const fn known(check: &LengthCheck) -> TokenDistribution {
    if check.seen.n > 0 { check.seen } else { check.requested }
}

fn longest(lengths: &TokenDistribution) -> Option<u64> {
    lengths.max.map(Tokens::get)
}
