//! Figures worked out by hand from their formulas, of what the properties leave open.

use std::num::NonZeroU64;

use fizeau_core::{Tokens, Watts};
use fizeau_roofline::{
    Deployment, EstimateKind, FigureGain, HourlyRate, Improvement, LimitingResource, Pass,
    PassSums, PowerDraw, SolScope, System, UniformLoad,
};

use crate::known::device;
use crate::{llama_8b, single};

/// What an H100 SXM reads and multiplies a second, as its file has it.
const BYTES: f64 = 3.35e12;
const FLOPS: f64 = 989.5e12;

/// Parameters of Llama-3.1-8B that each token is multiplied with: 32 layers of 4096 x (4096 + 2 x 1024 + 4096 + 3 x 14336), norms
/// aside, and the LM head of 128256 x 4096.
const ACTIVE: f64 =
    32.0 * 4096.0 * (4096.0 + 2.0 * 1024.0 + 4096.0 + 3.0 * 14336.0) + 128_256.0 * 4096.0;

/// Keys and values of a token: 32 layers of twice 8 heads of 128 elements in 16 bits.
const KEPT: f64 = 32.0 * 2.0 * 8.0 * 128.0 * 2.0;

/// Operations of attention for a token and one that it sees: 32 layers of 32 heads of 128 elements, once for scores and once for
/// values, two each.
const SEEN: f64 = 32.0 * 32.0 * 128.0 * 2.0 * 2.0;

fn system() -> System {
    single(llama_8b(), &device("h100-sxm"))
}

fn load(concurrency: u64) -> UniformLoad {
    let concurrency = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), concurrency)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() <= within, "{found} is not {expected}");
}

/// `B* = W F / (f BW - F k c)`.
#[test]
fn the_batch_that_computes_as_long_as_it_reads() {
    let system = system();
    near(system.crossover(0.0).unwrap(), FLOPS / BYTES, 1e-3);
    let c = 256.0;
    let expected = 2.0 * ACTIVE / BYTES / ((2.0 * ACTIVE + SEEN * c) / FLOPS - KEPT * c / BYTES);
    near(system.crossover(c).unwrap(), expected, 1e-3);
    // From where a token's cache is read longer than it computes no batch gets there.
    let end = 2.0 * ACTIVE / FLOPS / (KEPT / BYTES - SEEN / FLOPS);
    assert!(system.crossover(end * 0.99).is_some() && system.crossover(end * 1.01).is_none());
}

/// What an engine would count of a pass: its times by the rates of the device, of several stages those of one.
#[test]
fn the_work_of_a_pass() {
    let sums = PassSums {
        decoding: 3.0,
        context: 3000.0,
        prompts: 1.0,
        prompt_tokens: 100.0,
        prompt_context: 100.0,
        prompt_pairs: 5050.0,
        ..PassSums::default()
    };
    let whole = system();
    let work = whole.pass_work(&sums);
    let read = 2.0 * ACTIVE + KEPT * (3000.0 + 100.0);
    near(work.bytes.get(), read, 1e-3);
    near(work.written.get(), KEPT * 103.0, 1e-12);
    // The LM head's part is for one token of a prompt.
    let head = 128_256.0 * 4096.0;
    let computed = 2.0 * ((ACTIVE - head) * 103.0 + head * 4.0) + SEEN * (3000.0 + 5050.0);
    near(work.flops.get(), computed, 1e-3);
    assert_eq!(whole.matrix_rate().get(), FLOPS);
    // Half of it in each of two stages, and a quarter of the cache on each of four devices.
    let deployment = Deployment::SINGLE.with_pipeline(2).unwrap().with_tensor(2).unwrap();
    let spread = System::new(llama_8b(), device("h100-sxm"), deployment).unwrap().pass_work(&sums);
    near(spread.bytes.get(), read / 4.0, 1e-3);
    near(spread.flops.get(), computed / 4.0, 1e-3);
    near(spread.written.get(), KEPT * 103.0 / 4.0, 1e-12);
}

/// The batch of one attention group: what is of sequences is on its own devices.
#[test]
fn a_group_keeps_its_caches_to_itself() {
    let deployment = Deployment::SINGLE.with_attention_groups(4).unwrap();
    let system = System::new(llama_8b(), device("h100-sxm"), deployment).unwrap();
    let caches = PassSums { decoding: 1e3, context: 8e6, ..PassSums::default() };
    let spread = system.bound_sums(&caches);
    near(system.bound_group(&caches).get(), KEPT * 8e6 / BYTES, 1e-2);
    assert_eq!(system.bound_group(&caches), spread.cache * 4.0);
    // Long prompts attend for longer than all else takes.
    let pairs = 1e5 * 1e5 / 2.0;
    let prompt = PassSums {
        prompts: 1.0,
        prompt_tokens: 1e5,
        prompt_context: 1e5,
        prompt_pairs: pairs,
        ..PassSums::default()
    };
    // In the last of 32 layers the last position alone.
    near(system.bound_group(&prompt).get(), SEEN * (31.0 * pairs + 1e5) / 32.0 / FLOPS, 1e-6);
    // Of a few short ones the weights take longest, wherever they lie.
    let few = PassSums { decoding: 1.0, context: 10.0, ..PassSums::default() };
    assert_eq!(system.bound_group(&few), system.bound_sums(&few).total);
}

