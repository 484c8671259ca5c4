//! Ctrl-C, and other signals that ask a program to end, in the midst of a run.

use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;

use crate::report_page::comes_back;
use crate::stand::{Ended, Scratch, fizeau, json, scripted, stream_of};

#[test]
fn finished_levels_stay_and_the_one_under_way_is_marked() {
    sweep_ended_by("INT", 130);
}

#[test]
fn a_system_that_ends_the_program_loses_no_more() {
    sweep_ended_by("TERM", 143);
}

fn sweep_ended_by(name: &str, code: i32) {
    // One request to check, one warm-up and three measured at the first level, then two warm-ups and one measured at the
    // second. The next hangs, which is when the interrupt comes.
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |n| {
        if n < 8 {
            return Some(stream_of(4));
        }
        told.lock().unwrap().send(()).unwrap();
        None
    });
    let scratch = Scratch::new(&format!("interrupt-{name}"));
    let out = scratch.path("run");
    let line = "sweep --model m --levels 1,2,4 --isl 4 --osl 4 --num-prompts 3 --level-seconds 60";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    let child = fizeau(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hung.recv().unwrap();
    // Who would write there as well is told who does.
    let second = Ended::from(fizeau(&words).output().unwrap());
    assert_eq!(second.code, Some(2), "{second:?}");
    let held = format!("--out: {out} is in use: process {}", child.id());
    assert!(second.err.contains(&held), "{}", second.err);
    signal(name, &child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert!(ended.err.contains("interrupted"), "{}", ended.err);
    comes_back(&out);
    let sweep = json(format!("{out}/sweep.json"));
    let levels = sweep["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2, "the third level never began");
    let reason = "the run was interrupted";
    let left = serde_json::json!([{"concurrency": 4, "reason": reason}]);
    assert_eq!((&sweep["unmeasured"], &sweep["ending"]), (&left, &"interrupted".into()));
    assert!(ended.out.contains("Interrupted: not all that was"), "{}", ended.out);
    assert!(ended.out.contains("4 (never measured: the run was interrupted)"), "{}", ended.out);
    assert_eq!(levels[0]["status"], "finished");
    assert_eq!(levels[0]["requests"]["completed"], 3);
    assert_eq!(levels[1]["status"], "partial");
    assert_eq!(levels[1]["on_frontier"], false);
    let cancelled = levels[1]["requests"]["by_class"]["cancelled"].as_u64().unwrap();
    assert!(cancelled >= 1, "{}", levels[1]["requests"]);
    assert_eq!(json(format!("{out}/concurrency-0002/summary.json"))["status"], "partial");
    assert!(ended.out.contains("partial"), "{}", ended.out);
}

/// A client whose request is never answered. The kernel stamps while any socket of the machine asks for it, and begins a moment after the
/// first has asked: what comes before that has no stamp.
fn stamping() -> Child {
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |_| {
        // Nobody listens to what comes after the first.
        told.lock().unwrap().send(()).ok();
        None
    });
    let line = "bench --model m --num-prompts 1 --base-url";
    let words: Vec<&str> = line.split_whitespace().chain([&*url]).collect();
    let child = fizeau(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hung.recv().unwrap();
    child
}

#[test]
fn a_part_of_a_run_is_marked_in_its_folder_and_is_no_vllm_result() {
    let stamping = stamping();
    // One request to check, one warm-up, two measured; the next hangs, which is when the interrupt comes.
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |n| {
        if n < 4 {
            return Some(stream_of(4));
        }
        told.lock().unwrap().send(()).unwrap();
        None
    });
    let scratch = Scratch::new("interrupted-bench");
    let (out, result) = (scratch.path("run"), scratch.path("result.json"));
    let line = "bench --model m --random-input-len 4 --random-output-len 4 --num-prompts 9 --num-warmups 1 \
                --max-concurrency 1";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    words.extend(["--save-result", "--result-filename", &result]);
    let child = fizeau(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hung.recv().unwrap();
    interrupt(&child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    interrupt(&stamping);
    stamping.wait_with_output().unwrap();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["status"], "partial");
    assert_eq!(summary["requests"]["completed"], 2);
    // The request that was called off before its reply had no stamps.
    assert_eq!(summary["client"]["stamps"], "kernel");
    assert!(!std::path::Path::new(&result).exists());
    comes_back(&out);
    for words in ["not written, since the run was interrupted", "partial"] {
        assert!(ended.out.contains(words), "{}", ended.out);
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |n| {
        if n < 2 {
            return Some(stream_of(4));
        }
        told.lock().unwrap().send(()).unwrap();
        None
    });
    let line = "bench --model m --random-input-len 4 --random-output-len 4 --num-prompts 9 --max-concurrency 1";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url]);
    let program = fizeau(&words);
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    ignoring.arg(program.get_program()).args(program.get_args());
    let child = ignoring.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hung.recv().unwrap();
    signal("HUP", &child);
    signal("TERM", &child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(143), "a hangup would have been the first signal: {ended:?}");
}

pub(crate) fn interrupt(child: &Child) {
    signal("INT", child);
}

/// Sends the signal of this name.
pub(crate) fn signal(name: &str, child: &Child) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
}
