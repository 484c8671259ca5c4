//! A candidate against a baseline, as text and as JSON.

pub(crate) mod distance;
mod doubts;
mod junit;
mod overview;
pub(crate) mod summary;
pub(crate) mod table;

#[cfg(feature = "html")]
pub(crate) use table::{answer, change};

use fizeau_metrics::{
    ComparedFigure, ComparisonAnswer, ComparisonBasis, ComparisonTest, EffectKind, Estimate,
    Statistic, TestFindings,
};

use crate::text::{WIDTH, plain, shown};
use crate::{Shown, Verbosity};
use fizeau_record::text::{number, wrap};
use fizeau_record::{ChangedField, ComparedLevel, ComparisonReport, ComparisonView, RunComparison};

/// More changed fields are counted, not shown.
const MOST_CHANGED: usize = 12;

impl Shown<'_, ComparisonView<'_>> {
    /// The table and what belongs below it: which differences would have been found; in full also the size of effects, what was
    /// tested and how. Lines of 80 columns; without a newline at the end.
    #[must_use]
    pub fn text(&self, verbosity: Verbosity) -> String {
        let mut lines = table::lines(self, verbosity);
        let remarks = match verbosity {
            Verbosity::Brief => self.detectable().into_iter().chain(self.held_back()).collect(),
            Verbosity::Full => self.remarks(),
        };
        lines.extend(remarks.into_iter().map(|text| wrap(&plain(&text), WIDTH)));
        lines.join("\n")
    }

