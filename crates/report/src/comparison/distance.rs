//! How far the frontier of a sweep was pushed, in words.

use fizeau_record::text::number;
use fizeau_record::{FrontierChange, FrontierDistance};

/// `Frontier: B has +12 % [+5 %, +20 %] requests/s at equal p99 E2EL (100 to 500 ms), -8 % ...`.
pub(crate) fn text(distance: &FrontierDistance, [baseline, candidate]: [&str; 2]) -> String {
    let rate = one(&distance.requests_per_s, "requests/s", "p99 E2EL", " ms");
    let tail = one(&distance.p99_e2el_ms, "p99 E2EL", "requests/s", "");
    match (rate, tail) {
        (Ok(rate), Ok(tail)) => format!("Frontier: {candidate} has {rate}, {tail}"),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => format!("Frontier: {candidate} has {one}"),
        (Err(why), Err(_)) => {
            format!("Frontier: no distance between {baseline} and {candidate}: {why}")
        }
    }
}

/// `+12 % [+5 %, +20 %] requests/s at equal p99 E2EL (100 to 500 ms)`, or why not.
fn one<'a>(
    change: &'a FrontierChange,
    figure: &str,
    equal: &str,
    unit: &str,
) -> Result<String, &'a str> {
    let reason = || change.change_reason.as_deref().unwrap_or_default();
    let (Some(mean), Some([from, to])) = (change.change, change.over) else {
        return Err(reason());
    };
    let end = |end: Option<f64>| end.map_or_else(|| "open".to_owned(), signed);
    let interval = match change.change_ci {
        Some([low, high]) => format!(" [{}, {}]", end(low), end(high)),
        None => String::new(),
    };
    let over = match (number(from), number(to)) {
        (from, to) if from == to => from,
        (from, to) => format!("{from} to {to}"),
    };
    Ok(format!("{}{interval} {figure} at equal {equal} ({over}{unit})", signed(mean)))
}

/// `+12 %`.
fn signed(change: f64) -> String {
    let percent = number((change * 100.0).abs());
    let sign = if change < 0.0 { '-' } else { '+' };
    format!("{sign}{percent} %")
}
