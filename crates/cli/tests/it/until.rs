//! `fizeau bench --until` and `fizeau sweep --until`.

use serde_json::Value;

use crate::stand::{HOWEVER_BUSY, Scratch, json, run, simulated};

fn line<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let line = "bench --model m --random-input-len 20 --random-output-len 3 --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url]);
    words.extend(HOWEVER_BUSY);
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
        ended.out.contains("Until mean e2el ci=90%:                  reached: +-"),
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
        (&["--until", "ci=2%"][..], "--until: all requests would leave at once"),
        (&["--max-concurrency", "4", "--until", "ci=2"], "--until: `ci=2`: `2` is not a share"),
        (
            &["--max-concurrency", "4", "--until", "p99 itl ci=2%"],
            "--until: `p99 itl ci=2%`: this figure has no interval",
        ),
    ] {
        let ended = run(&line("http://127.0.0.1:9", asked));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}

fn sweep<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let line = "sweep --model m --levels 2,4 --isl 20 --osl 3 --num-warmups 0";
    line.split_whitespace()
        .chain(["--base-url", url])
        .chain(HOWEVER_BUSY)
        .chain(rest.iter().copied())
        .collect()
}

#[test]
fn each_level_of_a_sweep_ends_once_the_figure_is_known() {
    let (server, scratch) = (simulated(), Scratch::new("sweep-until"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let ended = run(&sweep(&url, &["--until", "mean e2el ci=90%", "--out", &out]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("Until mean e2el ci=90%: reached at 2, 4\n"), "{}", ended.out);
    let (report, record) =
        (json(scratch.path("run/sweep.json")), json(scratch.path("run/run.json")));
    for (level, name) in ["concurrency-0002", "concurrency-0004"].into_iter().enumerate() {
        let summary = json(scratch.path(&format!("run/{name}/summary.json")));
        let sent = summary["requests"]["sent"].as_u64().unwrap();
        assert!((100..1_000).contains(&sent), "{sent}");
        assert_eq!(summary["until"]["reached"], true);
        assert_eq!(report["levels"][level]["until"], summary["until"]);
        let planned = &record["levels"][level];
        assert_eq!(planned["until"], "mean e2el ci=90%");
        assert_eq!(
            (&planned["requests"], &planned["release_for_ms"]),
            (&100_000.into(), &180_000.0.into())
        );
    }
    let page = std::fs::read_to_string(scratch.path("run/report.html")).unwrap();
    assert!(page.contains("ntil mean e2el ci=90%: reached at 2, 4"));
}

#[test]
fn a_level_of_a_sweep_that_stays_unknown_is_a_goal_missed() {
    let (server, scratch) = (simulated(), Scratch::new("sweep-until-not"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let asked = ["--num-prompts", "40", "--until", "p99 e2el ci=1%", "--out", &out];
    let ended = run(&sweep(&url, &asked));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let said = "Until p99 e2el ci=1%: not reached at 2 (needs about 100, has 40), 4 (needs about 100, has 40)";
    let joined = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(said), "{}", ended.out);
    let ended = run(&sweep("http://127.0.0.1:9", &["--until", "ci=2"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--until: `ci=2`: `2` is not a share"), "{}", ended.err);
}
