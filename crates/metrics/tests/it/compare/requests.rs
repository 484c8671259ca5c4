//! Requests against requests.

use fizeau_core::{Arrival, Channel, FailureClass, Nanos, RequestId, Stamp, Tape};
use fizeau_metrics::{
    ComparedRequests, ComparisonAnswer, ComparisonBasis, ComparisonSettings, ComparisonSide,
    ComparisonTable, ComparisonTest, FigureChoice, GoodputGoals, LevelFigure, LoadPacing,
    RandomBits, RequestPairing, ResampleSeed, RunToRun, TestFindings, UnpairedValues,
    UntestedReason,
};
use proptest::prelude::*;

use crate::cases;
use crate::tapes::failed;

fn goals() -> GoodputGoals {
    "ttft:60".parse().unwrap_or(GoodputGoals::NONE)
}

/// Requests every 10 ms, whose TTFT in milliseconds are given: two tokens each, the second 5 ms after the first.
fn run(ttft: &[f64]) -> ComparedRequests {
    let mut requests = ComparedRequests::new(LoadPacing::OpenLoop, &goals());
    for (number, ttft) in (0..).zip(ttft) {
        let sent = Stamp::EPOCH + Nanos::from_millis(10 * number);
        let first = sent + Nanos::from_nanos((ttft * 1e6) as u64);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible));
        let second = first + Nanos::from_nanos((4e6 + 1e4 * ttft) as u64);
        tape.arrivals.push(Arrival::tokens(second, 1, Channel::Visible));
        tape.marks.end = Some(second);
        requests.add(&tape);
    }
    requests
}

fn settings(resamples: u32) -> ComparisonSettings {
    let figures = [LevelFigure::P50_TTFT, LevelFigure::P99_TTFT, LevelFigure::OUTPUT_TPS];
    let (figures, run_to_run) = (FigureChoice::only(figures), RunToRun::NONE);
    ComparisonSettings { figures, resamples, run_to_run, ..Default::default() }
}

/// Latencies that hang together: an AR(1) series of exponential-tailed values around 50 ms.
fn series(bits: &mut RandomBits, n: usize, memory: f64) -> Vec<f64> {
    let mut noise = || (0..12).map(|_| bits.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
    let mut last = noise() / (1.0 - memory * memory).sqrt();
    let own = (1.0 - memory * memory).sqrt();
    let step = |_| {
        last = memory * last + noise();
        50.0 * (0.1 * last * own).exp()
    };
    (0..n).map(step).collect()
}

/// The same latencies in a closed loop of eight slots, a token each.
fn closed(e2el: &[f64]) -> ComparedRequests {
    loop_of(8, e2el, &vec![1; e2el.len()])
}

/// These latencies in a closed loop of `slots`, of requests with so many tokens.
fn loop_of(slots: usize, e2el: &[f64], tokens: &[u32]) -> ComparedRequests {
    let mut requests = ComparedRequests::new(LoadPacing::ClosedLoop, &goals());
    let mut free = vec![0_u64; slots];
    for (number, (e2el, tokens)) in (0..).zip(e2el.iter().zip(tokens)) {
        let slot = (0..slots).min_by_key(|&slot| free[slot]).unwrap_or(0);
        let sent = Stamp::EPOCH + Nanos::from_nanos(free[slot]);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        let end = sent + Nanos::from_nanos((e2el * 1e6) as u64);
        tape.arrivals.push(Arrival::tokens(end, *tokens, Channel::Visible));
        tape.marks.end = Some(end);
        requests.add(&tape);
        free[slot] += (e2el * 1e6) as u64;
    }
    requests
}

fn scaled(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|value| value * by).collect()
}

