//! Names, clocks and prices: what is read of a few words, and what is said in a few.

use std::io;
use std::time::Duration;

use fizeau_core::{
    Failure, FailureClass, Nanos, Outcome, Stamp, StampSource, Tape, TokenSource, Tokens,
    UsdPerHour,
};
use fizeau_metrics::Slo;
use fizeau_record::text::{
    Charset, at_price, clock, duration_ms, expected_time, five_digits, four_digits, half_width,
    minutes_and_seconds, percent, price_words, slo_words, stamps, supported, token_source,
    unreadable, usd, usd_beside, with_price_origin,
};
use fizeau_record::{
    ChecklistItem, ClockAxis, ClockReading, ClockSource, Json, NamedRun, ReferenceParts,
    RequestedLength, RequiredChecks, StoredRun, TailShares, UnnamedValue, scaled_limits,
};
use fizeau_roofline::{Device, HourlyRate, PriceOrigin};
use proptest::prelude::*;

use crate::reading::{as_it_was, fixture};
use crate::stored::cases;

fn place(name: &str) -> String {
    fixture(name).display().to_string()
}

#[test]
fn folders_are_runs_and_files_are_not() {
    let given = |inputs: &[String]| NamedRun::given(inputs);
    let names = |inputs: &[String]| -> Vec<String> {
        given(inputs).unwrap().unwrap().into_iter().map(|run| run.name).collect()
    };
    let (sweep, bench) = (place("sweep"), place("bench"));
    assert_eq!(names(&[sweep.clone(), bench.clone()]), ["sweep", "bench"]);
    assert_eq!(names(&[format!("mine={sweep}"), bench.clone()]), ["mine", "bench"]);
    assert_eq!(names(&[sweep.clone(), sweep.clone()]), [sweep.as_str(), sweep.as_str()]);
    let file = place("bench/summary.json");
    assert!(given(std::slice::from_ref(&file)).unwrap().is_none());
    assert!(given(&["-".to_owned()]).unwrap().is_none());
    let refused = |inputs: &[&str]| {
        let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
        given(&inputs).map(|_| ()).map_err(|error| error.to_string())
    };
    let not_there = || Err("nowhere: there is no such folder or file".to_owned());
    assert_eq!(refused(&["nowhere"]), not_there());
    assert_eq!(refused(&["a=nowhere"]), not_there());
    assert_eq!(refused(&[&sweep, "nowhere"]), not_there());
    // What is not there may be a pattern of tables.
    assert_eq!(refused(&["nowhere", "nowhere else"]), Ok(()));
    assert_eq!(refused(&["=nowhere"]), Err("=nowhere: there is no such folder or file".to_owned()));
    let among = format!("{file} is not a folder; name either one table or folders of runs");
    assert_eq!(refused(&[&sweep, &file]), Err(among));
}

#[test]
fn a_value_is_for_the_run_of_its_name() {
    let runs: Vec<NamedRun> =
        ["a=1", "b"].map(|name| NamedRun { name: name.to_owned(), path: name.into() }).to_vec();
    let values = |unnamed, given: &[&str]| {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let parse = |text: &str| text.parse::<u32>().map_err(|error| error.to_string());
        NamedRun::values(&runs, &given, unnamed, parse).map_err(|error| error.to_string())
    };
    use UnnamedValue::{ForAll, Refused};
    assert_eq!(values(Refused, &["b= 3"]), Ok(vec![None, Some(3)]));
    assert_eq!(values(Refused, &["a=1=4", "b=3", "b=5"]), Ok(vec![Some(4), Some(5)]));
    assert_eq!(values(ForAll, &["7", "b=3"]), Ok(vec![Some(7), Some(3)]));
    let why = "give NAME=VALUE, where NAME is one of a=1, b";
    assert_eq!(values(Refused, &["7"]), Err(format!("7: {why}")));
    assert_eq!(values(ForAll, &["c=7"]), Err(format!("c=7: {why}")));
    assert_eq!(values(ForAll, &["b=x"]), Err("b=x: invalid digit found in string".to_owned()));
}

