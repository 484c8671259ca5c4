//! A plan as text of 80 columns.

mod notes;
mod tables;

use fizeau_pareto::Fleet;
use fizeau_roofline::HourlyRate;

use crate::Shown;
use crate::text::{line, sentence};
use fizeau_record::Bounds;
use fizeau_record::text::{self, usd, usd_beside};
use fizeau_record::text::{number, percent};
use fizeau_record::{Money, Plan, PlanAsk, PlanCost, PlanReport, Planned};

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
            0 => "none to spare".to_owned(),
            1 => "one replica to spare".to_owned(),
            many => format!("{many} replicas to spare"),
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

impl Shown<'_, Plan> {
    fn text(&self, ask: &PlanAsk, out: &mut String) {
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

impl Shown<'_, Planned> {
    fn text(&self, plan: &Plan, out: &mut String) {
        self.replica(out);
        let heads = ["likely", "at the low end"];
        row(out, "", heads.map(str::to_owned));
        let fleets = [Some(self.fleets.likely), self.fleets.cautious];
        let fleet = |text: &dyn Fn(&Fleet) -> String| {
            fleets.map(|fleet| fleet.as_ref().map_or_else(|| "-".to_owned(), text))
        };
        row(
            out,
            "replicas",
            fleet(&|fleet| match fleet.spare {
                0 => fleet.needed.to_string(),
                spare => format!("{} + {spare}", fleet.needed),
            }),
        );
        let each = plan.source.devices_per_replica.get();
        let devices = |fleet: &Fleet| fleet.installed().saturating_mul(each).to_string();
        row(out, &format!("devices, {each} a replica"), fleet(&devices));
        row(out, "in use", fleet(&|fleet| percent(fleet.utilisation)));
        self.money(out);
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
        if found.low() < found.high() && carried.bounds != Bounds::Tested {
            let open = if carried.is_open_below { "or less " } else { "" };
            let of = if carried.bounds == Bounds::Runs { " over the runs" } else { "" };
            let (low, high) = (number(found.low()), number(found.high()));
            text.push_str(&format!(" ({low} {open}to {high}{of})"));
        }
        text.push_str(&format!("; the nearest load tested is {}.", carried.nearest.words()));
        sentence(out, &text);
        if let (Bounds::Tested, Some(next)) = (carried.bounds, carried.next) {
            let next = next.words();
            let text = format!(
                "  No interval is known of it: the low end is the nearest load tested, which keeps the goals; {next} does not."
            );
            sentence(out, &text);
        }
        let broken = match &carried.breaks {
            Some(broken) => format!("  First to break beyond: {broken}."),
            None => {
                "  All that was tested keeps the goals: a higher load may do so too.".to_owned()
            }
        };
        sentence(out, &broken);
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

    /// Halfway between the lowest and the highest price.
    fn money(&self, out: &mut String) {
        let costs = [Some(&self.cost), self.cautious_cost.as_ref()];
        let mut add = |label: &str, of: &dyn Fn(&PlanCost) -> Option<Money>| {
            if of(&self.cost).is_some() {
                row(out, label, usd_beside(costs.map(|cost| Some(of(cost?)?.middle()))));
            }
        };
        add("US dollars an hour", &|cost| Some(cost.usd_per_hour));
        add("a month of 730.5 hours", &|cost| Some(cost.usd_per_month));
        add("a request", &|cost| Some(cost.usd_per_request));
        add("a million output tokens, all time theirs", &|cost| cost.usd_per_million_output_alone);
        add("a million input tokens, by their time", &|cost| cost.usd_per_million_input);
        add("a million output tokens, by the rest", &|cost| cost.usd_per_million_output);
    }
}

/// What an hour costs, and who says so.
fn price(hour: &HourlyRate) -> String {
    let (low, high) = (hour.low.get(), hour.high.get());
    if low >= high {
        return text::price_words(hour);
    }
    let range = format!(
        "{} to {} US dollars a device and hour, of which all figures take the middle",
        usd(low),
        usd(high)
    );
    text::said_by(&range, hour)
}

/// A label and two figures.
fn row(out: &mut String, label: &str, cells: [String; 2]) {
    let [likely, cautious] = cells;
    let text = format!("  {label:<42}{likely:>16}{cautious:>16}");
    line(out, &text);
}
