//! Levels added up one tape at a time.

use fizeau_core::{
    Arrival, Channel, ConnectMarks, Connection, FailureClass, Millis, Nanos, ReadLag, RequestId,
    StampSource, Tape, TokenSource,
};
use fizeau_metrics::{
    ClientWatch, GoodputGoals, LevelHistograms, LevelSummary, LevelTally, RequestMetrics, Statistic,
};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn tally<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> LevelTally {
    let goals = "ttft:30 itl_p99:20 or e2el:60".parse();
    let mut tally = LevelTally::new(&goals.unwrap_or_default());
    tapes.into_iter().for_each(|tape| tally.add(tape));
    tally
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn the_parts_of_a_level_make_the_whole(
        tapes in prop::collection::vec(any_tape(), 0..40),
        failures in prop::collection::vec(any::<bool>(), 40),
        cut in 0..40_usize,
    ) {
        let fail = |(tape, fails): (Tape, bool)| {
            if fails { failed(tape, FailureClass::Truncated) } else { tape }
        };
        let tapes: Vec<Tape> = tapes.into_iter().zip(failures).map(fail).collect();
        let (head, tail) = tapes.split_at(cut.min(tapes.len()));
        let mut merged = tally(tail);
        merged.merge(tally(head));
        let whole = tally(&tapes);
        prop_assert_eq!(merged.requests(), whole.requests());
        prop_assert_eq!(merged.summary(), whole.summary());
        let watch = ClientWatch::default();
        prop_assert_eq!(merged.proof(watch), whole.proof(watch));
    }

    /// Of more requests than are kept: what is exact is, the rest is as near as stated, and parts merge to the whole.
    #[test]
    fn a_level_too_large_to_keep_has_nearly_the_same_figures(
        tapes in prop::collection::vec(any_tape(), 100..250),
        cut in 0..100_usize,
    ) {
        let tapes: Vec<Tape> = tapes
            .into_iter()
            .zip(0..)
            .map(|(tape, id)| Tape { request: RequestId(id), ..tape })
            .collect();
        let folded = |tapes: &[Tape]| {
            let mut tally = tally([]).exact_up_to(40);
            tapes.iter().for_each(|tape| tally.add(tape));
            tally
        };
        let (head, tail) = tapes.split_at(cut);
        let mut merged = folded(tail);
        merged.merge(folded(head));
        let (exact, merged, whole) =
            (tally(&tapes).summary(), merged.summary(), folded(&tapes).summary());
        near(&whole, &exact)?;
        near(&merged, &exact)?;
        prop_assert_eq!(&merged.windowed, &whole.windowed);
        prop_assert_eq!((&merged.saturation, &merged.over_time), (&whole.saturation, &whole.over_time));
        prop_assert_eq!(&merged.throughput, &whole.throughput);
        prop_assert_eq!(merged.arrivals, whole.arrivals);
        prop_assert_eq!(merged.metrics.ttft.p99, whole.metrics.ttft.p99);
    }

    #[test]
    fn histograms_hold_what_the_summary_counts(tapes in prop::collection::vec(any_tape(), 0..20)) {
        let level = LevelSummary::of(&tapes, &GoodputGoals::default());
        let (mut left, mut right) = (LevelHistograms::default(), LevelHistograms::default());
        let half = tapes.len() / 2;
        tapes.iter().take(half).for_each(|tape| left.add(tape));
        tapes.iter().skip(half).for_each(|tape| right.add(tape));
        left.merge(&right);
        prop_assert_eq!(left.ttft.count(), level.metrics.ttft.n);
        prop_assert_eq!(left.itl.count(), level.metrics.itl.n);
        prop_assert_eq!(left.e2el.count(), level.metrics.e2el.n);
    }
}

