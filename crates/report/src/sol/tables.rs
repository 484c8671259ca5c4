//! The tables of an answer.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds};
use fizeau_roofline::{
    CurveEnd, CurveStride, Figures, Improvement, ImprovementGain, PassPhase, PassTime,
    PhaseSchedule, UniformLoad,
};

use super::grid::Grid;
use super::quantity::{bytes, row};
use super::{SolScope, SolView};
use fizeau_record::text::{number, percent};

/// What lies where on the fullest device.
pub(super) fn memory(view: &SolView<'_>) -> Vec<String> {
    let answer = view.answer;
    let of = answer.memory;
    let groups = view.system.deployment();
    let groups = f64::from(groups.attention_groups()) * f64::from(groups.replicas());
    let any = UniformLoad { concurrency: NonZeroU64::MAX, ..*view.load };
    let end = view.system.batch_curve(&any, CurveStride::Doubling).end();
    let room = match (answer.max_batch, end) {
        (Some(most), CurveEnd::MaxSequences) => format!("at most {most} may run at once"),
        (Some(most), _) => format!("room for {most} sequences on all devices"),
        (None, _) => "no limit to the sequences".to_owned(),
    };
    let local = sequences(answer.running_batch / groups);
    let whose = if groups > 1.0 { " of a group" } else { "" };
    let sequences = format!("{local}{whose}, mean {}", bytes(of.sequence.get()));
    let mut grid = Grid::new(&["GB per device", "", "", ""]).with_notes();
    for (name, part, note) in [
        ("weights", of.weights, String::new()),
        ("cache", of.cache, sequences),
        ("free", of.free, room),
        ("reserved", of.reserve, String::new()),
        ("total", of.total, String::new()),
    ] {
        let share = percent(part.get() / of.total.get());
        grid.row([name.to_owned(), format!("{:.2}", part.get() / 1e9), share, note]);
    }
    grid.lines()
}

/// The bound of a mixture of experts where it is not that tokens agree.
const EVENLY: &str = "at even routing";

/// From this multiple of what a request alone would take its wait is worth a line.
const MOSTLY_SERVED: f64 = 1.05;

/// The figures, each estimate in a column of its own.
pub(super) fn figures(view: &SolView<'_>) -> Vec<String> {
    let answer = view.answer;
    let even = answer.evenly_routed.as_ref();
    let ways =
        [("bound", Some(&answer.bound)), (EVENLY, even), ("expected", Some(&answer.expected))];
    let ways: Vec<_> = ways.iter().filter_map(|(name, of)| Some((*name, (*of)?))).collect();
    let heads: Vec<&str> = std::iter::once("").chain(ways.iter().map(|way| way.0)).collect();
    let mut grid = Grid::new(&heads);
    let devices = view.system.deployment().devices();
    let of_all = if devices > 1 { format!(", all {devices} devices") } else { String::new() };
    let running = view.answer.running_batch;
    let of_running =
        if running > 1.0 { format!(", {} running", whole_or_not(running)) } else { String::new() };
    let mut add = |name: &str, of: &dyn Fn(&Figures) -> Option<f64>| {
        grid.row(row(name, ways.iter().map(|way| of(way.1))));
    };
    let is_whole = view.scope == SolScope::Requests;
    if is_whole {
        add("TTFT of a prompt alone, ms", &|figures| Some(figures.ttft.get() * 1e3));
    }
    add(&format!("TPOT{of_running}, ms"), &|figures| figures.tpot.map(|tpot| tpot.get() * 1e3));
    if is_whole {
        add(&format!("E2EL{of_running}, ms"), &|figures| Some(figures.e2el.get() * 1e3));
    }
    add("output tokens/s per user", &|figures| figures.tokens_per_s_per_user().map(PerSec::get));
    add(&format!("output tokens/s{of_all}"), &|figures| Some(figures.output_tokens_per_s.get()));
    if devices > 1 {
        add("output tokens/s, a device", &|figures| {
            Some(figures.output_tokens_per_s.get() / devices as f64)
        });
    }
    if is_whole {
        add(&format!("requests/s{of_all}"), &|figures| Some(figures.requests_per_s.get()));
    }
    if running > 1.0 && view.decodes() {
        let one = view.system.single_request(view.load);
        // One token a step has no others to agree with.
        let mut alone = vec![one.bound.get(); ways.len() - 1];
        alone.push(one.expected.get());
        grid.row(row("output tokens/s, one running", alone.into_iter()));
    }
    let mut lines = grid.lines();
    lines.extend(remarks(view));
    lines
}

