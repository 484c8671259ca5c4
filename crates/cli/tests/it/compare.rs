//! `fizeau compare`: stored runs against each other.

use fizeau::core::Nanos;
use serde_json::Value;

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, fixed, run};

/// A run of `requests` against a server with exact timing; further flags in `more`.
fn bench(scratch: &Scratch, name: &str, itl_us: u64, more: &str) -> String {
    let server = fixed(Nanos::from_millis(4), Nanos::from_micros(itl_us));
    let (url, out) = (server.base_url(), scratch.path(name));
    let line = format!(
        "bench --model m --base-url {url} --out {out} --max-concurrency 4 --num-warmups 2 --random-input-len 8 {more}"
    );
    let ended = run(&line.split_whitespace().chain(HOWEVER_BUSY).collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn compare(runs: &[&str], flags: &str) -> Ended {
    let mut words = vec!["compare"];
    words.extend(runs);
    words.extend(flags.split_whitespace());
    run(&words)
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap()
}

/// The row of a figure in the first level of a comparison.
fn row<'a>(document: &'a Value, comparison: usize, figure: &str) -> &'a Value {
    let rows = &document["comparisons"][comparison]["levels"][0]["comparison"]["figures"];
    rows.as_array().unwrap().iter().find(|row| row["figure"] == figure).unwrap()
}

/// In virtual time the two levels of both are the same, so that nothing else is worse.
#[test]
fn a_gate_fails_where_a_level_of_the_baseline_is_missing() {
    let scratch = Scratch::new("compare-missing");
    let simulated = |name: &str, levels: &str| {
        let out = scratch.path(name);
        let line =
            format!("simulate --levels {levels} --isl 50 --osl 10 --slo ttft<9s --out {out}");
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        out
    };
    let (all, less) = (simulated("all", "1,2,4"), simulated("less", "1,2"));
    let gate =
        |runs: [&str; 2], flags: &str| compare(&runs, &format!("--fail-on regression {flags}"));
    let junit = scratch.path("junit.xml");
    let failed = gate([&all, &less], &format!("--junit {junit}"));
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let said = format!("error: {less} lacks levels of the baseline: concurrency 4; ");
    assert!(
        failed.err.starts_with(&said) && failed.err.contains("--allow-missing-levels"),
        "{failed:?}"
    );
    assert!(std::fs::read_to_string(junit).unwrap().contains(" failures=\"1\" "));
    assert_eq!(gate([&all, &less], "--allow-missing-levels").code, Some(0));
    assert_eq!(gate([&less, &all], "").code, Some(0));
    assert_eq!(compare(&[&all, &less], "").code, Some(0));
}

/// An engine that refuses what would wait answers the others sooner, which is nothing to be praised for.
#[test]
fn latencies_of_those_that_a_server_did_not_refuse_are_no_improvement() {
    let scratch = Scratch::new("compare-refusing");
    let simulated = |name: &str, more: &str| {
        let out = scratch.path(name);
        let line = format!(
            "simulate --isl 256 --osl 64 --request-rate 35 --max-num-seqs 16 --num-prompts 1000 --out {out} {more}"
        );
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(std::fs::exists(format!("{out}/run.json")).unwrap(), "{ended:?}");
        out
    };
    let (all, some) = (simulated("all", ""), simulated("some", "--max-waiting 1"));
    let said = compare(&[&all, &some], "").out.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "B is worse in output TPS, failed share, and better in p50 TPOT, p90 TPOT. More requests fail there, and \
                    latencies are of those that completed alone: they are no improvement.";
    assert!(said.ends_with(sentence), "{said}");
    let back = compare(&[&some, &all], "").out;
    assert!(!back.contains("no improvement"), "{back}");
}

const PLAIN: &str = "--num-prompts 160 --random-output-len 6 --seed 7";

