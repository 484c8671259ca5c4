//! Weighing what speaks against a level.

use fizeau_core::{Millis, StampSource, TokenSource};

use super::workload::{
    abandoned, cache, notes, output_length, output_limit, prompt_length, unsent,
};
use super::{
    ClientNeed, ClientProof, LevelEnding, LevelExpectations, Thresholds, Validity, Verdict,
    VerdictConcern, VerdictReason,
};
use crate::{Distribution, LevelSummary, Saturation, Statistic};

/// Whether `level` is to be believed: each thing that speaks against it is one reason, and the worst gives
/// the verdict. Notes weigh nothing.
///
/// ```
/// use fizeau_metrics::{ClientWatch, LevelExpectations, GoodputGoals, LevelTally, Verdict, judge};
/// let nothing = LevelTally::new(&GoodputGoals::default());
/// let client = nothing.proof(ClientWatch::default());
/// let validity = judge(&nothing.summary(), &client, &LevelExpectations::default());
/// assert_eq!(validity.verdict, Verdict::Invalid);
/// assert_eq!(validity.reasons[0].text, "no request was sent");
/// ```
#[must_use]
pub fn judge(level: &LevelSummary, client: &ClientProof, expected: &LevelExpectations) -> Validity {
    let limits = &expected.thresholds;
    let reasons: Vec<VerdictReason> = [
        failures(level, limits),
        late_release(level, expected),
        late_send(level, client, limits),
        late_read(level, limits),
        cpu(client, limits),
        run_delay(client, limits),
        steal(client, limits),
        merged_gaps(level, client, limits),
        at_once(level),
        near_ceiling(level, client, limits),
        prompt_length(level, limits),
        output_length(level, limits),
        output_limit(level, limits),
        cache(level, expected),
        abandoned(level, expected),
        unsent(level, limits),
        saturated(level),
        token_source(level),
        speed_of_light(expected),
        ending(expected),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut validity = Validity::of(reasons);
    validity.notes = notes(level, expected);
    validity.notes.extend(client.sent_again());
    validity.notes.extend(left_open(client));
    let is_busy = late_read(level, limits).is_some() || run_delay(client, limits).is_some();
    let sent_late = late_release(level, expected).or_else(|| late_send(level, client, limits));
    let is_exact = sent_late.is_none() && merged_gaps(level, client, limits).is_none();
    let is_late_but_stamped = is_busy && is_exact && client.stamps == Some(StampSource::Kernel);
    validity.notes.extend(is_late_but_stamped.then(|| STAND.to_owned()));
    let need = ClientNeed::of(level, client, expected.clients, limits);
    validity.notes.extend(need.map(|need| need.to_string()));
    validity
}

/// What we cancelled ourselves is no failure of the endpoint's: it counts on neither side.
fn failures(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let requests = &level.requests;
    let cancelled = requests.cancelled();
    let (sent, failures) = (requests.sent - cancelled, requests.failed - cancelled);
    if requests.sent == 0 {
        return invalid(VerdictConcern::Failures, "no request was sent".to_owned());
    }
    if sent == 0 {
        return invalid(
            VerdictConcern::Failures,
            "no request ended before the run was interrupted".to_owned(),
        );
    }
    let failed = format!("{failures} of {sent} requests failed");
    if requests.completed == 0 {
        return invalid(VerdictConcern::Failures, format!("no request completed: {failed}"));
    }
    let share = requests.failed_share()?;
    let (verdict, limit) = exceeded(share, limits.failed_suspect, Some(limits.failed_invalid))?;
    let [share, limit] = percents(share, limit);
    reason(verdict, VerdictConcern::Failures, format!("{failed} ({share}, limit {limit})"))
}

/// Such a reply is over as its end marker comes, and its connection is of no use to the next request.
fn left_open(client: &ClientProof) -> Option<String> {
    let count = client.replies_left_open;
    let replies = if count == 1 { "1 reply".to_owned() } else { format!("{count} replies") };
    (count > 0).then(|| {
        format!(
            "the server left the bodies of {replies} open after the end marker: they count as over \
             with it, and other requests took other connections"
        )
    })
}

/// What the client itself added between the intended instant and the sending: a late release, unless a cap held it.
fn late_release(level: &LevelSummary, expected: &LevelExpectations) -> Option<VerdictReason> {
    let (name, late) = tail(&level.metrics.release_lateness)?;
    let (held_back, sent) = (expected.held_back, level.requests.sent);
    let limits = &expected.thresholds;
    let (suspect, invalid) = (limits.lateness_suspect.get(), limits.lateness_invalid.get());
    let (verdict, limit) = exceeded(late.get(), suspect, Some(invalid))?;
    let late = beyond(late.get(), limit);
    // One request that was held back explains the greatest lateness, but a p99 only if it is one in a hundred.
    let explains = held_back > 0 && (name != "p99" || held_back.saturating_mul(100) >= sent);
    if !explains {
        let text =
            format!("the client sent later than scheduled: {name} {late} ms (limit {limit} ms)");
        return reason(verdict, VerdictConcern::Client, text);
    }
    let text = format!(
        "the limit on requests in flight delayed {held_back} of {sent} requests ({name} {late} \
         ms); the client sent fewer requests per second than requested, and latencies from \
         schedule include the wait",
    );
    reason(Verdict::Suspect, VerdictConcern::Workload, text)
}

/// What the client added between the release and the sending; connecting is no fault of its own. Where this process
/// stamps arrivals, this is also the only sign of how late it stamps them.
fn late_send(
    level: &LevelSummary,
    client: &ClientProof,
    limits: &Thresholds,
) -> Option<VerdictReason> {
    let (name, late) = tail(&level.metrics.send_delay)?;
    let (suspect, invalid) = (limits.lateness_suspect.get(), limits.lateness_invalid.get());
    let (verdict, limit) = exceeded(late.get(), suspect, Some(invalid))?;
    let late = beyond(late.get(), limit);
    let so = match client.stamps {
        Some(StampSource::User) => {
            "; the client also stamps arrivals itself, so its stamps may be late by as much"
        }
        Some(StampSource::Kernel | StampSource::Simulated) | None => "",
    };
    let text = format!(
        "the client was slow to send: {name} {late} ms (limit {limit} ms); this is the time \
         from the release of a request to its first byte sent{so}"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// The kernel's stamps stand however late they are read, but a client that reads late is a busy one.
fn late_read(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let (name, late) = tail(&level.metrics.read_lag)?;
    let (verdict, limit) = exceeded(late.get(), limits.read_lag_suspect.get(), None)?;
    let late = beyond(late.get(), limit);
    let text = format!(
        "the client read replies late: {name} {late} ms (limit {limit} ms); this is the time \
        from the arrival of data to its reading"
    );
    reason(verdict, VerdictConcern::Client, text)
}

fn cpu(client: &ClientProof, limits: &Thresholds) -> Option<VerdictReason> {
    let share = client.watch.cpu_share?;
    let (verdict, limit) = exceeded(share, limits.cpu_suspect, Some(limits.cpu_invalid))?;
    let [share, limit] = percents(share, limit);
    let thread = thread(client, "busiest");
    let text = format!(
        "the client needs most of a CPU: {share} (limit {limit}); this is the CPU time of \
            {thread}"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// A thread that is ready and does not run has lost its CPU to another program.
fn run_delay(client: &ClientProof, limits: &Thresholds) -> Option<VerdictReason> {
    let share = client.watch.run_delay_share?;
    let (verdict, limit) = exceeded(share, limits.run_delay_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let thread = thread(client, "most delayed");
    let so = match client.stamps {
        Some(StampSource::User) => {
            "; the client stamps arrivals itself, so latencies include these waits"
        }
        Some(StampSource::Kernel | StampSource::Simulated) | None => "",
    };
    let text = format!(
        "another program took the CPU: {share} of the time (limit {limit}); {thread} waited for a \
         CPU that long{so}"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// What a hypervisor takes no account of a thread shows, and the kernel's stamps wait for it too.
fn steal(client: &ClientProof, limits: &Thresholds) -> Option<VerdictReason> {
    let share = client.watch.steal_share?;
    let (verdict, limit) = exceeded(share, limits.steal_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let text = format!(
        "the hypervisor took {share} of the client's CPU time (limit {limit}); the share is of the \
         CPU time that all programs of its machine wanted, and even the kernel may stamp arrivals \
         late"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// Events that gathered before they were read have one stamp, and what lay between them is not in ITL. In virtual time nobody reads.
fn merged_gaps(
    level: &LevelSummary,
    client: &ClientProof,
    limits: &Thresholds,
) -> Option<VerdictReason> {
    let share =
        level.jitter.merged_gap_share.filter(|_| client.stamps != Some(StampSource::Simulated))?;
    let (verdict, limit) = exceeded(share, limits.merged_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let text = format!(
        "the client lost {share} of ITL gaps to late reads (limit {limit}); it read these events \
         together with the one before, though the server sends them one by one, so that those gaps \
         are missing from ITL and ICL"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// A reply that was held back until it was whole was not streamed to us: it has neither a pace nor a TTFT of its own, whether its
/// events have one stamp or those of the packets that it came in.
fn at_once(level: &LevelSummary) -> Option<VerdictReason> {
    let (completed, paced) = (level.requests.completed, level.metrics.tpot.n);
    let zero = level.jitter.zero_gap_share.filter(|share| *share > 0.5 && 2 * paced < completed);
    let Some(zero) = zero else { return in_few_packets(level) };
    let (zero, without) = (percent(zero), completed - paced);
    let text = format!(
        "replies came all at once: {zero} of the gaps between events are zero, and {without} of \
         {completed} replies have no TPOT; the server does not stream, or something before the \
         client holds events back, so TTFT is the time of the whole reply"
    );
    reason(Verdict::Suspect, VerdictConcern::Workload, text)
}

fn in_few_packets(level: &LevelSummary) -> Option<VerdictReason> {
    let (completed, at_once) = (level.requests.completed, level.requests.at_once);
    (2 * at_once > completed).then_some(())?;
    let text = format!(
        "replies came all at once: of {at_once} of {completed} replies all output came within 1 % of the time since the sending, \
         most events together; the server does not stream, or something before the client holds events back, so TTFT is the time \
         of the whole reply, and TPOT and ITL are those of its packets"
    );
    reason(Verdict::Suspect, VerdictConcern::Workload, text)
}

/// Near its own ceiling the client measures itself.
fn near_ceiling(
    level: &LevelSummary,
    client: &ClientProof,
    limits: &Thresholds,
) -> Option<VerdictReason> {
    let ceiling = client.watch.ceiling?;
    let (most, share) = ceiling.nearest(level)?;
    let (verdict, limit) = exceeded(share, limits.ceiling_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let text = format!(
        "the client ran near its own ceiling: {share} of it (limit {limit}); the client can handle \
         at most {most} on this machine, and the server may be faster"
    );
    reason(verdict, VerdictConcern::Client, text)
}

/// What becomes of the figures of a busy client whose arrivals the kernel stamped.
const STAND: &str = "the kernel recorded the arrival times, so the latencies above are still right";

/// The measuring thread that a share is of.
fn thread(client: &ClientProof, which: &str) -> String {
    match client.watch.threads {
        0 | 1 => "the client thread".to_owned(),
        threads => format!("the {which} of {threads} client threads"),
    }
}

/// An open loop that sends more than is served measures how long it was let run.
fn saturated(level: &LevelSummary) -> Option<VerdictReason> {
    let Some(Saturation::Saturated(evidence)) = level.saturation else {
        return None;
    };
    let (due, ttft) = (evidence.due.trend.per_s, evidence.ttft_scheduled.trend.per_s);
    let text = format!(
        "saturated: TTFT from schedule grew by {ttft:.1} ms each second; the queue grew by \
         {due:.1} requests each second, so latencies depend on how long the level ran ({:.1} s \
         here)",
        level.throughput.duration.get(),
    );
    reason(Verdict::Suspect, VerdictConcern::Saturation, text)
}

fn token_source(level: &LevelSummary) -> Option<VerdictReason> {
    if level.tokens.source? != TokenSource::Events {
        return None;
    }
    let seen = &level.lengths.output.seen;
    let told = seen.mean.map(|mean| (mean * seen.n as f64).round() as u64);
    let output = level.tokens.output.get();
    let text = match told.filter(|told| seen.n == level.requests.completed && *told >= output) {
        // Where the usage is there and does not count, thoughts are in it of which none came.
        Some(told) => format!(
            "tokens are chunk counts ({output}); the server's usage has {told}, among them thoughts that it neither showed nor counted \
             apart, so nobody knows how many came with the chunks; the block of vLLM's lines prints the server's {told}"
        ),
        None => {
            "tokens are chunk counts; the server gave neither token ids nor usage for every reply"
                .to_owned()
        }
    };
    reason(Verdict::Suspect, VerdictConcern::Workload, text)
}

fn speed_of_light(expected: &LevelExpectations) -> Option<VerdictReason> {
    let beyond = expected.beyond_speed_of_light.as_ref()?;
    invalid(VerdictConcern::SpeedOfLight, format!("measured beyond the speed of light: {beyond}"))
}

fn ending(expected: &LevelExpectations) -> Option<VerdictReason> {
    match expected.ending {
        LevelEnding::Finished => None,
        LevelEnding::Interrupted => reason(
            Verdict::Suspect,
            VerdictConcern::Ending,
            "partial: some of the level's requests are missing; it was interrupted, or its files were cut".to_owned(),
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

/// How many decimals, one at least, tell `figure` from the `limit` that it is beyond.
fn decimals_apart(figure: f64, limit: f64) -> usize {
    (1..9).find(|&n| format!("{figure:.n$}") != format!("{limit:.n$}")).unwrap_or(9)
}

/// A figure with as many decimals as tell it from the `limit` that it is beyond.
fn beyond(figure: f64, limit: f64) -> String {
    format!("{figure:.0$}", decimals_apart(figure, limit))
}

/// The same in percentage points, and the limit with as many decimals.
pub(super) fn points(share: f64, limit: f64) -> [String; 2] {
    let [share, limit] = [share, limit].map(|of| of * 100.0);
    let decimals = decimals_apart(share, limit);
    [share, limit].map(|of| format!("{of:.decimals$}"))
}

/// The same with their sign.
pub(super) fn percents(share: f64, limit: f64) -> [String; 2] {
    points(share, limit).map(|of| of + " %")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn invalid(about: VerdictConcern, text: String) -> Option<VerdictReason> {
    reason(Verdict::Invalid, about, text)
}

pub(super) fn reason(
    verdict: Verdict,
    about: VerdictConcern,
    text: String,
) -> Option<VerdictReason> {
    Some(VerdictReason { verdict, about, text })
}
