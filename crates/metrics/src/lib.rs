//! What was seen of each request of an LLM benchmark, made into figures: TTFT, TPOT, ITL, ICL, E2EL, throughput and goodput, with
//! honest statistics. Whoever has times of their own needs no other part of Fizeau:
//!
//! ```
//! use fizeau_metrics::{Arrival, Channel, GoodputGoals, LevelSummary, Nanos, Slo, Stamp, Tape};
//!
//! // A thousand requests, one every 10 ms: the first token after 40 ms and more, then fifty in half a second.
//! let tapes = (0..1_000).map(|k| {
//!     let sent = Stamp::EPOCH + Nanos::from_millis(10 * k);
//!     let first = sent + Nanos::from_millis(40 + k % 7);
//!     let mut tape = Tape::sent_at(sent);
//!     tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible));
//!     tape.arrivals.push(Arrival::tokens(first + Nanos::from_millis(500), 50, Channel::Visible));
//!     tape
//! });
//! let tapes: Vec<Tape> = tapes.collect();
//! let goals: GoodputGoals = "ttft:45 tpot:20".parse()?;
//! let level = LevelSummary::of(&tapes, &goals);
//!
//! assert_eq!(level.metrics.tpot.mean.map(|mean| mean.get()), Some(10.0));
//! let slo: Slo = "p99 ttft<50ms, rps>10".parse()?;
//! assert!(slo.evaluate(&level).iter().all(|outcome| outcome.is_met()));
//!
//! // The figures of `summary.json`: what is unknown is null, with the reason beside it. They are read again likewise.
//! let json = serde_json::to_string(&level)?;
//! assert!(json.contains(r#""completed":1000"#));
//! assert_eq!(serde_json::from_str::<LevelSummary>(&json)?.requests, level.requests);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way through: [`RequestMetrics::of`] gives the figures of one [`Tape`],
//! [`LevelSummary::of`] those of a level, and [`LevelTally`] the same from tapes that come one by one and are not
//! kept; a [`Slo`] says whether a level meets its goals, and [`judge`] whether it is to be believed. [`BatchMeans`] says how far a
//! mean or a rate may be off.
//!
//! **Use this crate** to compute figures from tapes, your own or those of a file, or to summarise any sample
//! of latencies ([`Distribution`]). **Use `fizeau`** to get all layers at once. This crate measures nothing:
//! a harness and a transport make the tapes.
//!
//! # Invariants
//!
//! - Pure: tapes in, figures out. No clock, no I/O, no randomness but what follows from a seed that is given.
//! - A figure that its definition does not cover is absent, with a reason in JSON; it is never zero in its
//!   stead.
//! - A length that was asked for is never passed off as one that was received.
//! - A percentile that its sample cannot support is withheld. Percentiles are never averaged.
//! - Memory does not grow with the tokens of a run: [`PooledSample`] says when its percentiles are no longer exact.
//! - No figure is NaN or infinite.
//!
#![doc = include_str!("../place.md")]

#[macro_use]
mod json;

mod compare;
mod distribution;
mod events;
mod gaps;
mod histogram;
mod level;
mod output;
mod pacing;
mod precision;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod series;
mod shape;
mod slo;
mod sort;
mod statistic;
mod stats;
#[cfg(test)]
mod testing;
mod validity;
mod window;

pub use compare::{
    ComparedFigure, ComparedRequests, ComparisonAnswer, ComparisonBasis, ComparisonSettings,
    ComparisonSide, ComparisonTable, ComparisonTest, EffectKind, EffectSize, FigureChoice,
    FigureDecision, FigureError, IntervalFigure, LevelFigure, NamedTest, NoDifferenceError,
    NullLaw, PValue, PairedValues, PairedValuesError, RankTest, ReplyOutput, RequestPairing,
    RoundFigures, RoundsError, RunToRun, ShareError, SignificanceLevel, SmallestChange, TTest,
    TestFindings, TestPower, TooFewRuns, UnpairedValues, UnpairedValuesError, UntestedReason,
    ZeroVarianceError, holm,
};
pub use distribution::{
    Distribution, EarlyStopping, PercentileResolution, PooledSample, RateDistribution,
    SentPercentiles, TokenDistribution, percentile_of_sorted,
};
pub use fizeau_core::{
    Arrival, Channel, Confidence, ConfidenceError, Estimate, EstimateError, Failure, FailureClass,
    Interval, Millis, Nanos, Outcome, PerSec, RequestMarks, Seconds, Stamp, Tape, TokenSource,
    Tokens,
};
pub use gaps::{ItlShare, inter_chunk, inter_token};
pub use histogram::{HistogramError, LatencyHistogram};
pub use level::{
    ArrivalSummary, BetterDirection, E2elParts, EventBin, EventHistogram, GapSummary,
    GoalAttainment, Goodput, GoodputAttainment, GoodputError, GoodputGoals, GroupAttainment,
    Jitter, LengthCheck, LengthChecks, LengthDifference, LevelHistograms, LevelSummary, LevelTally,
    Metric, MetricEntry, MetricTable, ModelName, ModelSummary, Occupancy, OccupancyOverTime,
    OutputSummary, ProbeSummary, RateIntervals, RateWindow, RequestCounts, RequestGoal,
    RequestRates, SimpleGoals, TableColumns, Throughput, TokenCounts, WindowFigures, WindowMetrics,
    WindowThroughput, WindowedSummary,
};
pub use output::{ChannelTokens, RequestOutput};
pub use pacing::LoadPacing;
pub use precision::{Precision, PrecisionError, PrecisionGoal, PrecisionOutcome};
pub use request::RequestMetrics;
pub(crate) use series::{CountSeries, TokenCells};
pub use series::{PeakRate, TimeSpan, Timeline};
pub use shape::{
    LevelShape, LevelTimeSeries, PromptTtft, QuantileCurves, QuantilePoint, ShapeTally,
    TimeSeriesBin,
};
pub use slo::{Comparison, Goal, GoalOutcome, Slo, SloError};
pub use sort::{sort_integers, sort_numbers, sort_weighted_numbers};
pub use statistic::{Quantile, StandIn, Statistic, StatisticValue};
pub(crate) use stats::least_for_percentile;
pub use stats::{
    Autocorrelation, BatchMeans, BatchMeansError, EarlyStoppingError, Percent, PercentError,
    PercentileRule, PercentilesError, RandomBits, ResampleSeed, SampleSupport,
    early_stopping_bound, early_stopping_needs, mean_of_runs, percentiles,
    weighted_percentile_of_sorted,
};
pub use validity::{
    CacheExpectation, CeilingLimit, ClientCeiling, ClientNeed, ClientProof, ClientWatch,
    LevelEnding, LevelExpectations, OnTimeLimit, ResourceNeed, SystemHeadroom, ThresholdError,
    Thresholds, Validity, Verdict, VerdictConcern, VerdictReason, judge,
};
pub use window::{
    CutReason, LevelSignal, MeasuredWindow, MserPoint, NoWindow, NoWindowReason, Saturation,
    SaturationEvidence, SignalGrowth, SignalTrend, Stationarity, WindowChoice, WindowEnd,
    WindowEndError, WindowTrim,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
