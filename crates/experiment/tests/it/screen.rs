//! A run on the whole terminal.

use std::process::Command;

use fizeau_experiment::LiveScreen;
use fizeau_harness::Cancel;
use fizeau_record::text::Charset;

#[path = "../../../cli/tests/it/pty.rs"]
#[allow(dead_code, reason = "other tests have a use for it")]
mod pty;

/// Says that this process is the one that panics.
const PANICS: &str = "FIZEAU_TEST_PANICS_ON_SCREEN";

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    let this = "screen::a_panic_gives_the_terminal_back_before_it_is_told";
    if std::env::var_os(PANICS).is_some() {
        let _shown = LiveScreen::start("m".to_owned(), Charset::Ascii, &Cancel::new(), || {});
        panic!("by design");
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", this, "--nocapture"]).env(PANICS, "1");
    let left = pty::OnTerminal::start(again, (80, 24)).end();
    assert!(!left.status.success() && left.is_cooked, "{left:?}");
    let (shown, told) = left.text.split_once("\u{1b}[?1049l").unwrap();
    assert!(shown.contains("\u{1b}[?1049h") && !shown.contains("by design"), "{left:?}");
    assert!(told.contains("by design"), "{left:?}");
}