/// Runs of one server, whose requests hang together: neither with partners nor without is it told from itself more often than
/// alpha, over all figures together; a test that takes requests for independent does so far more often.
#[test]
fn a_server_is_not_told_from_itself() {
    let mut bits = RandomBits::new(ResampleSeed(6));
    let (repeats, n, memory) = (200, 400, 0.6);
    let (mut alarms, mut naive) = (0, 0);
    for repeat in 0..repeats {
        let pairing = if repeat % 2 == 0 { RequestPairing::ByNumber } else { RequestPairing::None };
        let (a, b) = (series(&mut bits, n, memory), series(&mut bits, n, memory));
        let table = ComparisonTable::of_requests(&closed(&a), &closed(&b), pairing, &settings(200));
        let told = [ComparisonAnswer::Better, ComparisonAnswer::Worse]
            .map(|answer| table.answered(answer).count());
        alarms += u32::from(told != [0, 0]);
        let ranks = UnpairedValues::new(&a, &b).unwrap().mann_whitney();
        naive += u32::from(ranks.p.get() <= 0.05);
    }
    println!("{alarms} of {repeats}; Mann and Whitney's test {naive}");
    // Ten expected at most; the 99 % point of as many draws is 18.
    assert!((1..=18).contains(&alarms), "{alarms}");
    assert!(naive > 36, "{naive}");
}

/// A machine that other work shares: eight requests at a time march in waves, and how long a wave takes varies over all times from
/// one wave to many runs. The quarters of a run show that, and runs are told apart no more often than alpha; a stated spread that is
/// too small does so more often.
#[test]
fn a_busy_machine_is_not_told_from_itself() {
    let mut bits = RandomBits::new(ResampleSeed(21));
    let (pairs, waves) = (200, 25);
    let memories = [0.5, 0.9, 0.98, 0.996];
    let mut states = [0.0; 4];
    let mut run = || -> Vec<f64> {
        let wave = |_| {
            for (state, memory) in states.iter_mut().zip(memories) {
                let noise =
                    (0..12).map(|_| bits.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
                *state = memory * *state + (1.0_f64 - memory * memory).sqrt() * noise;
            }
            50.0 * (0.07 * states.iter().sum::<f64>()).exp()
        };
        (0..waves)
            .map(wave)
            .flat_map(|wave| (0..8).map(move |k| wave + 0.01 * f64::from(k)))
            .collect()
    };
    let figures = FigureChoice::usual();
    let settings = ComparisonSettings { figures, resamples: 200, ..Default::default() };
    let stated = ComparisonSettings { run_to_run: "3%".parse().unwrap(), ..settings.clone() };
    let mut alarms = [0, 0];
    for _ in 0..pairs {
        let (a, b) = (closed(&run()), closed(&run()));
        for (alarms, settings) in alarms.iter_mut().zip([&settings, &stated]) {
            let table = ComparisonTable::of_requests(&a, &b, RequestPairing::ByNumber, settings);
            let told = [ComparisonAnswer::Better, ComparisonAnswer::Worse]
                .map(|answer| table.answered(answer).count());
            *alarms += u32::from(told != [0, 0]);
        }
    }
    println!("{} of {pairs} as assumed, {} as stated", alarms[0], alarms[1]);
    assert!(alarms[0] <= 18, "{alarms:?}");
    assert!(alarms[1] > alarms[0], "{alarms:?}");
}

/// Many slots and lengths that vary much: the slots idle long at the end, by chance.
#[test]
fn slots_that_idle_at_the_end_of_a_run_are_no_difference() {
    let mut bits = RandomBits::new(ResampleSeed(11));
    let (slots, n, repeats) = (64, 640, 200);
    let figures = FigureChoice::only([LevelFigure::OUTPUT_TPS, LevelFigure::RPS]);
    let settings = ComparisonSettings { figures, ..settings(200) };
    for pairing in [RequestPairing::ByNumber, RequestPairing::None] {
        let mut found = [0, 0];
        for _ in 0..repeats {
            let lengths = |bits: &mut RandomBits| -> Vec<u32> {
                let uniform = |bits: &mut RandomBits| 1.0 - bits.next_u64() as f64 / 2_f64.powi(64);
                (0..n).map(|_| (-60.0 * uniform(bits).ln()).clamp(4.0, 600.0) as u32).collect()
            };
            let of_a = lengths(&mut bits);
            let of_b =
                if pairing == RequestPairing::None { lengths(&mut bits) } else { of_a.clone() };
            let mut run = |tokens: &[u32]| {
                let noise = series(&mut bits, n, 0.0);
                let e2el: Vec<f64> =
                    tokens.iter().zip(noise).map(|(&n, noise)| f64::from(n) * noise).collect();
                loop_of(slots, &e2el, tokens)
            };
            let (a, b) = (run(&of_a), run(&of_b));
            let table = ComparisonTable::of_requests(&a, &b, pairing, &settings);
            for (found, row) in found.iter_mut().zip(&table.rows) {
                *found += u32::from(row.tested.as_ref().unwrap().p().unwrap().get() <= 0.05);
            }
        }
        println!("{pairing:?}: {found:?} of {repeats}");
        // Ten each expected; the 99 % point of as many draws is 18.
        assert!(found.iter().all(|found| *found <= 18), "{pairing:?}: {found:?} of {repeats}");
    }
}

/// A schedule makes the rate of an open loop, and both sides have the same one.
#[test]
fn the_rate_of_an_open_loop_has_an_interval_as_narrow_as_its_schedule() {
    let mut bits = RandomBits::new(ResampleSeed(12));
    let settings =
        ComparisonSettings { figures: FigureChoice::only([LevelFigure::RPS]), ..settings(200) };
    let mut found = 0;
    for _ in 0..100 {
        // Latencies of 1.2 s, and a request every 10 ms.
        let mut one = || run(&scaled(&series(&mut bits, 400, 0.0), 24.0));
        let table =
            ComparisonTable::of_requests(&one(), &one(), RequestPairing::ByNumber, &settings);
        let tested = table.rows[0].tested.as_ref().unwrap();
        let interval = tested.relative.unwrap().interval().unwrap();
        assert!(interval.high - interval.low < 0.5, "{interval:?}");
        found += u32::from(tested.p().unwrap().get() <= 0.05);
    }
    println!("{found} of 100");
    assert!(found <= 11, "{found}: 5 % of 100, and 2.33 standard deviations");
}

#[test]
fn where_the_last_request_alone_makes_the_rate_it_is_shown_and_not_tested() {
    let mut at_once = ComparedRequests::new(LoadPacing::AllAtOnce, &goals());
    for number in 0..100 {
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(Stamp::EPOCH) };
        let end = Stamp::EPOCH + Nanos::from_millis(10 * (number + 1));
        tape.arrivals.push(Arrival::tokens(end, 1, Channel::Visible));
        tape.marks.end = Some(end);
        at_once.add(&tape);
    }
    let no_slot_twice = loop_of(64, &[50.0; 64], &[1; 64]);
    for (run, rate) in [(at_once, 100.0), (no_slot_twice, 1280.0)] {
        let table =
            ComparisonTable::of_requests(&run, &run, RequestPairing::ByNumber, &settings(20));
        let row = &table.rows[2];
        assert_eq!((row.baseline, &row.tested), (Some(rate), &Err(UntestedReason::NeedsRounds)));
    }
}

