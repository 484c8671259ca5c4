//! Prints the page of a synthetic sweep: `cargo run -p fizeau-report --example sample_page > report.html`.
//! With an argument it prints the terminal's text instead, for that many columns; `ascii` after it keeps to ASCII.

use fizeau_report::{Charset, ChecklistRows, Shown, Terminal, TextStyle};

#[allow(clippy::unwrap_used, dead_code, reason = "what the tests use too is all fixed")]
#[path = "../tests/it/sample.rs"]
mod sample;

fn main() {
    let report = sample::detailed();
    let charset = match std::env::args().nth(2).as_deref() {
        Some("ascii") => Charset::Ascii,
        _ => Charset::Unicode,
    };
    let width = std::env::args().nth(1).and_then(|width| width.parse().ok());
    match width {
        None => print!("{}", Shown(&report).page()),
        Some(width) => {
            let terminal = Terminal {
                width,
                style: TextStyle::Plain,
                charset,
                verbosity: fizeau_report::Verbosity::Full,
                checklist: ChecklistRows::Missed,
                report: Some("runs/sample/report.html"),
            };
            print!("{}", Shown(&report).terminal(&terminal));
        }
    }
}
