//! A plan as text of 80 columns.

mod notes;
mod tables;

use fizeau_core::LevelLoad;
use fizeau_pareto::Fleet;
use fizeau_roofline::HourlyRate;

use crate::Shown;
use crate::text::{line, sentence};
use fizeau_record::HighestLoadBasis;
use fizeau_record::text::{self, usd_beside};
use fizeau_record::text::{number, percent};
use fizeau_record::{DevicePlan, MoneyRange, PlanCost, PlanQuery, PlanReport, PlannedFleet};

impl Shown<'_, PlanReport> {
    /// What was asked, the plans side by side, each of them, and what other goals would cost. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let demand = self.ask().demand;
        let goals: Vec<String> = self.ask().goals.iter().map(ToString::to_string).collect();
        let rate = number(demand.rate());
        sentence(&mut out, &format!("A plan for {rate} requests/s within {}", goals.join(", ")));
        let spare = match demand.spare() {
            0 => "no spare replica".to_owned(),
            1 => "one spare replica".to_owned(),
            many => format!("{many} spare replicas"),
        };
        let headroom = percent(demand.headroom());
        sentence(&mut out, &format!("  {headroom} of each replica kept free, {spare}"));
        if self.plans().len() > 1 {
            self.side_by_side(&mut out);
        }
        for plan in self.plans() {
            out.push('\n');
            Shown(plan).text(self.ask(), &mut out);
        }
        out
    }
}

impl Shown<'_, DevicePlan> {
    fn text(&self, ask: &PlanQuery, out: &mut String) {
        let source = &self.source;
        match source.name == source.from {
            true => sentence(out, &format!("{}:", source.name)),
            false => sentence(out, &format!("{}: {}", source.name, source.from)),
        }
        match &self.outcome {
            Ok(planned) => Shown(planned).text(self, out),
            Err(reason) => sentence(out, &format!("  No plan: {reason}.")),
        }
        self.notes(out);
        self.prices(ask, out);
    }
}