prop_compose! {
    fn any_reading(from: u64, to: u64)(
        at in from..to, ahead_ns in -5_000_000_000..5_000_000_000_i64, uncertainty_ns: Option<u64>,
    ) -> ClockReading {
        let at = Stamp::from_nanos(at);
        ClockReading { at, ahead_ns, uncertainty_ns, source: ClockSource::RoundTrips }
    }
}

fn nanos(stamp: Stamp) -> i128 {
    stamp.saturating_since(Stamp::EPOCH).as_nanos().into()
}

proptest! {
    #![proptest_config(cases(256))]

    /// At its readings a clock is ahead by what was read, between them by a part of both, and there and back is the same instant.
    #[test]
    fn a_clock_s_axis_goes_through_its_readings(
        first in any_reading(10_000_000_000, 20_000_000_000),
        last in any_reading(20_000_000_001, 40_000_000_000),
        at in 10_000_000_000..40_000_000_000_u64,
    ) {
        let axis = ClockAxis::between(first, last);
        prop_assert_eq!((axis.ahead_ns(first.at), axis.ahead_ns(last.at)), (first.ahead_ns, last.ahead_ns));
        let span = (nanos(last.at) - nanos(first.at)) as f64;
        let stamp = Stamp::from_nanos(at);
        let part = (nanos(stamp) - nanos(first.at)) as f64 / span;
        let gained = (last.ahead_ns - first.ahead_ns) as f64;
        let line = first.ahead_ns as f64 + gained * part;
        prop_assert!((axis.ahead_ns(stamp) as f64 - line).abs() <= 2.0, "{line}");
        let ahead = i128::from(axis.ahead_ns(stamp));
        prop_assert_eq!(nanos(axis.common(stamp)), (nanos(stamp) - ahead).max(0));
        prop_assert_eq!(nanos(axis.own(stamp)), (nanos(stamp) + i128::from(last.ahead_ns)).max(0));
        let drift = (span >= 1e9).then_some(gained * 1e6 / span);
        match (axis.drift_ppm(), drift) {
            (Some(ppm), Some(drift)) => prop_assert!((ppm - drift).abs() <= 1e-6 * drift.abs(), "{ppm} {drift}"),
            (ppm, drift) => prop_assert_eq!(ppm, drift),
        }
        let both = first.uncertainty_ns.zip(last.uncertainty_ns).map(|(a, b)| Nanos::from_nanos(a.max(b)));
        prop_assert_eq!(axis.uncertainty(), both);
        let alone = ClockAxis::at(first);
        prop_assert_eq!((alone.ahead_ns(stamp), alone.drift_ppm()), (first.ahead_ns, None));
        prop_assert_eq!(alone.last(), first);
        // A tape's release is put where the line says, and what comes after it keeps its distance but for what a clock can drift.
        let mut tape = Tape::sent_at(first.at);
        tape.marks.end = Some(stamp);
        axis.correct(&mut tape);
        prop_assert_eq!(nanos(tape.marks.released), nanos(first.at) - i128::from(first.ahead_ns));
        let [took, takes] = [(stamp, first.at), (tape.marks.end.unwrap(), tape.marks.released)]
            .map(|(end, released)| nanos(end) - nanos(released));
        let most = took.abs() as f64 * 500e-6 + 1.0;
        prop_assert!((takes - took).abs() as f64 <= most, "{took} became {takes}");
    }
}

