//! What changes an answer beyond the system and its load: speculation, chunks, prices, power, separate roles.

use fizeau_core::Watts;
use fizeau_roofline::{
    Chunked, Cost, Energy, Figures, Origin, Speculated, Split, System, UsdRange,
};

use super::section::Section;
use crate::number::number;

/// What was asked for beside the answer, each by both accounts, the bound first; all absent by default.
#[derive(Debug, Clone, Default)]
pub struct Mechanisms {
    /// Speculative decoding, and who drafts.
    pub speculation: Option<(String, [Speculated; 2])>,
    /// Prompts read in chunks.
    pub chunked: Option<[Chunked; 2]>,
    /// What tokens cost.
    pub cost: Option<[Cost; 2]>,
    /// What they take in energy where no device may draw more than so much.
    pub energy: Option<(Watts, [Energy; 2])>,
    /// Prefill and decode on separate devices, out of so many.
    pub split: Option<(u64, Split)>,
}

const ACCOUNTS: [&str; 2] = ["bound", "expected"];

impl Mechanisms {
    /// A section for each.
    pub(super) fn sections(&self, system: &System) -> Vec<Section> {
        let parts = [
            self.speculation.as_ref().map(|(drafter, each)| speculation(drafter, each)),
            self.chunked.as_ref().map(chunked),
            self.split.as_ref().map(|(devices, split)| roles(*devices, split, system)),
            self.cost.as_ref().map(cost),
            self.energy.as_ref().map(|(limit, each)| energy(*limit, each)),
        ];
        parts.into_iter().flatten().collect()
    }
}

fn speculation(drafter: &str, each: &[Speculated; 2]) -> Section {
    let [bound, _] = each;
    let title = format!("speculation, {} drafted by {drafter}", bound.drafted);
    let mut section = Section::new("speculation", title, &ACCOUNTS);
    section.fact("drafted", bound.drafted);
    section.fact("drafter", drafter);
    let of = |figure: fn(&Speculated) -> f64| each.each_ref().map(figure);
    section.row("tokens_per_cycle", "tokens of a cycle", &of(|one| one.tokens_per_cycle));
    section.row("draft_ms", "drafting, ms", &of(|one| one.draft.get() * 1e3));
    section.row("verify_ms", "verifying, ms", &of(|one| one.verify.get() * 1e3));
    figures(&mut section, &each.each_ref().map(|one| one.figures));
    section.row("gain", "tokens/s over those without", &of(|one| one.gain));
    section
}

fn chunked(each: &[Chunked; 2]) -> Section {
    let [_, expected] = each;
    let title = format!("prompts in chunks, {} tokens a pass", expected.budget);
    let mut section = Section::new("chunked", title, &ACCOUNTS);
    section.fact("budget", expected.budget.get());
    let of = |figure: fn(&Chunked) -> f64| each.each_ref().map(figure);
    section.row("passes_per_prompt", "passes of a prompt", &of(|one| one.passes));
    section.row("running_batch", "sequences kept up", &of(|one| one.figures.batch));
    section.row("plain_ms", "a pass without a chunk, ms", &of(|one| one.plain.get() * 1e3));
    section.row("mixed_ms", "a pass with one, ms", &of(|one| one.mixed.get() * 1e3));
    section.row("longest_ms", "the longest, ms", &of(|one| one.longest.get() * 1e3));
    figures(&mut section, &each.each_ref().map(|one| one.figures));
    section.row("gain", "requests/s over whole prompts in turns", &of(|one| one.gain));
    section
}

fn roles(devices: u64, split: &Split, system: &System) -> Section {
    let (prefill, decode) = (split.prefill_instances, split.decode_instances);
    let title = format!("{devices} devices apart");
    let mut section = Section::new("disaggregation", title, &["bound", "expected", "together"]);
    section.fact("devices", devices);
    section.fact("prefill_instances", prefill.get());
    section.fact("decode_instances", decode.get());
    section.fact("transfer_ms", split.answer.transfer.get() * 1e3);
    section.fact("limited_by", split.answer.limited_by.as_str());
    section.fact("balanced_ratio", split.answer.balanced_ratio);
    section.fact("gain", split.gain);
    let each = [split.answer.bound, split.answer.expected, split.together];
    section.row("running_batch", "sequences that decode", &each.map(|one| one.batch));
    figures(&mut section, &each);
    section.note(format!(
        "{prefill} of {instance} for prompts, {decode} to decode; limited by {limit}; a cache is sent in {sent} ms; \
         {ratio} for prompts for each to decode would keep both busy. Together: as expected where each does both.",
        instance = system.deployment(),
        limit = split.answer.limited_by.as_str(),
        sent = number(split.answer.transfer.get() * 1e3),
        ratio = number(split.answer.balanced_ratio),
    ));
    section
}

