//! Weighing what speaks against a level.

use fizeau_core::{FailureClass, Millis, StampSource, TokenSource};

use super::workload::{abandoned, cache, notes, output_length, prompt_length};
use super::{ClientProof, Concern, Ending, Expectations, Reason, Thresholds, Validity, Verdict};
use crate::{Distribution, LevelSummary, Saturation, Statistic};

/// Whether `level` is to be believed: each thing that speaks against it is one reason, and the worst gives
/// the verdict. Notes weigh nothing.
///
/// ```
/// use fizeau_metrics::{ClientWatch, Expectations, GoodputGoals, LevelTally, Verdict, judge};
/// let nothing = LevelTally::new(&GoodputGoals::default());
/// let client = nothing.proof(ClientWatch::default());
/// let validity = judge(&nothing.summary(), &client, &Expectations::default());
/// assert_eq!(validity.verdict, Verdict::Invalid);
/// assert_eq!(validity.reasons[0].text, "no request was sent");
/// ```
#[must_use]
pub fn judge(level: &LevelSummary, client: &ClientProof, expected: &Expectations) -> Validity {
    let limits = &expected.thresholds;
    let reasons: Vec<Reason> = [
        failures(level, limits),
        late_release(level, expected),
        late_send(level, client, limits),
        late_read(level, client, limits),
        cpu(client, limits),
        run_delay(client, limits),
        near_ceiling(level, client, limits),
        prompt_length(level, limits),
        output_length(level, limits),
        cache(level, expected),
        abandoned(level, expected),
        saturated(level),
        token_source(level),
        speed_of_light(expected),
        ending(expected),
    ]
    .into_iter()
    .flatten()
    .collect();
    let worst = reasons.iter().map(|reason| reason.verdict).max();
    let notes = notes(level, expected);
    Validity { verdict: worst.unwrap_or(Verdict::Valid), reasons, notes }
}

/// What we called off ourselves is no failure of the endpoint's: it counts on neither side.
fn failures(level: &LevelSummary, limits: &Thresholds) -> Option<Reason> {
    let requests = &level.requests;
    let cancelled = requests.by_class.get(&FailureClass::Cancelled).copied().unwrap_or_default();
    let (sent, failures) = (requests.sent - cancelled, requests.failed - cancelled);
    if requests.sent == 0 {
        return invalid(Concern::Failures, "no request was sent".to_owned());
    }
    if sent == 0 {
        return invalid(
            Concern::Failures,
            "no request ended before the run was called off".to_owned(),
        );
    }
    let failed = format!("{failures} of {sent} requests failed");
    if requests.completed == 0 {
        return invalid(Concern::Failures, format!("no request completed: {failed}"));
    }
    let share = failures as f64 / sent as f64;
    let (verdict, limit) = exceeded(share, limits.failed_suspect, Some(limits.failed_invalid))?;
    let (share, limit) = (percent(share), percent(limit));
    reason(verdict, Concern::Failures, format!("{failed} ({share}, limit {limit})"))
}

/// What the client itself added between the intended instant and the sending: a late release, unless a cap held it.
fn late_release(level: &LevelSummary, expected: &Expectations) -> Option<Reason> {
    let (name, late) = tail(&level.metrics.release_lateness)?;
    let (held_back, sent) = (expected.held_back, level.requests.sent);
    let limits = &expected.thresholds;
    let (suspect, invalid) = (limits.lateness_suspect.get(), limits.lateness_invalid.get());
    let (verdict, limit) = exceeded(late.get(), suspect, Some(invalid))?;
    let late = late.get();
    // One request that was held back explains the greatest lateness, but a p99 only if it is one in a hundred.
    let explains = held_back > 0 && (name != "p99" || held_back.saturating_mul(100) >= sent);
    if !explains {
        let text = format!("requests were released late: {name} {late:.1} ms (limit {limit} ms)");
        return reason(verdict, Concern::Client, text);
    }
    let text = format!(
        "the cap on requests in flight held {held_back} of {sent} requests back ({name} of the wait {late:.1} ms): the rate that \
         was asked for was not sent; scheduled latencies include the wait",
    );
    reason(Verdict::Suspect, Concern::Workload, text)
}

/// What the client added between the release and the sending; connecting is no fault of its own. Where this process
/// stamps arrivals, this is also the only sign of how late it stamps them.
fn late_send(level: &LevelSummary, client: &ClientProof, limits: &Thresholds) -> Option<Reason> {
    let (name, late) = tail(&level.metrics.send_delay)?;
    let (suspect, invalid) = (limits.lateness_suspect.get(), limits.lateness_invalid.get());
    let (verdict, limit) = exceeded(late.get(), suspect, Some(invalid))?;
    let late = late.get();
    let so = match client.stamps {
        StampSource::User => "; it stamps arrivals itself, and may do so as late",
        StampSource::Kernel | StampSource::Simulated => "",
    };
    let text = format!(
        "requests were sent late: {name} after release {late:.1} ms (limit {limit} ms){so}"
    );
    reason(verdict, Concern::Client, text)
}

