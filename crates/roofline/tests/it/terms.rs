//! What a pass reads and computes, term by term, against figures worked by hand from the models' dimensions.

use fizeau_core::Tokens;
use fizeau_roofline::{
    ContextSpan, Deployment, Device, Format, Model, OperatorKind, Pass, PassPhase, System,
    TermKind, UniformLoad,
};

use crate::golden::model;

fn h200() -> &'static Device {
    Device::named("h200-sxm").unwrap()
}

fn system(name: &str, deployment: &str) -> System {
    System::new(model(name), h200().clone(), deployment.parse().unwrap()).unwrap()
}

fn decode(sequences: f64, context: u64) -> Pass {
    Pass::decode(sequences, ContextSpan::at(context as f64))
}

/// A time of memory in bytes.
fn bytes(time: fizeau_core::Seconds) -> f64 {
    time.get() * h200().memory_bandwidth().get()
}

#[track_caller]
fn close(found: f64, worked: f64) {
    assert!((found / worked - 1.0).abs() < 1e-9, "{found}, worked {worked}");
}

/// gpt-oss-20b: 12 layers see all, 12 the last 128 tokens; each keeps 2 x 8 x 64 elements of two bytes.
#[test]
fn windows_cap_what_is_read_and_kept() {
    let system = system("gpt-oss-20b", "1 device");
    let layer = 2048.0;
    for (context, windowed) in [(100, 100.0), (128, 128.0), (10_000, 128.0)] {
        let worked = 12.0 * layer * (context as f64 + windowed);
        close(bytes(system.bound_pass(&decode(1.0, context)).cache), worked);
        close(bytes(system.expected_pass(&decode(3.0, context)).cache), 3.0 * worked);
        close(system.cache_bytes_per_device(context as f64).get(), worked);
    }
    // A prompt writes what is kept of it; of what was cached it reads what it sees. In the bound windows are written
    // anew where that is less.
    let prompt = system.bound_pass(&Pass::prefill(1000.0, 0.0));
    close(bytes(prompt.cache), 12.0 * layer * (1000.0 + 128.0));
    let resumed = system.bound_pass(&Pass::prefill(1000.0, 400.0));
    close(bytes(resumed.cache), 12.0 * layer * (400.0 + 600.0 + 128.0));
    let resumed = system.expected_pass(&Pass::prefill(1000.0, 400.0));
    close(bytes(resumed.cache), 12.0 * layer * (400.0 + 600.0 + 128.0 + 128.0));
}

/// Llama-4-Scout: 12 layers see all, 36 back to the start of a chunk of 8,192 tokens, which is half a chunk on
/// average; each keeps 2 x 8 x 128 elements of two bytes.
#[test]
fn a_chunk_starts_anew() {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/configs/llama-4-scout.json"
    ));
    let model = Model::from_config_json(text).unwrap();
    let system = System::new(model, h200().clone(), "tp2".parse().unwrap()).unwrap();
    let read = |pass: &Pass| 2.0 * bytes(system.bound_pass(pass).cache);
    let layer = 4096.0;
    for (context, within) in [(100, 100.0), (8192, 8192.0), (8193, 1.0), (12_288, 4096.0)] {
        close(read(&decode(1.0, context)), layer * (12.0 * context as f64 + 36.0 * within));
    }
    let grown = Pass::decode(1.0, ContextSpan::between(1.0, 81_920.0));
    close(read(&grown), layer * (12.0 * 40_960.5 + 36.0 * 4096.5));
    // To write what is left of the last chunk is less than to read what was cached of another as well.
    let resumed = Pass::prefill(20_480.0, 12_288.0);
    close(read(&resumed), layer * (12.0 * 20_480.0 + 36.0 * 4096.0));
}

/// Positions up to the window see all before them, the others the window: 4 H d for each pair.
#[test]
fn windows_cap_the_pairs_of_a_prompt() {
    let system = system("gpt-oss-20b", "1 device");
    let pairs = |n: f64| n * (n + 1.0) / 2.0;
    let worked = 12.0 * 4.0 * 64.0 * 64.0 * (pairs(1000.0) + pairs(128.0) + 872.0 * 128.0);
    let attention = system.expected_pass(&Pass::prefill(1000.0, 0.0)).attention;
    close(
        attention.get() * h200().dense_rate(fizeau_roofline::MathType::Bf16).unwrap().get(),
        worked,
    );
}

