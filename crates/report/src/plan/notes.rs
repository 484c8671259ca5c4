//! What stands below a plan's figures: price, speed of light, arrivals, what was left out.

use super::price;
use crate::Shown;
use crate::text::sentence;
use fizeau_core::LevelLoad;
use fizeau_record::text::listed;
use fizeau_record::text::{number, percent};
use fizeau_record::{BurstAccount, DevicePlan, NoPlanReason, SimulatedBursts};

impl Shown<'_, DevicePlan> {
    pub(super) fn notes(&self, out: &mut String) {
        sentence(out, &format!("  Price: {}.", price(self.source.hour.as_ref())));
        if let Ok(planned) = &self.outcome {
            match &planned.light {
                Ok(light) => {
                    let share = percent(light.share_of_cost);
                    let bound = number(light.requests_per_s.get());
                    let reached = percent(light.share_of_replica);
                    sentence(
                        out,
                        &format!(
                            "  Speed of light: at the bound a replica would carry {bound} requests/s within the goals; this one \
                             carries {reached} of that. At the bound, fully used and with no spares, it would cost {share} \
                             of this."
                        ),
                    );
                }
                Err(reason) => {
                    sentence(out, &format!("  Speed of light: not computed, since {reason}."))
                }
            }
            if let (Err(reason), Some(_)) = (&self.source.prompt_share, &self.source.hour) {
                sentence(
                    out,
                    &format!("  Cost is not split between input and output, since {reason}."),
                );
            }
            self.arrivals(planned.carried.nearest, out);
        }
        for doubt in self.doubts() {
            sentence(out, &format!("  Check before use: at {doubt}."));
        }
        let is_said = matches!(&self.outcome, Err(NoPlanReason::NotCarried(_)))
            && self.source.levels.is_empty();
        if !self.source.left_out.is_empty() && !is_said {
            sentence(out, &format!("  Left out: {}.", listed(&self.source.left_out)));
        }
    }

    /// What is known of the arrivals.
    fn arrivals(&self, nearest: LevelLoad, out: &mut String) {
        let is_closed = matches!(nearest, LevelLoad::Concurrency(_));
        match &self.source.bursts {
            BurstAccount::NotAccounted(reason) => {
                sentence(
                    out,
                    &format!(
                        "  Arrivals: the plan does not account for burstier arrivals than those \
                         measured, since {reason}; the headroom has to cover them."
                    ),
                );
                if is_closed {
                    sentence(
                        out,
                        "  It was measured in a closed loop, which sends only as replies end: at the same rate, arrivals that \
                         do not wait for one another queue more.",
                    );
                }
            }
            BurstAccount::Simulated(simulated) => {
                sentence(out, &format!("  Arrivals: {}", bursts_text(simulated)))
            }
        }
    }
}

fn bursts_text(simulated: &SimulatedBursts) -> String {
    let SimulatedBursts { burstiness, engine, measured_with, as_measured, under_bursts, pooled } =
        simulated;
    let (before, after) = (number(as_measured.get()), number(under_bursts.get()));
    let counts = match simulated.factor() {
        factor if factor < 1.0 => format!("what was measured counts times {}", number(factor)),
        _ => "what was measured counts in full, and no more than that".to_owned(),
    };
    let mut text = format!(
        "at burstiness {} a simulated replica carries {after} requests/s within the goals, and {before} with arrivals as \
         measured ({measured_with}): {counts}. Simulated: {engine}.",
        number(*burstiness)
    );
    if let Some((replicas, each)) = pooled {
        let each = number(each.get());
        text.push_str(&format!(
            " Behind a router that takes the least busy, each of {replicas} replicas carries {each}; the plan does not count on it."
        ));
    }
    text
}