/// The stated errors of a level that was too large to keep.
fn near(folded: &LevelSummary, exact: &LevelSummary) -> Result<(), TestCaseError> {
    prop_assert_eq!((&folded.requests, &folded.tokens), (&exact.requests, &exact.tokens));
    let (ours, theirs) = (&folded.throughput, &exact.throughput);
    prop_assert_eq!(ours.requests_per_s, theirs.requests_per_s);
    prop_assert_eq!(ours.output_tokens_per_s, theirs.output_tokens_per_s);
    prop_assert_eq!(&ours.goodput, &theirs.goodput);
    let figures = |level: &LevelSummary| {
        let all = &level.metrics;
        [&all.ttft, &all.first_visible, &all.tpot, &all.e2el, &all.send_lateness].map(Clone::clone)
    };
    for (ours, theirs) in figures(folded).iter().zip(figures(exact).iter()) {
        prop_assert_eq!(ours.n, theirs.n);
        for statistic in [Statistic::Mean, Statistic::P50, Statistic::P99, Statistic::Max] {
            let pair = ours.statistic(statistic).zip(theirs.statistic(statistic));
            // A nanosecond beside the error of a bucket: TPOT is rounded to whole ones.
            let close = pair.is_none_or(|(ours, theirs)| {
                (ours.get() - theirs.get()).abs() <= theirs.get() / 2048.0 + 1e-6
            });
            prop_assert!(close, "{statistic:?}: {pair:?}");
        }
    }
    // Of requests that were not kept it has the numbers, to a request for each of the three.
    if let Ok(part) = &folded.windowed.part {
        let window = &part.window;
        let all = window.cut_front + window.kept + window.cut_back;
        prop_assert!(all.abs_diff(folded.requests.sent) <= 2, "{all} of {}", folded.requests.sent);
        prop_assert!(part.completed <= window.kept + 1, "{part:?}");
    }
    let of = |level: &LevelSummary| level.over_time.map(|over| (over.in_flight, over.due));
    if let Some(((ours, due), (theirs, all_due))) = of(folded).zip(of(exact)) {
        prop_assert!((ours.mean - theirs.mean).abs() <= 0.05 * theirs.mean + 1.0, "{ours:?}");
        prop_assert!((due.mean - all_due.mean).abs() <= 0.05 * all_due.mean + 1.0, "{due:?}");
    }
    Ok(())
}

#[test]
fn chunks_of_one_token_and_others_make_one_sample() {
    let level = tally([&tape(0, &[(10, 1), (20, 1)]), &tape(0, &[(10, 1), (50, 2)])]).summary();
    let (itl, icl) = (level.metrics.itl, level.metrics.icl);
    assert_eq!((itl.n, icl.n), (3, 2));
    assert_eq!((itl.mean.unwrap().get(), icl.mean.unwrap().get()), (50.0 / 3.0, 25.0));
}

#[test]
fn an_embedding_has_an_end_to_end_latency_alone() {
    let mut embedding = tape(0, &[]);
    embedding.arrivals = vec![Arrival::tokens(ms(7), 0, Channel::Embedding)];
    embedding.token_source = TokenSource::Tokenless;
    let metrics = RequestMetrics::of(&embedding);
    assert_eq!(metrics.e2el, Some(Nanos::from_millis(7)));
    assert_eq!((metrics.ttft, metrics.first_visible, metrics.tpot), (None, None, None));
    let level = tally([&embedding]).summary();
    assert_eq!((level.requests.completed, level.metrics.e2el.n, level.metrics.ttft.n), (1, 1, 0));
    assert_eq!(level.throughput.duration.get(), 0.007);
    let json = serde_json::to_value(&level).unwrap();
    assert_eq!(json["metrics"]["ttft_ms"]["p50_reason"], "the replies have no tokens");
}