/// DeepSeek-V3.2: a step reads 2,048 latents of 576 elements and the keys of all tokens, 128 elements; it keeps all of
/// both.
#[test]
fn sparse_attention_reads_what_its_indexer_picks() {
    let system = system("deepseek-v3.2", "1 device");
    let (latent, key) = (61.0 * 576.0 * 2.0, 61.0 * 128.0 * 2.0);
    close(bytes(system.bound_pass(&decode(1.0, 10_000)).cache), 2048.0 * latent + 10_000.0 * key);
    // Where all are chosen no keys are looked at.
    close(bytes(system.bound_pass(&decode(1.0, 1000)).cache), 1000.0 * latent);
    close(system.cache_bytes_per_device(10_000.0).get(), 10_000.0 * (latent + key));
    let resumed = system.bound_pass(&Pass::prefill(15_000.0, 10_000.0));
    close(bytes(resumed.cache), 7048.0 * latent + 15_000.0 * key);
}

/// Qwen3-Next: states are read and written in each step; a prompt from the start writes them once.
#[test]
fn states_move_twice_a_step() {
    let system = system("qwen3-next-80b-a3b", "1 device");
    let model = model("qwen3-next-80b-a3b");
    // Its config does not say how: 32 bits are expected, 16 at best, which is vLLM's default.
    let of = |size: f64| 36.0 * (32.0 * 128.0 * 128.0 * size + 3.0 * 8192.0 * 2.0);
    let (state, wide) = (of(2.0), of(4.0));
    assert!(system.notes().iter().any(|warning| warning.contains("states are stored")));
    let kept = |context: f64| 12.0 * 2.0 * 2.0 * 256.0 * 2.0 * context;
    close(bytes(system.bound_pass(&decode(5.0, 1000)).cache), 5.0 * (2.0 * state + kept(1000.0)));
    close(bytes(system.bound_pass(&Pass::prefill(1000.0, 0.0)).cache), state + kept(1000.0));
    // The bound does not read a cached one, since the prompt could be computed again.
    let resumed = Pass::prefill(1000.0, 10.0);
    close(bytes(system.bound_pass(&resumed).cache), state + kept(1000.0));
    close(bytes(system.expected_pass(&resumed).cache), 2.0 * wide + kept(1000.0));
    close(system.cache_bytes_per_device(1000.0).get(), wide + kept(1000.0));
    close(model.cache_bytes(1000.0).get(), wide + kept(1000.0));

    // Once it is said, it is what both take.
    let said = system.with_model(model.with_state_cache(Format::F32)).unwrap();
    close(bytes(said.bound_pass(&Pass::prefill(1000.0, 0.0)).cache), wide + kept(1000.0));
}

/// In fp8 the layouts of sparse attention have scales, which the silicon need not keep: 61 layers of 576 + 128 bytes.
#[test]
fn what_fits_at_best_has_no_scales() {
    let model = model("deepseek-v3.2").with_kv_cache(Format::Fp8);
    let system = System::new(model, h200().clone(), "TP8".parse().unwrap()).unwrap();
    let load = UniformLoad::new(Tokens::new(10_000), Tokens::new(1), std::num::NonZeroU64::MIN);
    let most = system.ideal_max_batch(&load);
    let weights = system.model().weight_bytes().get();
    let room = 8.0 * h200().memory().get() - weights;
    close(most, room / (61.0 * 704.0 * 10_000.0));
}

/// A sequence is not split between replicas or attention groups.
#[test]
fn each_replica_holds_whole_sequences() {
    let load = UniformLoad::new(
        Tokens::new(200_000),
        Tokens::new(10),
        std::num::NonZeroU64::new(99).unwrap(),
    );
    let (one, eight) = (system("llama-3.1-70b", "TP2"), system("llama-3.1-70b", "TP2 x8"));
    assert_eq!((one.max_batch(&load), eight.max_batch(&load)), (1.0, 8.0));
    assert_eq!(eight.running_batch(&load), 8.0);
}

