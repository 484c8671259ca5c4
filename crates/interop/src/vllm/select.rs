//! Which metrics and percentiles a result shall have.

use std::str::FromStr;

use fizeau_metrics::Percent;

/// Which metrics and percentiles a result shall have. The default is vLLM's: `ttft,tpot,itl` and `99`.
#[derive(Debug, Clone, PartialEq)]
pub struct VllmSelection {
    /// The metrics; they are reported in vLLM's own order, whatever the order here.
    pub(super) metrics: Vec<VllmMetric>,
    /// The percentiles, in the order given.
    pub(super) percentiles: Vec<Percent>,
}

/// A metric of vLLM's client. In the order in which it reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VllmMetric {
    /// Time to first token.
    Ttft,
    /// Time per output token, the first left out.
    Tpot,
    /// Gap between chunks, which vLLM calls inter-token latency.
    Itl,
    /// End-to-end latency.
    E2el,
    /// From intended release to actual release; only under a cap on requests in flight.
    ClientQueueTime,
    /// The sum of both; only under a cap and with a rate.
    E2elIncludingClientQueue,
}

/// Why a selection cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VllmSelectionError {
    /// There is no such metric.
    #[error(
        "`{name}` is not a metric: use any of ttft, tpot, itl, e2el, client_queue_time, \
         e2el_including_client_queue, separated by commas"
    )]
    Metric {
        /// What was given.
        name: String,
    },
    /// It is not a percentile.
    #[error(
        "`{text}` is not a percentile: use numbers from 0 to 100 separated by commas, such as 50,99,99.9"
    )]
    Percentile {
        /// What was given.
        text: String,
    },
}

impl Default for VllmSelection {
    fn default() -> Self {
        Self {
            metrics: vec![VllmMetric::Ttft, VllmMetric::Tpot, VllmMetric::Itl],
            percentiles: vec![Percent::P99],
        }
    }
}

impl VllmSelection {
    /// A selection from the text of vLLM's `--percentile-metrics` and `--metric-percentiles`.
    ///
    /// ```
    /// use fizeau_interop::VllmSelection;
    /// assert!(VllmSelection::parse("ttft,tpot,itl,e2el", "50,99,99.9").is_ok());
    /// let error = VllmSelection::parse("ttft", "101").unwrap_err();
    /// assert!(error.to_string().starts_with("`101` is not a percentile"));
    /// ```
    ///
    /// # Errors
    /// If a metric is unknown or a percentile is not a number from 0 to 100.
    pub fn parse(metrics: &str, percentiles: &str) -> Result<Self, VllmSelectionError> {
        let parts = |text: &'_ str| -> Vec<String> {
            let parts = text.split(',').map(str::trim);
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let metrics: Result<Vec<VllmMetric>, _> =
            parts(metrics).iter().map(|name| name.parse()).collect();
        let mut metrics = metrics?;
        metrics.sort_unstable();
        metrics.dedup();
        let percentile = |text: &String| {
            let value = text.parse().ok().and_then(|value| Percent::new(value).ok());
            value.ok_or_else(|| VllmSelectionError::Percentile { text: text.clone() })
        };
        let percentiles: Result<Vec<Percent>, _> =
            parts(percentiles).iter().map(percentile).collect();
        Ok(Self { metrics, percentiles: percentiles? })
    }
}

impl VllmMetric {
    const ALL: [Self; 6] = [
        Self::Ttft,
        Self::Tpot,
        Self::Itl,
        Self::E2el,
        Self::ClientQueueTime,
        Self::E2elIncludingClientQueue,
    ];

    /// The short name and the heading in the printed block.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Ttft => ("TTFT", "Time to First Token"),
            Self::Tpot => ("TPOT", "Time per Output Token (excl. 1st token)"),
            Self::Itl => ("ITL", "Inter-token Latency"),
            Self::E2el => ("E2EL", "End-to-end Latency"),
            Self::ClientQueueTime => ("Client Queue Time", "Client Queue Time"),
            Self::E2elIncludingClientQueue => ("E2EL + Queue", "E2EL incl. Client Queue"),
        }
    }
}

fizeau_core::words! {
    /// The name in keys and flags.
    pub VllmMetric::key {
        Ttft = "ttft", Tpot = "tpot", Itl = "itl", E2el = "e2el",
        ClientQueueTime = "client_queue_time",
        E2elIncludingClientQueue = "e2el_including_client_queue",
    }
}

impl FromStr for VllmMetric {
    type Err = VllmSelectionError;

    fn from_str(name: &str) -> Result<Self, VllmSelectionError> {
        let found = Self::ALL.into_iter().find(|metric| metric.key() == name);
        found.ok_or_else(|| VllmSelectionError::Metric { name: name.to_owned() })
    }
}
