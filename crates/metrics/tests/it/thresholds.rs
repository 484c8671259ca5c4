//! Thresholds by name.

use fizeau_core::Millis;
use fizeau_metrics::{ThresholdError, Thresholds};

fn parse(text: &str) -> Result<Thresholds, ThresholdError> {
    text.parse()
}

/// As the message for a name that there is not lists them.
fn names() -> Vec<String> {
    let message = parse("x=1").map_or_else(|error| error.to_string(), |_| String::new());
    let names = message.split_once("thresholds are ").map_or("", |(_, names)| names);
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_name_sets_a_threshold_of_its_own() {
    let defaults = Thresholds::default();
    assert_eq!(parse(""), Ok(defaults));
    let mut seen: Vec<Thresholds> = vec![defaults];
    for name in names() {
        let mut changed = defaults;
        changed.set(&name, "0.123").unwrap();
        assert!(!seen.contains(&changed), "{name}");
        seen.push(changed);
    }
}

#[test]
fn times_and_shares_have_the_usual_spellings() {
    for (text, millis) in [("5ms", 5.0), ("0.5 s", 500.0), ("250us", 0.25), ("7", 7.0), ("0", 0.0)]
    {
        let limits = parse(&format!("lateness-suspect = {text}")).unwrap();
        assert_eq!(limits.lateness_suspect, Millis::new(millis), "{text}");
    }
    for (text, share) in [("0.8", 0.8), ("80%", 0.8), ("12.5 %", 0.125), ("1", 1.0)] {
        assert_eq!(parse(&format!("cpu-suspect={text}")).unwrap().cpu_suspect, share, "{text}");
    }
    let both = parse("cpu-invalid=0.9, read-lag-suspect=1ms").unwrap();
    assert_eq!((both.cpu_invalid, both.read_lag_suspect), (0.9, Millis::new(1.0)));
}

#[test]
fn errors_name_the_piece_and_what_would_be_right() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    let unknown = error("cpu=0.9");
    assert!(unknown.starts_with("unknown threshold `cpu`; the thresholds are lateness-suspect, "));
    assert!(names().len() == 15, "{unknown}");
    assert!(error("cpu-suspect").contains("write `name=value`"));
    for wrong in ["5 d", "-1ms", "nan", "inf", "", "80%"] {
        let error = error(&format!("lateness-suspect={wrong}"));
        assert!(error.contains(&format!("`{wrong}` is not a length of time")), "{error}");
    }
    for wrong in ["1.1", "-0.1", "101%", "nan", "5ms", ""] {
        let error = error(&format!("cpu-suspect={wrong}"));
        assert!(error.contains(&format!("`{wrong}` is not a share")), "{error}");
    }
}

#[test]
fn the_documentation_names_every_threshold() {
    let page = include_str!("../../../../docs/metrics.md");
    for name in names() {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
