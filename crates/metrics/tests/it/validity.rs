//! Whether a level is to be believed.

use fizeau_core::{
    Arrival, Channel, ConnectMarks, FailureClass, Nanos, PerSec, ReadLag, StampSource, Tape,
    TokenSource, Tokens, Usage,
};
use fizeau_metrics::{
    ClientCeiling, ClientNeed, ClientProof, ClientWatch, GoodputGoals, LevelEnding,
    LevelExpectations, LevelSummary, LevelTally, OnTimeLimit, RequestMetrics, Thresholds, Validity,
    Verdict, VerdictReason, judge,
};

use crate::tapes::{failed, ms, tape};

const CLIENT: ClientProof = ClientProof::new(
    StampSource::Kernel,
    ClientWatch {
        threads: 1,
        cpu_share: Some(0.2),
        run_delay_share: Some(0.01),
        steal_share: Some(0.02),
        headroom: None,
        ceiling: None,
    },
);

/// The same client, with another watch.
fn with_watch(change: impl FnOnce(&mut ClientWatch)) -> ClientProof {
    let mut client = CLIENT;
    change(&mut client.watch);
    client
}

fn good() -> Tape {
    tape(0, &[(20, 1), (30, 1)])
}

fn verdict_on(tapes: &[Tape]) -> Validity {
    let level = LevelSummary::of(tapes, &GoodputGoals::default());
    judge(&level, &CLIENT, &LevelExpectations::default())
}

fn verdict_with(client: ClientProof, expected: &LevelExpectations) -> Validity {
    let level = LevelSummary::of(&[good()], &GoodputGoals::default());
    judge(&level, &client, expected)
}

/// Asserts a verdict with exactly one reason, and its text.
fn assert_one(validity: &Validity, verdict: Verdict, text: &str) {
    let texts: Vec<&str> = validity.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!((validity.verdict, &texts[..]), (verdict, &[text][..]));
}

#[test]
fn a_clean_level_is_valid_and_has_no_reasons() {
    let validity = verdict_on(&[good()]);
    assert_eq!((validity.verdict, validity.reasons.len()), (Verdict::Valid, 0));
}

#[test]
fn failures_weigh_by_their_share() {
    let of = |failures: usize| {
        let mut tapes = vec![good(); 100 - failures];
        tapes.resize(100, failed(good(), FailureClass::Status));
        verdict_on(&tapes)
    };
    assert_eq!(of(1).verdict, Verdict::Valid);
    assert_one(&of(2), Verdict::Suspect, "2 of 100 requests failed (2.0 %, limit 1.0 %)");
    assert_eq!(of(50).verdict, Verdict::Suspect);
    assert_one(&of(51), Verdict::Invalid, "51 of 100 requests failed (51.0 %, limit 50.0 %)");
    // A figure is never shown as the limit that it is beyond.
    let mut tapes = vec![good(); 95];
    tapes.push(failed(good(), FailureClass::Status));
    let text = "1 of 96 requests failed (1.04 %, limit 1.00 %)";
    assert_one(&verdict_on(&tapes), Verdict::Suspect, text);
    let text = "no request completed: 100 of 100 requests failed";
    assert_one(&of(100), Verdict::Invalid, text);
    assert_one(&verdict_on(&[]), Verdict::Invalid, "no request was sent");
}

#[test]
fn what_was_called_off_is_nobodys_failure() {
    let mut tapes = vec![good(); 10];
    tapes.resize(20, failed(good(), FailureClass::Cancelled));
    assert_eq!(verdict_on(&tapes).verdict, Verdict::Valid);
    let text = "no request ended before the run was interrupted";
    assert_one(&verdict_on(&tapes[10..]), Verdict::Invalid, text);
}

