//! What a device costs.

use clap::Args;
use fizeau::core::UsdPerHour;
use fizeau::roofline::HourlyRate;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct PriceArgs {
    /// What an hour of one device costs you, in US dollars, for what a million tokens cost; by default the lowest published price
    /// of the device, where it is known.
    #[arg(long, value_name = "USD", value_parser = hour)]
    pub(crate) gpu_hour: Option<HourlyRate>,
}

fn hour(text: &str) -> Result<HourlyRate, String> {
    let price: f64 = text.parse().map_err(|_| "a number of US dollars, such as 2.49")?;
    HourlyRate::given(UsdPerHour::new(price)).map_err(|error| error.to_string())
}