/// What is to be known of the figures, a line each.
fn remarks(view: &SolView<'_>) -> Vec<String> {
    let answer = view.answer;
    let (is_whole, running) = (view.scope == SolScope::Requests, answer.running_batch);
    let mut lines = Vec::new();
    let (expected, steps) = (&answer.expected, view.load.output_tokens.get() as f64 - 1.0);
    if is_whole && expected.e2el > (expected.ttft + expected.step * steps) * MOSTLY_SERVED {
        lines.push(format!(
            "Expected E2EL includes the wait before the first token, with {} in flight.",
            view.load.concurrency
        ));
    }
    let together = view.system.prompts_of_pass(view.load, running);
    let side_by_side = f64::from(view.system.deployment().attention_groups());
    if is_whole && together > side_by_side {
        lines.push(format!(
            "Expected passes read {} prompts at once, of at most {} tokens.",
            whole_or_not(together),
            view.system.serving().max_batched_tokens
        ));
    }
    if let Some(even) = &answer.evenly_routed {
        let expected = answer.expected.output_tokens_per_s;
        lines.extend([
            "The bound lets all tokens of a step agree on their experts. At even routing each"
                .to_owned(),
            "chooses for itself, all equally often.".to_owned(),
            format!(
                "The expected output is {} of the bound at even routing, {} of the bound.",
                percent(expected / even.output_tokens_per_s),
                percent(expected / answer.bound.output_tokens_per_s)
            ),
        ]);
    }
    let most = view.system.ideal_max_batch(view.load).min(view.load.concurrency.get() as f64);
    if is_whole && most > running {
        let most = number(most.floor());
        lines.push(format!(
            "The bound's rates are for {most} at once, which the memory could hold at best."
        ));
    }
    lines
}

/// The sequences that run by each schedule: the bound above is that of one, the expectation that of another.
pub(super) fn schedules(view: &SolView<'_>) -> Vec<String> {
    let head = format!("prefill and decode, {}", sequences(view.answer.running_batch));
    let mut grid = Grid::new(&[&head, "bound", "expected"]);
    for (name, schedule) in [
        ("mixed", PhaseSchedule::Mixed),
        ("alternating", PhaseSchedule::Serial),
        ("overlapped", PhaseSchedule::Overlapped),
    ] {
        let ways = view.scheduled(schedule);
        let mut add = |what: &str, of: fn(&Figures) -> Option<f64>| {
            grid.row(row(&format!("  {name}: {what}"), ways.iter().map(of)));
        };
        add("TPOT, ms", |figures| figures.tpot.map(|tpot| tpot.get() * 1e3));
        add("requests/s", |figures| Some(figures.requests_per_s.get()));
    }
    let mut lines = grid.lines();
    lines.push(SCHEDULES.to_owned());
    lines
}

/// Which of the schedules the other table has.
const SCHEDULES: &str =
    "The bound above is that of overlapped, the expectation that of mixed passes.";