    /// What belongs below the table, a text each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> =
            self.detectable().into_iter().chain(self.effects()).collect();
        remarks.extend(self.cautions());
        remarks
    }

    /// What many levels have in common as a rule: notes, and what was tested.
    fn cautions(&self) -> Vec<String> {
        let mut cautions = self.disagreements();
        cautions.extend(
            self.held_back().into_iter().chain(self.stand_ins()).chain(self.untested_note()),
        );
        cautions.push(self.method());
        cautions
    }

    fn tested(&self) -> impl Iterator<Item = (&ComparedFigure, &TestFindings)> {
        let decided = self.table.rows.iter().filter(|row| row.is_decided);
        decided.filter_map(|row| Some((row, row.tested.as_ref().ok()?)))
    }

    /// The least differences that would have been found; of one run each, where none was: one that was found is no noise.
    fn detectable(&self) -> Option<String> {
        let is_single = self.tested().any(|(_, tested)| tested.run_to_run > 0.0);
        let none = Some(ComparisonAnswer::NoDetectableDifference);
        let told = self.tested().filter(|(row, _)| !is_single || row.answer() == none);
        let is_unknown = |tested: &TestFindings| {
            tested.relative_detectable.is_none() && tested.detectable.is_none()
        };
        let (unknown, known): (Vec<_>, Vec<_>) = told.partition(|(_, tested)| is_unknown(tested));
        let least = known.into_iter().filter_map(|(row, tested)| {
            let label = row.figure.label();
            match (tested.relative_detectable, tested.detectable) {
                (Some(share), _) => Some(format!("{label} {} %", number(share * 100.0))),
                (None, Some(least)) => {
                    Some(format!("{label} {} {}", number(least), row.figure.unit()))
                }
                (None, None) => None,
            }
        });
        let least: Vec<String> = least.map(|least| least.trim_end().to_owned()).collect();
        let head = match is_single {
            true => "One run each: a change smaller than this cannot be told from noise",
            false => "A change of this size is detectable",
        };
        let power = percent(self.table.power.get());
        let unknown: Vec<String> = unknown.iter().map(|(row, _)| row.figure.label()).collect();
        let unknown = match unknown.is_empty() {
            true => String::new(),
            false => format!("; not known of {}", unknown.join(", ")),
        };
        let least = (!least.is_empty()).then(|| least.join(", "))?;
        Some(format!("{head} (at {power} power): {least}{unknown}"))
    }

    /// The sizes of effects, with their intervals.
    fn effects(&self) -> Option<String> {
        let mut kind = None;
        let sizes: Vec<String> = self
            .tested()
            .filter_map(|(row, tested)| {
                let size = tested.effect?;
                kind = Some(size.kind);
                Some(format!("{} {}", row.figure.label(), with_interval(size.effect)))
            })
            .collect();
        let kind: EffectKind = kind?;
        Some(format!("{}: {}", kind.as_str(), sizes.join(", ")))
    }

    /// Where what stands beside an answer points elsewhere.
    fn disagreements(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let alpha = self.table.alpha.get();
        for (row, tested) in self.tested() {
            let Some(decision) = tested.decision else { continue };
            let label = row.figure.label();
            let Some((decides, others)) = tested.tests.split_first() else { continue };
            let found = decision.answer != ComparisonAnswer::NoDetectableDifference;
            if !found && decides.p.get() <= alpha && !decision.is_too_small {
                let (alone, of) = (p_value(decides.p.get()), decision.corrected_over);
                notes.push(format!(
                    "note: {label}: p is {alone} by itself, which is no evidence among {of} figures (Holm's correction); the interval is \
                     that of this figure alone"
                ));
            }
            let Some(beside) = others.first() else { continue };
            let could = beside.test != ComparisonTest::Wilcoxon || tested.n > 5;
            let (p, test) = (p_value(beside.p.get()), beside.test.as_str());
            let against = decides.test.as_str();
            if found && beside.p.get() > alpha && could {
                notes.push(format!(
                    "note: {label}: {test} alone would find no difference (p {p}), {against} does"
                ));
            }
        }
        notes
    }

    /// Differences that are too small to be called better or worse.
    fn held_back(&self) -> Option<String> {
        let small = self
            .tested()
            .filter(|(_, tested)| tested.decision.is_some_and(|decision| decision.is_too_small));
        let small: Vec<String> = small.map(|(row, _)| row.figure.label()).collect();
        let least = percent(self.table.smallest.get());
        let (small, is_any) = (small.join(", "), !small.is_empty());
        is_any.then(|| {
            format!("note: {small}: a difference of less than {least} was detected, which is too small to count")
        })
    }

    /// Percentiles that stand for higher ones.
    fn stand_ins(&self) -> Option<String> {
        let stand_in = |row: &ComparedFigure| {
            Some(format!("{} instead of {}", row.figure.label(), row.stands_for?.label()))
        };
        let all: Vec<String> = self.table.rows.iter().filter_map(stand_in).collect();
        (!all.is_empty())
            .then(|| format!("note: {}, since there are too few requests for it", all.join(", ")))
    }

    /// Figures that some rounds lack.
    fn untested_note(&self) -> Option<String> {
        let ComparisonBasis::Rounds(rounds) = self.table.basis else { return None };
        let lacking = self.tested().filter(|(_, tested)| tested.n < rounds);
        let lacking = lacking.map(|(row, tested)| {
            format!("{} from {} of {rounds} rounds", row.figure.label(), tested.n)
        });
        let lacking: Vec<String> = lacking.collect();
        (!lacking.is_empty()).then(|| format!("note: {}; the others have none", lacking.join(", ")))
    }

    /// By how much one run each is widened: `; run-to-run spread 3 % (percentiles from p90: 10 %)`. Where figures differ in it, because
    /// runs showed that it is more, the largest is shown: `up to 12 %`.
    fn widened(&self) -> String {
        let shares = |is_tail: bool| {
            let of = move |(row, tested): (&ComparedFigure, &TestFindings)| {
                let is_middle = matches!(
                    row.figure.statistic,
                    Statistic::Mean | Statistic::P50 | Statistic::Value
                );
                (is_middle != is_tail && tested.run_to_run > 0.0).then_some(tested.run_to_run)
            };
            let least = self.tested().filter_map(of).reduce(f64::min)?;
            let most = self.tested().filter_map(of).fold(least, f64::max);
            let words = percent(most);
            Some(if percent(least) == words { words } else { format!("up to {words}") })
        };
        match (shares(false), shares(true)) {
            (None, None) => String::new(),
            (Some(middle), Some(tail)) if middle != tail => {
                format!("; run-to-run spread {middle} (percentiles from p90: {tail})")
            }
            (Some(share), _) | (None, Some(share)) => format!("; run-to-run spread {share}"),
        }
    }

    /// `160 pairs of requests`.
    fn basis(&self) -> String {
        let (baseline, candidate) = (self.baseline, self.candidate);
        match self.table.basis {
            ComparisonBasis::Rounds(n) => format!("{n} rounds of each, in pairs"),
            ComparisonBasis::Runs { baseline: a, candidate: b } => {
                format!("{a} runs of {baseline}, {b} of {candidate}")
            }
            ComparisonBasis::PairedRequests(n) => format!("{n} pairs of requests"),
            ComparisonBasis::Requests { baseline: a, candidate: b } => {
                format!("{a} requests of {baseline}, {b} of {candidate}, unpaired")
            }
            ComparisonBasis::Intervals => {
                "the 95 % intervals of both files, not their requests".to_owned()
            }
        }
    }

    /// What was compared with what, and by which rules.
    fn method(&self) -> String {
        let (baseline, candidate, what) = (self.baseline, self.candidate, self.basis());
        let deciding = self.tested().filter_map(|(_, tested)| tested.tests.first());
        let mut tests: Vec<&str> = deciding.map(|test| test.test.as_str()).collect();
        tests.dedup();
        let fails = self.table.asks_of_failures();
        let decided = self.tested().filter_map(|(_, tested)| tested.decision.as_ref());
        let (family, of_all, apart) = match self.table.corrected_over {
            0 => (1, decided.map(|of| of.corrected_over).max().unwrap_or(1), ""),
            of_all if fails => (self.table.family_size() - 1, of_all, ", failures apart"),
            of_all => (self.table.family_size(), of_all, ""),
        };
        let confidence = percent(1.0 - self.table.alpha.get());
        if tests.is_empty() {
            let mut why: Vec<String> = Vec::new();
            for row in self.table.rows.iter().filter(|row| row.is_decided) {
                let reason = row.tested.as_ref().err().map(ToString::to_string);
                why.extend(reason.filter(|reason| !why.contains(reason)));
            }
            return format!("No figure could be tested: {} ({what})", why.join("; "));
        }
        let tests = tests.join(", ");
        let correction = match of_all {
            1 => "p of the only figure, with nothing to correct for".to_owned(),
            _ if of_all > family => {
                format!("p by Holm's correction over {of_all} figures of all loads and runs")
            }
            _ => format!("p by Holm's correction over {of_all} figures"),
        };
        let widened = self.widened();
        format!(
            "Tested: {what}; change of {candidate} against {baseline}; test: {tests}; \
             {correction}{apart}; intervals at {confidence}, each on its own{widened}"
        )
    }
}

