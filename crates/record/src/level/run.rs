//! A level's report from what came of it.

use fizeau_metrics::{
    ClientProof, LevelEnding, LevelExpectations, LevelSummary, NoWindow, NoWindowReason,
    Thresholds, WindowChoice, WindowedSummary, judge,
};

use super::{LevelReport, LevelStatus, NoReference, SpeedOfLight, UntilPrecise};
use crate::text::four_digits;
use crate::{LengthTally, LevelReference, LevelTelemetry, RequestedLoad, ShardsReport};
use fizeau_core::{LevelLoad, Nanos, PerSec, TokenSource, Tokens, WarmUp};

/// The outcome of a level, whoever drove it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelOutcome<'a> {
    /// What its tapes amount to, with what was held back and abandoned.
    pub summary: LevelSummary,
    /// What the client saw of itself, with what it needed of the system and its ceiling where these are known.
    pub client: ClientProof,
    /// The lengths of its replies, for the speed of light; none where they were not kept.
    pub lengths: Option<&'a LengthTally>,
    /// Whether it ran to its end.
    pub status: LevelStatus,
    /// What was sent before it; none where that is not recorded.
    pub warm_up: Option<WarmUp>,
    /// How well is known what it was to find out.
    pub until: Option<UntilPrecise>,
    /// The clients that measured it together; none where one did alone.
    pub shards: Option<ShardsReport>,
    /// What its servers, their devices and the client's host said meanwhile; none where nobody asked them.
    pub telemetry: Option<Box<LevelTelemetry>>,
}

impl LevelOutcome<'_> {
    /// Of a level that ran to its end, of which no more is known.
    #[must_use]
    pub const fn new(summary: LevelSummary, client: ClientProof) -> Self {
        Self {
            summary,
            client,
            lengths: None,
            status: LevelStatus::Finished,
            warm_up: None,
            until: None,
            shards: None,
            telemetry: None,
        }
    }
}

/// What a level is compared with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelContext<'a> {
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<LevelReference<'a>, NoReference>,
    /// Where the verdict begins to doubt.
    pub thresholds: Thresholds,
    /// What was asked for of the load.
    pub requested: RequestedLoad,
    /// That data were sent more than once, in plain words.
    pub repeated: Option<String>,
}

impl LevelContext<'_> {
    /// For requests that were asked for so, with the usual thresholds and no speed of light.
    #[must_use]
    pub fn new(requested: RequestedLoad) -> Self {
        let light = Err(NoReference::NotGiven);
        Self { light, thresholds: Thresholds::default(), requested, repeated: None }
    }
}

/// The output tokens that the client counted exactly, and the most a second that the bound allows, of balanced routing where that
/// differs.
fn output_and_bound(summary: &LevelSummary, light: &SpeedOfLight) -> Option<(Tokens, PerSec)> {
    let light = light.comparison()?;
    let bound =
        light.even_routing.map_or(light.bound.output_tokens_per_s, |even| even.output_tokens_per_s);
    let is_guess = |source| matches!(source, TokenSource::Tokenizer | TokenSource::Events);
    let is_known = summary.tokens.source.is_some_and(|source| !is_guess(source));
    is_known.then_some((summary.tokens.output, bound))
}