#[test]
fn late_requests_weigh_by_their_p99_or_their_greatest() {
    let late = |by: u64| {
        let mut tape = tape(by, &[(by + 20, 1)]);
        tape.marks.intended = ms(0);
        tape
    };
    assert_eq!(verdict_on(&[late(10)]).verdict, Verdict::Valid);
    let text = "the client sent later than scheduled: max 11.0 ms (limit 10 ms)";
    assert_one(&verdict_on(&[late(11)]), Verdict::Suspect, text);
    let text = "the client sent later than scheduled: p99 101.0 ms (limit 100 ms)";
    assert_one(&verdict_on(&vec![late(101); 100]), Verdict::Invalid, text);
    let mut one_of_many = vec![good(); 300];
    one_of_many.push(late(500));
    assert_eq!(verdict_on(&one_of_many).verdict, Verdict::Valid);
}

#[test]
fn a_slow_send_is_the_clients_fault_and_a_slow_connection_is_not() {
    let mut slow = tape(20, &[(40, 1)]);
    slow.marks.intended = ms(0);
    slow.marks.released = ms(0);
    let text = "the client was slow to send: max 20.0 ms (limit 10 ms); this is the time from the release of a request to its first byte sent";
    assert_one(&verdict_on(&[slow.clone()]), Verdict::Suspect, text);
    let level = LevelSummary::of([&slow], &GoodputGoals::default());
    let by_user = ClientProof::new(StampSource::User, CLIENT.watch);
    let text = &format!(
        "{text}; the client also stamps arrivals itself, so its stamps may be late by as much"
    );
    assert_one(&judge(&level, &by_user, &LevelExpectations::default()), Verdict::Suspect, text);
    slow.marks.connect = Some(ConnectMarks { start: ms(1), dns: None, tcp: ms(19), tls: None });
    assert_eq!(verdict_on(&[slow]).verdict, Verdict::Valid);
}

#[test]
fn what_a_cap_holds_back_is_not_the_clients_lateness() {
    let mut held = tape(5_000, &[(5_020, 1)]);
    held.marks.intended = ms(0);
    let level = LevelSummary::of(&[held], &GoodputGoals::default());
    let by_client = judge(&level, &CLIENT, &LevelExpectations::default());
    assert_eq!(by_client.verdict, Verdict::Invalid);
    let by_cap =
        judge(&level, &CLIENT, &LevelExpectations { held_back: 1, ..LevelExpectations::default() });
    assert_eq!(by_cap.verdict, Verdict::Suspect);
    assert!(
        by_cap.reasons[0].text.starts_with(
            "the limit on requests in flight delayed 1 of 1 requests (max 5000.0 ms); "
        )
    );
}

#[test]
fn a_cap_that_held_one_of_many_back_does_not_excuse_all() {
    let mut late = tape(50, &[(70, 1)]);
    late.marks.intended = ms(0);
    let level = LevelSummary::of(&vec![late; 200], &GoodputGoals::default());
    let judged = |held_back| {
        judge(&level, &CLIENT, &LevelExpectations { held_back, ..LevelExpectations::default() })
    };
    let text = "the client sent later than scheduled: p99 50.0 ms (limit 10 ms)";
    assert_one(&judged(1), Verdict::Suspect, text);
    assert!(
        judged(2).reasons[0].text.starts_with("the limit on requests in flight delayed 2 of 200")
    );
}

#[test]
fn what_was_due_and_never_sent_is_noticed() {
    let mut level = LevelSummary::of(&vec![good(); 76], &GoodputGoals::default());
    let judged = |level: &LevelSummary| judge(level, &CLIENT, &LevelExpectations::default());
    assert_eq!(judged(&level).verdict, Verdict::Valid);
    level.requests.unsent = 203;
    let text = "203 of 279 requests that were due were never sent (72.8 %, limit 1.0 %); the level ended while they waited for the limit on requests in flight, so latencies from schedule look better than they were; raise that limit, or read this load as more than the endpoint can serve";
    assert_one(&judged(&level), Verdict::Suspect, text);
}

#[test]
fn what_was_sent_again_is_no_secret() {
    let notes = |connections_replaced| {
        let mut client = CLIENT;
        client.connections_replaced = connections_replaced;
        verdict_with(client, &LevelExpectations::default()).notes
    };
    let again = |note: &String| note.contains("sent again");
    assert!(!notes(0).iter().any(again));
    let text = "1 request was sent again because the server closed an idle connection as it was sent, or refused it unseen, so its TTFT and E2EL include the failed try and a new connection";
    assert!(notes(1).iter().any(|note| note == text), "{:?}", notes(1));
    assert!(notes(2).iter().any(|note| note.starts_with("2 requests were sent again")));
}

