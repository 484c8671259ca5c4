//! MLPerf's LoadGen, in the server scenario.
//!
//! LoadGen knows no failed query, so nothing is told of a run with one. The first token's instant is the
//! system's own word to it; here it is that of the client. A percentile is the value at index floor(n p). The
//! rate leaves one query out and ends with the query that was issued last.

use fizeau_core::Tape;

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerFigure, PeerStatistic, PeerUnit};
use crate::PercentileRule;

const PERCENTILES: [u8; 5] = [50, 90, 95, 97, 99];

pub(super) fn figures(run: &Run<'_>) -> Vec<PeerFigure> {
    let mut sheet = Sheet::default();
    let rate = "Completed samples per second";
    if run.failed() > 0 {
        let reason = "it knows no failed query, and some failed";
        sheet.absent(rate, PeerUnit::PerSecond, reason);
        return sheet.0;
    }
    sheet.ours(rate, PeerUnit::PerSecond, completed_per_second(run), "rps");
    let nanos = |figure: &dyn Fn(&Tape) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e9).collect()
    };
    let tpot = |tape: &Tape| {
        run::per_later_token(run::to_end(tape)? - run::ttft(tape)?, run::counted(tape))
    };
    latency(&mut sheet, ["latency", "latency"], &nanos(&run::to_end), "e2el");
    let first = ["First Token latency", "first token latency"];
    latency(&mut sheet, first, &nanos(&run::ttft), "ttft");
    let each = ["Time to Output Token", "time to output token"];
    latency(&mut sheet, each, &nanos(&tpot), "tpot");
    sheet.absent(
        "Completed tokens per second",
        PeerUnit::PerSecond,
        "over which time it counts is not known",
    );
    sheet.0
}

/// (n - 1) / T, T from the first sending to the end of the query that was sent last.
fn completed_per_second(run: &Run<'_>) -> Option<f64> {
    let first = run.good().map(run::sent).min()?;
    let last_sent = run.good().max_by_key(|tape| run::sent(tape))?;
    let duration = run::secs(run::end(last_sent).since(first)?);
    Some((run.completed() - 1) as f64 / duration)
}

/// `[in the lines of extremes and mean, in those of percentiles]`
fn latency(sheet: &mut Sheet, [title, word]: [&str; 2], sample: &Sample, ours: &'static str) {
    let column = Column::linear(sample, PeerUnit::Nanos, Some(ours));
    let column = Column { rule: PercentileRule::FloorIndex, ..column };
    let mut put = |statistic, name| sheet.of(&column, statistic, name);
    put(PeerStatistic::Min, format!("Min {title} (ns)"));
    put(PeerStatistic::Max, format!("Max {title} (ns)"));
    put(PeerStatistic::Mean, format!("Mean {title} (ns)"));
    for percent in PERCENTILES {
        let name = format!("{percent}.00 percentile {word} (ns)");
        put(PeerStatistic::Percentile(percent), name);
    }
}
