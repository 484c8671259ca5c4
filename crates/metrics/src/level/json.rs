//! A level in JSON.

mod over_time;
mod workload;

use fizeau_core::PerSec;

use super::catalogue::no_tokens;
use super::{
    EventBin, EventHistogram, Goodput, Jitter, LevelSummary, OutputSummary, RateIntervals,
    RequestRates, Throughput, TokenCounts,
};

const NO_GOALS: &str = "no goals were given, or nothing was sent";
const CLOSED: &str = "a closed loop: the endpoint sets the pace";

json_object!(LevelSummary, "What the tapes of a level amount to.", |level| {
    "requests": is(requests),
    "tokens": is(tokens),
    "metrics": each(metrics, no_tokens(level.tokens.source)),
    "jitter": is(jitter),
    "rates": is(rates),
    "output": is(output),
    "throughput": is(throughput),
    "goodput": or(goodput, NO_GOALS),
    "over_time": or(over_time, "the level has no length"),
    "windowed": is(windowed),
    "saturation": or(saturation, CLOSED),
    "arrivals": or(arrivals, CLOSED),
    "lengths": is(lengths),
    "models": or(models, "no more than one model was asked"),
    "probe": or(probe, "there was no probe stream"),
} => Ok(LevelSummary {
    requests, tokens, metrics, jitter, rates, output, throughput, goodput, arrivals, lengths, over_time, saturation,
    windowed, models, probe,
}));

const NO_CACHE: &str = "the server did not say for any request";
const NO_SHARE: &str = "no prompt length is known, or no prompt has a token";

json_object!(TokenCounts, "Tokens of completed requests.", |tokens| {
    "input": or(input, "neither the server nor the plan knew the length of every prompt"),
    "output": is(output),
    "source": or(source, "no request completed"),
    "events": is(events),
    "tokens_per_event": told_or(f64, tokens.per_event(), "no generation events"),
    "cached_input": or(cached_input, NO_CACHE),
    "cached_reported": is(cached_reported),
    "cached_share": or(cached_share, if tokens.cached_input.is_none() { NO_CACHE } else { NO_SHARE }),
    "output_length_differs": is(output_length_differs),
    "output_limit_ignored": via_if(ignored: u64 = Some(tokens.output_limit_ignored).filter(|count| *count > 0)),
} => Ok(TokenCounts {
    input, output, source, events, cached_input, cached_reported, cached_share, output_length_differs,
    output_limit_ignored: ignored.unwrap_or_default(),
}));

const NO_LENGTH: &str = "the window has no length";

impl Throughput {
    fn has_length(&self) -> bool {
        self.duration.get() > 0.0
    }

    /// A rate over a window of no length is none.
    fn unless_empty(&self, rate: PerSec) -> Option<PerSec> {
        self.has_length().then_some(rate)
    }
}

const NO_RATIO: &str = "the sample is too small for a p99, or its median is zero";

json_object!(Jitter, "How evenly tokens came. A tail ratio is p99 over p50.", |jitter| {
    "itl_std_ms": or(itl_std, "no gaps"),
    "itl_tail_ratio": or(itl_tail_ratio, NO_RATIO),
    "ttft_tail_ratio": or(ttft_tail_ratio, NO_RATIO),
    "tpot_tail_ratio": or(tpot_tail_ratio, NO_RATIO),
    "e2el_tail_ratio": or(e2el_tail_ratio, NO_RATIO),
    "zero_gap_share": or(zero_gap_share, "no gaps"),
    "merged_gap_share": or(merged_gap_share, "no gaps"),
} => Ok(Jitter {
    itl_std, itl_tail_ratio, ttft_tail_ratio, tpot_tail_ratio, e2el_tail_ratio, zero_gap_share,
    merged_gap_share,
}));

json_object!(Throughput, "Rates over a window; only completed requests count.", |rates| {
    "window": is(window),
    "duration_s": is(duration),
    "requests_per_s": via_or(requests: PerSec = rates.unless_empty(rates.requests_per_s), NO_LENGTH),
    "requests_per_s": ci(requests_interval = rates.intervals.requests_per_s),
    "output_tokens_per_s": via_or(output: PerSec = rates.unless_empty(rates.output_tokens_per_s), NO_LENGTH),
    "output_tokens_per_s": ci(output_interval = rates.intervals.output_tokens_per_s),
    "total_tokens_per_s": via_or(
        total: PerSec = rates.total_tokens_per_s.and_then(|rate| rates.unless_empty(rate)),
        if rates.has_length() { "the length of some prompts is unknown" } else { NO_LENGTH }
    ),
    "total_tokens_per_s": ci(total_interval = rates.intervals.total_tokens_per_s),
    "goodput_per_s": via_or(
        goodput: PerSec = rates.goodput.and_then(|goodput| rates.unless_empty(goodput.rate)),
        if rates.goodput.is_none() { NO_GOALS } else { NO_LENGTH }
    ),
    "goodput_per_s": ci(goodput_interval = rates.intervals.goodput_per_s),
    "good_share": via_or(share: f64 = rates.goodput.map(|goodput| goodput.share), NO_GOALS),
    "good_share": ci(share_interval = rates.intervals.good_share),
} => Ok(Throughput {
    window,
    duration,
    requests_per_s: requests.0.unwrap_or_default(),
    output_tokens_per_s: output.0.unwrap_or_default(),
    total_tokens_per_s: total.0,
    goodput: share.0.map(|share| Goodput { rate: goodput.0.unwrap_or_default(), share }),
    intervals: RateIntervals {
        requests_per_s: requests_interval,
        output_tokens_per_s: output_interval,
        total_tokens_per_s: total_interval,
        goodput_per_s: goodput_interval,
        good_share: share_interval,
    },
}));

const NO_TEXT: &str = "no visible text came, or the window has no length";

json_object!(OutputSummary, "What the output was made of.", |output| {
    "reasoning_tokens": is(reasoning),
    "visible_tokens": is(visible),
    "reasoning_reported": is(reasoning_reported),
    "by_channel": is(by_channel),
    "text_bytes": is(text_bytes),
    "text_chars": is(text_chars),
    "visible_tokens_per_s": or(visible_tokens_per_s, "the window has no length"),
    "text_bytes_per_s": or(text_bytes_per_s, NO_TEXT),
    "text_chars_per_s": or(text_chars_per_s, NO_TEXT),
    "tokens_per_event": via(bins: Vec<EventBin> = output.tokens_per_event.bins().collect::<Vec<_>>()),
} => Ok(OutputSummary {
    by_channel, reasoning, visible, reasoning_reported, text_bytes, text_chars, visible_tokens_per_s, text_bytes_per_s,
    text_chars_per_s, tokens_per_event: EventHistogram::of_bins(&bins),
}));

json_object!(RequestRates, "Rates of single requests that completed.", |rates| {
    "prefill_tokens_per_s": each(prefill_tps, "no prompt has a known length and tokens that no cache supplied"),
    "user_tokens_per_s": each(user_tps, "no reply took time after its first event"),
    "text_bytes_per_s": each(text_bytes, "no reply had visible text after its first visible event"),
    "text_chars_per_s": each(text_chars, "no reply had visible text after its first visible event"),
} => Ok(RequestRates { prefill_tps, user_tps, text_bytes, text_chars }));