#[test]
fn bodies_that_were_left_open_are_told_of() {
    let left = Tape { left_open: true, ..good() };
    let tally = LevelTally::new(&GoodputGoals::default());
    let level = |tapes: [&Tape; 2]| {
        let mut tally = tally.clone();
        tapes.into_iter().for_each(|tape| tally.add(tape));
        tally.proof(ClientWatch::default())
    };
    assert_eq!(level([&good(), &good()]).replies_left_open, 0);
    let client = level([&good(), &left]);
    assert_eq!(client.replies_left_open, 1);
    let notes = verdict_with(client, &LevelExpectations::default()).notes;
    let text = "the server left the bodies of 1 reply open";
    assert!(notes.iter().any(|note| note.starts_with(text)), "{notes:?}");
}

#[test]
fn a_client_without_time_of_its_own_is_noticed() {
    let expected = LevelExpectations::default();
    let with_cpu = |share| verdict_with(with_watch(|watch| watch.cpu_share = share), &expected);
    assert_eq!(with_cpu(None).verdict, Verdict::Valid);
    assert_eq!(with_cpu(Some(0.90)).verdict, Verdict::Valid);
    let text = "the client needs most of a CPU: 95.0 % (limit 90.0 %); this is the CPU time of the client thread";
    assert_one(&with_cpu(Some(0.95)), Verdict::Suspect, text);
    let need = "this client uses 95.0 % of a core; the load needs 2 threads, or 2 shards";
    assert!(with_cpu(Some(0.95)).notes.iter().any(|note| note == need));
    assert_eq!(with_cpu(Some(0.99)).verdict, Verdict::Invalid);
    let delayed = with_watch(|watch| watch.run_delay_share = Some(0.5));
    let text = "another program took the CPU: 50.0 % of the time (limit 10.0 %); the client thread waited for a CPU that long";
    let judged = verdict_with(delayed, &expected);
    assert_one(&judged, Verdict::Suspect, text);
    let note = "the kernel recorded the arrival times, so the latencies above are still right";
    assert!(judged.notes.iter().any(|known| known == note), "{judged:?}");
    // Where the client sent late besides, a latency from the schedule has that in it.
    let mut late = good();
    (late.marks.released, late.marks.send_start) = (ms(0), Some(ms(50)));
    let level = LevelSummary::of(&[late], &GoodputGoals::default());
    let judged = judge(&level, &delayed, &expected);
    assert!(judged.reasons.len() == 2 && !judged.notes.iter().any(|known| known == note));
}

#[test]
fn time_that_a_hypervisor_took_is_held_against_the_level() {
    let stolen = with_watch(|watch| watch.steal_share = Some(0.08));
    let text = "the hypervisor took 8.0 % of the client's CPU time (limit 2.0 %); the share is of the CPU time that all programs of its machine wanted, and even the kernel may stamp arrivals late";
    assert_one(&verdict_with(stolen, &LevelExpectations::default()), Verdict::Suspect, text);
}

/// A token each 10 ms, but for `merged` reads that come 10 ms late and bring two; and a server that always sends two.
#[test]
fn gaps_that_a_late_read_swallowed_are_counted_and_those_of_a_server_are_not() {
    let stream = |of: &dyn Fn(u64) -> (u64, u32)| {
        let mut tape = tape(0, &[]);
        for token in 1..=200 {
            let (at, read) = of(token);
            tape.arrivals.push(Arrival { read, ..Arrival::tokens(ms(at), 1, Channel::Visible) });
        }
        tape.marks.end = tape.last_token();
        LevelSummary::of(&[tape], &GoodputGoals::default())
    };
    let late = |merged: u64| {
        stream(&move |token| match token % 20 == 10 && token < 20 * merged {
            true => (10 * (token + 1), token as u32 + 1),
            false => (10 * token, token as u32),
        })
    };
    for (merged, share) in [(0, 0.0), (1, 1.0 / 199.0), (10, 10.0 / 199.0)] {
        assert_eq!(late(merged).jitter.merged_gap_share, Some(share));
    }
    let pairs = stream(&|token| (20 * (token / 2), token as u32 / 2));
    assert_eq!(pairs.jitter.merged_gap_share, Some(0.0));
    let judged = |level| judge(&level, &CLIENT, &LevelExpectations::default());
    assert_eq!(judged(late(1)).verdict, Verdict::Valid);
    let text = "the client lost 5.0 % of ITL gaps to late reads (limit 1.0 %); it read these events together with the one before, though the server sends them one by one, so that those gaps are missing from ITL and ICL";
    assert_one(&judged(late(10)), Verdict::Suspect, text);
}