#[test]
fn partners_show_a_difference_that_strangers_hide() {
    let mut bits = RandomBits::new(ResampleSeed(8));
    let a = series(&mut bits, 600, 0.3);
    let slower = scaled(&a, 1.01);
    let compared = |pairing| {
        ComparisonTable::of_requests(&closed(&a), &closed(&slower), pairing, &settings(300))
    };
    let (paired, apart) = (compared(RequestPairing::ByNumber), compared(RequestPairing::None));
    assert_eq!(paired.basis, ComparisonBasis::PairedRequests(600));
    assert_eq!(apart.basis, ComparisonBasis::Requests { baseline: 600, candidate: 600 });
    let worse: Vec<_> = paired.answered(ComparisonAnswer::Worse).collect();
    assert!(
        worse.contains(&LevelFigure::P50_TTFT) && worse.contains(&LevelFigure::OUTPUT_TPS),
        "{worse:?}"
    );
    assert_eq!(apart.answered(ComparisonAnswer::Worse).count(), 0);

    let row = |table: &ComparisonTable| table.rows[0].tested.clone().unwrap();
    let (close, wide) = (row(&paired), row(&apart));
    assert!(close.detectable.unwrap() < wide.detectable.unwrap());
    let shift = close.relative.unwrap();
    assert!((shift.value() - 0.01).abs() < 1e-6, "{shift:?}");
    assert!(shift.interval().is_some_and(|ends| ends.low < 0.01 && 0.01 < ends.high));
    let tests =
        |tested: &TestFindings| tested.tests.iter().map(|test| test.test).collect::<Vec<_>>();
    assert_eq!(tests(&close), [ComparisonTest::BlockBootstrap]);
    assert_eq!(tests(&wide), [ComparisonTest::BlockBootstrap, ComparisonTest::MannWhitney]);
}

