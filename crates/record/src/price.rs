//! What an hour of a device costs, in words.

use fizeau_roofline::{HourlyRate, Origin};

use crate::plan::usd;

/// What a reader is told of a price: how much, who says so, and when.
pub(crate) fn words(hour: &HourlyRate) -> String {
    let (low, high) = (hour.low().get(), hour.high().get());
    let price = match low < high {
        false => format!("{} US dollars a device and hour", usd(low)),
        true => format!("{} to {} US dollars a device and hour", usd(low), usd(high)),
    };
    said_by(&price, hour)
}

/// `price`, and who says so.
pub(crate) fn said_by(price: &str, hour: &HourlyRate) -> String {
    match hour.origin() {
        Origin::Published { kind, source, date } => {
            format!(
                "{price}: the lowest of {kind}, {source}, {date}; no offer, --gpu-hour says yours"
            )
        }
        Origin::Owned => format!("{price}: what owning one costs, by the file"),
        _ => format!("{price}, as given"),
    }
}

/// What is priced.
pub(crate) const MILLION: &str = "A million output tokens";

/// At what price something costs so much: `at 2.10 USD a device-hour, as given`.
pub(crate) fn at(hour: &HourlyRate) -> String {
    let low = usd(hour.low().get());
    let origin = match hour.origin() {
        Origin::Given => "as given".to_owned(),
        Origin::Owned => "as owning it costs".to_owned(),
        // Some say the date themselves.
        Origin::Published { kind, date, .. } if kind.contains(date.get(..4).unwrap_or(date)) => {
            format!("a list price ({kind})")
        }
        Origin::Published { kind, date, .. } => format!("a list price of {date} ({kind})"),
        _ => "of unknown origin".to_owned(),
    };
    format!("at {low} USD a device-hour, {origin}")
}

/// Who says so, as files have it.
pub(crate) fn origin(hour: &HourlyRate) -> String {
    match hour.origin() {
        Origin::Published { kind, source, date } => format!("{kind}, {source}, {date}"),
        Origin::Owned => "the costs of owning one".to_owned(),
        _ => "given".to_owned(),
    }
}