/// A proxy that lets a reply go once it is whole.
#[test]
fn replies_that_came_all_at_once_are_no_streams() {
    let at_once = |n: usize| {
        let mut tapes = vec![tape(0, &[(200, 1), (200, 1), (200, 1)]); n];
        tapes.resize(10, tape(0, &[(20, 1), (110, 1), (200, 1)]));
        verdict_on(&tapes)
    };
    assert_eq!(at_once(5).verdict, Verdict::Valid);
    let text = "replies came all at once: 60.0 % of the gaps between events are zero, and 6 of 10 replies have no TPOT; the server does not stream, or something before the client holds events back, so TTFT is the time of the whole reply";
    assert_one(&at_once(6), Verdict::Suspect, text);
    let single = vec![tape(0, &[(200, 1)]); 10];
    assert_eq!(verdict_on(&single).verdict, Verdict::Valid, "one token has no pace");
}

/// A gateway that lets a reply of 250 events go after 5 s: 35 packets in 0.4 ms, whether read one by one or in four reads. Each has a
/// TPOT, of nothing but the network.
#[test]
fn replies_that_came_in_a_few_packets_at_once_are_no_streams() {
    let held_back = |packet_us: u64| {
        let mut tape = tape(0, &[]);
        for token in 0..250 {
            let at = ms(5_000) + Nanos::from_micros(token / 7 * packet_us);
            tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
        }
        tape.marks.end = tape.last_token();
        tape
    };
    for packet_us in [11, 100] {
        let mut tapes = vec![held_back(packet_us); 6];
        assert!(RequestMetrics::of(&tapes[0]).tpot.is_some());
        tapes.resize(10, tape(0, &[(20, 1), (110, 1), (200, 1)]));
        let text = "replies came all at once: of 6 of 10 replies all output came within 1 % of the time since the sending, most events together; the server does not stream, or something before the client holds events back, so TTFT is the time of the whole reply, and TPOT and ITL are those of its packets";
        assert_one(&verdict_on(&tapes), Verdict::Suspect, text);
        tapes.push(tape(0, &[(20, 1), (110, 1), (200, 1)]));
        tapes.push(tape(0, &[(20, 1), (110, 1), (200, 1)]));
        assert_eq!(verdict_on(&tapes).verdict, Verdict::Valid);
    }
    // A long prompt and a short answer, token by token: a pace it is.
    let short = vec![tape(0, &[(5_000, 1), (5_010, 1), (5_020, 1)]); 10];
    assert_eq!(verdict_on(&short).verdict, Verdict::Valid);
}

/// Half a CPU: whose stamps they are decides what becomes of the figures.
#[test]
fn the_verdict_says_whether_the_figures_of_a_starved_client_stand() {
    let mut starved = with_watch(|watch| {
        watch.threads = 4;
        watch.run_delay_share = Some(0.493);
    });
    starved.stamps = Some(StampSource::User);
    let text = "another program took the CPU: 49.3 % of the time (limit 10.0 %); the most delayed of 4 client threads waited for a CPU that long; the client stamps arrivals itself, so latencies include these waits";
    assert_one(&verdict_with(starved, &LevelExpectations::default()), Verdict::Suspect, text);
}