/// Golden: 132 requests of a token each, of 52 ms in the mean, in eight slots that are never free.
#[test]
fn figures_are_those_of_the_whole_run_and_of_slots_that_are_busy() {
    let latencies = [40.0, 50.0, 60.0, 45.0, 55.0, 65.0, 42.0, 52.0, 62.0, 47.0, 54.0];
    let requests = closed(&latencies.repeat(12));
    let table =
        ComparisonTable::of_requests(&requests, &requests, RequestPairing::ByNumber, &settings(50));
    let figure = |k: usize| table.rows[k].baseline.unwrap();
    assert_eq!(figure(0), 52.0);
    assert!((figure(2) - 8.0 / 0.052).abs() < 1e-6, "{}", figure(2));
    assert!(table.rows.iter().all(|row| row.answer() != Some(ComparisonAnswer::Better)));
}

#[test]
fn what_too_few_requests_or_none_can_say_is_not_said() {
    let few = run(&[50.0; 40]);
    let none = ComparedRequests::new(LoadPacing::OpenLoop, &GoodputGoals::default());
    let itl: LevelFigure = "p99 itl".parse().unwrap();
    let figures = FigureChoice::only([LevelFigure::P99_TTFT, itl, LevelFigure::GOOD_SHARE]);
    let settings = ComparisonSettings { figures, resamples: 20, ..Default::default() };
    let whys = |a: &ComparedRequests, b: &ComparedRequests| -> Vec<_> {
        let table = ComparisonTable::of_requests(a, b, RequestPairing::ByNumber, &settings);
        table.rows.into_iter().map(|row| row.tested.err()).collect()
    };
    let few_p99 = UntestedReason::TooFew { what: "requests", needs: 368, has: 40 };
    assert_eq!(whys(&few, &few), [Some(few_p99), Some(UntestedReason::NeedsRounds), None]);
    let absent = UntestedReason::Absent(ComparisonSide::Candidate);
    assert_eq!(whys(&few, &none)[2], Some(absent));
    // Nothing of the candidate, nothing of the baseline, and nothing that both have.
    let mut later = ComparedRequests::new(LoadPacing::OpenLoop, &goals());
    later.add(&Tape { request: RequestId(7), ..Tape::sent_at(Stamp::EPOCH) });
    assert_eq!(whys(&few, &later)[0], Some(absent));
    assert_eq!(whys(&later, &few)[0], Some(UntestedReason::Absent(ComparisonSide::Baseline)));
    let mut other = ComparedRequests::new(LoadPacing::OpenLoop, &goals());
    let mut tape = Tape { request: RequestId(99), ..Tape::sent_at(Stamp::EPOCH) };
    let token = Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(9), 1, Channel::Visible);
    tape.arrivals.push(token);
    other.add(&tape);
    assert_eq!(whys(&few, &other)[0], Some(UntestedReason::NoPairs));
}

/// The usual p99 of 160 requests is stood in for by a percentile that they have; one that was asked for is not.
#[test]
fn a_lower_percentile_stands_for_one_that_takes_more_requests() {
    let mut bits = RandomBits::new(ResampleSeed(5));
    let requests = run(&series(&mut bits, 160, 0.0));
    let of = |figures| {
        let settings = ComparisonSettings { figures, ..settings(20) };
        let table =
            ComparisonTable::of_requests(&requests, &requests, RequestPairing::ByNumber, &settings);
        let row = &table.rows[1];
        (row.figure.to_string(), row.stands_for, row.tested.is_ok())
    };
    assert_eq!(
        of(FigureChoice::usual()),
        ("p95 ttft".to_owned(), Some(LevelFigure::P99_TTFT), true)
    );
    let requested = FigureChoice::only([LevelFigure::P50_TTFT, LevelFigure::P99_TTFT]);
    assert_eq!(of(requested), ("p99 ttft".to_owned(), None, false));
}

