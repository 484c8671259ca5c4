//! `OperatorX` of `InferenceX`, as a document.
//!
//! Of <https://github.com/SemiAnalysisAI/InferenceX/tree/main/experimental/operatorx>: a run with its environment, and rows of an
//! operation with its arguments, a status and the median of its time in microseconds. Bytes and operations are not told:
//! they follow from the arguments.

use std::collections::BTreeMap;

use fizeau_core::Bytes;
use serde::Deserialize;

use super::cell;
use super::gemm;
use super::json::{self, Loose, document};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    AttentionPhase, AttentionShape, CollectiveOp, CollectiveShape, Dtype, GemmShape, Operation,
    OperationWork, SampleStatistic,
};

document! {
    Document { schema_version, run: Run, rows: Vec<Record> }
    Run {
        operatorx_version,
        operatorx_git_sha,
        cluster,
        hostname,
        instance_type,
        software: BTreeMap<String, Loose>,
        env: BTreeMap<String, Loose>,
    }
    Record { op: Op, metrics: Metrics, status }
    Op { r#type: String, args: Arguments, backend, name: Names }
    Metrics { latency_us }
}

/// What asks for an operation: one name, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Several(Vec<String>),
    One(Loose),
}

impl Default for Names {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
struct Arguments(BTreeMap<String, Loose>);

impl Arguments {
    fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.count()
    }

    fn dtype(&self, names: &[&str]) -> Option<Dtype> {
        names.iter().find_map(|name| cell::dtype(&self.0.get(*name)?.text()?))
    }

    fn says(&self, name: &str, word: &str) -> bool {
        self.0.get(name).and_then(Loose::text).is_some_and(|text| text == word)
    }
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let (document, torn): (Document, _) = json::read(source, "rows")?;
    let Document { schema_version, run, rows } = document;
    let version = run.operatorx_version.text().or_else(|| run.operatorx_git_sha.text());
    // Of a file that is torn before its rows the head says whose it is.
    let is_cut_short = torn.is_some() && rows.is_empty() && schema_version.text().is_some();
    if version.is_none() && !is_cut_short {
        return Err(NotThis::no("`operatorx_version` in `run`"));
    }
    let mut reading = Reading::of_rows(source, "OperatorX");
    torn.into_iter().for_each(|note| reading.note(note));
    reading.version = version;
    if let Some(node) = run.hostname.text() {
        reading.node(&node);
    }
    for (name, value) in [("cluster", &run.cluster), ("instance", &run.instance_type)] {
        if let Some(value) = value.text() {
            reading.setting(format!("{name} {value}"));
        }
    }
    for (name, value) in &run.software {
        reading.setting(format!("{name} {}", value.text().unwrap_or_default()));
    }
    for (name, value) in &run.env {
        reading.environment(name, &value.text().unwrap_or_default());
    }
    for (index, record) in rows.iter().enumerate() {
        let status = record.status.text().unwrap_or_else(|| "ok".to_owned());
        if status != "ok" {
            reading.skip(index + 1, &format!("its status is `{status}`"));
            continue;
        }
        add(&mut reading, index + 1, record);
    }
    Ok(reading)
}

fn add(reading: &mut Reading<'_>, place: usize, record: &Record) {
    let args = &record.op.args;
    let role = match &record.op.name {
        Names::Several(names) => Some(names.join(", ")).filter(|names| !names.is_empty()),
        Names::One(name) => name.text(),
    };
    let what = match record.op.r#type.as_str() {
        "gemm" => product(args),
        "attention_mha" | "attention_mla" => attention(args),
        kind => collective(kind, args),
    };
    let (mut operation, dtype, work, device) = what.unwrap_or_else(|| {
        let arguments =
            args.0.iter().filter_map(|(name, value)| Some(format!(", {name}={}", value.text()?)));
        let name = std::iter::once(record.op.r#type.clone()).chain(arguments).collect();
        (
            Operation::Other { name },
            args.dtype(&["dtype", "dtype_a"]),
            OperationWork::default(),
            "gpu0".to_owned(),
        )
    });
    match &mut operation {
        Operation::Gemm { role: own, .. }
        | Operation::Attention { role: own, .. }
        | Operation::Collective { role: own, .. } => *own = role,
        _ => {}
    }
    let tells =
        Tells::default().micros(SampleStatistic::Median, record.metrics.latency_us.number());
    let Some(seen) = reading.measured(place, &device, operation, tells) else { return };
    seen.dtype = dtype;
    seen.work = work;
    seen.method.instructions = record.op.backend.text();
}

type What = (Operation, Option<Dtype>, OperationWork, String);

fn product(args: &Arguments) -> Option<What> {
    let shape = GemmShape::new(args.count("m")?, args.count("n")?, args.count("k")?);
    let (operand, output) = (args.dtype(&["dtype_a"])?, args.dtype(&["dtype_out"])?);
    let mut work = shape.work(operand, output);
    if args.dtype(&["dtype_b"]) != Some(operand) {
        work.bytes = Default::default();
    }
    Some((gemm::operation(shape, output), Some(operand), work, "gpu0".to_owned()))
}

fn attention(args: &Arguments) -> Option<What> {
    let query_len = args.count("seq_len_q")?;
    let latent = args.count("kv_lora_rank").zip(args.count("head_dim_qk_rope"));
    let (key_dim, value_dim, kv_heads) = match latent {
        Some((latent, position)) => (latent.checked_add(position)?, latent, 1),
        None => {
            let dim = args.count("head_dim")?;
            (dim, dim, args.count("num_heads_kv")?)
        }
    };
    let shape = AttentionShape {
        phase: if query_len <= 16 { AttentionPhase::Decode } else { AttentionPhase::Prefill },
        batch: args.count("batch_size")?,
        query_heads: args.count("num_heads")?,
        kv_heads,
        key_dim,
        value_dim,
        query_len,
        kv_len: args.count("seq_len_kv")?,
        causal: args.says("causal", "true"),
        shared_kv: latent.is_some(),
        page_tokens: args.count("block_size").filter(|_| args.says("kv_layout", "paged")),
    };
    let dtype = args.dtype(&["dtype_kv", "dtype_k", "dtype", "dtype_q"]);
    let has_window = args.count("sliding_window").is_some_and(|window| window > 0);
    let is_absorbed = latent.is_none() || shape.phase == AttentionPhase::Decode;
    let work = dtype.filter(|_| !has_window && is_absorbed).map(|dtype| shape.work(dtype));
    Some((
        Operation::Attention { shape, role: None },
        dtype,
        work.unwrap_or_default(),
        "gpu0".to_owned(),
    ))
}

fn collective(kind: &str, args: &Arguments) -> Option<What> {
    // Of the others it is not told whether elements are those of one rank or of all.
    if kind != "allreduce" {
        return None;
    }
    let dtype = args.dtype(&["dtype"])?;
    let ranks = cell::several(args.count("world_size")?)?;
    let message = Bytes::new(args.count("num_elements")? as f64 * dtype.element_bytes());
    let shape = CollectiveShape::new(CollectiveOp::AllReduce, ranks, message);
    let mut work = OperationWork::default();
    work.bytes.copy = Some(message);
    let operation = Operation::Collective { shape, role: None };
    Some((operation, Some(dtype), work, gpus(Some(ranks))))
}