/// Elasticities add up: a time grows as its parts do.
#[test]
fn a_step_waits_for_its_parts() {
    let system = system();
    let weights = 2.0 * ACTIVE / BYTES;
    // Contexts from 2049 to 2303, 32 sequences.
    let caches = 32.0 * KEPT * 2176.0 / BYTES;
    let step = system.step_sensitivity(EstimateKind::Bound, &load(32), 32.0);
    near(step.weight_bytes, weights / (weights + caches), 1e-3);
    near(step.kv_bytes, caches / (weights + caches), 1e-3);
    assert_eq!((step.bandwidth, step.arithmetic, step.link, step.latency), (-1.0, 0.0, 0.0, 0.0));
    let at = system.sensitivities_at(EstimateKind::Bound, &load(32), 32.0);
    assert_eq!(at.tpot, step);
    // The prompt computes, and the rate has the other sign.
    assert_eq!((at.ttft.arithmetic, at.ttft.bandwidth), (-1.0, 0.0));
    let rate = at.requests_per_s;
    near(rate.bandwidth + rate.arithmetic, 1.0, 1e-12);
    near(rate.bandwidth, -rate.weight_bytes - rate.kv_bytes, 1e-12);
    let expected = system.step_sensitivity(EstimateKind::Expected, &load(32), 32.0);
    near(-expected.bandwidth - expected.arithmetic, 1.0, 1e-12);
    let expected = system.sensitivities_at(EstimateKind::Expected, &load(32), 32.0);
    near(-expected.ttft.bandwidth - expected.ttft.arithmetic, 1.0, 1e-12);
    near(expected.requests_per_s.bandwidth + expected.requests_per_s.arithmetic, 1.0, 1e-12);
}

/// Energy of a pass: `P_arithmetic t_arithmetic + P_memory t_memory + P_link t_link`.
#[test]
fn joules_of_a_pass() {
    let draw = PowerDraw {
        arithmetic: Watts::new(450.0),
        memory: Watts::new(200.0),
        link: Watts::new(30.0),
        constant: Watts::new(100.0),
    };
    let deployment = Deployment::SINGLE.with_tensor(2).unwrap();
    let system = System::new(llama_8b(), device("h100-sxm"), deployment).unwrap();
    let (load, batch) = (load(32), 1.0);
    let step = system.expected_decode(&load, batch);
    let prompt = system.expected_pass(&system.prefill_pass(&load));
    let joules = |pass: &fizeau_roofline::PassTime| {
        let seconds = [pass.arithmetic(), pass.memory(), pass.link].map(fizeau_core::Seconds::get);
        450.0 * seconds[0] + 200.0 * seconds[1] + 30.0 * seconds[2]
    };
    assert!(step.link.get() > 0.0);
    let least = draw.least_time(&step, Watts::new(250.0)).unwrap();
    near(least.get(), joules(&step) / 150.0, 1e-12);
    let at = |by, watts| system.energy(by, &load, batch, &draw, Watts::new(watts)).unwrap();
    let free = at(EstimateKind::Expected, 1e4);
    near(free.decode.get(), joules(&step) / step.total.get() + 100.0, 1e-12);
    near(free.prefill.get(), joules(&prompt) / prompt.total.get() + 100.0, 1e-12);
    let requests = free.figures.requests_per_s.get();
    near(free.per_request.get(), free.mean.get() * 2.0 / requests, 1e-12);
    near(free.per_output_token.get(), free.per_request.get() / 256.0, 1e-12);
    // Where power limits, a pass draws all that it may.
    let held = at(EstimateKind::Expected, 250.0);
    near(held.prefill_stretch, joules(&prompt) / 150.0 / prompt.total.get(), 1e-12);
    near(held.prefill.get(), 250.0, 1e-12);
    // A bound reads the weights once for each of the 256 tokens, the prompt's pass among them, and for all 32 that could run at once.
    let [step, prompt] = [system.decode_pass(&load, 32.0), system.prefill_pass(&load)]
        .map(|pass| system.bound_pass(&pass));
    let seconds = |of: fn(&fizeau_roofline::PassTime) -> fizeau_core::Seconds| {
        of(&prompt).get() + 255.0 * of(&step).get() / 32.0
    };
    let arithmetic = 450.0 * seconds(fizeau_roofline::PassTime::arithmetic);
    let memory = 200.0 * (256.0 * step.weights.get() / 32.0 + seconds(|pass| pass.cache));
    let bound = at(EstimateKind::Bound, 1e4);
    let at_rest = 100.0 * 2.0 / bound.figures.requests_per_s.get();
    near(bound.per_request.get(), 2.0 * (arithmetic + memory) + at_rest, 1e-9);
    // What holds it back where the phases overlap is the power of both devices.
    let held = at(EstimateKind::Bound, 101.0);
    near(held.figures.requests_per_s.get(), 2.0 / (2.0 * (arithmetic + memory)), 1e-9);
}