/// Where the time of a pass goes, operator by operator.
pub(super) fn operator_rows(view: &SolView<'_>, phase: PassPhase) -> Vec<String> {
    let (system, load, running) = (view.system, view.load, view.answer.running_batch);
    let (pass, name) = match phase {
        PassPhase::Prefill => (system.prefill_pass(load), "prefill of one prompt, ms".to_owned()),
        _ => {
            let step = system.decode_pass(load, running);
            let of = sequences(step.decoding);
            (step, format!("decode step of {of}, ms"))
        }
    };
    let whole = [system.bound_pass(&pass).total, system.expected_pass(&pass).total];
    let mut grid = Grid::new(&[&name, "bound", "expected", "", "waits for"]).with_notes();
    let mut terms = system.pass_terms(phase, &pass);
    // Layers that wait for different resources stand together.
    let parts: Vec<_> = terms.iter().map(|term| term.part).collect();
    terms.sort_by_key(|term| parts.iter().position(|part| *part == term.part));
    for term in &terms {
        let is_seen = term.share >= LEAST_SHARE || term.bound / whole[0] >= LEAST_SHARE;
        if is_seen {
            let name = format!("  {}", term.part.as_str().replace('_', " "));
            let limit = term.limit.to_string();
            grid.row([name, ms(term.bound), ms(term.expected), percent(term.share), limit]);
        }
    }
    let [bound, expected] = whole.map(ms);
    grid.row(["  total".to_owned(), bound, expected, String::new(), String::new()]);
    grid.lines()
}

/// What takes less is not shown.
const LEAST_SHARE: f64 = 0.001;

fn ms(time: Seconds) -> String {
    if time.get() == 0.0 { "0".to_owned() } else { number(time.get() * 1e3) }
}

/// `1 sequence`, `32 sequences`.
pub(super) fn sequences(count: f64) -> String {
    format!("{} sequence{}", whole_or_not(count), if count == 1.0 { "" } else { "s" })
}

/// A mean number, without a fraction where it has none.
pub(super) fn whole_or_not(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count:.0}") } else { number(count) }
}

/// What a better resource would buy, by the expectation.
pub(super) fn gains(found: &[ImprovementGain], view: &SolView<'_>) -> Vec<String> {
    let is_whole = view.scope == SolScope::Requests;
    let heads = ["expected gain from", "tokens/s per user", "requests/s", "prefill speed"];
    let mut grid = Grid::new(if is_whole { &heads } else { &heads[..2] });
    for ImprovementGain { improvement, expected: gain, .. } in found {
        let name = improvement_name(*improvement);
        let mut cells = vec![
            format!("  {name}"),
            gain.tokens_per_s_per_user.map_or_else(|| "none".to_owned(), signed),
        ];
        if is_whole {
            cells.extend([signed(gain.requests_per_s), signed(gain.promptness)]);
        }
        grid.row(cells);
    }
    let mut lines = grid.lines();
    lines.push(match view.batch {
        Some(_) => "Each with as many sequences running.".to_owned(),
        None => "Each with as many sequences running as then fit.".to_owned(),
    });
    lines
}

/// An improvement for a reader.
const fn improvement_name(improvement: Improvement) -> &'static str {
    match improvement {
        Improvement::Bandwidth => "+10 % memory bandwidth",
        Improvement::Arithmetic => "+10 % arithmetic",
        Improvement::Link => "+10 % link bandwidth",
        Improvement::Fp8Weights => "fp8 weights",
        Improvement::Nvfp4Weights => "nvfp4 weights",
        Improvement::Fp8Cache => "fp8 cache",
        Improvement::TwiceTheRanks => "twice the tensor-parallel ranks",
        _ => improvement.as_str(),
    }
}

/// A gain in per cent: `+8.7 %`, `-3 %`, `0 %`.
fn signed(gain: f64) -> String {
    let per_cent = gain * 100.0;
    match per_cent.abs() {
        size if size < 0.05 => "0 %".to_owned(),
        size if size < 9.95 => format!("{per_cent:+.1} %"),
        _ => format!("{per_cent:+.0} %"),
    }
}

/// What a pass waits for, the longest first: `weights 62 %, KV 25 %`.
pub(super) fn shares(pass: &PassTime) -> String {
    let parts = pass.binding;
    let mut parts = [
        ("weights", parts.weights),
        ("KV", parts.cache),
        // What grows with the tokens alone, as the limit's name has it.
        ("compute", parts.compute + parts.activations),
        ("link", parts.link + parts.hops),
    ];
    parts.sort_by(|a, b| b.1.get().total_cmp(&a.1.get()));
    let shown = parts.iter().filter(|part| part.1.get() > 0.01 * pass.total.get());
    let shown = shown.map(|(name, time)| format!("{name} {}", percent(*time / pass.total)));
    shown.collect::<Vec<_>>().join(", ")
}
