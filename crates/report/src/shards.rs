//! How each client fared that measured together with others: of one level, and over all levels of a run.

use fizeau_record::{LevelReport, ShardHealth, ShardsReport};

use crate::Verbosity;
use crate::text::plain;
use fizeau_record::text::percent;

/// As many clients as are shown in brief.
const MOST: usize = 8;

/// A column: its head, its unit, and its cell for a shard.
type Column = (&'static str, &'static str, fn(&ShardHealth) -> String);

const COLUMNS: [Column; 8] = [
    ("sent", "", |one| one.sent.to_string()),
    ("failed", "", |one| one.failed.to_string()),
    ("began", "ms", |one| ms(one.start_late_ms)),
    ("late", "ms", |one| ms(one.send_lateness_p99_ms)),
    ("lag", "ms", |one| ms(one.read_lag_p99_ms)),
    ("CPU", "", |one| share(one.cpu_share)),
    ("stolen", "", |one| share(one.steal_share)),
    ("tail", "", |one| share(one.tail_share)),
];

/// What the columns mean.
#[cfg(feature = "html")]
pub(crate) const COLUMNS_NOTE: &str = "Began: how much later than agreed. Late: p99 of intended release to send start. Lag: p99 of \
    the kernel's stamp of an arrival to its reading. CPU: of the busiest thread. Tail: the share of the slowest requests of all shards. \
    Over several levels sent, failed and tail are of all of them, and the others of the worst.";

fn ms(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"))
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), percent)
}

/// The clients of a run, over all of `levels`; none where one client measured alone.
pub(crate) fn over<'a>(levels: impl IntoIterator<Item = &'a LevelReport>) -> Option<ShardsReport> {
    ShardsReport::over_levels(levels.into_iter().filter_map(|level| level.shards.as_deref()))
}

/// How far apart the clients began, where that is known, and who has much of the tail.
pub(crate) fn sentences(shards: &ShardsReport) -> Vec<String> {
    let unknown = usize::from(shards.start_skew_ms.is_none());
    shards.lines().into_iter().skip(unknown).collect()
}

/// A table of the clients, within 80 columns: in brief of eight at the most, those that have most of the tail.
pub(crate) fn table_lines(shards: &ShardsReport, verbosity: Verbosity) -> Vec<String> {
    let most = match verbosity {
        Verbosity::Brief => MOST,
        Verbosity::Full => usize::MAX,
    };
    let mut shown: Vec<&ShardHealth> = shards.health.iter().collect();
    let left_out = shown.len().saturating_sub(most);
    if left_out > 0 {
        let tail = |one: &ShardHealth| one.tail_share.unwrap_or_default();
        shown.sort_by(|a, b| tail(b).total_cmp(&tail(a)));
        shown.truncate(most);
    }
    let row = |[name, host]: [&str; 2], cells: [String; COLUMNS.len()]| {
        let host: String = plain(host).chars().take(16).collect();
        let mut row = format!("{name:<6} {host:<16}");
        cells.iter().for_each(|cell| row.push_str(&format!(" {cell:>6}")));
        row
    };
    let mut lines =
        vec![row(["shard", "host (times: ms)"], COLUMNS.map(|(head, ..)| head.to_owned()))];
    let cells = |one: &ShardHealth| COLUMNS.map(|(_, _, cell)| cell(one));
    lines.extend(shown.into_iter().map(|one| row([&one.shard, &one.host], cells(one))));
    if left_out > 0 {
        lines.push(format!("and {left_out} more, which have less of the tail"));
    }
    lines
}

/// The heads and units of the columns behind a shard's name and host, and their cells for each shard.
#[cfg(feature = "html")]
pub(crate) fn columns() -> impl Iterator<Item = Column> {
    COLUMNS.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(shard: &str, sent: u64, late: f64, tail: Option<f64>) -> ShardHealth {
        let mut health = ShardHealth::of(shard);
        health.host = "node\u{1b}-with-a-long-name".to_owned();
        (health.sent, health.send_lateness_p99_ms, health.tail_share) = (sent, Some(late), tail);
        health
    }

    fn report(skew: f64, tail: u64, health: Vec<ShardHealth>) -> ShardsReport {
        let mut report = ShardsReport::of(2);
        (report.start_skew_ms, report.tail_requests) = (Some(skew), Some(tail));
        report.start_skew_uncertainty_ms = Some(skew / 10.0);
        report.health = health;
        report
    }

    #[test]
    fn a_table_fits_a_terminal_and_names_those_that_have_most_of_the_tail() {
        let shards = (0..20)
            .map(|n| health(&format!("{n}/20"), 100_000, 123.45, Some(f64::from(n) / 190.0)));
        let report = report(1.0, 10, shards.collect());
        let (brief, full) =
            (table_lines(&report, Verbosity::Brief), table_lines(&report, Verbosity::Full));
        assert_eq!((brief.len(), full.len()), (MOST + 2, 21));
        assert!(brief[1].starts_with("19/20 "), "{brief:?}");
        assert!(
            full.iter().all(|line| line.chars().count() <= 80 && !line.contains('\u{1b}')),
            "{full:?}"
        );
    }
}
