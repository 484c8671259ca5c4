//! How each client fared over several levels.

use super::{ShardHealth, ShardsReport};

impl ShardsReport {
    /// The clients of a run over all of its `levels`: what was counted is added up, and all else is that of the worst level. None of no
    /// level.
    #[must_use]
    pub fn over_levels<'a>(levels: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut levels = levels.into_iter();
        let first = levels.next()?.clone();
        let mut all = levels.fold(first, worse);
        all.agreed_start = None;
        Some(all)
    }
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
    for gone in &next.gone_in_level {
        if !all.gone_in_level.contains(gone) {
            all.gone_in_level.push(gone.clone());
        }
    }
    for doubt in next.doubts.iter().flatten() {
        let doubts = all.doubts.get_or_insert_default();
        if !doubts.contains(doubt) {
            doubts.push(doubt.clone());
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
        (&mut one.clock_ahead_ms, theirs.clock_ahead_ms),
        (&mut one.clock_uncertainty_ms, theirs.clock_uncertainty_ms),
        (&mut one.clock_drift_ppm, theirs.clock_drift_ppm),
        (&mut one.wall_clock_error_ms, theirs.wall_clock_error_ms),
    ];
    for (ours, next) in figures {
        // A clock may be behind as well as ahead, and go slow as well as fast.
        if next.map(f64::abs) > ours.map(f64::abs) {
            *ours = next;
        }
    }
    let verdict = |of: &ShardHealth| of.worst.as_ref().map(|worst| worst.verdict);
    if verdict(theirs) > verdict(one) {
        one.worst.clone_from(&theirs.worst);
    }
    let slowest = [one.tail_share, theirs.tail_share];
    let slowest = slowest.iter().zip(tails).map(|(share, of)| Some((*share)? * of as f64));
    let known = slowest.flatten().reduce(|a, b| a + b);
    one.tail_share = known.map(|slowest| slowest / tails.iter().sum::<u64>().max(1) as f64);
}

#[cfg(test)]
mod tests {
    use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};

    use super::*;

    fn health(shard: &str, sent: u64, late: f64, tail: Option<f64>) -> ShardHealth {
        ShardHealth {
            shard: shard.to_owned(),
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
        let mut other = other;
        let late = VerdictReason::new(Verdict::Invalid, VerdictConcern::Client, "late");
        (other.health[1].worst, other.health[1].clock_ahead_ms) = (Some(late.clone()), Some(-3.0));
        let mut one = one;
        one.health[1].clock_ahead_ms = Some(2.0);
        for (first, second) in [(&one, &other), (&other, &one)] {
            let both = ShardsReport::over_levels([first, second]).unwrap();
            assert_eq!(
                (both.start_skew_ms, both.start_skew_uncertainty_ms),
                (Some(2.0), Some(0.2))
            );
            assert_eq!(both.tail_requests, Some(40));
            assert_eq!(both.health[1].worst.as_ref(), Some(&late));
            assert_eq!(both.health[1].clock_ahead_ms, Some(-3.0));
            let found =
                both.health.iter().map(|one| (one.sent, one.send_lateness_p99_ms, one.tail_share));
            let known = [(150, Some(3.0), Some(0.4)), (150, Some(4.0), Some(0.6))];
            assert_eq!(found.collect::<Vec<_>>(), known);
        }
    }
}
