//! `CollectiveX` of `InferenceX`, as a document of one case.
//!
//! Of <https://github.com/SemiAnalysisAI/InferenceX/tree/main/experimental/CollectiveX/docs>: rows of a number of tokens a rank,
//! each with components and their percentiles in microseconds. Dispatch, combine and their round trip find idle devices, and
//! of each iteration the slowest rank counts; the period of pairs is of a chain without waiting. Bytes are of all ranks
//! together; those of the wire, where they are told, are what kernels move.

use fizeau_core::Bytes;

use super::cell;
use super::json::{self, Loose, document};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    CollectiveOp, CollectiveRegime, CollectiveShape, Operation, RankRule, SampleStatistic,
    Verification,
};

document! {
    Document {
        version,
        record_type: String,
        identity: Identity,
        measurement: Measured,
        implementation: Implementation,
        topology: Topology,
        outcome: Outcome,
    }
    Identity { case_factors: CaseFactors }
    CaseFactors { case: Case, sku }
    Case { ep, nodes, scope, backend }
    Measured { dispatch_dtype, combine_dtype, rows: Vec<Record>, sampling: Sampling }
    Sampling { warmup_iterations }
    Record {
        tokens_per_rank,
        components: Components,
        byte_provenance: ByteRules,
        wire_byte_provenance: Option<ByteRules>,
        correctness: Correctness,
    }
    Components {
        dispatch: Option<Component>,
        combine: Option<Component>,
        roundtrip: Option<Component>,
        pair_period: Option<Component>,
    }
    Component { percentiles_us: Option<Percentiles>, sample_count }
    Percentiles { p50, p95, p99 }
    ByteRules { dispatch: Moved, combine: Moved }
    Moved { total_logical_bytes }
    Correctness { passed, max_relative_error }
    Implementation { name, library_version }
    Topology { device_product, nodes, scope, world_size }
    Outcome { status, reasons: Vec<String> }
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let (document, torn): (Document, _) = json::read(source, "rows")?;
    if document.record_type != "case-attempt" {
        return Err(NotThis::no("`record_type` that is `case-attempt`"));
    }
    let mut reading = Reading::of_rows(source, "CollectiveX");
    torn.into_iter().for_each(|note| reading.note(note));
    reading.version = document.version.text();
    if document.outcome.status.text().is_some_and(|status| status != "success") {
        reading.note(format!(
            "the tool calls the case invalid: {}",
            document.outcome.reasons.join(", ")
        ));
    }
    if let (Some(name), Some(version)) =
        (document.implementation.name.text(), document.implementation.library_version.text())
    {
        reading.setting(format!("{name} {version}"));
    }
    // Of a torn file the topology is missing; the case says as much.
    let (topology, case) = (&document.topology, &document.identity.case_factors.case);
    let small = |told: [&Loose; 2]| {
        let count = told.into_iter().find_map(Loose::count);
        count.and_then(cell::several)
    };
    let setting = Setting {
        ranks: small([&topology.world_size, &case.ep]),
        nodes: small([&topology.nodes, &case.nodes]),
        links: topology
            .scope
            .text()
            .or_else(|| case.scope.text())
            .map(|scope| scope.replace('-', "_")),
    };
    if let Some(model) = topology.device_product.text() {
        reading.device(&gpus(setting.ranks), &model);
    }
    if let Some(sku) = document.identity.case_factors.sku.text() {
        reading.setting(format!("machine {sku}"));
    }
    for (index, record) in document.measurement.rows.iter().enumerate() {
        add(&mut reading, index + 1, &document, record, &setting);
    }
    Ok(reading)
}

/// Who takes part.
struct Setting {
    ranks: Option<u32>,
    nodes: Option<u32>,
    links: Option<String>,
}

impl Setting {
    /// One half of an exchange of messages of that size, of which each rank has so much.
    fn operation(&self, op: CollectiveOp, message: Option<Bytes>, each: &str) -> Operation {
        let (Some(ranks), Some(message)) = (self.ranks, message) else {
            return Operation::Other { name: format!("{op}, {each}") };
        };
        let mut shape = CollectiveShape::new(op, ranks, message);
        shape.nodes = self.nodes;
        shape.links.clone_from(&self.links);
        shape.regime = Some(CollectiveRegime::FreshEntry);
        shape.rank_rule = Some(RankRule::Longest);
        Operation::Collective { shape, role: Some(each.to_owned()) }
    }
}

fn add(
    reading: &mut Reading<'_>,
    place: usize,
    document: &Document,
    record: &Record,
    setting: &Setting,
) {
    let Some(tokens) = record.tokens_per_rank.count() else {
        return reading.skip(place, "`tokens_per_rank` is not a number");
    };
    let rules = record.wire_byte_provenance.as_ref().unwrap_or(&record.byte_provenance);
    let parts = &record.components;
    let pair = |how: &str| Operation::Other {
        name: format!("dispatch and combine, {tokens} tokens a rank, {how}"),
    };
    let mut components = Vec::new();
    for (op, component, moved, dtype) in [
        (
            CollectiveOp::Dispatch,
            &parts.dispatch,
            &rules.dispatch,
            &document.measurement.dispatch_dtype,
        ),
        (
            CollectiveOp::Combine,
            &parts.combine,
            &rules.combine,
            &document.measurement.combine_dtype,
        ),
    ] {
        let bytes = moved.total_logical_bytes.number().zip(setting.ranks);
        let message = bytes.map(|(all, ranks)| Bytes::new(all / f64::from(ranks)));
        let operation = setting.operation(op, message, &format!("{tokens} tokens a rank"));
        let dtype = dtype.text().and_then(|word| cell::dtype(&word));
        components.push((operation, component, message, dtype));
    }
    components.push((pair("idle devices"), &parts.roundtrip, None, None));
    components.push((pair("chained"), &parts.pair_period, None, None));
    for (operation, component, message, dtype) in components {
        let Some(Component { percentiles_us: Some(percentiles), sample_count }) = component else {
            continue;
        };
        let tells = Tells::of(sample_count.count())
            .micros(SampleStatistic::Median, percentiles.p50.number())
            .micros(SampleStatistic::P95, percentiles.p95.number())
            .micros(SampleStatistic::P99, percentiles.p99.number());
        let Some(seen) = reading.measured(place, &gpus(setting.ranks), operation, tells) else {
            continue;
        };
        seen.dtype = dtype;
        seen.work.bytes.copy = message;
        let name = document.implementation.name.text();
        let backend = || document.identity.case_factors.case.backend.text();
        seen.method.instructions = name.or_else(backend);
        seen.method.warm_up_operations = document.measurement.sampling.warmup_iterations.count();
        seen.verification = verification(&record.correctness);
        if message.is_some() {
            seen.notes.push("the message size is the mean over ranks".into());
        }
    }
}

fn verification(correctness: &Correctness) -> Verification {
    let error = correctness.max_relative_error.number();
    match correctness.passed.truth() {
        Some(false) => Verification::Wrong { error, what: "the tool's own check failed".into() },
        Some(true) => Verification::not_checked(match error {
            Some(error) => {
                format!("the tool reports a right result, off by {error:.1e}, but no tolerance")
            }
            None => "the tool reports a right result, but no error".into(),
        }),
        None => Verification::not_checked("the tool reports no check"),
    }
}
