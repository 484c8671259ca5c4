//! How documents put figures into words: what every sentence of this crate and of those that render is made with.

mod number;
mod plain;
mod price;
mod unreadable;
mod words;
mod wrap;

pub use fizeau_core::number::{decimals, number};
pub use number::{
    column_decimals, duration_ms, five_digits, four_digits, half_width, percent, supported,
};
pub use plain::{plain, plain_lines};
pub(crate) use price::price_origin;
pub use price::{MILLION, at_price, hourly, price_words, usd, usd_beside, with_price_origin};
pub use unreadable::unreadable;
pub(crate) use words::by_reason;
pub use words::{
    Charset, clock, counted_devices, expected_time, listed, minutes_and_seconds, slo_words, stamps,
    token_source,
};
pub use wrap::{wrap, wrap_hanging};