/// Llama-3.1-70B has 8 key-value heads: 16 ranks hold each twice, and so read and keep as much as 8 would.
#[test]
fn heads_fewer_than_ranks_are_repeated() {
    let pass = decode(4.0, 1000);
    let whole = 4.0 * 1000.0 * 80.0 * 2.0 * 8.0 * 128.0 * 2.0;
    for (deployment, share) in [("TP4", 4.0), ("TP8", 8.0), ("TP16", 8.0)] {
        let system = system("llama-3.1-70b", deployment);
        close(bytes(system.expected_pass(&pass).cache), whole / share);
        close(4.0 * system.cache_bytes_per_device(1000.0).get(), whole / share);
    }
    close(bytes(system("llama-3.1-70b", "TP16").bound_pass(&pass).cache), whole / 16.0);
}

/// One latent serves all heads: tensor parallelism does not divide it, attention groups do.
#[test]
fn latents_are_whole_on_each_rank() {
    let whole = 8.0 * 1000.0 * 61.0 * 576.0 * 2.0;
    let of = |deployment: &str| {
        let system = system("deepseek-v3", deployment);
        (bytes(system.expected_pass(&decode(8.0, 1000)).cache), system)
    };
    close(of("TP8").0, whole);
    close(of("DP8").0, whole / 8.0);
    close(of("TP2 DP4").0, whole / 4.0);
    close(bytes(of("TP8").1.bound_pass(&decode(8.0, 1000)).cache), whole / 8.0);
    // One sequence keeps one group busy, whatever the groups.
    let alone = of("DP8").1.expected_pass(&decode(1.0, 1000));
    close(bytes(alone.cache), whole / 8.0);
}

/// Absorbed, 128 heads do 2 (512 + 64 + 512) FLOPs for each of 576 elements of two bytes, whatever the batch.
#[test]
fn absorbed_latent_attention_has_242_flops_a_byte() {
    for sequences in [1.0, 64.0] {
        let pass = system("deepseek-v3", "1 device").expected_pass(&decode(sequences, 4096));
        let rate = h200().dense_rate(fizeau_roofline::MathType::Bf16).unwrap().get();
        assert_eq!(format!("{:.0}", pass.attention.get() * rate / bytes(pass.cache)), "242");
    }
}

fn term(system: &System, pass: &Pass, kind: OperatorKind) -> f64 {
    let terms = system.pass_terms(PassPhase::Decode, pass);
    let those = terms.iter().filter(|term| term.part == TermKind::Operator(kind));
    those.map(|term| bytes(term.expected)).sum()
}

/// 58 layers with 256 experts: 7168 x 256 elements each of two bytes, and what goes in and out.
#[test]
fn routers_are_whole_on_each_rank() {
    for deployment in ["1 device", "TP8"] {
        let router =
            term(&system("deepseek-v3", deployment), &decode(1.0, 1), OperatorKind::Router);
        close(router, 58.0 * (7168.0 * 256.0 * 2.0 + 2.0 * (7168.0 + 256.0)));
    }
}

/// Llama-3.1-8B: 2 x 7.504e9 FLOP a token, of which the head's 2 x 128,256 x 4,096 only where a token is sampled.
#[test]
fn the_head_is_for_sampled_positions_alone() {
    let system = system("llama-3.1-8b", "1 device");
    let rate = h200().dense_rate(fizeau_roofline::MathType::Bf16).unwrap().get();
    let head = 2.0 * 128_256.0 * 4096.0;
    let streamed = 2.0 * model("llama-3.1-8b").parameters().streamed as f64;
    let flops = |pass: &Pass| system.bound_pass(pass).matrices.get() * rate;
    close(flops(&decode(3.0, 10)), 3.0 * streamed);
    // And of the last layer all but keys and values.
    let layer = 4096.0 * (2.0 * 4096.0 + 2.0 * 1024.0) + 3.0 * 4096.0 * 14_336.0;
    let last = 2.0 * (layer - 2.0 * 4096.0 * 1024.0) + head;
    close(flops(&Pass::prefill(1000.0, 0.0)), 1000.0 * (streamed - last) + last);
    close(flops(&Pass::prefill(1000.0, 900.0)), 100.0 * (streamed - last) + last);
}

