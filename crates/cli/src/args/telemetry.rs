//! What servers say of themselves, beside what the client measures.

use std::num::NonZeroU32;

use clap::Args;
use fizeau::experiment::{ExtraHeader, HeaderTextError, LocalGpus, ServerPages, TelemetrySpec};
use fizeau::telemetry::{PageSettings, PageSource};

use crate::exit::{Fail, Named};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server metrics")]
pub(crate) struct TelemetryArgs {
    /// A metrics page to read during the run, such as that of dcgm-exporter, besides the one that the server has at /metrics; give
    /// the flag once for each.
    #[arg(long, value_name = "URL")]
    server_metrics: Vec<String>,
    /// A metric to report whatever it means, by its name on any of these pages: how much a counter grew, the mean of a gauge; give the
    /// flag once for each.
    #[arg(long, value_name = "NAME")]
    server_metric: Vec<String>,
    /// The GPUs of this machine that serve, by number or UUID, such as 0,1: their power, energy, clocks and memory are read during the run. By
    /// default all of them where the server is at localhost; with none, no GPU is read.
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    gpus: Vec<String>,
    /// Where an engine publishes records of its forward passes over ZeroMQ: each step is stored and compared with its own bound; give the flag
    /// once for each engine or rank.
    #[arg(long, value_name = "HOST:PORT")]
    forward_pass: Vec<String>,
    /// Do not read the server's own page of metrics, nor this machine's GPUs unless --gpus names them.
    #[arg(long)]
    no_server_metrics: bool,
    /// A header to ask for pages of metrics with, as NAME=VALUE or "NAME: VALUE". Its value is never written to a file.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    server_metrics_header: Vec<String>,
    /// Have the server's own profiler run while this level is measured, counted from 1 in the order of measuring: /start_profile and
    /// /stop_profile of vLLM and SGLang. The run ends if it cannot be started.
    #[arg(long, value_name = "N")]
    pub(crate) profile_level: Option<NonZeroU32>,
}

impl TelemetryArgs {
    /// What is asked for.
    pub(crate) fn spec(&self) -> Result<TelemetrySpec, Fail> {
        let headers = self.server_metrics_header.iter().map(|text| text.parse());
        let headers: Result<Vec<ExtraHeader>, HeaderTextError> = headers.collect();
        self.server_metrics.iter().try_for_each(|url| check_page_address(url))?;
        let mut spec = TelemetrySpec::default();
        spec.pages.clone_from(&self.server_metrics);
        spec.metrics.clone_from(&self.server_metric);
        spec.headers = headers.named("--server-metrics-header")?;
        spec.forward_passes.clone_from(&self.forward_pass);
        if self.no_server_metrics {
            spec.servers = ServerPages::Unasked;
            spec.gpus = LocalGpus::Unasked;
        }
        match self.gpus.as_slice() {
            [] => {}
            [none] if none.eq_ignore_ascii_case("none") => spec.gpus = LocalGpus::Unasked,
            named => spec.gpus = LocalGpus::Named(named.to_vec()),
        }
        Ok(spec)
    }
}

/// Refuses what is no address of a page; what it may hold as a key is not shown.
pub(crate) fn check_page_address(url: &str) -> Result<(), Fail> {
    let has_host = |scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty());
    refuse_if!(
        !["http://", "https://"].into_iter().any(has_host),
        "--server-metrics {}: a page has an address such as http://127.0.0.1:8000/metrics",
        PageSource::new(url, PageSettings::default()).address()
    );
    Ok(())
}
