//! What an hour of a device costs, in words.

use fizeau_core::UsdPerHour;
use fizeau_roofline::{HourlyRate, PriceOrigin};

/// What a reader is told of a price: how much, who says so, and when.
pub fn price_words(hour: &HourlyRate) -> String {
    with_price_origin(&hourly(hour), hour)
}

/// `2.50 USD a device-hour`, or from where to where it goes.
pub fn hourly(hour: &HourlyRate) -> String {
    let (low, high) = (hour.low.get(), hour.high.get());
    let from = if low < high { format!("{} to ", usd(low)) } else { String::new() };
    format!("{from}{}", device_hour(hour.high))
}

/// `2.50 USD a device-hour`.
fn device_hour(price: UsdPerHour) -> String {
    format!("{} USD a device-hour", usd(price.get()))
}

/// `price`, and who says so.
pub fn with_price_origin(price: &str, hour: &HourlyRate) -> String {
    match &hour.origin {
        PriceOrigin::Published { kind, source, date } => {
            format!(
                "{price}, the lowest published ({kind}; {source}, {date}); this is not an offer: give \
                 the price that you pay"
            )
        }
        PriceOrigin::Owned => format!("{price}: the cost of owning a device, from the file"),
        _ => format!("{price}, as given"),
    }
}

/// What is priced.
pub const MILLION: &str = "A million output tokens";

/// At what price something costs so much: `at 2.10 USD a device-hour, as given`.
pub fn at_price(hour: &HourlyRate) -> String {
    let lowest = device_hour(hour.low);
    let origin = match &hour.origin {
        PriceOrigin::Given => "as given".to_owned(),
        PriceOrigin::Owned => "as the cost of owning it".to_owned(),
        // Some say the date themselves.
        PriceOrigin::Published { kind, date, .. }
            if kind.contains(date.get(..4).unwrap_or(date)) =>
        {
            format!("published ({kind})")
        }
        PriceOrigin::Published { kind, date, .. } => format!("published {date} ({kind})"),
        _ => "of unknown origin".to_owned(),
    };
    format!("at {lowest}, {origin}")
}

/// Who says so, as files have it.
pub(crate) fn price_origin(hour: &HourlyRate) -> String {
    match &hour.origin {
        PriceOrigin::Published { kind, source, date } => format!("{kind}, {source}, {date}"),
        PriceOrigin::Owned => "the costs of owning one".to_owned(),
        _ => "given".to_owned(),
    }
}

/// From here on cents mean nothing.
const WHOLE_FROM: f64 = 9_999.5;

/// Dollars with the digits that mean something: `1,234,567`, `56.70`, `0.000563`.
pub fn usd(amount: f64) -> String {
    if !amount.is_finite() {
        return "-".to_owned();
    }
    if amount == 0.0 || amount >= 1.0 {
        let shown = format!("{amount:.2}");
        return match shown.split_once('.') {
            Some((whole, cents)) if amount < WHOLE_FROM => format!("{}.{cents}", grouped(whole)),
            _ => dollars(amount),
        };
    }
    // Three digits that count.
    let zeros = (-amount.log10()).ceil().clamp(1.0, 12.0) as usize - 1;
    format!("{amount:.0$}", zeros + 3)
}

/// Amounts that stand side by side, in one format: whole dollars where one of them is so much.
pub fn usd_beside(amounts: [Option<f64>; 2]) -> [String; 2] {
    let is_whole = amounts.iter().flatten().any(|amount| *amount >= WHOLE_FROM);
    let shown = |amount: f64| match is_whole {
        true if amount.is_finite() => dollars(amount),
        _ => usd(amount),
    };
    amounts.map(|amount| amount.map_or_else(|| "-".to_owned(), shown))
}

/// Whole dollars.
fn dollars(amount: f64) -> String {
    grouped(&format!("{amount:.0}"))
}

/// The digits of a whole number, with a comma between thousands.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{usd, usd_beside};

    #[test]
    fn dollars_have_the_digits_that_count() {
        let shown = [0.0, 2.5, 9999.0, 12_345.6, 1_234_567.0, 0.000_563_4, 0.1, 0.99].map(usd);
        let right =
            ["0.00", "2.50", "9,999.00", "12,346", "1,234,567", "0.000563", "0.100", "0.990"];
        assert_eq!(shown, right);
        assert_eq!(usd(f64::NAN), "-");
        assert_eq!(usd_beside([Some(7305.0), Some(10_957.5)]), ["7,305", "10,958"]);
        assert_eq!(usd_beside([Some(7305.0), None]), ["7,305.00", "-"]);
    }
}