/// `95 %`.
fn percent(share: f64) -> String {
    let percent = number(share * 100.0);
    let percent = if percent.contains('.') {
        percent.trim_end_matches('0').trim_end_matches('.')
    } else {
        &percent
    };
    format!("{percent} %")
}

/// `-2.3 [-4.0, -0.61]`.
fn with_interval(effect: Estimate<f64>) -> String {
    let estimate = number(effect.value());
    match effect.interval() {
        Some(interval) => {
            format!("{estimate} [{}, {}]", number(interval.low), number(interval.high))
        }
        None => estimate,
    }
}

/// `0.031`, and `<0.001` for what is less.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "<0.001".to_owned(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

impl Shown<'_, ComparisonReport> {
    /// All of it for a terminal of 80 columns, what it comes to last; without a newline at the end. The brief one has the figures that
    /// are decided, and says once what holds for several levels.
    #[must_use]
    pub fn text(&self, verbosity: Verbosity) -> String {
        let mut out = Vec::new();
        for (number, comparison) in self.comparisons.iter().enumerate() {
            if number > 0 {
                out.push(String::new());
            }
            self.say(comparison, verbosity, &mut out);
        }
        if verbosity == Verbosity::Brief {
            out.push("Further figures, the tests and the sizes of effects: -v".to_owned());
        }
        let notes =
            self.notes.iter().map(|text| format!("note: {}", plain(shown(text, verbosity))));
        out.extend(notes.map(|text| wrap(&text, WIDTH)));
        for comparison in &self.comparisons {
            // One is B all along; of several each is.
            let name = match &*self.comparisons {
                [_] => "B",
                _ => &comparison.candidate.name,
            };
            out.push(wrap(&plain(&Shown(comparison).sentence(name)), WIDTH));
        }
        out.join("\n")
    }

    fn say(&self, comparison: &RunComparison, verbosity: Verbosity, out: &mut Vec<String>) {
        let candidate = &comparison.candidate;
        // A path is not broken over lines, so that it can be copied.
        out.push(format!("A: {}", plain(&self.baseline.name)));
        out.push(format!("B: {}", plain(&candidate.name)));
        let mut note = |text: &str| out.push(wrap(&format!("note: {}", plain(text)), WIDTH));
        let sides = [("A", &self.baseline), ("B", candidate)];
        match verbosity {
            Verbosity::Brief => doubts::of(sides).iter().for_each(|text| note(text)),
            Verbosity::Full => sides.iter().for_each(|(side, run)| {
                run.notes.iter().for_each(|text| note(&format!("{side}: {text}")));
            }),
        }
        comparison.notes.iter().for_each(|text| note(text));
        if !comparison.forced.is_empty() {
            out.push("Compared although these differ:".to_owned());
            out.extend(comparison.forced.iter().map(changed));
        }
        let what = what_changed(comparison);
        if comparison.changed.is_empty() {
            out.push(format!("{what}: nothing that was recorded"));
        } else {
            out.push(format!("{what}:"));
            out.extend(comparison.changed.iter().take(MOST_CHANGED).map(changed));
            let more = comparison.changed.len().saturating_sub(MOST_CHANGED);
            if more > 0 {
                out.push(format!("  and {more} fields more"));
            }
        }
        if let Some(distance) = &comparison.frontier_distance {
            out.push(wrap(&plain(&distance::text(distance, ["A", "B"])), WIDTH));
        }
        if verbosity == Verbosity::Brief {
            brief_levels(&comparison.levels, out);
            return;
        }
        for level in &comparison.levels {
            out.push(String::new());
            if !level.name.is_empty() {
                out.push(format!("{}:", level.name));
            }
            let view = ComparisonView { table: &level.table, baseline: "A", candidate: "B" };
            out.push(Shown(&view).text(verbosity));
            let notes = level.notes.iter().map(|text| format!("note: {}", plain(text)));
            out.extend(notes.map(|text| wrap(&text, WIDTH)));
        }
    }
}

