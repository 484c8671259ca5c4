//! Whether what was sent is what was asked for: lengths, cache, whole sessions.

use super::judge::{exceeded, percent, percents, points, reason};
use super::{
    CacheExpectation, LevelExpectations, Thresholds, Verdict, VerdictConcern, VerdictReason,
};
use crate::LevelSummary;

/// Prompts that the server counts otherwise than they were meant: another tokenizer, or a chat template.
pub(super) fn prompt_length(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let difference = level.lengths.prompt.difference?;
    let share = difference.share()?;
    let (verdict, limit) = exceeded(share, limits.prompt_suspect, None)?;
    let (requested, seen) = (difference.requested_mean, difference.seen_mean);
    let [share, limit] = percents(share, limit);
    let so = match difference.constant() {
        Some(constant) => format!(
            "every prompt differs by {constant:+} tokens, which a chat template may add; the \
             server's count is the real load"
        ),
        None => format!(
            "{} of {} prompts differ by more than 1 %; give the server's own tokenizer, or send \
            token ids",
            difference.past_one_percent, difference.n
        ),
    };
    let text = format!(
        "the server counted {seen:.1} tokens a prompt, not {requested:.1} as requested (off by \
         {share}, limit {limit}); {so}"
    );
    reason(verdict, VerdictConcern::Workload, text)
}

