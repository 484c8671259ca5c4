//! Why the first token takes as long as it does.

use fizeau_core::Millis;
use fizeau_metrics::Metric;
use fizeau_roofline::{PassTime, System};

use super::decode::{operators, silicon};
use super::level::{LevelFacts, NOT_APART, millis};
use super::try_first::{self, AdviceFacts};
use super::waterfall::{SlowdownCause, Waterfall, WaterfallBuilder};
use super::{Diagnosed, collectives};

/// The way to the mean time to first token of a level; or why there is none.
pub(super) fn diagnose(
    of: &Diagnosed<'_>,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) -> Result<Waterfall, String> {
    let measured = level.mean(Metric::Ttft).ok_or("no request had a first token")?;
    let mut waterfall = WaterfallBuilder::to(measured);
    let bound =
        |system: &System| millis(system.bound_pass(&system.prefill_pass(&level.load)).total);
    let prompt = level.load.input_tokens.get();
    let printed = format!(
        "a prompt of {prompt} tokens, the mean, takes at least this on {}",
        of.system.device().title
    );
    measured.above(bound(of.system), "a prompt")?;
    waterfall.up_to(of.bound(), bound(of.system), printed);
    if let Some(probed) = of.measured() {
        silicon(&mut waterfall, of.system, probed, bound);
    }

    let expected = expected(of.silicon(), level);
    let limit = expected.binding.limit();
    operators(&mut waterfall, &expected, &format!("the prompt is limited by {limit}"));
    let pass = of.silicon().prefill_pass(&level.load);
    collectives::add(&mut waterfall, of.silicon(), &pass, &expected);
    overheads(&mut waterfall, of, level, lightest);
    queue(&mut waterfall, level, lightest);
    let facts = AdviceFacts { limit, devices: of.system.deployment().tensor() };
    Ok(waterfall.finish(|steps| try_first::for_ttft(steps, facts)))
}

fn expected(system: &System, level: &LevelFacts<'_>) -> PassTime {
    system.expected_pass(&system.prefill_pass(&level.load))
}

/// What a first token costs beyond its prompt where nothing queues.
fn overheads(
    waterfall: &mut WaterfallBuilder,
    of: &Diagnosed<'_>,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) {
    let Some(lightest) = lightest else { return };
    let Some(seen) = lightest.mean(Metric::Ttft) else { return };
    let expected = millis(expected(of.silicon(), lightest).total).get();
    let (beyond, left) = (seen.mean.get() - expected, waterfall.left().get());
    if beyond <= 0.0 || left <= 0.0 {
        return;
    }
    let what = match level.is(lightest) {
        true => "this is the lightest level of the run",
        false => "the lightest level shows it",
    };
    let evidence = format!(
        "{what}: at {}, with {:.1} in flight, a first token took {:.2} ms where the roofline model expects {expected:.2} ms; the rest includes network and HTTP front end",
        lightest.report.load,
        lightest.in_flight,
        seen.mean.get()
    );
    let adds = Millis::new(beyond.min(left));
    if !lightest.is_alone() {
        let evidence = format!("{evidence}; {NOT_APART}");
        waterfall.add(SlowdownCause::EngineOrQueue, adds, evidence);
        return;
    }
    let step = waterfall.add(SlowdownCause::LaunchesAndSteps, adds, evidence);
    step.range_ms =
        seen.ends.map(|ends| ends.map(|end| Millis::new((end.get() - expected).clamp(0.0, left))));
}

/// What is left beyond the lightest level is other requests'.
fn queue(
    waterfall: &mut WaterfallBuilder,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) {
    let left = waterfall.left();
    if left.get() <= 0.0 || lightest.is_none_or(|one| one.is(level)) {
        return;
    }
    let waiting = (level.in_flight - level.decoding).max(0.0);
    let evidence = format!(
        "of {:.1} requests in flight, {waiting:.1} had no token yet; this is the TTFT beyond that \
        of the lightest level",
        level.in_flight
    );
    let step = waterfall.rest(SlowdownCause::BatchAndQueue, evidence);
    // The lightest level is the quicker one, so that others cannot have shortened the wait.
    step.range_ms = step.range_ms.map(|ends| ends.map(|end| Millis::new(end.get().max(0.0))));
}
