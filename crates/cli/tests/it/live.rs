//! A run that is watched: lines at the foot of a terminal, all of it with `--live`, nothing in a pipe.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};

use crate::interrupt::{interrupt, signal};
use crate::pty::OnTerminal;
use crate::stand::{Scratch, fizeau, json, run, scripted, stream_of};

/// A server that answers `good` requests and holds all others; it says when it holds the first.
fn hanging_after(good: u64) -> (String, Receiver<()>) {
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |n| {
        if n < good {
            return Some(stream_of(4));
        }
        // Nobody listens to more than the first.
        let _ = told.lock().unwrap().send(());
        None
    });
    (url, hung)
}

/// One request to check, one warm-up, and the others are measured.
fn bench<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let line = "bench --model m --random-input-len 4 --random-output-len 4 --num-prompts 9 --num-warmups 1 \
                --max-concurrency 1";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url]);
    words.extend(rest);
    words
}

#[test]
fn lines_on_a_terminal_tell_what_is_in_flight_while_nothing_ends() {
    let (url, hung) = hanging_after(4);
    let mut program = OnTerminal::start(fizeau(&bench(&url, &[])), (80, 24));
    hung.recv().unwrap();
    program.wait_for("2/9 done  1 in flight  0 failed");
    interrupt(program.child());
    let left = program.end();
    assert_eq!(left.status.code(), Some(130), "{left:?}");
    assert!(left.is_cooked && left.text.contains("TTFT p50"), "{left:?}");
    let (_, after) = left.text.split_once("interrupted: ").unwrap_or_else(|| panic!("{left:?}"));
    let (message, below) = after.split_once("\r\n").unwrap();
    assert!(message.ends_with("(again to quit)") && below.starts_with("bench "), "{left:?}");
}

#[test]
fn a_run_whose_terminal_is_closed_keeps_what_it_has() {
    let (url, hung) = hanging_after(4);
    let scratch = Scratch::new("live-closed");
    let out = scratch.path("run");
    let mut program = OnTerminal::start(fizeau(&bench(&url, &["--out", &out])), (80, 24));
    hung.recv().unwrap();
    program.wait_for("in flight");
    let mut child = program.close();
    signal("HUP", &child);
    assert_eq!(child.wait().unwrap().code(), Some(129));
    assert_eq!(json(format!("{out}/summary.json"))["requests"]["completed"], 2);
}

#[test]
fn a_full_screen_is_refused_where_the_terminal_has_none() {
    let mut dumb = fizeau(&bench("http://127.0.0.1:9", &["--live"]));
    dumb.env("TERM", "dumb");
    let left = OnTerminal::start(dumb, (80, 24)).end();
    assert!(left.status.code() == Some(2) && left.text.contains("--live needs"), "{left:?}");
}

#[test]
fn a_full_screen_is_refused_where_there_is_none_before_anything_is_sent() {
    // Nobody listens there, which would be another exit code.
    for command in ["bench", "sweep", "search --slo e2el<1s"] {
        let line = format!("{command} --model m --base-url http://127.0.0.1:9 --live");
        let ended = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("--live needs"), "{ended:?}");
        assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    }
    let ab = "ab --model m --a http://127.0.0.1:9 --b http://127.0.0.1:9/b --live";
    let ended = run(&ab.split_whitespace().collect::<Vec<_>>());
    assert!(ended.code == Some(2) && ended.err.contains("--live needs"), "{ended:?}");
}

#[cfg(feature = "tui")]
mod screen {
    use super::*;
    use crate::pty::LeftTerminal;
    use crate::stand::simulated;

    const ENTER: &str = "\u{1b}[?1049h";
    const LEAVE: &str = "\u{1b}[?1049l";

    /// What was written once the screen was given back.
    fn after(left: &LeftTerminal) -> &str {
        let (before, after) = left.text.rsplit_once(LEAVE).unwrap_or_else(|| panic!("{left:?}"));
        assert_eq!(before.matches(ENTER).count(), 1, "{left:?}");
        assert!(!before.contains(LEAVE) && !after.contains(ENTER), "{left:?}");
        assert!(left.is_cooked, "{left:?}");
        after
    }

    #[test]
    fn a_sweep_takes_the_terminal_gives_it_back_and_reports() {
        let (server, scratch) = (simulated(), Scratch::new("live"));
        let (url, out) = (server.base_url(), scratch.path("run"));
        let line = "sweep --model m --levels 1,4 --isl 4 --osl 4 --num-prompts 20 --live";
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--base-url", &url, "--out", &out]);
        let mut program = OnTerminal::start(fizeau(&words), (100, 30));
        program.wait_for(ENTER);
        program.wait_for("fizeau");
        let left = program.end();
        let report = after(&left);
        assert!(left.status.code().is_some_and(|code| code < 2), "{left:?}");
        assert!(report.contains("report.html"), "{report}");
    }

    #[test]
    fn q_ends_the_run_and_what_was_measured_is_kept() {
        let (url, hung) = hanging_after(4);
        let scratch = Scratch::new("live-q");
        let out = scratch.path("run");
        let words = bench(&url, &["--out", &out, "--live"]);
        let mut program = OnTerminal::start(fizeau(&words), (80, 24));
        hung.recv().unwrap();
        program.wait_for(ENTER);
        program.type_in("xq");
        let left = program.end();
        assert_eq!(left.status.code(), Some(130), "{left:?}");
        let report = after(&left);
        assert!(report.contains("interrupted") && report.contains("partial"), "{report}");
        assert_eq!(json(format!("{out}/summary.json"))["requests"]["completed"], 2);
    }

    #[test]
    fn signals_end_it_as_ctrl_c_does() {
        for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let (url, hung) = hanging_after(4);
            let mut program = OnTerminal::start(fizeau(&bench(&url, &["--live"])), (80, 24));
            hung.recv().unwrap();
            program.wait_for(ENTER);
            signal(name, program.child());
            let left = program.end();
            assert_eq!(left.status.code(), Some(code), "{left:?}");
            assert!(after(&left).contains("interrupted"), "{left:?}");
            assert!(left.text.contains("\u{1b}[?25h"), "the cursor is back: {left:?}");
        }
    }

    #[test]
    fn a_run_that_breaks_off_gives_the_terminal_back() {
        let (url, hung) = hanging_after(4);
        let scratch = Scratch::new("live-broken");
        let out = scratch.path("run");
        let words = bench(&url, &["--out", &out, "--live"]);
        let mut program = OnTerminal::start(fizeau(&words), (80, 24));
        hung.recv().unwrap();
        program.wait_for(ENTER);
        // The summary cannot be written where there is a folder of its name.
        std::fs::create_dir(format!("{out}/summary.json")).unwrap();
        program.type_in("\u{3}");
        let left = program.end();
        assert!(after(&left).contains("error: "), "{left:?}");
    }
}