impl Shown<'_, PlannedFleet> {
    fn text(&self, plan: &DevicePlan, out: &mut String) {
        self.replica(out);
        let heads = ["expected", "cautious"];
        row(out, "", heads.map(str::to_owned));
        let fleets = [Some(self.fleets.likely), self.fleets.cautious];
        let at_most = |fleet: &Fleet| at_most(self.may_be_fewer(fleet));
        let fleet = |text: &dyn Fn(&Fleet) -> String| {
            fleets.map(|fleet| fleet.as_ref().map_or_else(|| "-".to_owned(), text))
        };
        row(
            out,
            "replicas",
            fleet(&|fleet| match fleet.spare {
                0 => format!("{}{}", at_most(fleet), fleet.needed),
                spare => format!("{}{} + {spare}", at_most(fleet), fleet.needed),
            }),
        );
        let each = plan.source.devices_per_replica.get();
        let devices =
            |fleet: &Fleet| format!("{}{}", at_most(fleet), fleet.installed().saturating_mul(each));
        row(out, &format!("devices, {each} a replica"), fleet(&devices));
        row(out, "utilisation", fleet(&|fleet| percent(fleet.utilisation)));
        self.money(out);
        let tells_low_end =
            self.carried.bounds == HighestLoadBasis::Tested && self.carried.next.is_some();
        match self.no_cautious_reason() {
            Some(reason) => sentence(out, &format!("  No cautious plan: {reason}.")),
            None if tells_low_end => {}
            None => sentence(out, "  Cautious takes the low end of the interval."),
        }
    }

    /// What a replica carries, and why no more.
    fn replica(&self, out: &mut String) {
        let carried = &self.carried;
        let found = carried.requests_per_s;
        let at_least = if carried.is_open_above { "at least " } else { "" };
        let mut text = format!(
            "  A replica carries {at_least}{} requests/s within the goals",
            number(found.value())
        );
        if found.low() < found.high() && carried.bounds != HighestLoadBasis::Tested {
            let open = if carried.is_open_below { "or less " } else { "" };
            let of = if carried.bounds == HighestLoadBasis::Runs { " over the runs" } else { "" };
            let (low, high) = (number(found.low()), number(found.high()));
            text.push_str(&format!(" ({low} {open}to {high}{of})"));
        }
        text.push_str(&format!("; the nearest load tested is {}.", carried.nearest));
        sentence(out, &text);
        if let (HighestLoadBasis::Tested, Some(next)) = (carried.bounds, carried.next) {
            let low = number(found.low());
            let text = format!(
                "  Cautious takes {low} requests/s: the low end of the interval of what was completed at the nearest load that was tested \
                 and keeps the goals; {next} does not."
            );
            sentence(out, &text);
        }
        let broken = match &carried.breaks {
            Some(broken) => format!("  First to break beyond: {broken}."),
            None => {
                let kind = match carried.nearest {
                    LevelLoad::Rate(_) => "rate",
                    LevelLoad::Concurrency(_) => "concurrency",
                };
                format!(
                    "  Every tested {kind} keeps the goals, so a replica may carry more, and the replicas below are an upper limit. Test \
                     higher loads to see how few are enough."
                )
            }
        };
        sentence(out, &broken);
        if let Some(kept) = carried.kept_beyond {
            let text = format!(
                "  {kept} kept the goals all the same, which does not count above a load that broke them; repeat these loads to see \
                 which is right."
            );
            sentence(out, &text);
        }
        if self.per_replica != found {
            let planned = number(self.per_replica.value());
            sentence(
                out,
                &format!(
                    "  With the arrivals' bursts it is planned to carry {planned} requests/s."
                ),
            );
        }
    }

    /// Whether fewer replicas may be enough, since each may carry more than was tested: one is the fewest that there can be.
    fn may_be_fewer(&self, fleet: &Fleet) -> bool {
        self.0.carried.is_open_above && fleet.needed > 1
    }

    /// Halfway between the lowest and the highest price; at most so much where fewer replicas may be enough.
    fn money(&self, out: &mut String) {
        let Some(likely) = &self.cost else { return };
        let costs = [Some(likely), self.cautious_cost.as_ref()];
        let fleets = [Some(self.fleets.likely), self.fleets.cautious];
        let marks = fleets.map(|fleet| at_most(fleet.is_some_and(|of| self.may_be_fewer(&of))));
        let mut add = |label: &str, of: &dyn Fn(&PlanCost) -> Option<MoneyRange>| {
            if of(likely).is_some() {
                let [likely, cautious] = usd_beside(costs.map(|cost| Some(of(cost?)?.middle())));
                row(out, label, [marks[0].to_owned() + &likely, marks[1].to_owned() + &cautious]);
            }
        };
        add("USD an hour", &|cost| Some(cost.usd_per_hour));
        add("a month of 730.5 hours", &|cost| Some(cost.usd_per_month));
        add("1 M requests", &|cost| Some(cost.usd_per_request.times(1e6)));
        add("1 M output tokens, all cost on output", &|cost| cost.usd_per_million_output_alone);
        add("1 M input tokens (prefill)", &|cost| cost.usd_per_million_input);
        add("1 M output tokens (decode)", &|cost| cost.usd_per_million_output);
    }
}

const fn at_most(is_limit: bool) -> &'static str {
    if is_limit { "at most " } else { "" }
}

/// What an hour costs, and who says so.
fn price(hour: Option<&HourlyRate>) -> String {
    let Some(hour) = hour else {
        return "none is known, so the plan counts devices only".to_owned();
    };
    let middle = if hour.low < hour.high { "; all figures use the middle" } else { "" };
    text::with_price_origin(&format!("{}{middle}", text::hourly(hour)), hour)
}

/// A label and two figures.
fn row(out: &mut String, label: &str, cells: [String; 2]) {
    let [likely, cautious] = cells;
    let text = format!("  {label:<41} {likely:>17} {cautious:>17}");
    line(out, &text);
}
