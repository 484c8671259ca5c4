//! A source asked again and again by a thread of its own, off every thread that measures.

mod cost;
mod running;

pub use cost::{Pace, ScrapeCost};
pub use running::{Metrics, ScrapeReport, ScrapeSettings, Scraper, ScraperError, in_one_line};