#[test]
fn what_files_call_by_short_names_is_put_into_words() {
    let seconds = [0, 59, 60, 61, 3599, 3600, 3723].map(|s| clock(Duration::from_secs(s)));
    assert_eq!(seconds, ["0:00", "0:59", "1:00", "1:01", "59:59", "1:00:00", "1:02:03"]);
    let kinds = [StampSource::Kernel, StampSource::Simulated, StampSource::User].map(stamps);
    assert_eq!(
        kinds,
        ["kernel", "simulated engine, virtual time", "user (this process, after reading)"]
    );
    let goals: Slo = "p99 ttft<50ms, rps>10".parse().unwrap();
    assert_eq!(slo_words(&goals), "p99 TTFT < 50 ms, RPS > 10 req/s");
    assert_eq!(scaled_limits(&goals.goals, 1.5), ["p99 TTFT 75.0 ms"]);
    assert_eq!(token_source(TokenSource::Events), "chunks (not tokens)");
    let digits = [0.0, 0.012_345_678, 1.0, 9.999_96, 123.456, 54_321.6, 999_999.0].map(five_digits);
    assert_eq!(digits, ["0.0000", "0.012346", "1.0000", "10.0000", "123.46", "54322", "999999"]);
    for (kind, words) in [
        (io::ErrorKind::NotFound, "there is no such file"),
        (io::ErrorKind::IsADirectory, "this is a folder, not a file"),
        (io::ErrorKind::PermissionDenied, "this file may not be read (permission denied)"),
        (io::ErrorKind::InvalidData, "this file is not text (UTF-8)"),
    ] {
        assert_eq!(unreadable(&kind.into()), words);
    }
    assert_eq!(unreadable(&io::Error::other("the disk is gone")), "the disk is gone");
}

#[test]
fn a_price_says_whose_it_is() {
    let given = HourlyRate::given(UsdPerHour::new(2.5)).unwrap();
    assert_eq!(at_price(&given), "at 2.50 USD a device-hour, as given");
    assert_eq!(price_words(&given), "2.50 USD a device-hour, as given");
    let mut range = given.clone();
    range.high = UsdPerHour::new(3.0);
    assert_eq!(price_words(&range), "2.50 to 3.00 USD a device-hour, as given");
    let published = HourlyRate::lowest_published(Device::named("h100-sxm").unwrap()).unwrap();
    assert!(at_price(&published).contains(" a device-hour, published"), "{}", at_price(&published));
    assert!(price_words(&published).ends_with("this is not an offer: give the price that you pay"));
}

#[test]
fn a_value_of_json_is_what_it_is() {
    let json = |text: &str| Json::parse(text).unwrap();
    assert_eq!([json("7"), json("-7"), json("\"7\"")].map(|of| of.whole()), [Some(7), None, None]);
    assert_eq!((json("\"a\"").text(), json("7").text()), (Some("a"), None));
    assert_eq!(json("{\"a\":1,\"b\":[2]}").without("a").to_string(), "{\"b\":[2]}");
    assert_eq!(json("[1]").without("a"), json("[1]"));
}

#[test]
fn four_digits_have_no_zeros_at_their_end() {
    let shown = [0.0, 3.0, 0.012_346, 1.25, 12.345_6, 123.46, 1234.6, 98_765.4].map(four_digits);
    assert_eq!(shown, ["0", "3", "0.01235", "1.25", "12.35", "123.5", "1235", "98765"]);
}

/// The slowest of each hundred requests are the tail, whoever sent them.
#[test]
fn a_shard_has_its_part_of_the_tail() {
    let tape = |ms: u64, is_success: bool| {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.marks.end = Some(Stamp::EPOCH + Nanos::from_millis(ms));
        if !is_success {
            tape.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "made by hand"));
        }
        tape
    };
    let mut tail = TailShares::of(301);
    assert_eq!((tail.requests(), tail.share(0)), (None, None));
    for (shard, ms) in [(0, 10), (1, 50), (2, 20), (0, 40), (1, 45), (2, 30), (1, 5)] {
        tail.add(shard, &tape(ms, true));
    }
    tail.add(2, &tape(900, false));
    assert_eq!(tail.requests(), Some(4));
    assert_eq!(
        [0, 1, 2, 3].map(|shard| tail.share(shard)),
        [Some(0.25), Some(0.5), Some(0.25), Some(0.0)]
    );
    let mut one = TailShares::of(0);
    one.add(0, &tape(1, true));
    assert_eq!(one.requests(), Some(1));
}

