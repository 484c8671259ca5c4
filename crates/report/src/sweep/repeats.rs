//! The table of loads that were measured more than once.

use fizeau_core::Millis;
use fizeau_record::text::{half_width, supported};
use fizeau_record::{LoadRepeats, MeanOverRuns, RangeOverRuns, SweepReport};

use crate::Shown;

impl Shown<'_, SweepReport> {
    /// The heads of the table of repeats, and its rows.
    pub(crate) fn repeat_rows(&self) -> Vec<[String; 6]> {
        let dash = || "-".to_owned();
        let over = |over: Option<MeanOverRuns>| {
            over.map_or_else(dash, |MeanOverRuns { mean, half_width: half }| {
                let ends = (mean - half, mean + half);
                format!("{} ±{}", supported(mean, Some(ends)), half_width(mean, ends))
            })
        };
        let range = |range: Option<RangeOverRuns>| {
            range.map_or_else(dash, |range| {
                let of = [range.median, range.least, range.greatest];
                let [median, least, greatest] = of.map(|of| supported(of, None));
                format!("{median} ({least}-{greatest})")
            })
        };
        let row = |repeats: &LoadRepeats| {
            Some([
                self.label(repeats.load()?),
                repeats.compared().count().to_string(),
                over(repeats.mean(|run| Some(run.summary.throughput.requests_per_s.get()))),
                over(repeats.mean(|run| Some(run.summary.throughput.output_tokens_per_s.get()))),
                over(repeats.mean(|run| run.summary.metrics.e2el.mean.map(Millis::get))),
                range(repeats.range(|run| run.summary.metrics.e2el.p99.value().map(Millis::get))),
            ])
        };
        self.repeats().iter().filter_map(row).collect()
    }

    /// In how many of its runs each load kept the goals; none where there are no goals, or no repeats.
    #[cfg(feature = "html")]
    pub(crate) fn kept_goals(&self) -> Option<String> {
        let slo = self.slo()?;
        let one = |repeats: &LoadRepeats| {
            let (kept, of) = (repeats.keeping(slo)?, repeats.compared().count());
            let label = self.label(repeats.load()?);
            (of > 0).then(|| format!("{label} in {kept} of {of} runs"))
        };
        let all: Vec<String> = self.repeats().iter().filter_map(one).collect();
        (!all.is_empty()).then(|| format!("Goals kept: {}.", all.join(", ")))
    }
}

/// What stands above the columns of [`SweepReport::repeat_rows`].
pub(crate) const HEADS: [&str; 6] =
    ["load", "runs", "req/s", "out tok/s", "E2EL mean ms", "E2EL p99 ms"];

/// What the table of repeats shows.
pub(crate) const REPEATS_NOTE: &str = "Repeats: means over the runs ± half of their 95 % interval (Student's t, across runs); of a p99 \
 the median over the runs, of an even number the greater of the two in the middle, and its \
 range. Goals are judged over all runs";

/// What stands in the table of levels.
pub(crate) const ONE_RUN_NOTE: &str = "The table of levels shows one run of each repeated load, the one with the median requests/s; \
 goals are judged over all of its runs";
