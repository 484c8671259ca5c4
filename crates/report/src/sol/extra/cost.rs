//! What tokens cost.

use fizeau_roofline::{Cost, HourlyRate, PriceOrigin, UsdRange};

use super::{SolExtra, SolSubject, by_each};

impl SolExtra {
    /// What tokens cost at `rate`, by the lowest and, where it differs, the highest price.
    #[must_use]
    pub fn cost(of: &SolSubject<'_>, rate: &HourlyRate) -> Self {
        let [bound, expected] = by_each(|by| of.system.cost(by, of.load, of.batch, rate));
        let costs = [bound, expected];
        let (low, high) = (rate.low.get(), rate.high.get());
        let price = match low < high {
            true => format!("{low:.2} to {high:.2}"),
            false => format!("{low:.2}"),
        };
        let mut aside = Self::new("cost", format!("US dollars, at {price} a device and hour"));
        let is_range = low < high;
        let mut add = |names: [&'static str; 4], part: fn(&Cost) -> UsdRange| {
            aside.both(names[0], names[1], |i| part(&costs[i]).low.get());
            if is_range {
                aside.both(names[2], names[3], |i| part(&costs[i]).high.get());
            }
        };
        add(MILLION_OUTPUT_ALONE, |cost| cost.per_million_output_alone);
        add(MILLION_INPUT, |cost| cost.per_million_input);
        add(MILLION_OUTPUT, |cost| cost.per_million_output);
        if costs.iter().all(|cost| cost.per_million_cached.is_some()) {
            add(MILLION_CACHED, |cost| cost.per_million_cached.unwrap_or(cost.per_million_input));
        }
        aside
            .both("prompt_share", "share of the time that prompts take", |i| costs[i].prompt_share);
        match &rate.origin {
            PriceOrigin::Published { kind, source, date } => {
                aside.note(format!(
                    "The price: {kind}, {source}, {date}. This is not an offer: give the price \
                     that you pay."
                ));
            }
            _ => aside.word("price_from", "price", "as given"),
        }
        aside
    }
}

/// Key and name at the low price, key and name at the high one.
const MILLION_OUTPUT_ALONE: [&str; 4] = [
    "per_million_output_alone",
    "1 M output tokens, if they bear all cost",
    "per_million_output_alone_high",
    "  at the high price",
];
const MILLION_INPUT: [&str; 4] = [
    "per_million_input",
    "a million input tokens",
    "per_million_input_high",
    "  at the high price",
];
const MILLION_CACHED: [&str; 4] = [
    "per_million_cached",
    "a million cached input tokens",
    "per_million_cached_high",
    "  at the high price",
];
const MILLION_OUTPUT: [&str; 4] = [
    "per_million_output",
    "a million output tokens, decode's share",
    "per_million_output_high",
    "  at the high price",
];
