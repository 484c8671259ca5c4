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

/// The clients of a run, over all of `levels`: what was counted is added up, and all else is that of the worst level. None where one client
/// measured alone.
pub(crate) fn over<'a>(levels: impl IntoIterator<Item = &'a LevelReport>) -> Option<ShardsReport> {
    let mut parts = levels.into_iter().filter_map(|level| level.shards.as_deref());
    let first = parts.next()?.clone();
    Some(parts.fold(first, worse))
}

fn worse(mut all: ShardsReport, next: &ShardsReport) -> ShardsReport {
    let tails = [all.tail_requests, next.tail_requests].map(Option::unwrap_or_default);
    if next.start_skew_ms > all.start_skew_ms {
        all.start_skew_ms = next.start_skew_ms;
        all.start_skew_uncertainty_ms = next.start_skew_uncertainty_ms;
    }
    all.count = all.count.max(next.count);
    for theirs in &next.health {
        match all.health.iter_mut().find(|one| one.shard == theirs.shard) {
            Some(one) => worse_health(one, theirs, tails),
            None => all.health.push(theirs.clone()),
        }
    }
    all.tail_requests = Some(tails[0] + tails[1]).filter(|requests| *requests > 0);
    for missing in &next.missing {
        if !all.missing.contains(missing) {
            all.missing.push(missing.clone());
        }
    }
    all
}

/// Takes in how the same client fared in another level; `tails` are how many requests the shares of the tail are of.
fn worse_health(one: &mut ShardHealth, theirs: &ShardHealth, tails: [u64; 2]) {
    one.sent += theirs.sent;
    one.failed += theirs.failed;
    let figures = [
        (&mut one.start_late_ms, theirs.start_late_ms),
        (&mut one.send_lateness_p99_ms, theirs.send_lateness_p99_ms),
        (&mut one.read_lag_p99_ms, theirs.read_lag_p99_ms),
        (&mut one.cpu_share, theirs.cpu_share),
        (&mut one.run_delay_share, theirs.run_delay_share),
        (&mut one.steal_share, theirs.steal_share),
        (&mut one.clock_uncertainty_ms, theirs.clock_uncertainty_ms),
    ];
    for (ours, next) in figures {
        if next > *ours {
            *ours = next;
        }
    }
    let slowest = [one.tail_share, theirs.tail_share];
    let slowest = slowest.iter().zip(tails).map(|(share, of)| Some((*share)? * of as f64));
    let known = slowest.flatten().reduce(|a, b| a + b);
    one.tail_share = known.map(|slowest| slowest / tails.iter().sum::<u64>().max(1) as f64);
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
        ShardHealth {
            shard: shard.to_owned(),
            host: "node\u{1b}-with-a-long-name".to_owned(),
            sent,
            send_lateness_p99_ms: Some(late),
            tail_share: tail,
            ..ShardHealth::default()
        }
    }

    fn report(skew: f64, tail: u64, health: Vec<ShardHealth>) -> ShardsReport {
        let mut report = ShardsReport::of(2);
        (report.start_skew_ms, report.tail_requests) = (Some(skew), Some(tail));
        report.start_skew_uncertainty_ms = Some(skew / 10.0);
        report.health = health;
        report
    }

    #[test]
    fn over_levels_counts_add_up_and_the_worst_is_kept() {
        let one = report(
            1.0,
            10,
            vec![health("0/2", 50, 3.0, Some(1.0)), health("1/2", 50, 1.0, Some(0.0))],
        );
        let other = report(
            2.0,
            30,
            vec![health("0/2", 100, 2.0, Some(0.2)), health("1/2", 100, 4.0, Some(0.8))],
        );
        for (first, second) in [(&one, &other), (&other, &one)] {
            let both = worse(first.clone(), second);
            assert_eq!(
                (both.start_skew_ms, both.start_skew_uncertainty_ms),
                (Some(2.0), Some(0.2))
            );
            assert_eq!(both.tail_requests, Some(40));
            let found =
                both.health.iter().map(|one| (one.sent, one.send_lateness_p99_ms, one.tail_share));
            let known = [(150, Some(3.0), Some(0.4)), (150, Some(4.0), Some(0.6))];
            assert_eq!(found.collect::<Vec<_>>(), known);
        }
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