impl LevelReport {
    /// The report of a level at `load`: judged, and beside its bound where there is one. It has neither a folder nor a checklist.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, LoadKind, Nanos, Stamp, Tape};
    /// use fizeau_metrics::{ClientWatch, GoodputGoals, LevelTally, Verdict};
    /// use fizeau_record::{RequestedLoad, LevelContext, LevelOutcome, LevelReport};
    ///
    /// let mut tally = LevelTally::new(&GoodputGoals::NONE).of_closed_loop();
    /// let mut tape = Tape::sent_at(Stamp::EPOCH);
    /// tape.arrivals.push(Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(20), 1, Channel::Visible));
    /// tally.add(&tape);
    /// tally.settle();
    /// let run = LevelOutcome::new(tally.summary(), tally.proof(ClientWatch::default()));
    /// let context = LevelContext::new(RequestedLoad::default());
    /// let level = LevelReport::from_run(LoadKind::Concurrency.at(1.0), run, &context);
    /// assert_ne!(level.validity.verdict, Verdict::Invalid);
    /// ```
    #[must_use]
    pub fn from_run(load: LevelLoad, run: LevelOutcome<'_>, context: &LevelContext<'_>) -> Self {
        let LevelOutcome { summary, client, lengths, status, warm_up, until, shards, telemetry } =
            run;
        let summary = match shards.as_ref().and_then(ShardsReport::clocks_off) {
            Some(off) => summary.over_uncertain_clocks(off),
            None => summary,
        };
        let speed_of_light = match (&context.light, lengths) {
            (Ok(light), Some(lengths)) => SpeedOfLight::of(*light, lengths, load, &summary),
            (Ok(_), None) => {
                SpeedOfLight::Absent { reason: "its lengths were not kept".to_owned() }
            }
            (Err(why), _) => SpeedOfLight::NoReference(*why),
        };
        let telemetry = telemetry.map(|said| match &context.light {
            Ok(light) => Box::new(said.beside(*light, output_and_bound(&summary, &speed_of_light))),
            Err(_) => said,
        });
        let expected = LevelExpectations {
            thresholds: context.thresholds,
            held_back: summary.requests.held_back,
            cache: context.requested.cache,
            abandoned: summary.requests.abandoned,
            counted_cache_share: telemetry.as_ref().and_then(|said| said.prefix_hit_share()),
            clients: shards.as_ref().map_or(1, ShardsReport::clients),
            repeated: context.repeated.clone(),
            beyond_speed_of_light: speed_of_light.violation().map(ToString::to_string),
            ending: match status {
                LevelStatus::Finished => LevelEnding::Finished,
                LevelStatus::Partial { .. } => LevelEnding::Interrupted,
            },
        };
        let mut validity = judge(&summary, &client, &expected);
        if let Some(shards) = &shards {
            let duration_ms = summary.throughput.duration.get() * 1e3;
            let reasons = shards.reasons(duration_ms, &validity.reasons);
            reasons.into_iter().for_each(|reason| validity.add(reason));
            validity.notes.extend(shards.lines());
        }
        validity.notes.extend(speed_of_light.undecided().map(ToString::to_string));
        validity.notes.extend(nothing_left(&summary));
        validity.notes.extend(drawn_otherwise(&summary, &context.requested));
        validity.notes.extend(telemetry.iter().flat_map(|said| said.notes()));
        Self {
            load,
            requested: context.requested,
            validity,
            summary,
            client,
            speed_of_light,
            status,
            until,
            warm_up,
            checklist: None,
            unseen: None,
            folder: None,
            shards: shards.map(Box::new),
            telemetry,
            detail: None,
        }
    }
}

/// Says so where the load is another than that which was asked for, by chance mostly: its throughput is then no sign of a slow server.
fn drawn_otherwise(summary: &LevelSummary, requested: &RequestedLoad) -> Option<String> {
    let (requested, drawn) = (requested.arrivals?, summary.arrivals?.intended);
    let (law, rate) = (requested.rate?.get(), drawn.rate?.get());
    let off = rate / law - 1.0;
    if off.abs() <= DRAWN_OFF {
        return None;
    }
    let deviation = (requested.cv_squared.unwrap_or(1.0) / drawn.n as f64).sqrt();
    let why = match off.abs() < 4.0 * deviation {
        true => ": so few vary by chance; more of them come nearer",
        false => "",
    };
    let way = if off < 0.0 { "fewer" } else { "more" };
    Some(format!(
        "{} arrivals were planned at {} a second, {:.0} % {way} than the {} that were asked for{why}",
        drawn.n + 1,
        four_digits(rate),
        100.0 * off.abs(),
        four_digits(law)
    ))
}

/// A load that is so much off what was asked for, as a share, is said.
pub(super) const DRAWN_OFF: f64 = 0.1;

/// Says so where the window that was asked for leaves nothing of the level.
fn nothing_left(summary: &LevelSummary) -> Option<String> {
    let WindowedSummary { choice, part, .. } = &*summary.windowed;
    let is_empty = matches!(part, Err(NoWindow { why: NoWindowReason::NothingLeft, .. }));
    let took = Nanos::from_secs_f64(summary.throughput.duration.get()).ok()?;
    (is_empty && *choice != WindowChoice::AUTO).then(|| {
        format!(
            "a warm-up of {} and a cool-down of {} leave nothing of this level, which took {took}; \
             only the figures of the whole level are known, so leave out less, or measure longer",
            choice.warmup, choice.cooldown
        )
    })
}
