//! Plans side by side, and what other goals would cost.

use crate::Shown;
use crate::text::{line, sentence};
use fizeau_record::text::number;
use fizeau_record::text::usd;
use fizeau_record::{
    DevicePlan, GoalPrice, NoPlanReason, PlanQuery, PlanReport, PlannedFleet, scaled_limits,
};

/// The columns of a table of plans, behind the label.
const HEADS: [&str; 5] = ["req/s each", "replicas", "devices", "USD/hour", "USD/M out"];
/// How wide a label may be.
const LABEL: usize = 24;

impl Shown<'_, PlanReport> {
    /// Each plan in a line, the cheapest marked.
    pub(super) fn side_by_side(&self, out: &mut String) {
        out.push('\n');
        head(out, "");
        let cheapest = self.cheapest();
        for (index, plan) in self.plans().iter().enumerate() {
            let mark = if cheapest == Some(index) { '*' } else { ' ' };
            let label = format!("{mark} {}", plan.source.name);
            match &plan.outcome {
                Ok(planned) => cells(out, &label, planned, plan),
                Err(reason) => sentence(out, &format!("{label}: no plan, {reason}")),
            }
        }
        if cheapest.is_some() {
            sentence(out, "* the cheapest");
        }
        if let Some(reason) = self.unlike_workloads().or_else(|| self.perhaps_cheaper()) {
            sentence(out, &format!("{reason}."));
        }
    }
}

impl Shown<'_, DevicePlan> {
    /// What other goals would cost.
    pub(super) fn prices(&self, ask: &PlanQuery, out: &mut String) {
        if self.prices.is_empty()
            || matches!(&self.outcome, Err(reason) if is_about_figures(reason))
        {
            return;
        }
        out.push('\n');
        let is_scaled = self.prices.iter().any(|price| price.label.starts_with("x "));
        head(out, if is_scaled { "  latency limits times" } else { "  other goals" });
        for GoalPrice { label, outcome, .. } in &self.prices {
            let label = label.strip_prefix("x ").unwrap_or(label);
            match outcome {
                Ok(planned) => cells(out, &format!("  {label}"), planned, self),
                Err(_) => {
                    let text = format!("  {label:<22}{:>11}", "not met");
                    line(out, &text);
                }
            }
        }
        if let Some(tightest) = self.tightest {
            let limits = scaled_limits(&ask.goals, tightest).join(", ");
            sentence(
                out,
                &format!(
                    "  The tightest goals that a tested load keeps are these times {}: {limits}.",
                    number(tightest)
                ),
            );
        }
        let planned: Vec<_> =
            self.prices.iter().filter_map(|price| price.outcome.as_ref().ok()).collect();
        if planned.iter().any(|planned| planned.carried.is_open_above) {
            let fewer = match planned
                .iter()
                .any(|planned| Shown(*planned).may_be_fewer(&planned.fleets.likely))
            {
                true => ", and fewer of them (<=) may be enough",
                false => "",
            };
            let more = "  >= at the highest load that was tested: a replica may carry more";
            sentence(out, &format!("{more}{fewer}."));
        }
    }
}

/// Whether no other limit could help.
fn is_about_figures(reason: &NoPlanReason) -> bool {
    use fizeau_record::NoCapacityReason::{NoFigure, NoLevel};
    matches!(reason, NoPlanReason::NotCarried(NoFigure { .. } | NoLevel { .. }))
}

fn head(out: &mut String, label: &str) {
    let [each, replicas, devices, hour, million] = HEADS;
    let text =
        format!("{label:<LABEL$}{each:>11}{replicas:>10}{devices:>9}{hour:>12}{million:>11}");
    line(out, &text);
}

fn cells(out: &mut String, label: &str, planned: &PlannedFleet, plan: &DevicePlan) {
    // A label too long for its column has a line of its own.
    let label = match label.chars().count() < LABEL {
        true => format!("{label:<LABEL$}"),
        false => {
            sentence(out, label);
            " ".repeat(LABEL)
        }
    };
    let open = if planned.carried.is_open_above { ">=" } else { "" };
    let each = format!("{open}{}", number(planned.per_replica.value()));
    let fleet = &planned.fleets.likely;
    let fewer = if Shown(planned).may_be_fewer(&planned.fleets.likely) { "<=" } else { "" };
    let replicas = match fleet.spare {
        0 => format!("{fewer}{}", fleet.needed),
        spare => format!("{fewer}{} + {spare}", fleet.needed),
    };
    let devices = fleet.installed().saturating_mul(plan.source.devices_per_replica.get());
    let cost = planned.cost;
    let hour = cost.map(|cost| cost.usd_per_hour);
    let million = cost.and_then(|cost| cost.usd_per_million_output_alone);
    let [hour, million] = [hour, million].map(|money| {
        money.map_or_else(|| "-".to_owned(), |money| fewer.to_owned() + &usd(money.middle()))
    });
    let devices = format!("{fewer}{devices}");
    let text = format!("{label}{each:>11}{replicas:>10}{devices:>9}{hour:>12}{million:>11}");
    line(out, &text);
}