#[test]
fn a_late_reader_is_busy_though_its_stamps_stand() {
    let lagged = |micros| {
        let mut tape = good();
        tape.stamps = StampSource::Kernel;
        for arrival in &mut tape.arrivals {
            arrival.read_lag = ReadLag::of(Nanos::from_micros(micros));
        }
        verdict_on(&[tape])
    };
    assert_eq!(lagged(10_000).verdict, Verdict::Valid);
    let text = "the client read replies late: max 12.0 ms (limit 10 ms); this is the time from the arrival of data to its reading";
    assert_one(&lagged(12_000), Verdict::Suspect, text);
}

#[test]
fn a_run_near_the_clients_own_ceiling_is_suspect() {
    let level = LevelSummary::of(&[good()], &GoodputGoals::default());
    let reached = level.throughput.output_tokens_per_s.get();
    let with_ceiling = |most: f64| {
        let ceiling = ClientCeiling { streams: 64, tokens_per_s: PerSec::new(most), on_time: None };
        verdict_with(
            with_watch(|watch| watch.ceiling = Some(ceiling)),
            &LevelExpectations::default(),
        )
    };
    assert_eq!(with_ceiling(reached / 0.79).verdict, Verdict::Valid);
    assert_eq!(with_ceiling(0.0).verdict, Verdict::Valid, "no ceiling at all is none to be near");
    let text = "the client ran near its own ceiling: 90.0 % of it (limit 80.0 %); the client can handle at most 74 tokens/s on this machine, and the server may be faster";
    assert_one(&with_ceiling(reached / 0.9), Verdict::Suspect, text);
    let needs_of = |clients, threads, share: f64| {
        let ceiling = ClientCeiling {
            streams: 64,
            tokens_per_s: PerSec::new(reached / share),
            on_time: None,
        };
        let client = with_watch(|watch| (watch.threads, watch.ceiling) = (threads, Some(ceiling)));
        ClientNeed::of(&level, &client, clients, &Thresholds::default())
            .map(|need| (need.threads, need.shards(), need.threads_each()))
    };
    let needs = |threads, share| needs_of(1, threads, share);
    assert_eq!(
        [needs(4, 0.7), needs(4, 0.9), needs(4, 1.7)],
        [None, Some((5, 2, 5)), Some((9, 3, 9))]
    );
    // Eight clients of two threads each: half as many again.
    assert_eq!(needs_of(8, 16, 1.17), Some((24, 12, 3)));
    assert_eq!(
        with_ceiling(reached / 0.9).notes.last().map(String::as_str),
        Some(
            "this client uses 20.0 % of a core and 0.90 of its measured ceiling; the load needs 2 threads, or 2 shards"
        )
    );
}

#[test]
fn a_run_near_what_the_client_does_on_time_is_suspect_far_below_flat_out() {
    let level = LevelSummary::of(&[good()], &GoodputGoals::default());
    let tokens = level.throughput.output_tokens_per_s.get();
    // One request, in flight all the time.
    let in_flight =
        level.throughput.requests_per_s.get() * level.metrics.e2el.mean.unwrap().get() / 1e3;
    let judged = |streams: u64, tokens_per_s: f64| {
        let on_time = Some(OnTimeLimit { streams, tokens_per_s: PerSec::new(tokens_per_s) });
        let ceiling = ClientCeiling { streams: 64, tokens_per_s: PerSec::new(1e9), on_time };
        verdict_with(
            with_watch(|watch| watch.ceiling = Some(ceiling)),
            &LevelExpectations::default(),
        )
    };
    assert_eq!(judged(10, tokens * 10.0).verdict, Verdict::Valid);
    assert_eq!(judged(0, 0.0).verdict, Verdict::Valid, "no limit at all is none to be near");
    let streams = judged(1, tokens * 10.0);
    assert_eq!(streams.verdict, Verdict::Suspect, "{in_flight}");
    assert!(
        streams.reasons[0]
            .text
            .contains("the client can handle at most 1 streams on time on this machine"),
        "{streams:?}"
    );
    let one_by_one = judged(10, tokens / 0.9);
    assert!(
        one_by_one.reasons[0].text.contains(
            "90.0 % of it (limit 80.0 %); the client can handle at most 74 tokens/s one by one"
        ),
        "{one_by_one:?}"
    );
}

