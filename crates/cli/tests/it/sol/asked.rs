//! `fizeau sol`: flags together are answered together, or are refused.

use serde_json::Value;

use crate::stand::{Ended, run};

const DENSE: &str = "--model-config llama-3.1-8b --hardware h100-sxm";
const SPARSE: &str =
    "--model-config gpt-oss-120b --hardware b200-sxm --isl 1024 --osl 1024 --concurrency 64";

fn asked(of: &str, more: &str) -> Ended {
    let words = ["sol"].into_iter().chain(of.split_whitespace()).chain(more.split_whitespace());
    run(&words.collect::<Vec<_>>())
}

fn json(of: &str, more: &str) -> Value {
    let ended = asked(of, &format!("{more} --json"));
    serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{more}: {}", ended.err))
}

/// A step of 8 sequences takes 4.6 ms at best; with three drafts it yields up to four tokens.
#[test]
fn what_was_measured_is_held_against_drafts_and_instances() {
    let plain = json(DENSE, "--concurrency 8 --measured tpot:2.5");
    assert!(plain["measured"]["impossible"].is_string());
    let drafts = json(DENSE, "--concurrency 8 --draft 3 --measured tpot:2.5");
    assert_eq!(drafts["measured"].get("impossible"), None, "{drafts}");
    assert_eq!(drafts["measured"]["tpot_ms"]["bound"], drafts["speculation"]["tpot_ms"]["bound"]);
    let apart = json(DENSE, "--concurrency 64 --disaggregate 2:2 --measured output_tps:9000");
    assert_eq!(apart["measured"].get("impossible"), None, "{apart}");
    assert_eq!(
        apart["measured"]["output_tokens_per_s"]["bound"],
        apart["disaggregation"]["output_tokens_per_s"]["bound"]
    );
    let far = asked(DENSE, "--disaggregate 2:2 --measured output_tps:900000");
    assert!(far.out.contains("what 4 x h100-sxm (x4)"), "{}", far.out);
}

/// Eight columns do not fit into 80; those of a prediction that nobody made are left out.
#[test]
fn what_was_measured_of_experts_keeps_its_columns() {
    let ended = asked(SPARSE, "--measured tpot:8,ttft:50");
    let lines: Vec<&str> = ended.out.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("Measured")).unwrap();
    assert!(lines[head].ends_with("bound  of even  of bound"), "{}", lines[head]);
    assert!(!lines[head].contains("predicted") && lines[head + 1].starts_with("  TTFT"));
    assert!(lines[head + 1].ends_with('%') && lines[head + 2].ends_with('%'), "{}", ended.out);
}

#[test]
fn a_goal_has_its_own_requests_in_flight() {
    let goal = |more: &str| {
        let document = json(DENSE, more);
        (document["goal"]["fewest_devices"]["expected"].clone(), document["goal"].to_string())
    };
    let (devices, text) = goal("--goal concurrency:100");
    assert!(devices == 1.0 && text.contains("100 at once"), "{text}");
    assert!(text.contains("With 100 requests in flight, as the goal has it."), "{text}");
    let (devices, text) = goal("--goal rps:20");
    assert!(devices == 1.0 && text.contains("as many as run at once"), "{text}");
    let (_, text) = goal("--goal tps:40 context:200000 --draft 3");
    assert!(text.contains("largest_batch"), "{text}");
    assert!(text.contains("The model's context ends at 131072 tokens"), "{text}");
    assert!(text.contains("These figures are without drafts."), "{text}");
}

/// The price of a token is that of the serving that is asked about, and not of plain serving beside it.
#[test]
fn costs_are_those_of_the_serving_that_is_asked_about() {
    let cost = |more: &str| {
        let document = json(DENSE, &format!("--gpu-hour 2 {more}"));
        let expected = &document["cost"]["per_million_output_alone"]["expected"];
        (expected.as_f64().unwrap(), document["cost"]["notes"].to_string())
    };
    let (plain, said) = cost("");
    assert!(!said.contains("drafts"), "{said}");
    let (drafted, said) = cost("--draft 3");
    assert!(
        drafted < plain && said.contains("With drafts of 3 tokens."),
        "{plain} {drafted} {said}"
    );
    let (apart, said) = cost("--disaggregate 1:3");
    assert!(
        apart > plain && said.contains("prefill on 1 and decode on 3 instances"),
        "{apart} {said}"
    );
    let (both, said) = cost("--draft 3 --disaggregate 1:3");
    assert!(both == plain && said.contains("These figures are without drafts"), "{both} {said}");
}

#[test]
fn the_limit_of_sequences_is_not_called_memory() {
    let ended = asked(DENSE, "--max-num-seqs 5 --batch 64");
    assert!(ended.out.contains("no more than 5 sequences may run at once"), "{}", ended.out);
    assert!(ended.out.contains("at most 5 may run at once"), "{}", ended.out);
    assert!(!ended.out.contains("room for 5"), "{}", ended.out);
}

#[test]
fn experts_that_are_not_evenly_chosen_have_no_bound_of_even_routing() {
    assert!(asked(SPARSE, "").out.contains("at even routing"));
    let strict = asked(SPARSE, "--routing strict").out;
    assert!(strict.contains("expected") && !strict.contains("even routing"), "{strict}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (flags, wanted) in [
        ("--weights experts=fp8", "the model has no weights of the class experts"),
        ("--measured tpot:5,tpot:6", "--measured tpot:6 is a second value of the same figure"),
        ("--osl 1 --measured tpot:5", "requests of one output token have no time per output token"),
        ("--draft 3 --disaggregate 1:1 --measured tpot:5", "leave out --draft or --disaggregate"),
    ] {
        let ended = asked(DENSE, flags);
        assert_eq!((ended.code, ended.err.lines().count()), (Some(2), 1), "{flags}: {}", ended.err);
        assert!(ended.err.contains(wanted), "{flags}: {}", ended.err);
    }
}
