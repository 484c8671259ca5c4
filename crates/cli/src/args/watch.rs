//! `fizeau watch`.

use clap::Args;
use fizeau::core::Nanos;

use super::values::time;
use super::{PriceArgs, SystemArgs};

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The metrics pages of a fleet, such as http://10.0.0.1:8000/metrics: one for each replica, and those of its devices' exporters.
    #[arg(long, value_name = "URL", num_args = 1.., required = true, help_heading = "Fleet")]
    pub(crate) server_metrics: Vec<String>,
    /// A header that the pages ask for, as NAME=VALUE or "NAME: VALUE". Its value is never shown.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1.., help_heading = "Fleet")]
    pub(crate) server_metrics_header: Vec<String>,
    /// The GPUs of this machine that serve, by number or UUID, such as 0,1, or all. Their power, energy and clocks are read too.
    #[arg(long, value_name = "GPU", value_delimiter = ',', help_heading = "Fleet")]
    pub(crate) gpus: Vec<String>,
    /// Where one engine publishes records of its forward passes over ZeroMQ. Each step is compared with its own bound.
    #[arg(long, value_name = "HOST:PORT", help_heading = "Fleet")]
    pub(crate) forward_pass: Option<String>,
    /// The system behind each page.
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
    /// The time from one page to the next, such as 500ms; a bare number is one of seconds.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = time, help_heading = "Watch")]
    pub(crate) interval: Nanos,
    /// The time that the figures are taken over, up to now; with --once, how long the command runs.
    #[arg(long, value_name = "TIME", default_value = "30", value_parser = time, help_heading = "Watch")]
    pub(crate) window: Nanos,
    /// Serve the figures at http://ADDRESS/metrics for Prometheus; port 0 is any that is free.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "once", help_heading = "Watch")]
    pub(crate) listen: Option<String>,
    /// Print the figures of one window, and end. The exit code is 1 if a replica does not report its figures, or if a figure is above its bound.
    #[arg(long, help_heading = "Output")]
    pub(crate) once: bool,
    /// Print JSON (fizeau.watch/2): with --once a document, else one on a line for each interval.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