/// DeepSeek-V3's MTP module, 11.6e9 parameters, has no part in the base model.
#[test]
fn what_predicts_further_tokens_is_not_read() {
    let (model, system) = (model("deepseek-v3"), system("deepseek-v3", "1 device"));
    assert!(model.draft.is_some());
    let read = bytes(system.bound_pass(&decode(1.0, 1)).weights);
    close(read, model.streamed_weight_bytes().get());
    close(system.weight_bytes_per_device().get(), model.weight_bytes().get());
}

/// Llama-3.1-8B, elements in and out of each matrix and of attention, two bytes each, none of it in a bound.
#[test]
fn activations_go_in_and_out_of_operators() {
    let (hidden, kv, wide, words) = (4096.0, 2048.0, 14_336.0, 128_256.0);
    let projections = (hidden + hidden + kv) + (hidden + hidden);
    let layer = projections + 2.0 * hidden + (hidden + 2.0 * wide) + (wide + hidden);
    let pass = decode(7.0, 100);
    let worked = 7.0 * 2.0 * (32.0 * layer + hidden + words);
    let system = system("llama-3.1-8b", "1 device");
    close(bytes(system.expected_pass(&pass).activations), worked);
    assert_eq!(system.bound_pass(&pass).activations.get(), 0.0);
}

/// gpt-oss-20b: 32 experts, 4 a token, 3 x 2880 x 2880 elements of 0.53125 bytes in each of 24 layers.
#[test]
fn experts_are_read_as_tokens_pick_them() {
    let system = system("gpt-oss-20b", "1 device");
    let each = 24.0 * 3.0 * 2880.0 * 2880.0 * 0.53125;
    let read = |sequences: f64| {
        bytes(system.expected_pass(&decode(sequences, 1)).weights)
            - bytes(system.bound_pass(&decode(sequences, 1)).weights)
            + 4.0 * each
    };
    close(read(1.0), 4.0 * each);
    close(read(16.0), 32.0 * (1.0 - 0.875_f64.powi(16)) * each);
    assert!(bytes(system.bound_pass(&decode(900.0, 1)).weights) < 4e9);
}

/// Experts are spread over all devices of a stage, and the tokens of all attention groups reach them.
#[test]
fn experts_are_shared_by_attention_groups() {
    let expert = |deployment: &str| {
        let system = system("qwen3-235b-a22b", deployment);
        // At one token the strict and the expected coverage are the same.
        let of = |n: f64| system.expected_pass(&decode(n, 1)).weights;
        bytes(of(64.0)) - bytes(of(1.0))
    };
    let spread = expert("DP8 EP8");
    close(expert("1 device") / 8.0, spread);
    close(expert("TP8"), spread);
    close(expert("TP2 DP4 EP2"), spread);
}

/// A device of each stage has a part of the layers; a micro-batch passes all of them.
#[test]
fn stages_divide_weights_and_not_a_token_s_time() {
    let (one, four) = (system("llama-3.1-70b", "TP2"), system("llama-3.1-70b", "TP2 PP4"));
    let pass = decode(1.0, 1000);
    assert_eq!(one.bound_pass(&pass), four.bound_pass(&pass));
    let tables = 128_256.0 * 8192.0 * 2.0;
    let (all, table) = (one.weight_bytes_per_device().get(), tables / 2.0);
    close(four.weight_bytes_per_device().get(), (all - 2.0 * table) / 4.0 + table);
    close(4.0 * four.cache_bytes_per_device(10.0).get(), one.cache_bytes_per_device(10.0).get());
}

#[test]
fn one_device_is_the_default_deployment() {
    assert_eq!(*system("llama-3.1-8b", "1 device").deployment(), Deployment::SINGLE);
}