#[test]
fn only_the_kernels_stamps_have_a_read_lag() {
    let lagged = |stamps| {
        let mut tape = tape(0, &[(10, 1), (20, 1)]);
        tape.stamps = stamps;
        for (arrival, micros) in tape.arrivals.iter_mut().zip([50, 150]) {
            arrival.read_lag = ReadLag::of(Nanos::from_micros(micros));
        }
        tape
    };
    let (kernel, user) = (lagged(StampSource::Kernel), lagged(StampSource::User));
    let both = tally([&kernel, &user]);
    let lag = both.summary().metrics.read_lag;
    assert_eq!((lag.n, lag.mean.unwrap().get(), lag.max.unwrap().get()), (2, 0.1, 0.15));
    assert_eq!(both.proof(ClientWatch::default()).stamps, Some(StampSource::User));
    let alone = tally([&kernel]);
    assert_eq!(alone.proof(ClientWatch::default()).stamps, Some(StampSource::Kernel));
    let mut called_off = tape(0, &[]);
    called_off.stamps = StampSource::User;
    let interrupted = tally([&kernel, &called_off]);
    assert_eq!(interrupted.proof(ClientWatch::default()).stamps, Some(StampSource::Kernel));
    // Nothing came, so nobody stamped anything.
    assert_eq!(tally([&called_off]).proof(ClientWatch::default()).stamps, None);
    let none = tally([&user]).summary();
    let json = serde_json::to_value(&none).unwrap();
    assert_eq!(json["metrics"]["read_lag_ms"]["max_reason"], "the kernel stamped no arrival");
}

#[test]
fn a_connection_is_taken_apart() {
    let mut fresh = tape(20, &[(40, 1)]);
    (fresh.marks.intended, fresh.marks.released) = (ms(0), ms(4));
    fresh.marks.connect =
        Some(ConnectMarks { start: ms(5), dns: Some(ms(6)), tcp: ms(9), tls: Some(ms(16)) });
    fresh.connection = Connection::Fresh;
    let metrics = RequestMetrics::of(&fresh);
    let millis = |n| Some(Nanos::from_millis(n));
    assert_eq!((metrics.dns, metrics.tcp, metrics.tls), (millis(1), millis(3), millis(7)));
    assert_eq!(metrics.connect, millis(11));
    assert_eq!((metrics.connection_wait, metrics.send_delay), (millis(11), millis(5)));

    // Begun before the release: only the rest of it is waited for.
    fresh.marks.released = ms(10);
    let metrics = RequestMetrics::of(&fresh);
    assert_eq!((metrics.connection_wait, metrics.send_delay), (millis(6), millis(4)));

    let mut replaced = tape(0, &[(20, 1)]);
    replaced.connection = Connection::ReplacedStale;
    let tally = tally([&fresh, &replaced]);
    let proof = tally.proof(ClientWatch::default());
    assert_eq!((proof.connections_fresh, proof.connections_replaced), (1, 1));
    let metrics = tally.summary().metrics;
    assert_eq!((metrics.connect.n, metrics.tls.n, metrics.connection_wait.n), (1, 1, 2));
}

/// The tape shown in docs/run-folder.md is one that can be read.
#[test]
fn the_documented_tape_has_the_documented_figures() {
    let page = include_str!("../../../../docs/run-folder.md");
    let json = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let tape: Tape = serde_json::from_str(json).unwrap();
    let level = tally([&tape]).summary();
    assert_eq!(level.metrics.itl.mean, Some(Millis::new(5.0)));
    assert_eq!(level.metrics.read_lag.max, Some(Millis::new(0.011)));
    assert_eq!(level.tokens.output.get(), 3);
}

/// Another client's level, of which a failed request has no known end: rates and their intervals are those of the whole time.
#[test]
fn a_level_lasts_at_least_as_long_as_is_known() {
    let mut unended = failed(tape(0, &[]), FailureClass::TimeoutTotal);
    unended.marks.end = None;
    let tapes: Vec<Tape> = (0..20).map(|n| tape(10 * n, &[(10 * n + 5, 1)])).collect();
    let all = || tapes.iter().chain([&unended]);
    let mut known = tally([]).lasting_at_least(Nanos::from_secs(10));
    all().for_each(|tape| known.add(tape));
    let summary = known.summary();
    assert_eq!(known.duration(), Nanos::from_secs(10));
    assert!(
        (summary.throughput.requests_per_s.get() - 2.0).abs() < 1e-9,
        "{:?}",
        summary.throughput
    );
    // One that is longer is as long as it is, and none has a length without requests.
    let mut longer = tally(all());
    let own = longer.duration();
    longer = longer.lasting_at_least(Nanos::from_millis(1));
    assert_eq!(longer.duration(), own);
    assert_eq!(tally([]).lasting_at_least(Nanos::from_secs(1)).duration(), Nanos::ZERO);
}
