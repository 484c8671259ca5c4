//! Whether what was sent is what was asked for.

use fizeau_core::{
    EosRule, FailureClass, RequestPurpose, RequestedTokens, Stamp, Tape, Tokens, Usage,
};
use fizeau_metrics::{
    CacheExpectation, ClientWatch, GoodputGoals, LevelExpectations, LevelTally, Validity, Verdict,
    judge,
};

use crate::lengths::prompt;
use crate::tapes::{failed, tape};

fn judged(tapes: &[Tape], expected: &LevelExpectations) -> Validity {
    let mut tally = LevelTally::new(&GoodputGoals::default());
    tapes.iter().for_each(|tape| tally.add(tape));
    judge(&tally.summary(), &tally.proof(ClientWatch::default()), expected)
}

fn verdict_on(tapes: &[Tape]) -> Validity {
    judged(tapes, &LevelExpectations::default())
}

/// Asserts suspicion for exactly one reason, and its text.
fn assert_suspect(validity: &Validity, text: &str) {
    let texts: Vec<&str> = validity.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!((validity.verdict, &texts[..]), (Verdict::Suspect, &[text][..]));
}

fn assert_valid(validity: &Validity) {
    assert_eq!((validity.verdict, &validity.reasons[..]), (Verdict::Valid, &[][..]));
}

/// A request of 200 prompt tokens, of which so many came from a cache.
fn cached(tokens: Option<u64>) -> Tape {
    let mut tape = prompt(Some(200), Some(200));
    let cached_tokens = tokens.map(Tokens::new);
    tape.usage = tape.usage.map(|usage| Usage { cached_tokens, ..usage });
    tape
}

#[test]
fn prompts_of_another_length_are_suspect_past_one_percent() {
    assert_valid(&verdict_on(&[prompt(Some(1000), Some(1010))]));
    let template = "the server counted 262.0 tokens a prompt, not 250.0 as requested (off by 4.8 %, limit 1.0 %); every prompt differs by +12 tokens, which a chat template may add; the server's count is the real load";
    assert_suspect(&verdict_on(&vec![prompt(Some(250), Some(262)); 3]), template);
    let tokenizer = "the server counted 250.0 tokens a prompt, not 250.0 as requested (off by 4.0 %, limit 1.0 %); 2 of 3 prompts differ by more than 1 %; give the server's own tokenizer, or send token ids";
    let both_ways = [(235, 250), (250, 250), (265, 250)].map(|(a, s)| prompt(Some(a), Some(s)));
    assert_suspect(&verdict_on(&both_ways), tokenizer);
    let generous = LevelExpectations {
        thresholds: "prompt-suspect=5%".parse().unwrap(),
        ..Default::default()
    };
    assert_valid(&judged(&both_ways, &generous));
}

#[test]
fn prompts_that_cannot_be_checked_are_said_to_be() {
    assert_eq!(verdict_on(&[prompt(Some(5), Some(5))]).notes, [""; 0]);
    assert_eq!(
        verdict_on(&[prompt(None, Some(5))]).notes,
        ["prompt lengths could not be checked: the requested length is not known without the \
             server's tokenizer"]
    );
    assert_eq!(
        verdict_on(&[prompt(None, Some(5)), prompt(Some(5), Some(5))]).notes,
        ["prompt lengths were checked of 1 of 2 completed requests: the requested length of \
             the others is not known (a later turn includes the replies before it)"]
    );
    assert_eq!(
        verdict_on(&[prompt(Some(5), None), prompt(Some(5), Some(5))]).notes,
        ["prompt lengths were checked of 1 of 2 completed requests: the server does not \
             report how many tokens it counted"]
    );
}

#[test]
fn replies_of_another_length_are_suspect() {
    let mut short = tape(0, &[(20, 1), (30, 1)]);
    short.requested = RequestedTokens {
        input_tokens: None,
        output_tokens: Tokens::new(250),
        eos: EosRule::Ignore,
    };
    let text = "1 of 1 replies have another length than requested (100.0 %, limit 1.0 %); \
     the server was told to ignore the end of sequence";
    assert_suspect(&verdict_on(&[short]), text);
}