/// The kernel's stamps stand however late they are read, but a client that reads late is a busy one.
fn late_read(level: &LevelSummary, client: &ClientProof, limits: &Thresholds) -> Option<Reason> {
    let (name, late) = tail(&level.metrics.read_lag)?;
    let (verdict, limit) = exceeded(late.get(), limits.read_lag_suspect.get(), None)?;
    let late = late.get();
    // Of a level that is stamped by both, the lag is that of the kernel's part.
    let so = if client.stamps == StampSource::Kernel { STAND } else { "" };
    let text = format!(
        "the client was busy: it read replies late, {name} {late:.1} ms after they came (limit {limit} ms){so}"
    );
    reason(verdict, Concern::Client, text)
}

fn cpu(client: &ClientProof, limits: &Thresholds) -> Option<Reason> {
    let share = client.watch.cpu_share?;
    let (verdict, limit) = exceeded(share, limits.cpu_suspect, Some(limits.cpu_invalid))?;
    let (share, limit) = (percent(share), percent(limit));
    let thread = thread(client, "busiest");
    reason(verdict, Concern::Client, format!("{thread} used {share} of a CPU (limit {limit})"))
}

/// A thread that is ready and does not run has lost its CPU to another program.
fn run_delay(client: &ClientProof, limits: &Thresholds) -> Option<Reason> {
    let share = client.watch.run_delay_share?;
    let (verdict, limit) = exceeded(share, limits.run_delay_suspect, None)?;
    let (share, limit) = (percent(share), percent(limit));
    let thread = thread(client, "worst off");
    let so = match client.stamps {
        StampSource::Kernel => STAND,
        StampSource::User => "; it stamps arrivals itself, so that latencies include those waits",
        StampSource::Simulated => "",
    };
    let text = format!("{thread} was ready but had no CPU {share} of the time (limit {limit}){so}");
    reason(verdict, Concern::Client, text)
}

/// Near its own ceiling the client measures itself.
fn near_ceiling(level: &LevelSummary, client: &ClientProof, limits: &Thresholds) -> Option<Reason> {
    let ceiling = client.watch.ceiling?;
    let (most, share) = ceiling.nearest(level)?;
    let (verdict, limit) = exceeded(share, limits.ceiling_suspect, None)?;
    let (share, limit) = (percent(share), percent(limit));
    let text = format!(
        "near the client's own ceiling: {share} of the {most} that it can do on this machine (limit {limit}); \
         the server may be faster"
    );
    reason(verdict, Concern::Client, text)
}

/// What becomes of the figures of a busy client whose arrivals the kernel stamped.
const STAND: &str = "; arrivals are stamped by the kernel, so that latencies stand";

/// The measuring thread that a share is of.
fn thread(client: &ClientProof, which: &str) -> String {
    match client.watch.threads {
        0 | 1 => "the measuring thread".to_owned(),
        threads => format!("the {which} of {threads} measuring threads"),
    }
}

/// An open loop that sends more than is served measures how long it was let run.
fn saturated(level: &LevelSummary) -> Option<Reason> {
    let Some(Saturation::Saturated(evidence)) = level.saturation else {
        return None;
    };
    let (due, ttft) = (evidence.due.trend.per_s, evidence.ttft_scheduled.trend.per_s);
    let text = format!(
        "saturated: requests due grew by {due:.1} per s and scheduled TTFT by {ttft:.1} ms per s; its latencies depend on how \
         long it ran ({:.1} s here)",
        level.throughput.duration.get(),
    );
    reason(Verdict::Suspect, Concern::Saturation, text)
}

fn token_source(level: &LevelSummary) -> Option<Reason> {
    if level.tokens.source? != TokenSource::Events {
        return None;
    }
    let text =
        "tokens are chunk counts: the server gave neither token ids nor usage for every reply";
    reason(Verdict::Suspect, Concern::Workload, text.to_owned())
}

fn speed_of_light(expected: &Expectations) -> Option<Reason> {
    let beyond = expected.beyond_speed_of_light.as_ref()?;
    invalid(Concern::SpeedOfLight, format!("measured beyond the speed of light: {beyond}"))
}

fn ending(expected: &Expectations) -> Option<Reason> {
    match expected.ending {
        Ending::Finished => None,
        Ending::Interrupted => reason(
            Verdict::Suspect,
            Concern::Ending,
            "partial: the level was interrupted before all requests were done".to_owned(),
        ),
    }
}

/// The worst threshold that `figure` is above.
pub(super) fn exceeded(figure: f64, suspect: f64, invalid: Option<f64>) -> Option<(Verdict, f64)> {
    match invalid {
        Some(invalid) if figure > invalid => Some((Verdict::Invalid, invalid)),
        _ if figure > suspect => Some((Verdict::Suspect, suspect)),
        _ => None,
    }
}

/// The p99, or the greatest value where the sample supports no p99.
fn tail(sample: &Distribution) -> Option<(&'static str, Millis)> {
    let of = sample.value_or_max(Statistic::P99)?;
    Some((if of.stand_in.is_some() { "max" } else { "p99" }, of.value))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn invalid(about: Concern, text: String) -> Option<Reason> {
    reason(Verdict::Invalid, about, text)
}

pub(super) fn reason(verdict: Verdict, about: Concern, text: String) -> Option<Reason> {
    Some(Reason { verdict, about, text })
}