#[test]
fn thresholds_can_be_moved() {
    let busy = with_watch(|watch| watch.cpu_share = Some(0.85));
    let expected = |text: &str| LevelExpectations {
        thresholds: text.parse().unwrap(),
        ..LevelExpectations::default()
    };
    assert_eq!(verdict_with(busy, &expected("")).verdict, Verdict::Valid);
    assert_eq!(verdict_with(busy, &expected("cpu-suspect=0.8")).verdict, Verdict::Suspect);
    assert_eq!(verdict_with(busy, &expected("cpu-invalid=80%")).verdict, Verdict::Invalid);
}

#[test]
fn chunk_counts_are_suspect() {
    let mut tape = good();
    tape.token_source = TokenSource::Events;
    let text =
        "tokens are chunk counts; the server gave neither token ids nor usage for every reply";
    assert_one(&verdict_on(&[tape]), Verdict::Suspect, text);
}

/// A server that thinks in secret gives usage, and nobody knows how much of it came with the events.
#[test]
fn chunk_counts_beside_a_usage_say_so() {
    let mut tape = good();
    tape.token_source = TokenSource::Events;
    tape.usage = Some(Usage { completion_tokens: Some(Tokens::new(50)), ..Usage::default() });
    let validity = verdict_on(&[tape.clone(), tape.clone()]);
    let text = "tokens are chunk counts (4); the server's usage has 100, among them thoughts that it neither showed nor counted \
                apart, so nobody knows how many came with the chunks; the block of vLLM's lines prints the server's 100";
    assert_one(&validity, Verdict::Suspect, text);
    let without = Tape { usage: None, ..tape.clone() };
    let validity = verdict_on(&[tape, without]);
    assert!(validity.reasons[0].text.contains("neither token ids nor usage for every reply"));
}

#[test]
fn the_worst_reason_gives_the_verdict() {
    let expected = LevelExpectations {
        beyond_speed_of_light: Some("TPOT 1.0 ms, bound 4.8 ms".to_owned()),
        ending: LevelEnding::Interrupted,
        ..LevelExpectations::default()
    };
    let validity = verdict_with(CLIENT, &expected);
    assert_eq!(validity.verdict, Verdict::Invalid);
    let texts: Vec<&str> = validity.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "measured beyond the speed of light: TPOT 1.0 ms, bound 4.8 ms",
            "partial: some of the level's requests are missing; it was interrupted, or its files were cut",
        ]
    );
    let interrupted = LevelExpectations { beyond_speed_of_light: None, ..expected };
    assert_eq!(verdict_with(CLIENT, &interrupted).verdict, Verdict::Suspect);
}

#[test]
fn each_reason_says_first_in_one_short_line_what_was_seen() {
    let mut late = tape(150, &[(170, 1)]);
    late.marks.intended = ms(0);
    late.marks.released = ms(30);
    late.token_source = TokenSource::Events;
    let ceiling = ClientCeiling { streams: 1, tokens_per_s: PerSec::new(1.0), on_time: None };
    let client = with_watch(|watch| {
        (watch.threads, watch.ceiling) = (16, Some(ceiling));
        watch.cpu_share = Some(1.0);
        (watch.run_delay_share, watch.steal_share) = (Some(1.0), Some(1.0));
    });
    let expected = LevelExpectations {
        ending: LevelEnding::Interrupted,
        abandoned: 1000,
        counted_cache_share: Some(1.0),
        ..LevelExpectations::default()
    };
    let level = LevelSummary::of(&vec![late; 100], &GoodputGoals::default());
    let judged = judge(&level, &client, &expected);
    assert!(judged.reasons.len() >= 9, "{judged:?}");
    for reason in &judged.reasons {
        let headline = VerdictReason::headline(&reason.text);
        assert!(headline.len() <= 69, "{headline}");
        assert!(reason.text.starts_with(headline));
    }
}

#[test]
fn a_semicolon_in_brackets_ends_no_headline() {
    let of = VerdictReason::headline;
    assert_eq!(of("late (at 4; worst at 8); so it is"), "late (at 4; worst at 8)");
    assert_eq!((of("late"), of(""), of("a); b")), ("late", "", "a)"));
}
