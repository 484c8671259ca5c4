//! What a device costs.

use clap::Args;
use fizeau::core::UsdPerHour;
use fizeau::roofline::HourlyRate;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct PriceArgs {
    /// The price of one device for an hour in US dollars, for what a million tokens cost; by default the lowest published price
    /// of the device, where one is known.
    #[arg(long, value_name = "USD", value_parser = hour)]
    pub(crate) gpu_hour: Option<HourlyRate>,
}

/// US dollars an hour, wherever they are typed.
pub(crate) fn hour(text: &str) -> Result<HourlyRate, String> {
    let price: f64 = text.trim().parse().map_err(|_| "give US dollars an hour, such as 2.49")?;
    HourlyRate::given(UsdPerHour::new(price)).map_err(|error| error.to_string())
}