#[test]
fn a_slower_server_is_worse_and_the_same_one_is_not() {
    let scratch = Scratch::new("compare");
    let a = bench(&scratch, "a", 2_000, PLAIN);
    let same = bench(&scratch, "same", 2_000, PLAIN);
    let slower = bench(&scratch, "slower", 4_000, PLAIN);
    // Of the same server nothing is claimed here: two runs on a busy machine may differ, and are then rightly told apart.
    let flags = "--force --json --metrics tpot";
    assert_eq!(compare(&[&a, &same], flags).code, Some(2));

    let ended = run(&["compare", &a, &same, &slower, "--force", "--json", "--metrics", "p50 tpot"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document = json(&ended);
    assert_eq!(document["schema"], "fizeau.comparison/1");
    let (same_tpot, tpot) = (row(&document, 0, "p50 tpot"), row(&document, 1, "p50 tpot"));
    let change =
        |row: &Value| row["candidate"].as_f64().unwrap() / row["baseline"].as_f64().unwrap() - 1.0;
    assert!(change(same_tpot).abs() < 0.5, "{same_tpot}");
    // On a machine so busy that requests hang together for long, these may be too few; that is said then.
    let too_few = tpot["answer_reason"].as_str().is_some_and(|reason| reason.starts_with("needs"));
    assert!(tpot["answer"] == "worse" || too_few, "{tpot}");
    assert!((change(tpot) - 1.0).abs() < 0.5, "{tpot}");
    assert!(
        document["comparisons"][1]["levels"][0]["comparison"]["paired_requests"].as_u64()
            == Some(160)
    );
    let changed = document["comparisons"][1]["changed"].to_string();
    assert!(changed.contains("setup.endpoint.base_url"), "{changed}");

    let failed = run(&["compare", &a, &slower, "--force", "--fail-on-worse"]);
    let worse = failed.out.contains("  worse");
    // Where no figure has requests enough there is no answer, which is not a good end either.
    let untested = failed.out.contains("no figure could be tested");
    assert_eq!(failed.code, Some(i32::from(worse || untested)), "{failed:?}");
    assert!(worse || too_few, "{}", failed.out);
    assert!(
        failed.out.lines().all(|line| line.chars().count() <= 80 || line.contains(&slower)),
        "{}",
        failed.out
    );
    assert!(failed.out.contains("160 pairs of requests"), "{}", failed.out);
}

#[test]
fn where_nothing_could_be_tested_the_answer_says_so_and_is_no_pass() {
    let scratch = Scratch::new("compare-untested");
    let few = "--num-prompts 8 --seed 7 --random-output-len 3";
    let (a, b) = (bench(&scratch, "a", 500, few), bench(&scratch, "b", 3_000, few));
    let words = ["compare", &a, &b, "--metrics", "p99 ttft"];
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("No answer: no figure could be tested."), "{}", ended.out);
    let failed = run(&[&words[..], &["--fail-on-worse"]].concat());
    assert_eq!(failed.code, Some(1), "{failed:?}");
}

#[test]
fn runs_of_other_workloads_models_or_goals_are_refused_with_the_fields() {
    let scratch = Scratch::new("compare-refused");
    let few = "--num-prompts 8 --seed 7";
    let a = bench(&scratch, "a", 500, &format!("{few} --random-output-len 3"));
    let longer = bench(&scratch, "longer", 500, &format!("{few} --random-output-len 4"));
    let other = bench(
        &scratch,
        "other",
        500,
        &format!("{few} --random-output-len 3 --served-model-name n"),
    );
    let goals =
        bench(&scratch, "goals", 500, &format!("{few} --random-output-len 3 --goodput ttft:50"));
    let cases = [
        (&longer, "output length: 3 in A, 4 in B"),
        (&other, "model: m in A, n in B"),
        (&goals, "goal of single requests: none in A, ttft:50 in B"),
    ];
    for (run, field) in cases {
        let refused = compare(&[&a, run], "");
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.err.contains(field) && refused.err.contains("--force"), "{}", refused.err);
        let forced = compare(&[&a, run], "--force");
        assert_eq!(forced.code, Some(0), "{forced:?}");
        assert!(forced.out.contains("though these differ"), "{}", forced.out);
    }
}

/// The caps of a rate and the sampling are a part of the workload; warm-up and count are not, but are shown.
#[test]
fn what_was_asked_must_agree_or_is_shown() {
    let scratch = Scratch::new("compare-asked");
    let bench = |name: &str, more: &str| {
        let server = fixed(Nanos::from_millis(2), Nanos::from_micros(500));
        let (url, out) = (server.base_url(), scratch.path(name));
        let line = format!(
            "bench --model m --base-url {url} --out {out} --request-rate 200 --num-warmups 2 --random-input-len 8 \
             --random-output-len 3 --seed 7 {more}"
        );
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        out
    };
    let a = bench("a", "--num-prompts 8");
    let capped = bench("capped", "--num-prompts 8 --max-concurrency 4");
    let warm = bench("warm", "--num-prompts 8 --temperature 0.5");
    let more = bench("more", "--num-prompts 9");
    let cases = [
        (&capped, "most requests in flight of level 1: none in A, 4 in B"),
        (&warm, "temperature: none in A, 0.5 in B"),
    ];
    for (other, field) in cases {
        let refused = compare(&[&a, other], "");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(field), "{field}: {}", refused.err);
        let forced = compare(&[&a, other], "--force");
        assert_eq!(forced.code, Some(0), "{forced:?}");
    }
    let shown = compare(&[&a, &more], "--force");
    assert!(shown.out.contains("requests of level 1: 8 -> 9"), "{shown:?}");
}