#[test]
fn rounds_are_numbered_afresh_and_the_time_between_them_is_nobodys() {
    let mut twice = run(&[50.0; 30]);
    let rate = |requests: &ComparedRequests| {
        let table = ComparisonTable::of_requests(
            requests,
            requests,
            RequestPairing::ByNumber,
            &settings(20),
        );
        (table.basis, table.rows[2].baseline.unwrap())
    };
    let once = rate(&twice);
    let mut second = run(&[]);
    let later = Stamp::EPOCH + Nanos::from_secs(60);
    for number in 0..30 {
        let sent = later + Nanos::from_millis(10 * number);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        for after in [50_000_000, 54_500_000] {
            tape.arrivals.push(Arrival::tokens(
                sent + Nanos::from_nanos(after),
                1,
                Channel::Visible,
            ));
        }
        tape.marks.end = tape.last_output();
        second.add(&tape);
    }
    twice.append(second);
    let both = rate(&twice);
    assert_eq!(
        (once.0, both.0),
        (ComparisonBasis::PairedRequests(30), ComparisonBasis::PairedRequests(60))
    );
    assert!((once.1 - both.1).abs() < 1e-6, "{once:?} {both:?}");
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn swapped_sides_mirror_and_other_units_change_nothing(seed: u64, slower in 0.9..1.1_f64) {
        let mut bits = RandomBits::new(ResampleSeed(seed));
        let (a, b) = (series(&mut bits, 120, 0.2), series(&mut bits, 120, 0.2));
        let b = scaled(&b, slower);
        let compare = |a: &[f64], b: &[f64]| {
            ComparisonTable::of_requests(&closed(a), &closed(b), RequestPairing::ByNumber, &settings(60))
        };
        let (forth, back) = (compare(&a, &b), compare(&b, &a));
        for (one, other) in forth.rows.iter().zip(&back.rows) {
            let (Ok(one), Ok(other)) = (&one.tested, &other.tested) else { continue };
            prop_assert!((one.difference.value() + other.difference.value()).abs() < 1e-9);
            prop_assert!((one.p().unwrap().get() - other.p().unwrap().get()).abs() < 1e-9);
        }
        let again = compare(&scaled(&a, 3.0), &scaled(&b, 3.0));
        for (one, other) in forth.rows.iter().zip(&again.rows) {
            let (Ok(one), Ok(other)) = (&one.tested, &other.tested) else { continue };
            // Stamps are whole nanoseconds.
            prop_assert!((one.p().unwrap().get() - other.p().unwrap().get()).abs() < 1e-5);
        }
    }
}

/// A server whose queue fills up to a bound beyond which it refuses: nearly every request waits, and each waits as its neighbours do,
/// so that hundreds of them are worth too few for a median. That it is a hundred times the other's is seen all the same; and a queue that
/// only began to fill is told from one that did so a little less by nobody.
#[test]
fn medians_that_are_factors_apart_are_told_apart_however_much_requests_hang_together() {
    let mut bits = RandomBits::new(ResampleSeed(3));
    let mut noisy = |ms: f64| ms * (1.0 + 0.05 * bits.next_u64() as f64 / u64::MAX as f64);
    let filling = |most: f64| move |k: u32| (13.0 + 20.0 * f64::from(k)).min(most);
    let mut of = |filling: &dyn Fn(u32) -> f64| {
        let mut requests = ComparedRequests::new(LoadPacing::OpenLoop, &goals());
        for k in 0..400 {
            let sent = Stamp::EPOCH + Nanos::from_millis(60 * u64::from(k));
            let first = sent + Nanos::from_nanos((noisy(filling(k)) * 1e6) as u64);
            let mut tape = Tape { request: RequestId(k.into()), ..Tape::sent_at(sent) };
            match k > 120 && k % 4 == 0 && filling(k) > 100.0 {
                true => tape = failed(tape, FailureClass::Status),
                false => tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible)),
            }
            requests.add(&tape);
        }
        requests
    };
    let (quick, full, fuller) = (of(&|_| 13.0), of(&filling(2500.0)), of(&filling(2600.0)));
    let settings = ComparisonSettings { run_to_run: RunToRun::ASSUMED, ..settings(200) };
    let answer = |a: &ComparedRequests, b: &ComparedRequests| {
        let pairing = RequestPairing::ByNumber;
        let table = ComparisonTable::of_requests(a, b, pairing, &settings);
        let median = table.rows.iter().find(|row| row.figure == LevelFigure::P50_TTFT).unwrap();
        (median.tested.as_ref().unwrap().tests[0].test, median.answer().unwrap())
    };
    assert_eq!(answer(&quick, &full), (ComparisonTest::Quarters, ComparisonAnswer::Worse));
    assert_eq!(answer(&full, &fuller).1, ComparisonAnswer::NoDetectableDifference);
}