#[test]
fn a_cache_that_nobody_asked_for_is_suspect() {
    assert_valid(&verdict_on(&[cached(Some(2))]));
    assert_valid(&verdict_on(&[cached(None)]));
    let text = "32.0 % of the prompt tokens came from a cache (limit 1.0 %); no prompt was meant to be cached, so prefill looks faster than it is; use another salt, or turn off the server's prefix cache";
    assert_suspect(&verdict_on(&[cached(Some(128)), cached(None)]), text);
}

#[test]
fn a_hit_rate_that_was_asked_for_is_verified() {
    let requested = |share| LevelExpectations {
        cache: CacheExpectation::Share(share),
        ..LevelExpectations::default()
    };
    let tapes = [cached(Some(100))];
    assert_valid(&judged(&tapes, &requested(0.5)));
    assert_valid(&judged(&tapes, &requested(0.54)));
    let low = "the cache supplied 50.0 % of the prompt tokens, not the requested 80.0 % (off by 30.0 points, limit 5.0); the server's prefix cache is off, too small, or has large blocks; or requests were sent together, before the first prompt was in the cache";
    assert_suspect(&judged(&tapes, &requested(0.8)), low);
    let high = "the cache supplied 50.0 % of the prompt tokens, not the requested 25.0 % (off by 25.0 points, limit 5.0); prompts of an earlier run were still in the cache; use another salt (or seed, where there is none)";
    assert_suspect(&judged(&tapes, &requested(0.25)), high);
    let mut generous = requested(0.8);
    generous.thresholds.set("hit-rate-suspect", "40%").unwrap();
    assert_valid(&judged(&tapes, &generous));

    let silent = judged(&[cached(None)], &requested(0.8));
    assert_valid(&silent);
    let note = "the requested hit rate of 80.0 % could not be verified: the server reports no cached tokens";
    assert_eq!(silent.notes, [note]);
}

#[test]
fn prompts_that_are_reused_on_purpose_are_not_held_against_the_level() {
    let expected =
        LevelExpectations { cache: CacheExpectation::Reuse, ..LevelExpectations::default() };
    let warm = judged(&[cached(Some(200))], &expected);
    assert_valid(&warm);
    assert_eq!(
        warm.notes,
        [
            "prompts repeat earlier ones, or begin with them, on purpose: 100.0 % of their tokens came from a cache"
        ]
    );
}

#[test]
fn turns_that_were_never_sent_are_missed() {
    let expected = LevelExpectations { abandoned: 3, ..LevelExpectations::default() };
    let text = "3 of 4 planned requests were never sent; an earlier turn failed, so the load was \
     lighter than requested";
    assert_suspect(&judged(&[prompt(Some(5), Some(5))], &expected), text);
}

#[test]
fn repeats_of_the_data_are_noted() {
    let note = "chat.json has 6 conversations: they were repeated 17 times".to_owned();
    let expected =
        LevelExpectations { repeated: Some(note.clone()), ..LevelExpectations::default() };
    let validity = judged(&[prompt(Some(5), Some(5))], &expected);
    assert_valid(&validity);
    assert_eq!(serde_json::to_value(&validity).unwrap()["notes"][0], note);
}

#[test]
fn hits_are_seen_although_one_prompt_is_of_unknown_length() {
    let tapes = [cached(Some(100)), prompt(None, None)];
    let hits = "50.0 % of the prompt tokens came from a cache (limit 1.0 %); no prompt was meant to be cached, so prefill looks faster than it is; use another salt, or turn off the server's prefix cache";
    assert_suspect(&verdict_on(&tapes), hits);
}

#[test]
fn failed_probes_are_noted_and_no_more() {
    let probe = Tape { part: RequestPurpose::Probe, ..tape(0, &[(5, 1)]) };
    let broken = failed(probe.clone(), FailureClass::Truncated);
    let validity = verdict_on(&[prompt(Some(5), Some(5)), probe, broken]);
    assert_valid(&validity);
    assert_eq!(validity.notes, ["1 of 2 probe requests failed"]);
}

#[test]
fn probes_that_left_late_are_noted_and_no_more() {
    let on_time = Tape { part: RequestPurpose::Probe, ..tape(0, &[(5, 1)]) };
    let mut late = Tape { part: RequestPurpose::Probe, ..tape(100, &[(105, 1)]) };
    late.marks.intended = Stamp::EPOCH;
    let validity = verdict_on(&[prompt(Some(5), Some(5)), on_time, late]);
    assert_valid(&validity);
    assert!(validity.notes[0].starts_with("probe requests were sent 50.0 ms late"), "{validity:?}");
}
