//! The load to run at: goals as ranges, `--prefer` and `--step-rule`, on a simulated sweep.

use serde_json::Value;

use crate::stand::{Ended, Scratch, json, run};

/// Eight slots: from 8 on requests queue, and throughput stands still.
const SWEEP: [&str; 13] = [
    "simulate",
    "--slots",
    "8",
    "--levels",
    "1,4,8,12",
    "--isl",
    "64",
    "--osl",
    "16",
    "--num-prompts",
    "120",
    "--model-config",
    "llama-3.1-8b",
];

fn swept(out: &str, extra: &[&str]) -> Ended {
    let words = ["--hardware", "h100-sxm", "--out", out];
    run(&[&SWEEP[..], &words, extra].concat())
}

fn again(out: &str, extra: &[&str]) -> Value {
    let ended = run(&[&["report", out, "--json"], extra].concat());
    assert!(ended.err.is_empty(), "{}", ended.err);
    serde_json::from_str(&ended.out).unwrap()
}

#[test]
fn a_range_is_met_at_either_end() {
    let scratch = Scratch::new("decision-range");
    let out = |name: &str| scratch.path(name);
    let tight = swept(&out("tight"), &["--slo", "p99 e2el<10s..20s", "-v"]);
    assert_eq!(tight.code, Some(0), "{tight:?}");
    assert!(tight.out.contains("At the loose end (p99 e2el<20000ms)"), "{}", tight.out);
    let loose = swept(&out("loose"), &["--slo", "p99 e2el<0.1ms..20s"]);
    assert_eq!(loose.code, Some(0), "{loose:?}");
    let text: Vec<&str> = loose.out.split_whitespace().collect();
    assert!(text.join(" ").contains("met at the loose end of the goals only"), "{}", loose.out);
    assert_eq!(json(format!("{}/sweep.json", out("loose")))["decisions"][0]["met"], "loose");
    let neither = swept(&out("neither"), &["--slo", "p99 e2el<0.1ms..0.2ms"]);
    assert_eq!(neither.code, Some(1), "{neither:?}");
    let sweep = json(format!("{}/sweep.json", out("neither")));
    let could = sweep["operating_point_nearest"]["could_be_met"][0].as_str().unwrap();
    assert!(could.starts_with("p99 E2EL <= "), "{could}");
}

#[test]
fn a_goal_that_no_run_could_judge_is_refused_before_anything_is_sent() {
    let scratch = Scratch::new("decision-lacking");
    let ended = swept(&scratch.path("out"), &["--slo", "goodput>0.9"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended
            .err
            .contains("the share of good requests needs goals for single requests (--goodput)"),
        "{ended:?}"
    );
    let agent = swept(&scratch.path("agent"), &["--prefer", "agent"]);
    assert_eq!(agent.code, Some(2), "{agent:?}");
    assert!(
        agent.err.contains("--prefer agent: the share of good requests needs goals"),
        "{agent:?}"
    );
}

#[test]
fn a_report_decides_as_the_run_did_unless_told_otherwise() {
    let scratch = Scratch::new("decision-report");
    let out = scratch.path("out");
    let ended =
        swept(&out, &["--slo", "p99 e2el<20s", "--prefer", "batch", "--step-rule", "3x:5%"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run = json(format!("{out}/sweep.json"));
    assert_eq!(
        (&run["profile"]["name"], &run["profile"]["step_rule"]),
        (&"batch".into(), &"3x:5%".into())
    );
    let same = again(&out, &[]);
    assert_eq!((&same["profile"], &same["decisions"]), (&run["profile"], &run["decisions"]));
    let other = again(&out, &["--prefer", "chat"]);
    assert_eq!(other["profile"]["name"], "chat");
    assert_eq!(other["profile"]["step_rule"], "2x:10%");
    let off = again(&out, &["--step-rule", "off"]);
    assert!(off["profile"]["step_rule"].is_null());
}

#[test]
fn what_is_no_rule_and_no_profile_is_refused() {
    let scratch = Scratch::new("decision-refused");
    let out = scratch.path("out");
    let cases: [(&[&str], &str); 3] = [
        (&["--step-rule", "2:10"], "write FACTORx:GAIN%, such as 2x:10%"),
        (&["--prefer", "fast"], "[possible values: general, chat, batch, agent]"),
        (&["--slo", "ttft<800ms..500ms"], "with `<` the loose one is higher"),
    ];
    for (extra, says) in cases {
        let ended = swept(&out, extra);
        assert_eq!(ended.code, Some(2), "{extra:?}: {ended:?}");
        assert!(ended.err.contains(says), "{extra:?}: {}", ended.err);
        assert!(!std::path::Path::new(&out).exists(), "{extra:?}");
    }
}

/// The default goal is a suggestion; the same one in somebody's own words is asked for.
#[test]
fn a_goal_that_is_typed_counts_though_it_is_the_default() {
    let scratch = Scratch::new("typed-goal");
    let slow = [
        "simulate",
        "--model-config",
        "llama-3.1-8b",
        "--hardware",
        "h100-sxm",
        "--isl",
        "64",
        "--osl",
        "8",
    ];
    let slow = [&slow[..], &["--max-num-seqs", "1", "--num-prompts", "120"]].concat();
    let typed = ["--slo", "p99 ttft<500ms, p99 tpot<20ms"];
    let loads: [&[&str]; 3] =
        [&["--max-concurrency", "64"], &["--levels", "64"], &["--levels", "64", "--tp", "1,2"]];
    for (number, load) in loads.into_iter().enumerate() {
        let line = [&slow[..], load].concat();
        let out = |name: &str| scratch.path(&format!("{name}-{number}"));
        let silent = run(&[&line[..], &["--out", &out("silent")]].concat());
        assert_eq!(silent.code, Some(0), "{silent:?}");
        let asked = run(&[&line[..], &typed, &["--out", &out("asked")]].concat());
        assert_eq!(asked.code, Some(1), "{asked:?}");
    }
}

/// One level in virtual time, of so many words more.
fn simulated(extra: &str) -> Ended {
    let words = "simulate --model-config llama-3.1-8b --hardware h100-sxm --isl 512 --osl 32 --slo";
    let words: Vec<&str> = words.split(' ').chain(["p99 ttft<300ms"]).collect();
    run(&[&words[..], &extra.split(' ').collect::<Vec<_>>()].concat())
}

/// The greatest of three values is no p99.
#[test]
fn a_goal_of_one_level_that_takes_more_requests_is_not_decided() {
    let few = simulated("--max-concurrency 1 --num-prompts 3");
    assert_eq!(few.code, Some(1), "{few:?}");
    assert!(few.out.contains("not decided (maximum "), "{}", few.out);
    assert!(few.out.contains("Use --num-prompts 100 to decide all goals."), "{}", few.out);
    let enough = simulated("--max-concurrency 1 --num-prompts 100");
    assert_eq!(enough.code, Some(0), "{enough:?}");
}

/// A cap makes requests wait before they are sent, which their users see.
#[test]
fn a_cap_on_requests_in_flight_hides_no_queue_from_a_goal() {
    let arrivals = "--request-rate 20 --num-prompts 400";
    let capped = simulated(&format!("{arrivals} --max-concurrency 2"));
    assert_eq!(capped.code, Some(1), "{capped:?}");
    assert!(capped.out.contains("missed from schedule, simulated"), "{}", capped.out);
    let open = simulated(arrivals);
    assert_eq!(open.code, Some(0), "{open:?}");
}
