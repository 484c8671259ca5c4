//! What is to be known of plans before they are believed.

use super::{DevicePlan, DevicePlanSource, PlanLevel, PlanReport, PlannedFleet};
use crate::comparability::must_agree;
use crate::fields::told;
use crate::text::{by_reason, listed, usd};
use crate::{ChangedField, DocumentFields};

/// What of a workload a plan may change: when requests come, and of which model and by which goals they are judged.
const NO_WORKLOAD: [&str; 7] = [
    "plan.arrivals",
    "plan.content.token_ids",
    "probe",
    "shard",
    "setup",
    "goodput",
    "lengths.requests",
];

/// Mean lengths that lie within this factor of each other are those of one workload.
const SAME_LENGTHS: f64 = 1.05;

impl PlanReport {
    /// What is to be known before the plans are believed: why none is the cheapest, and what speaks against the levels that they rest
    /// on, a line each.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let doubts = self.plans().iter().flat_map(|plan| {
            let doubts = plan.doubts().into_iter();
            doubts.map(|doubt| format!("{}: {doubt}", plan.source.from))
        });
        let no_cheapest = self.unlike_workloads().or_else(|| self.perhaps_cheaper());
        no_cheapest.into_iter().chain(doubts).collect()
    }

    /// Which plans are upper limits and may cost less than the one that costs least as it stands; none where it is the cheapest.
    #[must_use]
    pub fn perhaps_cheaper(&self) -> Option<String> {
        let (least, price) = self.least()?;
        let others = self.plans().iter().enumerate().filter(|(index, _)| *index != least);
        let may_undercut = others.filter(|(_, plan)| {
            let planned = plan.outcome.as_ref().ok();
            planned.and_then(PlannedFleet::least_price).is_some_and(|lowest| lowest < price)
        });
        let names: Vec<String> = may_undercut.map(|(_, plan)| plan.source.name.clone()).collect();
        let (is, it) = match *names {
            [] => return None,
            [_] => ("is an upper limit", "it"),
            _ => ("are upper limits", "them"),
        };
        let name = &self.plans().get(least)?.source.name;
        Some(format!(
            "Which plan is the cheapest is not known: {} {is}, and may come to less than {} USD an hour of {name}; test {it} at \
             higher loads",
            listed(&names),
            usd(price)
        ))
    }

    /// In what the workload of the first plan and that of another differ; none where all may be ranked.
    #[must_use]
    pub fn unlike_workloads(&self) -> Option<String> {
        let (first, others) = self.plans().split_first()?;
        let unlike = others.iter().find_map(|other| {
            let differing = differing(&first.source, &other.source);
            (!differing.is_empty()).then(|| differing.join("; "))
        });
        unlike
            .map(|unlike| format!("No plan is the cheapest, since the workloads differ: {unlike}"))
    }
}

/// In what two workloads differ, by what their runs were asked for, or else by the lengths of their requests.
fn differing(a: &DevicePlanSource, b: &DevicePlanSource) -> Vec<String> {
    let words = |what: &str, [one, other]: [String; 2]| {
        format!("{what} is {one} in {} and {other} in {}", a.name, b.name)
    };
    if let Some((one, other)) = a.workload.as_ref().zip(b.workload.as_ref()) {
        let fields = unlike(one, other);
        return told(&fields).map(|field| words(&field.label(), field.values())).collect();
    }
    let lengths = [
        ("mean input length", a.lengths.input, b.lengths.input),
        ("mean output length", a.lengths.output, b.lengths.output),
    ];
    let lengths = lengths.into_iter().filter_map(|(what, one, other)| {
        let ends = [one?, other?];
        let factor = ends[0].max(ends[1]) / ends[0].min(ends[1]);
        (factor > SAME_LENGTHS).then(|| words(what, ends.map(|mean| format!("{mean:.0}"))))
    });
    lengths.collect()
}

fn unlike(one: &DocumentFields, other: &DocumentFields) -> Vec<ChangedField> {
    let mut fields = must_agree(one, other);
    fields.retain(|field| !NO_WORKLOAD.iter().any(|path| field.field.starts_with(path)));
    fields
}

impl DevicePlan {
    /// What speaks against the levels beside the highest load, or against all where there is none: each doubt once, with its loads.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let beside = self.outcome.as_ref().ok().map(|planned| &planned.carried);
        let counts = |level: &&PlanLevel| {
            beside.is_none_or(|of| level.load == of.nearest || Some(level.load) == of.next)
        };
        let doubted = self.source.levels.iter().filter(counts);
        by_reason(doubted.filter_map(|level| Some((level.doubt.clone()?, level.load.to_string()))))
    }
}
