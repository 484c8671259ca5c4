//! Streams that are odd and yet good: the counts and the first token must come out right.

use fizeau::core::{Channel, Finish, Nanos, Outcome, Tape, TokenSource, Tokens};
use fizeau::transport::Backend;

use super::stand::{PATIENT, TOKENS, TTFT, WORDS, ask, serve, target, truth};

/// Faults that leave a reply with all its tokens, and the events with output that come of it.
const GOOD: [(&str, usize); 31] = [
    ("bundle", 4),
    ("bundle:5", 4),
    ("first-bundle", 13),
    ("empty-text", 16),
    ("usage-with-choices", 16),
    ("late-usage:5ms", 16),
    ("finish-chunk", 16),
    ("echo", 16),
    ("cumulative", 16),
    ("cached", 16),
    ("prompt-off", 16),
    ("comments", 16),
    ("glued-comments", 16),
    ("crlf", 16),
    ("cr", 16),
    ("no-space", 16),
    ("bom", 16),
    ("multi-data", 16),
    ("extra-fields", 16),
    ("huge", 16),
    ("keep-alive:1ms", 16),
    ("coalesce", 16),
    ("burst", 16),
    ("filter", 16),
    ("split:20us", 16),
    ("utf8-cut:20us", 16),
    ("drip:1us", 16),
    ("stall@3:2ms", 16),
    ("stall@0:2ms", 16),
    ("chunk-bytes", 16),
    ("close", 16),
];

/// Those that only chats can have.
const GOOD_CHATS: [(&str, usize); 3] = [
    ("role-at-once", 16),
    ("reasoning", 16),
    ("role-at-once+bundle+crlf+split:20us+chunk-bytes", 4),
];

/// Faults that change what is counted.
const COUNTED: [(&str, u64, TokenSource, Finish); 4] = [
    ("stop", 8, TokenSource::ContinuousUsage, Finish::Stop),
    ("stop@3", 3, TokenSource::ContinuousUsage, Finish::Stop),
    ("zero-usage", 16, TokenSource::FinalUsageSpread, Finish::Length),
    ("choices:3", 48, TokenSource::ContinuousUsage, Finish::Length),
];

pub(crate) fn tried() -> Vec<&'static str> {
    let good = GOOD.iter().chain(&GOOD_CHATS).map(|(fault, _)| *fault);
    good.chain(COUNTED.iter().map(|(fault, ..)| *fault)).chain(["usage-off"]).collect()
}

async fn ask_under(fault: &str, backend: Backend) -> Tape {
    let server = serve(fault, TTFT);
    let tape = ask(target(&server, backend, PATIENT)).await;
    let requests = truth(server.addr());
    assert_eq!(requests.len(), 1, "{fault}");
    assert_eq!(requests[0]["fault"], fault);
    if let Some(first) = tape.first_token() {
        // A client that takes anything for the first token that is none is faster than the server was. Not held against
        // the server's stamp, which is of an event's last byte: a cut event is stamped with its first.
        let met = first.since(tape.marks.send_start.unwrap()).unwrap();
        assert!(met >= TTFT, "{fault}: {met}");
    }
    tape
}

#[tokio::test]
async fn all_tokens_are_counted_and_none_twice() {
    let completions = GOOD.map(|case| (case, Backend::Vllm));
    let chats = GOOD.iter().chain(&GOOD_CHATS).map(|case| (*case, Backend::VllmChat));
    for ((fault, events), backend) in completions.into_iter().chain(chats) {
        let tape = ask_under(fault, backend).await;
        assert_eq!(tape.outcome, Outcome::Complete(Finish::Length), "{fault} {backend}");
        assert_eq!(tape.arrivals.len(), events, "{fault} {backend}");
        assert_eq!(tape.output_tokens().get(), TOKENS, "{fault} {backend}");
        assert_eq!(tape.token_source, TokenSource::ContinuousUsage, "{fault} {backend}");
        assert!(tape.last_token() <= tape.marks.end, "{fault} {backend}");
    }
}

#[tokio::test]
async fn without_running_usage_the_last_one_counts() {
    for (fault, events) in GOOD.into_iter().chain(GOOD_CHATS) {
        let tape = ask_under(fault, Backend::OpenAiChat).await;
        assert_eq!(tape.outcome, Outcome::Complete(Finish::Length), "{fault}");
        // Nothing shows that an empty text is a token.
        let events = if fault == "empty-text" { events / 2 } else { events };
        assert_eq!(tape.arrivals.len(), events, "{fault}");
        assert_eq!(tape.output_tokens().get(), TOKENS, "{fault}");
        assert_eq!(tape.token_source, TokenSource::FinalUsageSpread, "{fault}");
    }
}