/// Replies that were to have a length and have another.
pub(super) fn output_length(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let differs = level.tokens.output_length_differs;
    let completed = level.requests.completed;
    if completed == 0 {
        return None;
    }
    let share = differs as f64 / completed as f64;
    let (verdict, limit) = exceeded(share, limits.length_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let text = format!(
        "{differs} of {completed} replies have another length than requested ({share}, limit \
         {limit}); the server was told to ignore the end of sequence"
    );
    reason(verdict, VerdictConcern::Workload, text)
}

/// Replies that go beyond a limit at which they were to end at the latest, as of a server that does not know the field that it came in.
pub(super) fn output_limit(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let (ignored, completed) = (level.tokens.output_limit_ignored, level.requests.completed);
    let share = (completed > 0).then(|| ignored as f64 / completed as f64)?;
    let (verdict, limit) = exceeded(share, limits.length_suspect, None)?;
    let [share, limit] = percents(share, limit);
    let text = format!(
        "{ignored} of {completed} replies are longer than the most that was requested ({share}, limit {limit}); the server \
         ignored the request's limit on output tokens, so it did other work than was asked for"
    );
    reason(verdict, VerdictConcern::Workload, text)
}

/// Cache hits that nobody asked for, or another hit rate than was asked for.
pub(super) fn cache(level: &LevelSummary, expected: &LevelExpectations) -> Option<VerdictReason> {
    let measured = expected.cached_share(level)?;
    let limits = &expected.thresholds;
    match expected.cache {
        CacheExpectation::Reuse => None,
        CacheExpectation::None => {
            let (verdict, limit) = exceeded(measured, limits.cached_suspect, None)?;
            let [share, limit] = percents(measured, limit);
            let text = format!(
                "{share} of the prompt tokens came from a cache (limit {limit}); no prompt was \
                 meant to be cached, so prefill looks faster than it is; use another salt, or \
                 turn off the server's prefix cache"
            );
            reason(verdict, VerdictConcern::Cache, text)
        }
        CacheExpectation::Share(requested) => {
            let off = (measured - requested).abs();
            let (verdict, limit) = exceeded(off, limits.hit_rate_suspect, None)?;
            let so = if measured < requested {
                "the server's prefix cache is off, too small, or has large blocks; or requests \
                 were sent together, before the first prompt was in the cache"
            } else {
                "prompts of an earlier run were still in the cache; use another salt (or seed, \
                 where there is none)"
            };
            let [off, limit] = points(off, limit);
            let text = format!(
                "the cache supplied {} of the prompt tokens, not the requested {} (off by {off} \
                 points, limit {limit}); {so}",
                percent(measured),
                percent(requested)
            );
            reason(verdict, VerdictConcern::Cache, text)
        }
    }
}

/// Turns that were planned and had nothing to follow.
pub(super) fn abandoned(
    level: &LevelSummary,
    expected: &LevelExpectations,
) -> Option<VerdictReason> {
    let abandoned = expected.abandoned;
    if abandoned == 0 {
        return None;
    }
    let planned = level.requests.sent.saturating_add(abandoned);
    let text = format!(
        "{abandoned} of {planned} planned requests were never sent; an earlier turn failed, so the \
         load was lighter than requested"
    );
    reason(Verdict::Suspect, VerdictConcern::Workload, text)
}

/// Requests that were due when the level ended and had not been sent: as bad as failed ones, and in no latency. Those that waited
/// longest are missing, so that all that is known of the others looks better than it was.
pub(super) fn unsent(level: &LevelSummary, limits: &Thresholds) -> Option<VerdictReason> {
    let share = level.requests.unsent_share()?;
    let (verdict, limit) = exceeded(share, limits.failed_suspect, None)?;
    let due = level.requests.sent + level.requests.unsent;
    let text = format!(
        "{} of {due} requests that were due were never sent ({}, limit {}); the level ended while \
         they waited for the limit on requests in flight, so latencies from schedule look better \
         than they were; raise that limit, or read this load as more than the endpoint can serve",
        level.requests.unsent,
        percent(share),
        percent(limit)
    );
    reason(verdict, VerdictConcern::Workload, text)
}

/// What could not be checked, and what else is worth knowing.
pub(super) fn notes(level: &LevelSummary, expected: &LevelExpectations) -> Vec<String> {
    [
        prompts_unchecked(level),
        cache_note(level, expected),
        probes_failed(level),
        probes_late(level, &expected.thresholds),
        expected.repeated.clone(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Failed probes are no failures of the load's.
fn probes_failed(level: &LevelSummary) -> Option<String> {
    let requests = &level.probe.as_ref()?.requests;
    let (failed, sent) = (requests.failed, requests.sent);
    (failed > 0).then(|| format!("{failed} of {sent} probe requests failed"))
}

/// Probes that had to wait are no lateness of the load's, and yet there were fewer of them than asked for.
fn probes_late(level: &LevelSummary, limits: &Thresholds) -> Option<String> {
    let probe = level.probe.as_ref()?;
    let wait = probe.ttft_scheduled.mean?.get() - probe.ttft.mean?.get();
    (wait > limits.lateness_suspect.get()).then(|| {
        format!(
            "probe requests were sent {wait:.1} ms late on average: the endpoint or this client \
             cannot keep up with their rate beside the load; latencies from schedule include the \
             wait"
        )
    })
}

fn prompts_unchecked(level: &LevelSummary) -> Option<String> {
    let (prompt, completed) = (&level.lengths.prompt, level.requests.completed);
    let checked = prompt.difference.map_or(0, |difference| difference.n);
    if checked >= completed {
        return None;
    }
    let which = match checked {
        0 => "prompt lengths could not be checked".to_owned(),
        _ => format!("prompt lengths were checked of {checked} of {completed} completed requests"),
    };
    let why = if prompt.seen.n < completed {
        "the server does not report how many tokens it counted"
    } else if checked > 0 {
        "the requested length of the others is not known (a later turn includes the replies \
         before it)"
    } else {
        "the requested length is not known without the server's tokenizer"
    };
    Some(format!("{which}: {why}"))
}

fn cache_note(level: &LevelSummary, expected: &LevelExpectations) -> Option<String> {
    match (expected.cache, expected.cached_share(level)) {
        (CacheExpectation::Share(requested), None) if level.requests.completed > 0 => {
            let requested = percent(requested);
            Some(format!(
                "the requested hit rate of {requested} could not be verified: the server reports no \
                 cached tokens"
            ))
        }
        (CacheExpectation::Reuse, Some(share)) => {
            let share = percent(share);
            Some(format!(
                "prompts repeat earlier ones, or begin with them, on purpose: {share} of their tokens came from a cache"
            ))
        }
        (CacheExpectation::Reuse, None) => Some(
            "prompts repeat earlier ones, or begin with them, on purpose; the server does not \
             report how much came from a cache"
                .to_owned(),
        ),
        _ => None,
    }
}
