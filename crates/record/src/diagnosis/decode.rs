//! Why an output token takes as long as it does.

use fizeau_core::Millis;
use fizeau_metrics::Metric;
use fizeau_roofline::{PassTime, System, TokenTime};

use super::level::{LevelFacts, MeasuredMean, NOT_APART, millis};
use super::try_first::{self, AdviceFacts};
use super::waterfall::{SlowdownCause, Waterfall, WaterfallBuilder};
use super::{Diagnosed, ProbedSilicon, collectives};

/// What arithmetic makes of two times that are the same.
const ROUNDING: f64 = 1e-9;

/// The way to the mean time per output token of a level; or why there is none.
pub(super) fn diagnose(
    of: &Diagnosed<'_>,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) -> Result<Waterfall, String> {
    let measured = level.mean(Metric::Tpot).ok_or("no request had a second token")?;
    if of.system.serving().tokens_per_step.get() > 1 {
        return Err("the acceptance rate of drafted tokens is not known".to_owned());
    }
    let mut waterfall = WaterfallBuilder::to(measured);
    let bound = |system: &System| bound_of(system, level);
    let batch = format!("{:.1} sequences decoding at once on average", level.decoding);
    let printed =
        format!("a step over {batch} takes at least this on {}", of.system.device().title);
    measured.above(bound(of.system), &format!("a step over {batch}"))?;
    waterfall.up_to(of.bound(), bound(of.system), printed);
    if let Some(probed) = of.measured() {
        silicon(&mut waterfall, of.system, probed, bound);
    }

    let silicon = of.silicon();
    let expected = expected(silicon, level).step;
    let limit = expected.binding.limit();
    operators(&mut waterfall, &expected, &format!("the step is limited by {limit}"));
    let pass = silicon.decode_pass(&level.load, level.decoding);
    collectives::add(&mut waterfall, silicon, &pass, &expected);
    overheads(&mut waterfall, of, level, lightest);
    prompts_between(&mut waterfall, of, level, lightest);
    let facts = AdviceFacts { limit, devices: of.system.deployment().tensor() };
    Ok(waterfall.finish(|steps| try_first::for_tpot(steps, facts)))
}

/// The least that a decode step of the level can take.
fn bound_of(system: &System, level: &LevelFacts<'_>) -> Millis {
    millis(system.bound_pass(&system.decode_pass(&level.load, level.decoding)).total)
}

fn expected(system: &System, level: &LevelFacts<'_>) -> TokenTime {
    system.expected_token(&level.load, level.decoding)
}

/// What the silicon as it was measured adds to `bound`, from its best to its typical self.
pub(super) fn silicon(
    waterfall: &mut WaterfallBuilder,
    printed: &System,
    probed: &ProbedSilicon,
    bound: impl Fn(&System) -> Millis,
) {
    let (sheet, best) = (bound(printed).get(), bound(probed.system()).get());
    let typical = bound(probed.typical()).get();
    let of = match printed.device().is_probed() {
        true => "the probe that the bound is made of",
        false => "the data sheet",
    };
    let evidence =
        format!("the probe reached {:.0} % of what {of} allows here", 100.0 * sheet / best);
    let step = waterfall.up_to(SlowdownCause::Silicon, Millis::new(best), evidence);
    // A tool that reports one figure says nothing of how far it varies.
    step.range_ms = (typical > best * (1.0 + ROUNDING))
        .then(|| [best - sheet, typical - sheet].map(Millis::new));
}

/// What operators one after the other add to the bound, devices' talk apart.
pub(super) fn operators(waterfall: &mut WaterfallBuilder, expected: &PassTime, limit: &str) {
    let alone = millis(expected.total).get() - millis(expected.communication()).get();
    let evidence = format!(
        "operators one after the other, as the roofline model expects; {limit}; computed, so that its error is in what is left over"
    );
    waterfall.up_to(SlowdownCause::Algorithm, Millis::new(alone), evidence);
}

/// What a step costs beyond its expectation where nothing queues: the lightest level shows it.
fn overheads(
    waterfall: &mut WaterfallBuilder,
    of: &Diagnosed<'_>,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) {
    let Some(lightest) = lightest else { return };
    let Some(MeasuredMean { mean, ends }) = lightest.mean(Metric::Tpot) else { return };
    let expected = millis(expected(of.silicon(), lightest).step.total).get();
    let beyond = mean.get() - expected;
    let left = waterfall.left().get();
    if beyond <= 0.0 || left <= 0.0 {
        return;
    }
    let evidence = format!(
        "at {}, the lightest level, with {:.1} in flight, a token took {:.2} ms where the roofline model expects {expected:.2} ms",
        lightest.report.load,
        lightest.in_flight,
        mean.get()
    );
    let adds = Millis::new(beyond.min(left));
    if !lightest.is_alone() {
        let evidence = format!("{evidence}; {NOT_APART}");
        waterfall.add(SlowdownCause::EngineOrQueue, adds, evidence);
        return;
    }
    let step = waterfall.add(SlowdownCause::LaunchesAndSteps, adds, evidence);
    if !level.is(lightest) || beyond <= left {
        step.range_ms =
            ends.map(|ends| ends.map(|end| Millis::new((end.get() - expected).clamp(0.0, left))));
    }
}

/// What the prompts of other requests add to the steps that read them, as the roofline model expects it; of a level beside a
/// lightest one that has others too, what they add beyond that.
fn prompts_between(
    waterfall: &mut WaterfallBuilder,
    of: &Diagnosed<'_>,
    level: &LevelFacts<'_>,
    lightest: Option<&LevelFacts<'_>>,
) {
    let came = level.requests_per_s > 0.0;
    // With one request at a time there are no others.
    if !came || level.is_alone() || lightest.is_some_and(|one| one.is(level)) {
        return;
    }
    let token = expected(of.silicon(), level);
    let told = lightest.filter(|one| !one.is_alone());
    let told = told.map_or(0.0, |one| expected(of.silicon(), one).prompts.total.get());
    // All of it, even where less is left: what is then below zero says that the model of the hardware expects too much.
    let adds = (token.prompts.total.get() - told) * 1e3;
    if adds > 0.0 {
        let each = millis(token.prompts.total).get() / token.reading;
        let evidence = format!(
            "{:.0} % of the steps read prompts of others beside the tokens that they make, {:.1} at once, and take {each:.2} ms longer for it; \
             computed, so that its error is in what is not explained",
            token.reading * 100.0,
            token.prompts_at_once,
        );
        waterfall.add(SlowdownCause::BatchAndQueue, Millis::new(adds), evidence);
    }
}