#[test]
fn a_deployment_is_spread_as_it_was_said() {
    let mut parts = ReferenceParts::default();
    assert!(!parts.has_model() && !parts.has_device());
    parts.model_name = Some("llama-3.1-8b".to_owned());
    parts.device_name = Some("h100-sxm".to_owned());
    assert!(parts.has_model() && parts.has_device());
    (parts.deployment.tp, parts.deployment.pp) = (2, 4);
    assert_eq!(parts.deployment.devices(), 8);
    let reference = parts.clone().load().unwrap();
    let deployment = reference.reference().system.deployment();
    assert_eq!((deployment.devices(), deployment.pipeline()), (8, 4));
    assert_eq!(reference.model_name(), "llama-3.1-8b");
    let refused = |parts: ReferenceParts| parts.load().unwrap_err().to_string();
    let mut wrong = parts.clone();
    wrong.deployment.tp = 0;
    assert!(refused(wrong).starts_with("the deployment: "));
    parts.device_name = Some("nothing".to_owned());
    assert!(!parts.has_device() && refused(parts.clone()).starts_with("the device: "));
    parts.model_name = Some("nothing".to_owned());
    assert!(!parts.has_model() && refused(parts).starts_with("the model: "));
}

#[test]
fn a_window_that_leaves_nothing_is_told() {
    let run = StoredRun::open(fixture("bench")).unwrap();
    let notes = |warmup: &str| {
        let reader = run.reader().unwrap().with_warmup(warmup.parse().unwrap());
        reader.levels().unwrap().swap_remove(0).report.validity.notes
    };
    let is_told =
        |notes: &[String]| notes.iter().any(|note| note.contains("leave nothing of this level"));
    assert!(is_told(&notes("9s")));
    assert!(!is_told(&notes("0")) && !is_told(&notes("auto")));
}

#[test]
fn rows_of_the_checklist_are_asked_for_by_their_keys() {
    let asked = |text: &str| text.parse::<RequiredChecks>().map_err(|error| error.name);
    let warm_up = asked("warm-up, speed_of_light").unwrap();
    let has = |checks: &RequiredChecks| ChecklistItem::ALL.map(|check| checks.contains(check));
    let expected = ChecklistItem::ALL
        .map(|check| matches!(check, ChecklistItem::WarmUp | ChecklistItem::SpeedOfLight));
    assert_eq!(has(&warm_up), expected);
    assert_eq!(has(&asked("all").unwrap()), ChecklistItem::ALL.map(|_| true));
    assert_eq!(asked("all, nothing").unwrap_err(), "nothing");
}

/// What is shown of a run's set-up: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_was_run_is_shown_as_it_was() {
    let rows = ["bench", "simulated", "imported", "merged", "turns"].map(|name| {
        let run = StoredRun::open(fixture(name)).unwrap();
        let rows: Vec<String> = run
            .document()
            .setup
            .rows()
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        (name, rows)
    });
    as_it_was("setups", &(serde_json::to_string_pretty(&rows).unwrap() + "\n"));
}

#[test]
fn lengths_that_were_asked_for_are_put_into_words() {
    let words = |p50: Option<u64>, p90: Option<u64>| {
        let mut length = RequestedLength::in_words("128");
        (length.p50, length.p90) = (p50.map(Tokens::new), p90.map(Tokens::new));
        length.words()
    };
    assert_eq!(words(Some(5), Some(9)), "128 (p50 5, p90 9)");
    assert_eq!([words(Some(5), Some(5)), words(Some(5), None), words(None, None)], ["128"; 3]);
    assert_eq!(RequestedLength::default().words(), "");
}