/// `s = (B / k - 1) / (O - 1)`, at most 1: the share of a request's passes in which others' prompts come in.
#[test]
fn a_token_waits_for_the_prompts_of_others() {
    let system = system();
    let with_output = |output| UniformLoad { output_tokens: Tokens::new(output), ..load(32) };
    // One at a time: 31 others in 255 passes. Of short outputs more come in at once, as many as 8192 tokens hold.
    for (output, at_once, share) in [
        (256, 1.0, 31.0 / 255.0),
        (32, 1.0, 1.0),
        (8, 4.0, 1.0),
        (9, 32.0 / 9.0, 1.0),
        (1, 4.0, 0.0),
    ] {
        let load = with_output(output);
        let token = system.expected_token(&load, 32.0);
        near(token.prompts_at_once, at_once, 1e-12);
        assert!((token.reading - share).abs() < 1e-12, "{output}: {}", token.reading);
        let step = system.expected_at(&load, 32.0, fizeau_roofline::PhaseSchedule::Mixed).step;
        near(token.whole().total.get(), step.get(), 1e-12);
        assert_eq!(token.step.total, system.expected_decode(&load, 32.0).total);
    }
}

#[test]
fn a_phase_that_power_holds_back_is_named_so_and_no_other() {
    use LimitingResource::{Compute, Kv, Power, Weights};
    let own = system().limits(&load(1));
    assert_eq!((own.prefill, own.decode), (Compute, Weights));
    let of = |(prefill, decode)| {
        let mut capped = own;
        (capped.prefill, capped.decode) = (prefill, decode);
        let limits = own.or_power_of(capped);
        (limits.prefill, limits.decode)
    };
    assert_eq!(of((Power, Kv)), (Power, Weights));
    assert_eq!(of((Kv, Power)), (Compute, Power));
}

#[test]
fn gains_are_of_what_can_be_better() {
    let one = system();
    let before = SolScope::Requests.answer(&one, &load(1), None).unwrap();
    let gains = SolScope::Requests.gains(&one, &load(1), None, &before);
    let gain = |of| gains.iter().find(|gain| gain.improvement == of);
    // One device has no link, and a decode step of one reads the weights.
    assert!(gain(Improvement::Link).is_none());
    let per_user = |gain: &FigureGain| gain.tokens_per_s_per_user.unwrap();
    near(per_user(&gain(Improvement::Bandwidth).unwrap().bound), 0.1, 1e-9);
    assert!(per_user(&gain(Improvement::Arithmetic).unwrap().bound).abs() < 1e-9);
    near(gain(Improvement::Arithmetic).unwrap().bound.promptness, 0.1, 1e-3);
    let weights = 2.0 * ACTIVE;
    let cache = KEPT * 2176.0;
    let fp8 = per_user(&gain(Improvement::Fp8Weights).unwrap().bound);
    // The LM head stays in 16 bits.
    let halved = weights / 2.0 + 128_256.0 * 4096.0;
    near(1.0 + fp8, (weights + cache) / (halved + cache), 1e-3);
}

#[test]
fn more_than_fits_is_said_with_its_reason() {
    let one = system();
    let said = SolScope::beyond_room(&one, &load(1), 4096);
    let fitting = one.max_batch(&load(1));
    assert_eq!(
        said,
        format!(
            "4096 sequences do not fit into memory, which has room for {fitting:.0}; the figures assume that they fit"
        )
    );
    // A sequence of 100 tokens and one of 100 with an answer of none take the same.
    let alone = UniformLoad::new(Tokens::new(100), Tokens::ZERO, NonZeroU64::MIN);
    assert_eq!(one.max_batch_at(Tokens::new(100)), one.max_batch(&alone));
}

#[test]
fn the_price_of_nobody_is_the_lowest() {
    let device = device("h100-sxm");
    let (least, published) =
        (HourlyRate::lowest_published(&device).unwrap(), HourlyRate::published(&device).unwrap());
    assert_eq!((least.low, least.high), (published.low, published.low));
    assert_eq!(least.origin, published.origin);
}

/// A share is of the whole pass, and of a pass that takes no time nothing.
#[test]
fn shares_of_a_pass() {
    let pass = system().expected_pass(&Pass::prefill(2048.0, 0.0));
    near(pass.share_of(pass.weights), pass.weights.get() / pass.total.get(), 1e-12);
    let nothing = fizeau_roofline::PassTime::default();
    assert_eq!(nothing.share_of(pass.weights), 0.0);
}

#[test]
fn a_device_has_its_part_of_the_tokens() {
    let deployment = Deployment::SINGLE.with_tensor(4).unwrap();
    let system = System::new(llama_8b(), device("h100-sxm"), deployment).unwrap();
    let figures = system.expected_figures(&load(8));
    let each = figures.tokens_per_s_per_device(&system).get();
    near(each, figures.output_tokens_per_s.get() / 4.0, 1e-12);
}
