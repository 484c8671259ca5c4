//! A level over time, its window, and whether its queue grows.

use fizeau_core::object_schema;
use fizeau_core::schema::ObjectSchema;

use crate::{
    Distribution, Growth, Occupancy, OverTime, Saturation, Stationarity, Trend, WindowFigures,
    WindowMetrics, WindowThroughput, Windowed,
};

object_schema!(
    OverTime,
    "OverTime",
    "How many requests were in which state, weighted by time.",
    |o| o
        .each(&["in_flight", "prefilling", "decoding", "due"], ObjectSchema::field::<Occupancy>)
        .or_reason::<f64>("tokens_in_flight_mean")
        .field::<f64>("peak_output_tokens_per_s")
        .field::<f64>("peak_over_s")
        .field::<f64>("token_cell_ms")
);

object_schema!(Occupancy, "Occupancy", "How many of something were going on.", |o| o
    .field::<f64>("mean")
    .each(&["p50", "p90", "peak"], ObjectSchema::field::<u64>));

object_schema!(Windowed, "Windowed", "The steady part of the level, beside the whole run.", |o| o
    .field::<String>("warmup")
    .field::<String>("cooldown")
    .or_reason::<WindowFigures>("window")
    .field::<Vec<Stationarity>>("evidence"));

object_schema!(
    WindowFigures,
    "WindowFigures",
    "Where the window is, what was cut for it, and the figures in it.",
    |o| o
        .word("found", &["asked", "steady", "plateau"])
        .may_have::<u64>("plateau_in_flight")
        .may_have::<f64>("plateau_share")
        .may_have::<String>("not_steady_reason")
        .each(&["from_ns", "to_ns"], ObjectSchema::field::<u64>)
        .field::<f64>("duration_s")
        .each(&["cut_front", "sent", "cut_back", "completed"], ObjectSchema::field::<u64>)
        .field::<WindowMetrics>("metrics")
        .or_reason::<WindowThroughput>("throughput")
);

object_schema!(WindowMetrics, "WindowMetrics", "Latencies of requests sent in the window.", |o| o
    .each(
        &["ttft_ms", "ttft_scheduled_ms", "first_visible_ms", "tpot_ms"],
        ObjectSchema::field::<Distribution>
    )
    .each(&["e2el_ms", "e2el_scheduled_ms"], ObjectSchema::field::<Distribution>)
    .or_reason::<Distribution>("itl_ms")
    .or_reason::<Distribution>("icl_ms"));

object_schema!(
    WindowThroughput,
    "WindowThroughput",
    "Rates in the window, in whole cells of tokens.",
    |o| o
        .each(&["from_ns", "to_ns"], ObjectSchema::field::<u64>)
        .field::<f64>("duration_s")
        .each(&["requests_per_s", "output_tokens_per_s"], |o, name| {
            o.field::<f64>(name).interval::<f64>(name)
        })
);

object_schema!(Stationarity, "Stationarity", "What one signal showed of the level's ends.", |o| o
    .word("signal", &["in_flight", "ttft_scheduled_ms", "tpot_ms"])
    .each(&["n", "cut_front", "cut_back"], ObjectSchema::field::<u64>)
    .or_reason::<Trend>("trend")
    .each(&["mser_front", "mser_back"], ObjectSchema::field::<CurveSchema>));

struct CurveSchema;

object_schema!(CurveSchema, "MserCurve", "The MSER-5 statistic by cut: two lists.", |o| o
    .field::<Vec<u64>>("cut")
    .field::<Vec<f64>>("statistic"));

object_schema!(Trend, "Trend", "A line through batch means.", |o| o
    .each(&["per_s", "mean", "share"], ObjectSchema::field::<f64>)
    .field::<u64>("batches")
    .each(&["effective", "p"], ObjectSchema::field::<f64>));

object_schema!(
    Saturation,
    "Saturation",
    "Whether the queue of an open loop grew to the end.",
    |o| o
        .word("verdict", &["saturated", "not_seen", "unknown"])
        .may_have::<String>("verdict_reason")
        .each(&["from_ns", "to_ns"], ObjectSchema::may_have::<u64>)
        .each(&["due", "ttft_scheduled_ms"], ObjectSchema::may_have::<Growth>)
);

object_schema!(Growth, "Growth", "How a signal grew, and how probable that is by chance.", |o| o
    .field::<Trend>("trend")
    .field::<f64>("p_steps")
    .field::<f64>("p"));
