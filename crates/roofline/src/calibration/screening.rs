//! Which measured levels cannot be what they say: they are left out of a fit, by rule.

use std::collections::BTreeMap;

use crate::System;
use crate::model::FeedForward;

use super::measured::MeasuredRow;

/// Why a measured row is left out of a fit. A reason says nothing of the engine: only that the row and what it stands beside do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RowExclusion {
    /// Experts are cut over another number of devices than attention is.
    Degrees,
    /// More ranks than one machine has, or as many attention groups as ranks in each: products of degrees, or totals of several
    /// instances.
    Layout,
    /// One sequence does not fit beside the weights.
    Memory,
    /// Faster than the bound, or of the same concurrency as one that is, of the same model, device and engine.
    BeatsBound,
    /// With more requests in flight faster by a third, or slower by as much than with more: one of the two is mislabelled.
    Contradiction,
    /// Much faster than the same level elsewhere in the tables: it was probably measured with speculative decoding.
    Speculation,
    /// Of its series (one model, device, engine and version) a good part is doubtful.
    Series,
}

fizeau_core::words! {
    RowExclusion, shown {
        Degrees = "experts are cut over another number of devices",
        Layout = "the layout is doubtful", Memory = "the weights do not fit",
        BeatsBound = "faster than the bound", Contradiction = "contradicts its series",
        Speculation = "probably speculative decoding", Series = "its series is doubtful",
    }
}

/// Ranks of a machine that tables of published results have.
const RANKS: u32 = 8;
/// A level that takes less than this of what a like one takes is not of the same engine.
const MUCH_FASTER: f64 = 0.78;
/// With more in flight a step does not get shorter than this.
const SHORTER: f64 = 0.7;
/// With this share of its rows doubtful so is a series.
const GOOD_PART: f64 = 0.2;

impl RowExclusion {
    /// What is doubtful about each of `rows`, in their order; none where nothing is.
    #[must_use]
    pub fn screen(rows: &[(MeasuredRow, System)]) -> Vec<Option<Self>> {
        let mut doubts: Vec<Option<Self>> =
            rows.iter().map(|(row, system)| Self::alone(row, system)).collect();
        let mut mark = |places: Vec<usize>, doubt| {
            for place in places {
                doubts[place] = doubts[place].or(Some(doubt));
            }
        };
        mark(beside_beaten(rows), Self::BeatsBound);
        mark(contradicting(rows), Self::Contradiction);
        mark(speculating(rows), Self::Speculation);
        for places in grouped(rows, series).into_values() {
            let is_counted = |place: &&usize| {
                matches!(doubts[**place], Some(Self::Degrees | Self::Contradiction))
            };
            let count = places.iter().filter(is_counted).count();
            if places.len() > 3 && count as f64 >= GOOD_PART * places.len() as f64 {
                for place in places {
                    doubts[place] = doubts[place].or(Some(Self::Series));
                }
            }
        }
        doubts
    }

    fn alone(row: &MeasuredRow, system: &System) -> Option<Self> {
        let deployment = &row.deployment;
        let (tensor, groups) = (deployment.tensor(), deployment.attention_groups());
        let has_experts = (system.model().layers.iter())
            .any(|layers| matches!(layers.feed_forward, FeedForward::Experts(_)));
        let parts = row.expert_tensor.filter(|parts| *parts > 0 && has_experts);
        let devices = parts.map(|parts| u64::from(parts) * u64::from(deployment.expert_groups()));
        if tensor > RANKS || groups > RANKS || (tensor == groups && tensor > 1) {
            Some(Self::Layout)
        } else if devices.is_some_and(|devices| devices != deployment.devices_per_stage()) {
            Some(Self::Degrees)
        } else if system.max_batch(&row.load) < 1.0 {
            Some(Self::Memory)
        } else {
            None
        }
    }
}

type Key = Vec<String>;

/// One model, device, engine and version.
fn series((row, _): &(MeasuredRow, System)) -> Key {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let weights = row.weights.as_ref().map(ToString::to_string).unwrap_or_default();
    vec![
        row.model.clone(),
        row.hardware.clone(),
        said(&row.engine),
        said(&row.engine_version),
        weights,
    ]
}

