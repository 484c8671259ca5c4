//! Published schedules do what the literature says of them: each a relation, not a figure.

mod batching;
mod disaggregation;
mod memory;
mod observe;
mod routing;
mod speculation;