/// Numbers next to where their format changes.
#[test]
fn digits_and_units_change_where_they_are_said_to() {
    let ms = [9_999.4, 10_000.0, -9_999.0, -12_000.0].map(duration_ms);
    assert_eq!(ms, ["9999 ms", "10.0 s", "-9999 ms", "-12.0 s"]);
    let shares = [0.0995, 0.0994, 0.00995, 0.0099, 0.0001, 0.000_049, -0.000_049, -0.5, 1.0];
    let percents =
        ["10 %", "9.9 %", "1.0 %", "0.99 %", "0.01 %", "under 0.01 %", "-0.00 %", "-50 %", "100 %"];
    assert_eq!(shares.map(percent), percents);
    assert_eq!([f64::NAN, f64::INFINITY].map(percent), ["-", "-"]);
    let dollars = [0.999, 1.0, 9_999.49, 9_999.5, 999.994, 1_000.0, 0.01, 0.009_994].map(usd);
    let shown = ["0.999", "1.00", "9,999.49", "10,000", "999.99", "1,000.00", "0.0100", "0.00999"];
    assert_eq!(dollars, shown);
    assert_eq!(usd_beside([Some(9_999.5), Some(1.4)]), ["10,000", "1"]);
    assert_eq!(usd_beside([Some(9_999.4), Some(1.4)]), ["9,999.40", "1.40"]);
    assert_eq!(usd_beside([Some(f64::INFINITY), Some(1.4)]), ["-", "1"]);
    let times = [0, 59, 60, 185, 3600].map(|s| minutes_and_seconds(Duration::from_secs(s)));
    assert_eq!(times, ["0 s", "59 s", "1 min", "3 min 5 s", "60 min"]);
    assert_eq!(minutes_and_seconds(Duration::from_millis(59_500)), "1 min");
    assert_eq!(minutes_and_seconds(Duration::from_millis(59_400)), "59 s");
    assert_eq!(expected_time(Duration::from_secs(9)), None, "over before it is read");
    assert_eq!(expected_time(Duration::from_secs(10)).as_deref(), Some("10 s"));
    assert_eq!(half_width(1000.0, (995.0, 1005.0)), "5");
    assert_eq!(half_width(f64::NAN, (1.0, 2.0)), "-");
    assert_eq!(supported(1000.0, Some((0.0, f64::INFINITY))), "1000");
}

#[test]
fn a_sign_that_ascii_lacks_is_two_signs_there() {
    assert_eq!(Charset::Ascii.words("1 ± 2, ±3"), "1 +- 2, +-3");
    assert_eq!(Charset::Unicode.words("1 ± 2"), "1 ± 2");
}

/// A price of one's own books, and published ones whose seller says the date or does not.
#[test]
fn a_price_names_its_origin_and_a_date_once() {
    let mut hour = HourlyRate::given(UsdPerHour::new(2.5)).unwrap();
    hour.origin = PriceOrigin::Owned;
    assert_eq!(at_price(&hour), "at 2.50 USD a device-hour, as the cost of owning it");
    let owned = "X: the cost of owning a device, from the file";
    assert_eq!(with_price_origin("X", &hour), owned);
    let mut published = |kind: &str| {
        let (kind, source, date) = (kind.to_owned(), "a page".to_owned(), "2026-05".to_owned());
        hour.origin = PriceOrigin::Published { kind, source, date };
        at_price(&hour)
    };
    let dated = "at 2.50 USD a device-hour, published 2026-05 (clouds)";
    assert_eq!(published("clouds"), dated);
    let once = "at 2.50 USD a device-hour, published (clouds, May 2026)";
    assert_eq!(published("clouds, May 2026"), once);
    let words = "X, the lowest published (clouds, May 2026; a page, 2026-05); this is not an offer: give the price that you pay";
    assert_eq!(with_price_origin("X", &hour), words);
}
