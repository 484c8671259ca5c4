//! What the server, the GPU and the host say of themselves, over exactly the window of a level.
//!
//! Pages of metrics ([`Page`]) become samples on the run's own clock ([`History`]); over a [`Window`] these come to a
//! [`ServerWindow`] and to [`DeviceWindow`]s; and what the client saw of the same window is held against them ([`findings`],
//! [`ServerGaps`]). Without a client, a [`ServingAssessment`] holds them against what the devices could do, and a [`FleetWatch`] does so
//! for several servers as long as it lives.
//!
//! ```
//! use fizeau_core::{Nanos, Stamp, Tokens};
//! use fizeau_telemetry::{
//!     ClientWindow, Fetch, History, Page, ServerWindow, TelemetryFinding, Window, findings,
//! };
//!
//! let mut history = History::new();
//! for (second, tokens) in [(0, 1_000), (10, 5_096)] {
//!     let page = format!("vllm:generation_tokens_total{{engine=\"0\"}} {tokens}\n");
//!     let at = Stamp::EPOCH + Nanos::from_secs(second);
//!     history.record(Fetch { requested: at, answered: at }, &Page::read(page.as_bytes(), None)?);
//! }
//! let level = Window::alone(Stamp::EPOCH + Nanos::from_secs(1), Stamp::EPOCH + Nanos::from_secs(9));
//! let server = ServerWindow::of(&history, level, Nanos::from_secs(2));
//! let client = ClientWindow { output_tokens: Some(Tokens::new(4_096)), ..ClientWindow::default() };
//! let found = findings(&client, &server, &[], Nanos::from_secs(1));
//! assert_eq!(found.first().map(ToString::to_string).as_deref(), Some("client and server counted the same 4096 generated tokens"));
//! # Ok::<(), fizeau_telemetry::PageError>(())
//! ```
//!
//! **Use this crate** to read what servers and devices say, from any [`Source`], beside a run or without one.
//! **Do not use it** for latencies: those are the client's to measure, in `fizeau-metrics`.
//!
//! # Invariants
//!
//! - Nothing that a server sends can panic, and there are limits to a page and to the series that many pages name.
//! - Counters are deltas over exactly the window, restarts added, with how far they may be off at the edges. Gauges are weighted by
//!   time. Histograms are counts, sums and the bucket that holds a percentile, never a percentile that was made up.
//! - What is not said is absent, never zero; every figure names the metric that it was read off.
//! - Stamps are by the clock that whoever starts a thread gives it; only patience is by the system's. Sockets are in `PageSource`, in `MetricsListener` and in the subscriber and
//!   publisher of forward passes, `/proc` in [`HostReading::now`], and nowhere else.
//!
#![doc = include_str!("../place.md")]

mod assessment;
mod device;
mod exposition;
mod figure;
mod fleet;
mod forward_pass;
mod host;
#[cfg(feature = "http")]
mod listener;
#[cfg(feature = "nvml")]
mod nvml;
#[cfg(feature = "http")]
mod page_source;
mod samples;
mod scraper;
#[cfg(feature = "http")]
mod secret;
mod server;
mod shared_source;
mod source;
mod steps;
mod vocabulary;
mod window;
mod witness;

pub use assessment::{
    AssessmentError, ContextEstimate, ContextSource, DecodeAssessment, EvenRoutingAssessment,
    PrefillAssessment, SameLatency, ServingAssessment, ServingLimit,
};
pub use device::{
    DeviceIdentity, DeviceWindow, ThrottleReason, device_count, joules_per_token, power_timelines,
    tokens_per_joule, total_energy, total_power,
};
pub use exposition::{
    Labels, MetricKind, Page, PageEnd, PageError, PageForm, PageLimits, PageNotes, PageParser,
    PageSamples, Sample, SeriesName,
};
pub use figure::Reported;
pub use fleet::{
    FleetDevices, FleetFinding, FleetReport, FleetSettings, FleetSettingsError, FleetWatch,
    ReplicaReport,
};
pub use forward_pass::{
    ForwardPass, ForwardPassError, ForwardPassLine, ForwardPasses, QueuedWork, ScheduledWork,
};
#[cfg(feature = "forward-pass")]
pub use forward_pass::{ForwardPassPublisher, ForwardPassSubscriber, SubscribeError};
pub use host::{CpuTime, HostReading, HostWindow};
#[cfg(feature = "http")]
pub use listener::{ListenError, MetricsListener};
#[cfg(feature = "nvml")]
pub use nvml::{DeviceChoice, NvmlSource, NvmlUnavailable};
#[cfg(all(feature = "http", feature = "tls"))]
pub use page_source::PageTrustError;
#[cfg(feature = "http")]
pub use page_source::{FetchError, FetchErrorKind, PageSettings, PageSource, PageTrust};
pub use samples::{Combine, Fetch, FetchFailure, History, HistoryLine, SeriesPoint};
pub use scraper::{
    Metrics, Pace, ScrapeCost, ScrapeReport, ScrapeSettings, Scraper, ScraperError, in_one_line,
};
pub use server::{
    NamedFigure, ReportedCounter, ReportedGauge, ReportedHistogram, ServerTimeline, ServerWindow,
    TimelinePoint,
};
pub use shared_source::SharedSource;
pub use source::{ExplainedSource, Source, SourceError};
pub use steps::{HostBoundSteps, JudgedStep, StepsAssessment};
pub use vocabulary::{Exporter, MetricMeaning, MetricShape, VocabularyEntry, entries, meaning_of};
pub use window::{
    Bucket, CounterOver, GaugeOver, HistogramOver, PercentileBucket, Window, WindowEdges,
};
pub use witness::{
    ClientLatency, ClientWindow, LatencyGap, LightWitness, PageTrouble, ServerGaps, SpeedWitnesses,
    TelemetryFinding, TokenKind, WitnessCause, WitnessDisagreement, WitnessInput, WitnessShare,
    findings,
};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
