//! JSON Schemas of what writes its own JSON: the fields of the `Serialize` of each, a second time. Tests of the report
//! hold both against each other.

mod level;
mod validity;
mod window;

use fizeau_core::object_schema;
use fizeau_core::schema::ObjectSchema;

use crate::{Distribution, EarlyStopping, RateDistribution, TokenDistribution};

object_schema!(
    Distribution,
    "Distribution",
    "A sample in milliseconds. A figure that the sample does not support is null, with the reason beside it.",
    |o| o
        .field::<u64>("n")
        .or_reason::<f64>("mean")
        .interval::<f64>("mean")
        .may_have::<f64>("effective_n")
        .each(&["std", "min"], ObjectSchema::or_reason::<f64>)
        .each(&["p50", "p90", "p95", "p99", "p999"], |o, name| {
            o.or_reason::<f64>(name).interval::<f64>(name)
        })
        .or_reason::<f64>("max")
        .word("resolution", &["exact", "within 0.05 %"])
        .may_have::<EarlyStopping>("early_stopping")
);

object_schema!(
    EarlyStopping,
    "EarlyStopping",
    "MLPerf's bounds of percentiles, in milliseconds.",
    |o| o.or_reason::<f64>("p90").or_reason::<f64>("p99")
);

object_schema!(TokenDistribution, "TokenDistribution", "Lengths in tokens, one a request.", |o| o
    .field::<u64>("n")
    .each(&["mean", "min", "p10", "p50", "p90", "p99", "max"], ObjectSchema::or_reason::<f64>));

object_schema!(
    RateDistribution,
    "RateDistribution",
    "Rates of single requests, per second.",
    |o| o.field::<u64>("n").each(
        &["mean", "std", "min", "p1", "p5", "p10", "p50", "p90", "max"],
        ObjectSchema::or_reason::<f64>
    )
);