#[tokio::test]
async fn the_replys_own_count_is_believed_and_not_the_length_asked_for() {
    for (fault, tokens, source, finish) in COUNTED {
        let tape = ask_under(fault, Backend::VllmChat).await;
        assert_eq!(tape.outcome, Outcome::Complete(finish), "{fault}");
        assert_eq!((tape.output_tokens().get(), tape.token_source), (tokens, source), "{fault}");
    }
    // The server's last word, over its own running count.
    let tape = ask_under("usage-off", Backend::Vllm).await;
    assert_eq!((tape.output_tokens().get(), tape.arrivals.len()), (TOKENS + 3, 16));
    assert!(!tape.token_source.is_exact(), "{tape:?}");
}

#[tokio::test]
async fn what_the_server_says_of_the_prompt_is_kept() {
    let counts = |tape: &Tape| {
        let usage = tape.usage.unwrap();
        (usage.prompt_tokens.unwrap().get(), usage.cached_tokens.map(Tokens::get))
    };
    assert_eq!(counts(&ask_under("prompt-off:7", Backend::Vllm).await), (WORDS + 7, None));
    assert_eq!(counts(&ask_under("cached:2", Backend::Vllm).await), (WORDS, Some(2)));
}

#[tokio::test]
async fn reasoning_is_output_though_nobody_sees_it() {
    let tape = ask_under("reasoning:6", Backend::VllmChat).await;
    let hidden = tape.arrivals.iter().take_while(|arrival| arrival.channel != Channel::Visible);
    assert_eq!(hidden.count(), 6);
    assert_eq!(tape.first_visible(), tape.arrivals.get(6).map(|arrival| arrival.at));
}

/// The first event is not the first token where it holds several: what is between them has no gap of its own.
#[tokio::test]
async fn a_bundle_says_how_much_it_holds() {
    let tape = ask_under("first-bundle:7", Backend::Vllm).await;
    let counts: Vec<_> = tape.arrivals.iter().map(|arrival| arrival.tokens).collect();
    assert_eq!(counts, [&[7][..], &[1; 9]].concat());
}

#[tokio::test]
async fn what_comes_in_one_read_has_one_stamp() {
    for fault in ["coalesce:4", "filter:4"] {
        let tape = ask_under(fault, Backend::Vllm).await;
        let mut pairs = tape.arrivals.windows(2);
        assert!(
            pairs.all(|pair| pair[0].read != pair[1].read || pair[0].at == pair[1].at),
            "{fault}"
        );
        let reads: std::collections::BTreeSet<_> = tape.arrivals.iter().map(|a| a.read).collect();
        // Four writes; the end of a buffer may fall within any.
        assert!(reads.len() <= 8, "{fault}: {reads:?}");
    }
}

/// The last token's time is not that of what comes after it.
#[tokio::test]
async fn late_usage_is_no_part_of_the_decode() {
    let pause = Nanos::from_millis(40);
    let server = serve("late-usage:40ms", TTFT);
    let tape = ask(target(&server, Backend::Vllm, PATIENT)).await;
    let truth = &truth(server.addr())[0];
    let last = truth["token_ns"].as_array().unwrap().last().unwrap().as_u64().unwrap();
    assert_eq!(tape.arrivals.len(), 16);
    // From the first byte sent to the end is at least what the server took, the pause too.
    let took = last - truth["arrived_ns"].as_u64().unwrap() + pause.as_nanos();
    let all = tape.marks.end.unwrap().since(tape.marks.send_start.unwrap()).unwrap();
    assert!(all.as_nanos() >= took, "{all} < {took} ns");
    assert!(tape.last_token() < tape.marks.end);
}

#[tokio::test]
async fn characters_that_were_cut_are_whole_again() {
    let tape = ask_under("utf8-cut:20us", Backend::Vllm).await;
    let text = tape.text.unwrap();
    assert_eq!(text.matches("\u{e9}\u{4e16}\u{1f680}").count(), 16, "{text}");
    assert!(!text.contains('\u{fffd}'), "{text}");
}