#[test]
fn turns_of_an_ab_run_are_taken_one_by_one() {
    let scratch = Scratch::new("compare-ab");
    let servers = [1, 2].map(|ms| fixed(Nanos::from_millis(ms), Nanos::from_millis(ms)));
    let [a, b] = [servers[0].base_url(), servers[1].base_url()];
    let out = scratch.path("ab");
    let line = format!(
        "ab --a {a} --b {b} --model m --random-input-len 4 --random-output-len 4 --num-prompts 3 --num-warmups 1 \
         --max-concurrency 1 --settle 0s --rounds 5 --out {out}"
    );
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let refused = compare(&[&out, &out], "");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("ab.json") && refused.err.contains("a-01"), "{}", refused.err);
    let turn = |name: &str| format!("{out}/{name}");
    let first = compare(&[&turn("a-01"), &turn("b-01")], "--force");
    assert!(first.out.contains("3 pairs of requests"), "{first:?}");
    let moved = format!("address: {a} -> {b}");
    let words = first.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&moved), "{}", first.out);
    let second = compare(&[&turn("a-01"), &turn("b-02")], "--force");
    assert!(
        second
            .out
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("requests are not paired"),
        "{second:?}"
    );
}

#[test]
fn a_sweep_is_compared_level_by_level_and_what_one_side_lacks_is_named() {
    let scratch = Scratch::new("compare-sweep");
    let sweep = |name: &str, levels: &str| {
        let server = fixed(Nanos::from_millis(2), Nanos::from_micros(500));
        let (url, out) = (server.base_url(), scratch.path(name));
        let line = format!(
            "sweep --model m --base-url {url} --out {out} --levels {levels} --num-prompts 12 --isl 8 --osl 3"
        );
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        out
    };
    let (a, b) = (sweep("a", "1,2,4"), sweep("b", "2,4"));
    let ended = compare(&[&a, &b], "--force");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("concurrency 2 (") && ended.out.contains("concurrency 4 ("));
    assert!(ended.out.contains("only A has, and B has not: concurrency 1"), "{}", ended.out);
    assert!(ended.out.contains("12 pairs of requests"), "{}", ended.out);

    let alone = sweep("alone", "8");
    let refused = compare(&[&b, &alone], "");
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("no load in common"), "{}", refused.err);
}

#[test]
fn a_run_that_was_killed_is_used_as_far_as_it_is_whole() {
    let scratch = Scratch::new("compare-cut");
    let a = bench(&scratch, "a", 500, "--num-prompts 40 --random-output-len 3 --seed 7");
    let b = bench(&scratch, "b", 500, "--num-prompts 40 --random-output-len 3 --seed 7");
    std::fs::remove_file(format!("{b}/summary.json")).unwrap();
    let tapes = std::fs::read(format!("{b}/tapes.jsonl")).unwrap();
    std::fs::write(format!("{b}/tapes.jsonl"), &tapes[..tapes.len() - 20]).unwrap();
    let ended = compare(&[&a, &b], "--force");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for said in
        ["cut short: there is no summary.json", "39 whole tapes are used", "39 of them are paired"]
    {
        let text = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn bad_flags_and_folders_are_refused() {
    let scratch = Scratch::new("compare-bad");
    let a = bench(&scratch, "a", 500, "--num-prompts 4 --random-output-len 3");
    let nowhere = scratch.path("nowhere");
    let cases = [
        (vec!["compare", &a, &nowhere], "nowhere"),
        (vec!["compare", &a], "2"),
        (vec!["compare", &a, &a, "--alpha", "2"], "--alpha"),
        (vec!["compare", &a, &a, "--metrics", "ttft"], "say which statistic"),
        (vec!["compare", &a, &a, "--smallest", "3"], "--smallest"),
    ];
    for (words, said) in cases {
        let refused = run(&words);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(said), "{said}: {}", refused.err);
    }
}
