//! A level's summary.

use std::collections::BTreeMap;

use fizeau_core::schema::ObjectSchema;
use fizeau_core::{Millis, PerSec, TokenSource, object_schema};

use crate::{
    Arrivals, Attainment, ChannelTokens, Distribution, EventBin, Gaps, Jitter, LengthCheck,
    LengthChecks, LengthDifference, LevelSummary, ModelSummary, OutputSummary, OverTime,
    ProbeSummary, RateDistribution, RequestCounts, RequestRates, Saturation, Throughput,
    TokenCounts, TokenDistribution, Window, Windowed,
};

object_schema!(LevelSummary, "LevelSummary", "What the tapes of a level amount to.", |o| o
    .field::<RequestCounts>("requests")
    .field::<TokenCounts>("tokens")
    .field::<MetricsSchema>("metrics")
    .field::<Jitter>("jitter")
    .field::<RequestRates>("rates")
    .field::<OutputSummary>("output")
    .field::<Throughput>("throughput")
    .or_reason::<Attainment>("goodput")
    .or_reason::<OverTime>("over_time")
    .field::<Windowed>("windowed")
    .or_reason::<Saturation>("saturation")
    .or_reason::<Arrivals>("arrivals")
    .field::<LengthChecks>("lengths")
    .or_reason::<Vec<ModelSummary>>("models")
    .or_reason::<ProbeSummary>("probe"));

struct MetricsSchema;

object_schema!(MetricsSchema, "Metrics", "Every latency that is measured.", |o| o.each(
    &[
        "ttft_ms",
        "ttft_scheduled_ms",
        "first_visible_ms",
        "reasoning_ms",
        "tpot_ms",
        "itl_ms",
        "icl_ms",
        "e2el_ms",
        "e2el_scheduled_ms",
        "send_lateness_ms",
        "release_lateness_ms",
        "send_delay_ms",
        "connection_wait_ms",
        "connect_ms",
        "dns_ms",
        "tcp_ms",
        "tls_ms",
        "read_lag_ms",
    ],
    ObjectSchema::field::<Distribution>
));

object_schema!(TokenCounts, "TokenCounts", "Tokens of completed requests.", |o| o
    .or_reason::<u64>("input")
    .field::<u64>("output")
    .or_reason::<TokenSource>("source")
    .field::<u64>("events")
    .or_reason::<f64>("tokens_per_event")
    .or_reason::<u64>("cached_input")
    .field::<u64>("cached_reported")
    .or_reason::<f64>("cached_share")
    .field::<u64>("output_length_differs"));

object_schema!(Jitter, "Jitter", "How evenly tokens came. A tail ratio is p99 over p50.", |o| o
    .or_reason::<Millis>("itl_std_ms")
    .each(
        &[
            "itl_tail_ratio",
            "ttft_tail_ratio",
            "tpot_tail_ratio",
            "e2el_tail_ratio",
            "zero_gap_share"
        ],
        ObjectSchema::or_reason::<f64>
    ));

object_schema!(RequestRates, "RequestRates", "Rates of single requests that completed.", |o| o
    .each(&["prefill_tokens_per_s", "user_tokens_per_s"], ObjectSchema::field::<RateDistribution>)
    .each(&["text_bytes_per_s", "text_chars_per_s"], ObjectSchema::field::<RateDistribution>));

object_schema!(OutputSummary, "OutputSummary", "What the output was made of.", |o| o
    .each(&["reasoning_tokens", "visible_tokens", "reasoning_reported"], ObjectSchema::field::<u64>)
    .field::<ChannelTokens>("by_channel")
    .each(&["text_bytes", "text_chars"], ObjectSchema::field::<u64>)
    .each(
        &["visible_tokens_per_s", "text_bytes_per_s", "text_chars_per_s"],
        ObjectSchema::or_reason::<PerSec>
    )
    .field::<Vec<EventBin>>("tokens_per_event"));

object_schema!(
    Throughput,
    "Throughput",
    "Rates over a window; only completed requests count.",
    |o| o.field::<Window>("window").field::<f64>("duration_s").each(
        &[
            "requests_per_s",
            "output_tokens_per_s",
            "total_tokens_per_s",
            "goodput_per_s",
            "good_share"
        ],
        |o, name| o.or_reason::<f64>(name).interval::<f64>(name)
    )
);

object_schema!(Arrivals, "Arrivals", "The gaps between arrivals of an open loop.", |o| o
    .field::<Gaps>("intended")
    .field::<Gaps>("sent"));

object_schema!(Gaps, "Gaps", "Gaps between consecutive instants.", |o| o
    .field::<u64>("n")
    .each(&["rate_per_s", "cv_squared", "lag1"], ObjectSchema::or_reason::<f64>));

object_schema!(LengthChecks, "LengthChecks", "Lengths as asked beside lengths as seen.", |o| o
    .field::<LengthCheck>("prompt")
    .field::<LengthCheck>("output"));

object_schema!(LengthCheck, "LengthCheck", "Lengths in tokens, asked and seen.", |o| o
    .field::<TokenDistribution>("asked")
    .field::<TokenDistribution>("seen")
    .or_reason::<LengthDifference>("difference"));

object_schema!(LengthDifference, "LengthDifference", "Tokens seen less tokens asked.", |o| o
    .field::<u64>("n")
    .each(&["asked_mean", "seen_mean", "absolute_mean"], ObjectSchema::field::<f64>)
    .or_reason::<f64>("share")
    .each(&["min", "max"], ObjectSchema::field::<i64>)
    .or_reason::<i64>("constant")
    .field::<u64>("past_one_percent")
    .field::<BTreeMap<String, u64>>("histogram"));

object_schema!(ModelSummary, "ModelSummary", "One model of a mix.", |o| o
    .or_reason::<String>("model")
    .each(&["sent", "completed", "failed", "output_tokens"], ObjectSchema::field::<u64>)
    .field::<Distribution>("ttft_ms"));

object_schema!(ProbeSummary, "ProbeSummary", "The probe stream beside the load.", |o| o
    .field::<RequestCounts>("requests")
    .each(
        &["ttft_ms", "ttft_scheduled_ms", "tpot_ms", "e2el_ms"],
        ObjectSchema::field::<Distribution>
    ));