/// Level by level what is decided, of many in one table, and then once what holds for one or more of them.
fn brief_levels(levels: &[ComparedLevel], out: &mut Vec<String>) {
    let mut remarks: Vec<(String, Vec<&str>)> = Vec::new();
    let overview = overview::lines(levels);
    for level in levels {
        let view = ComparisonView { table: &level.table, baseline: "A", candidate: "B" };
        let view = Shown(&view);
        if overview.is_none() {
            out.push(String::new());
            out.push(match level.name.as_str() {
                "" => format!("{}:", view.basis()),
                name => format!("{name} ({}):", view.basis()),
            });
            out.extend(table::lines(&view, Verbosity::Brief));
            out.extend(view.detectable().map(|text| wrap(&plain(&text), WIDTH)));
        }
        let notes = level.notes.iter().map(|text| format!("note: {text}"));
        for remark in view.held_back().into_iter().chain(notes) {
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, names)) => names.push(&level.name),
                None => remarks.push((remark, vec![&level.name])),
            }
        }
    }
    out.extend(overview.into_iter().flatten());
    for (remark, names) in remarks {
        let text = match names.len() == levels.len() {
            true => remark,
            false => format!("{remark} ({})", names.join(", ")),
        };
        out.push(wrap(&plain(&text), WIDTH));
    }
}

/// What stands above the fields that changed; those that should not have stand apart.
pub(crate) fn what_changed(comparison: &RunComparison) -> &'static str {
    if comparison.forced.is_empty() { "What changed" } else { "What else changed" }
}

fn changed(field: &ChangedField) -> String {
    let [a, b] = field.values();
    wrap(&format!("  {}: {} -> {}", plain(&field.label()), plain(&a), plain(&b)), WIDTH)
}
