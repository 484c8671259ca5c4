//! `fizeau bench --until`.

use serde_json::Value;

use crate::stand::{Scratch, json, run, simulated};

fn line<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let line = "bench --model m --random-input-len 20 --random-output-len 3 --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url]);
    words.extend(rest);
    words
}

#[test]
fn a_run_ends_once_the_figure_is_known() {
    let (server, scratch) = (simulated(), Scratch::new("until"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let asked = ["--max-concurrency", "4", "--until", "mean e2el ci=90%", "--out", &out];
    let ended = run(&line(&url, &asked));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("Until mean e2el ci=90%:                  reached: ±"),
        "{}",
        ended.out
    );
    let (summary, record) =
        (json(scratch.path("run/summary.json")), json(scratch.path("run/run.json")));
    let sent = summary["requests"]["sent"].as_u64().unwrap();
    assert!((100..1_000).contains(&sent), "{sent}");
    assert_eq!(summary["requests"]["completed"], sent, "what was in flight has finished");
    assert_eq!(
        (&summary["status"], &summary["until"]["reached"]),
        (&"finished".into(), &true.into())
    );
    assert!(summary["until"]["goals"][0]["half_width"].as_f64().unwrap() < 0.9);
    assert_eq!(record["levels"][0]["until"], "mean e2el ci=90%");
    assert_eq!(record["levels"][0]["requests"], 100_000);
}

#[test]
fn a_figure_that_stays_unknown_is_a_goal_missed() {
    let (server, scratch) = (simulated(), Scratch::new("until-not"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let asked = ["--max-concurrency", "4", "--num-prompts", "40", "--until", "p99 e2el ci=1%"];
    let ended = run(&line(&url, &[&asked[..], &["--out", &out]].concat()));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let said = "Until p99 e2el ci=1%:                    not reached: needs about 100, has 40";
    assert!(ended.out.contains(said), "{}", ended.out);
    let summary = json(scratch.path("run/summary.json"));
    assert_eq!(summary["until"]["reached"], false);
    assert_eq!(summary["until"]["goals"][0]["half_width"], Value::Null);
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_is_sent() {
    for (asked, says) in [
        (&["--until", "ci=2%"][..], "--until: say how hard to press"),
        (&["--max-concurrency", "4", "--until", "ci=2"], "--until: `ci=2`: `2` is not a share"),
        (
            &["--max-concurrency", "4", "--until", "p99 itl ci=2%"],
            "--until: `p99 itl ci=2%`: there is no interval",
        ),
    ] {
        let ended = run(&line("http://127.0.0.1:9", asked));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}