fn cost(each: &[Cost; 2]) -> Section {
    let [bound, _] = each;
    let (low, high) = (bound.rate.low().get(), bound.rate.high().get());
    let columns: &[&'static str] = if low < high {
        &["bound_low", "bound_high", "expected_low", "expected_high"]
    } else {
        &ACCOUNTS
    };
    let mut section = Section::new("cost", "USD for a million tokens", columns);
    let mut add = |key, name, of: fn(&Cost) -> Option<UsdRange>| {
        let range = |one: &Cost| match of(one) {
            Some(range) if low < high => vec![range.low.get(), range.high.get()],
            Some(range) => vec![range.low.get()],
            None => Vec::new(),
        };
        let values: Vec<f64> = each.iter().flat_map(range).collect();
        if !values.is_empty() {
            section.row(key, name, &values);
        }
    };
    add("input", "input", |one| Some(one.per_million_input));
    add("cached", "cached input", |one| one.per_million_cached);
    add("output", "output", |one| Some(one.per_million_output));
    add("output_alone", "output, if it bears all", |one| Some(one.per_million_output_alone));
    let price = if low < high { format!("{low:.2} to {high:.2}") } else { format!("{low:.2}") };
    section.fact("usd_per_device_hour", serde_json::json!({ "low": low, "high": high }));
    let origin = match bound.rate.origin() {
        Origin::Published { kind, source, date } => {
            section.fact("price_source", format!("{source}, {date}: {kind}"));
            format!("{kind} ({source}, {date}); it goes stale: give your own with --price")
        }
        _ => "as given".to_owned(),
    };
    section.note(format!("At {price} USD for an hour of a device, {origin}."));
    section
}

fn energy(limit: Watts, each: &[Energy; 2]) -> Section {
    let title = format!("energy, {:.0} W a device at most", limit.get());
    let mut section = Section::new("energy", title, &ACCOUNTS);
    section.fact("limit_watts", limit.get());
    section.fact("is_estimate", true);
    let of = |figure: fn(&Energy) -> f64| each.each_ref().map(figure);
    section.row(
        "joules_per_output_token",
        "J for an output token",
        &of(|one| one.per_output_token.get()),
    );
    let millions: fn(&Energy) -> f64 = |one| one.tokens_per_mwh() / 1e6;
    section.row("million_tokens_per_mwh", "million output tokens a MWh", &of(millions));
    section.row("mean_watts", "W of a device on average", &of(|one| one.mean.get()));
    section.row("prefill_watts", "W in prefill", &of(|one| one.prefill.get()));
    section.row("decode_watts", "W in decode", &of(|one| one.decode.get()));
    section.row("prefill_stretch", "prefill takes times as long", &of(|one| one.prefill_stretch));
    section.row("decode_stretch", "decode takes times as long", &of(|one| one.decode_stretch));
    figures(&mut section, &each.each_ref().map(|one| one.figures));
    section.note(
        "An estimate: of a board only its limit is published, not what its parts draw. At the devices: a facility draws more.",
    );
    section
}

/// The latencies and rates that all have.
fn figures<const N: usize>(section: &mut Section, each: &[Figures; N]) {
    let of = |figure: fn(&Figures) -> f64| each.each_ref().map(figure);
    section.row("ttft_ms", "TTFT of a lone prompt, ms", &of(|one| one.ttft.get() * 1e3));
    section.row("tpot_ms", "TPOT, ms", &of(|one| one.tpot.get() * 1e3));
    let tokens: fn(&Figures) -> f64 = |one| one.output_tokens_per_s.get();
    section.row("output_tokens_per_s", "output tokens/s", &of(tokens));
    section.row("requests_per_s", "requests/s", &of(|one| one.requests_per_s.get()));
}