/// One load on one system, whatever the model is called and the version is.
fn like((row, system): &(MeasuredRow, System)) -> Key {
    let concurrency = row.load.concurrency.to_string();
    vec![
        format!("{} {}", system.model().architecture, system.model().parameters().total),
        row.hardware.clone(),
        row.engine.clone().unwrap_or_default(),
        layout(row),
        concurrency,
    ]
}

fn layout(row: &MeasuredRow) -> String {
    let weights = row.weights.as_ref().map(ToString::to_string).unwrap_or_default();
    let (input, output) = (row.load.input_tokens.get(), row.load.output_tokens.get());
    format!("{weights} {} {input} {output}", row.deployment)
}

fn grouped(
    rows: &[(MeasuredRow, System)],
    key: impl Fn(&(MeasuredRow, System)) -> Key,
) -> BTreeMap<Key, Vec<usize>> {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        groups.entry(key(row)).or_default().push(place);
    }
    groups
}

/// Rows whose concurrency cannot be what their series says.
fn beside_beaten(rows: &[(MeasuredRow, System)]) -> Vec<usize> {
    let at_concurrency = |(row, _): &(MeasuredRow, System)| {
        let engine = row.engine.clone().unwrap_or_default();
        vec![row.model.clone(), row.hardware.clone(), engine, row.load.concurrency.to_string()]
    };
    let is_beaten = |place: &usize| {
        let (row, system) = &rows[*place];
        row.tpot < system.bound_figures(&row.load).step
    };
    let groups = grouped(rows, at_concurrency).into_values();
    groups.filter(|places| places.iter().any(is_beaten)).flatten().collect()
}

/// Rows that a row with more in flight contradicts, or that contradict one with fewer: of a series at one load's lengths the
/// fewest without which all agree.
fn contradicting(rows: &[(MeasuredRow, System)]) -> Vec<usize> {
    let at_lengths = |row: &(MeasuredRow, System)| {
        let mut key = series(row);
        key.push(layout(&row.0));
        key
    };
    let contradicts = |a: usize, b: usize| {
        let (few, many) = (&rows[a].0, &rows[b].0);
        few.load.concurrency < many.load.concurrency && many.tpot.get() < SHORTER * few.tpot.get()
    };
    let mut out = Vec::new();
    for mut places in grouped(rows, at_lengths).into_values() {
        loop {
            let against = |a: usize| {
                places.iter().filter(|b| contradicts(a, **b) || contradicts(**b, a)).count()
            };
            let worst = places
                .iter()
                .copied()
                .max_by_key(|place| (against(*place), rows[*place].0.load.concurrency));
            let Some(worst) = worst.filter(|worst| against(*worst) > 0) else { break };
            places.retain(|place| *place != worst);
            out.push(worst);
        }
    }
    out
}

/// Rows much faster than the slowest that is like them; and all of a series most of whose comparable rows are.
fn speculating(rows: &[(MeasuredRow, System)]) -> Vec<usize> {
    let mut is_faster = vec![false; rows.len()];
    let mut is_comparable = vec![false; rows.len()];
    for places in grouped(rows, like).into_values() {
        let slowest = places.iter().map(|place| rows[*place].0.tpot.get()).fold(0.0, f64::max);
        for place in &places {
            is_faster[*place] = rows[*place].0.tpot.get() < MUCH_FASTER * slowest;
            let own = series(&rows[*place]);
            is_comparable[*place] = places.iter().any(|other| series(&rows[*other]) != own);
        }
    }
    for places in grouped(rows, series).into_values() {
        let comparable = places.iter().filter(|place| is_comparable[**place]).count();
        let faster =
            places.iter().filter(|place| is_comparable[**place] && is_faster[**place]).count();
        if faster > 0 && 2 * faster >= comparable {
            for place in places {
                is_faster[place] = true;
            }
        }
    }
    (0..rows.len()).filter(|place| is_faster[*place]).collect()
}
