//! What is printed, as it is on a terminal of 80 and of 120 columns, and in a pipe.

use std::process::Command;

use crate::pty::OnTerminal;
use crate::stand::{Ended, Scratch, fizeau};

/// A sweep in virtual time, which prints the same everywhere.
const SIMULATE: [&str; 8] = [
    "simulate",
    "--levels",
    "1,4,16,64,128",
    "--num-prompts",
    "200",
    "--slo",
    "p99 e2el<6000ms",
    "--no-stop",
];

fn simulated(scratch: &Scratch, name: &str) -> Vec<String> {
    let out = scratch.path(name);
    SIMULATE.into_iter().chain(["--out", &out]).map(str::to_owned).collect()
}

/// On a terminal of so many columns, with these variables set.
fn on_terminal(words: &[String], columns: u16, variables: &[&str]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = fizeau(&words);
    // By way of `env`, since a stand's terminal is one with colours.
    let mut command = Command::new("env");
    command.args(["-u", "LC_ALL", "-u", "LC_CTYPE", "LANG=C.UTF-8"]).args(variables);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let left = OnTerminal::start(command, (columns, 40)).end();
    assert!(left.status.success(), "{left:?}");
    left.text.replace("\r\n", "\n")
}

fn in_pipe(words: &[String]) -> Ended {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended: Ended = fizeau(&words).env("LANG", "C.UTF-8").output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

/// Without the sequences that set colours.
fn bare(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(|c: char| c.is_ascii_alphabetic()).unwrap().1);
    }
    out
}

/// Lines that no terminal need break, but for paths, which are left whole.
fn assert_fits(text: &str, columns: usize) {
    for line in bare(text).lines().filter(|line| !line.contains('/')) {
        // What a bar of progress overwrote is not on the screen any more.
        let line = line.rsplit('\r').next().unwrap_or_default();
        assert!(line.chars().count() <= columns, "{}: {line}\n{text}", line.chars().count());
    }
}

const CHART: &str = "Requests/s against p99 E2EL";

#[test]
fn a_sweep_fits_the_terminal_that_it_gets() {
    let scratch = Scratch::new("terminal-simulate");
    for (columns, is_wide) in [(80, false), (120, true)] {
        let words = simulated(&scratch, &format!("run-{columns}"));
        let text = on_terminal(&words, columns, &[]);
        assert_fits(&text, columns.into());
        assert!(text.contains(CHART), "{text}");
        assert!(text.contains("\u{1b}[1;32m>"), "{text}");
        // Dots of a braille pattern.
        assert!(text.contains(|c: char| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
        assert_eq!(bare(&text).contains('±'), is_wide, "{text}");
    }
}

#[test]
fn a_report_has_colours_on_a_terminal_alone_and_not_where_nobody_wants_them() {
    let scratch = Scratch::new("terminal-report");
    in_pipe(&simulated(&scratch, "run"));
    let words = ["report".to_owned(), scratch.path("run")];
    for columns in [80, 120] {
        let coloured = on_terminal(&words, columns, &[]);
        assert_fits(&coloured, columns.into());
        assert!(coloured.contains("\u{1b}["), "{coloured}");
        for without in ["NO_COLOR=1", "TERM=dumb"] {
            let plain = on_terminal(&words, columns, &[without]);
            assert_eq!(plain, bare(&coloured), "{without}");
        }
        let ascii = on_terminal(&words, columns, &["LANG=C"]);
        let chart = ascii.split_once(CHART).unwrap().1;
        assert!(chart.lines().skip(1).take(12).all(str::is_ascii), "{ascii}");
    }
}

#[test]
fn a_pipe_gets_plain_text_that_does_not_hang_on_the_environment() {
    let scratch = Scratch::new("terminal-pipe");
    let first = in_pipe(&simulated(&scratch, "run"));
    let words = ["report", &scratch.path("run")].map(str::to_owned);
    let report = in_pipe(&words);
    for out in [&first.out, &report.out] {
        assert_fits(out, 80);
        assert!(out.contains(CHART) && !out.contains('\u{1b}'), "{out}");
        assert!(!out.contains(|c: char| ('\u{2500}'..='\u{28ff}').contains(&c)), "{out}");
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut elsewhere = fizeau(&words);
    elsewhere.env("COLUMNS", "60").env("LANG", "C").env("TERM", "xterm-256color");
    let elsewhere: Ended = elsewhere.output().unwrap().into();
    assert_eq!(elsewhere.out, report.out);
}