#[test]
fn what_the_client_called_off_neither_failed_nor_was_it_good_or_bad() {
    let mut requests = [0, 1].map(|_| run(&[50.0; 60]));
    for (requests, class) in
        requests.iter_mut().zip([FailureClass::Cancelled, FailureClass::Status])
    {
        for number in 60..80 {
            let sent = Stamp::EPOCH + Nanos::from_millis(10 * number);
            let tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
            requests.add(&failed(tape, class));
        }
    }
    let [cut, broken] = &requests;
    assert_eq!((cut.cancelled(), cut.failed(), cut.sent()), (20, 0, 80));
    assert_eq!((broken.cancelled(), broken.failed(), broken.sent()), (0, 20, 80));
    let figures = FigureChoice::only([LevelFigure::FAILED_SHARE, LevelFigure::GOOD_SHARE]);
    let settings = ComparisonSettings { figures, ..settings(200) };
    let table = ComparisonTable::of_requests(cut, broken, RequestPairing::None, &settings);
    let values: Vec<_> = table.rows.iter().map(|row| (row.baseline, row.candidate)).collect();
    assert_eq!(values, [(Some(0.0), Some(0.25)), (Some(1.0), Some(0.75))]);
}

/// Six failures of sixty against none are a difference (Fisher's exact test: p 0.027), however many latencies are looked at beside
/// them; and these are not corrected for that question.
#[test]
fn whether_more_requests_fail_is_a_question_of_its_own() {
    let full = run(&[50.0; 60]);
    let mut broken = ComparedRequests::new(LoadPacing::OpenLoop, &goals());
    for number in 0..60 {
        let sent = Stamp::EPOCH + Nanos::from_millis(10 * number);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        if number % 10 == 7 {
            broken.add(&failed(tape, FailureClass::Status));
            continue;
        }
        for ms in [50.0, 54.5] {
            let at = sent + Nanos::from_nanos((ms * 1e6) as u64);
            tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
            tape.marks.end = Some(at);
        }
        broken.add(&tape);
    }
    let latencies = [LevelFigure::P50_TTFT, LevelFigure::P50_TPOT];
    let decided = |figures: FigureChoice| {
        let settings = ComparisonSettings { figures, ..settings(200) };
        ComparisonTable::of_requests(&full, &broken, RequestPairing::None, &settings)
    };
    let without = decided(FigureChoice::only(latencies));
    let mut with = decided(FigureChoice::only(latencies).with_failures());
    assert!(with.answered(ComparisonAnswer::Worse).eq([LevelFigure::FAILED_SHARE]), "{with:?}");
    assert_eq!(with.corrected_over, without.corrected_over);
    assert_eq!(with.rows[..without.rows.len()], without.rows[..]);
    // Of two levels it is asked twice, and corrected for that.
    let mut other = with.clone();
    ComparisonTable::decide_together([&mut with, &mut other]);
    let failures = with.rows.last().and_then(|row| row.tested.as_ref().ok()?.decision);
    assert_eq!(failures.map(|decision| decision.corrected_over), Some(2));
    assert!(with.asks_of_failures() && with.answered(ComparisonAnswer::Worse).next().is_none());
}
