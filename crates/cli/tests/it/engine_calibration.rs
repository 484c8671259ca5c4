//! `fizeau calibrate`: what it refuses. What it finds is held in virtual time by the library's tests.

use crate::stand::{Scratch, run};

const NOWHERE: [&str; 4] = ["--base-url", "http://127.0.0.1:1", "--model", "m"];
const SYSTEM: [&str; 4] = ["--model-config", "llama-3.1-8b", "--hardware", "h100-sxm"];

fn refused(flags: &[&[&str]], code: i32, why: &str) {
    let scratch = Scratch::new("engine-calibration");
    let (out, runs) = (scratch.path("calibration.json"), scratch.path("runs"));
    let line = [&["calibrate", "--out", &out, "--out-dir", &runs][..], &flags.concat()].concat();
    let ended = run(&line);
    assert_eq!(ended.code, Some(code), "{line:?}: {ended:?}");
    assert!(ended.err.contains(why), "{line:?}: {ended:?}");
    assert!(!scratch.files().contains(&"calibration.json".to_owned()), "{line:?}");
}

#[test]
fn what_cannot_be_calibrated_is_refused_with_what_would_be_right() {
    refused(&[&SYSTEM], 2, "--base-url is missing");
    refused(&[&NOWHERE], 2, "--model-config is missing");
    refused(&[&NOWHERE, &SYSTEM[..2]], 2, "--hardware is missing");
    refused(&[&NOWHERE, &SYSTEM[..3], &["abacus"]], 2, "abacus");
    refused(
        &[&NOWHERE, &["--model-config", "none.json", "--hardware", "h100-sxm"]],
        2,
        "none.json",
    );
    refused(&[&NOWHERE, &SYSTEM, &["--budget", "1s"]], 2, "the 5 smallest loads alone take");
    refused(&[&NOWHERE, &SYSTEM, &["--budget", "1s"]], 2, "; use --budget ");
    refused(&[&NOWHERE, &SYSTEM, &["--max-context", "50"]], 2, "a fit needs 5");
    refused(&[&NOWHERE, &SYSTEM], 3, "127.0.0.1:1");
}
