//! A server's window: vLLM's pages before, in and after a level, worked out by hand.

use std::fmt::Write as _;

use fizeau_core::{Nanos, Tokens};
use fizeau_telemetry::{Exporter, History, Page, ServerTimeline, ServerWindow, Window};

use super::pages::{at, fixture, history, instant, text_of};

fn level() -> ServerWindow {
    let history = history(&["vllm-0.txt", "vllm-1.txt", "vllm-2.txt"], 5_000);
    ServerWindow::of(&history, Window::alone(at(1_000), at(9_000)), Nanos::from_secs(2))
}

#[test]
fn counters_are_exact_over_a_level() {
    let level = level();
    let delta = |told: &Option<fizeau_telemetry::ReportedCounter>| {
        told.as_ref().map(|told| told.figure.delta)
    };
    assert_eq!((level.exporter, level.engines, level.pages), (Some(Exporter::Vllm), 2, 1));
    assert_eq!(delta(&level.prompt_tokens), Some(5_000.0));
    assert_eq!(delta(&level.generation_tokens), Some(2_600.0));
    assert_eq!(delta(&level.preemptions), Some(7.0));
    assert_eq!(delta(&level.requests), Some(21.0));
    assert_eq!(level.prefix_hit_share(), Some(0.28));
    assert_eq!(
        (level.accepted_share(), level.tokens_per_step()),
        (Some(0.5), Some(2_600.0 / 2_300.0))
    );
    assert_eq!(delta(&level.estimated_flops_per_gpu), Some(3e12));
    let by: Vec<f64> = level.accepted_by_position.values().map(|told| told.figure.delta).collect();
    assert_eq!(by, [180.0, 80.0, 40.0]);
    let by: Vec<(&str, f64)> = level
        .prompt_tokens_by_source
        .iter()
        .map(|(key, told)| (&**key, told.figure.delta))
        .collect();
    assert_eq!(by, [("local_cache_hit", 1_200.0), ("local_compute", 2_800.0)]);
    let metric = level.prompt_tokens.map(|told| told.metric);
    assert_eq!(metric.as_deref(), Some("vllm:prompt_tokens_total"));
}

#[test]
fn engines_are_added_and_caches_weighted_by_what_they_hold() {
    let level = level();
    let mean =
        |told: &Option<fizeau_telemetry::ReportedGauge>| told.as_ref().map(|told| told.figure.mean);
    assert_eq!((mean(&level.running), mean(&level.waiting)), (Some(8.0), Some(3.0)));
    assert!((mean(&level.kv_use).unwrap() - 0.7).abs() < 1e-12);
    assert_eq!(level.kv_capacity_tokens, Some(Tokens::new(64_000)));
    assert_eq!(level.waiting_by_reason["deferred"].figure.mean, 1.0);
    // One page, held for two seconds on either side, of eight.
    assert_eq!(level.running.unwrap().figure.covered, 0.5);
}

#[test]
fn histograms_are_exact_means_and_buckets() {
    let ttft = level().ttft.unwrap();
    assert_eq!(
        (ttft.metric.as_str(), ttft.figure.count.delta),
        ("vllm:time_to_first_token_seconds", 21.0)
    );
    assert!((ttft.figure.mean.unwrap() - 2_600.0 / 21.0).abs() < 1e-9);
    let held = ttft.figure.holding(50.0).unwrap();
    assert_eq!((held.above, held.up_to), (Some(10.0), Some(100.0)));
    let tokens = level().iteration_tokens.unwrap();
    assert_eq!(
        (tokens.figure.count.delta, tokens.metric.as_str()),
        (209.0, "vllm:iteration_tokens_total")
    );
}

#[test]
fn other_programs_say_what_they_say() {
    let of = |name: &str| {
        let mut history = History::new();
        for ms in [0, 1_000, 2_000] {
            history.record(instant(ms), &fixture(name));
        }
        ServerWindow::of(&history, Window::alone(at(0), at(2_000)), Nanos::from_secs(2))
    };
    let sglang = of("sglang.txt");
    assert_eq!(
        (sglang.exporter, sglang.running.unwrap().figure.mean),
        (Some(Exporter::Sglang), 16.0)
    );
    assert_eq!((sglang.kv_use.unwrap().figure.mean, sglang.engines), (0.28, 1));
    let stages = "sglang:per_stage_req_latency_seconds";
    assert_eq!(sglang.prefill_time.map(|time| time.metric), Some(stages.to_owned()));
    let iterations = of("trtllm-iterations.json");
    assert_eq!(iterations.waiting.unwrap().figure.peak, Some(5.0));
    assert_eq!(iterations.kv_use.unwrap().figure.mean, 3.0 / 101_256.0);
    assert_eq!(iterations.kv_capacity_tokens, Some(Tokens::new(101_256 * 32)));
    // Two iterations a page, on the two pages after the first.
    assert_eq!(iterations.iterations.unwrap().figure.delta, 4.0);
    assert_eq!(of("llama-cpp.txt").waiting.unwrap().metric, "llamacpp:requests_deferred");
    assert_eq!(of("tgi.txt").queue_time.unwrap().figure.count.delta, 0.0);
    assert_eq!(of("vllm-old.txt").kv_use.unwrap().metric, "vllm:gpu_cache_usage_perc");
    // Its front end tells the blocks of one worker.
    assert_eq!(of("dynamo.txt").kv_capacity_tokens, None);
    assert!(ServerWindow::of(&History::new(), Window::alone(at(0), at(1)), Nanos::ZERO).is_empty());
}

#[test]
fn several_servers_are_one_where_all_of_them_say() {
    let one = level();
    let both = ServerWindow::together(&[one.clone(), one.clone()]);
    assert_eq!(both.generation_tokens.unwrap().figure.delta, 5_200.0);
    assert_eq!((both.running.as_ref().unwrap().figure.mean, both.engines), (16.0, 4));
    let running = both.running.unwrap().figure;
    assert_eq!((running.min, running.peak), (None, None));
    assert!((both.kv_use.unwrap().figure.mean - 0.7).abs() < 1e-12);
    assert_eq!(both.ttft.unwrap().figure.mean, one.ttft.as_ref().unwrap().figure.mean);
    assert_eq!(both.estimated_flops_per_gpu.unwrap().figure.delta, 3e12);
    let silent = ServerWindow::default();
    assert_eq!(ServerWindow::together(&[one.clone(), silent]).generation_tokens, None);
    assert_eq!(ServerWindow::together(std::slice::from_ref(&one)), one);
}

#[test]
fn a_window_is_written_and_read() {
    let level = level();
    let text = serde_json::to_string(&level).unwrap();
    assert_eq!(serde_json::from_str::<ServerWindow>(&text).unwrap(), level);
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn a_restart_is_added_and_counted() {
    let mut history = History::new();
    for (ms, tokens) in [(0, 900), (1_000, 950), (2_000, 40), (3_000, 90)] {
        let page = format!("vllm:generation_tokens_total {tokens}\n");
        history.record(instant(ms), &Page::read(page.as_bytes(), None).unwrap());
    }
    let over = ServerWindow::of(&history, Window::alone(at(0), at(3_000)), Nanos::from_secs(1));
    assert_eq!((over.resets(), over.generation_tokens.unwrap().figure.delta), (1, 140.0));
}

/// A restart makes all series of a page begin anew, and is one.
#[test]
fn one_restart_of_many_series_is_one() {
    let page = |count: u64| -> String {
        let series = |engine: u32| {
            ["stop", "length"].map(|reason| {
                format!(
                    "vllm:request_success_total{{engine=\"{engine}\",finished_reason=\"{reason}\"}} {count}\n"
                )
            })
        };
        (0..8).flat_map(series).collect()
    };
    let told = over_two(&page(40), &page(3));
    assert_eq!((told.resets(), told.requests.unwrap().figure.delta), (1, 48.0));
}

/// A counter that counts nothing has no series: SGLang's of cached tokens where no prompt was in the cache.
#[test]
fn a_counter_that_is_declared_and_has_no_series_counted_nothing() {
    let page = |tokens: u64| {
        format!("# TYPE sglang:cached_tokens_total counter\nsglang:prompt_tokens_total {tokens}\n")
    };
    let told = over_two(&page(0), &page(4_000));
    assert_eq!((told.prefix_hit_share(), told.cached_share()), (Some(0.0), Some(0.0)));
    let undeclared =
        page(4_000).lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    assert_eq!(over_two("sglang:prompt_tokens_total 0\n", &undeclared).prefix_hit_share(), None);
    let cut = format!("{}sglang:generation_tok", page(4_000));
    assert_eq!(over_two(&page(0), &cut).prefix_hit_share(), None, "a series may be behind its end");
}

/// What a step gives is what was generated over what no draft gave: drafts that come now and then are not in every step.
#[test]
fn steps_without_a_draft_count_too() {
    let page = |count: u64| {
        format!(
            "vllm:generation_tokens_total {}\nvllm:spec_decode_num_drafts_total {}\n\
             vllm:spec_decode_num_accepted_tokens_total {}\n",
            1_400 * count,
            200 * count,
            400 * count
        )
    };
    assert_eq!(over_two(&page(0), &page(1)).tokens_per_step(), Some(1.4));
    let sglang = |length: f64| {
        let page =
            format!("sglang:generation_tokens_total 0\nsglang:spec_accept_length {length}\n");
        over_two(&page, &page).tokens_per_step()
    };
    assert_eq!((sglang(3.0), sglang(0.0)), (Some(3.0), None));
}

#[test]
fn requests_that_ended_badly_are_none_and_cached_tokens_are_of_prompts() {
    let of = |pages: [&str; 2]| {
        let mut history = History::new();
        for (ms, page) in (0..).step_by(1_000).zip(pages) {
            history.record(instant(ms), &Page::read(page.as_bytes(), None).unwrap());
        }
        ServerWindow::of(&history, Window::alone(at(0), at(1_000)), Nanos::from_secs(1))
    };
    let name = "vllm:request_success_total{finished_reason=";
    let page = |stop, abort| format!("{name}\"stop\"}} {stop}\n{name}\"abort\"}} {abort}\n");
    let requests = of([&page(2, 1), &page(9, 30)]).requests.unwrap();
    assert_eq!(requests.figure.delta, 7.0);
    // llama.cpp counts what it computes and what its cache had each by itself.
    let name = "llamacpp:prompt_tokens";
    let page = |new, cached| format!("{name}_total {new}\n{name}_cached_total {cached}\n");
    let llama = of([&page(100, 50), &page(160, 190)]);
    assert_eq!((llama.prefix_hit_share(), llama.cached_share()), (Some(0.7), Some(0.7)));
    assert_eq!(llama.prompt_tokens.unwrap().figure.delta, 200.0);
}

#[test]
fn a_timeline_has_a_point_a_page() {
    let vllm = history(&["vllm-0.txt", "vllm-1.txt", "vllm-2.txt"], 5_000);
    let timeline = ServerTimeline::of(&vllm, Window::alone(at(1_000), at(10_000)));
    let running: Vec<_> =
        timeline.running.iter().map(|point| (point.at_ms.get(), point.value)).collect();
    assert_eq!(running, [(4_000.0, 8.0), (9_000.0, 0.0)]);
    assert_eq!((timeline.waiting.len(), timeline.kv_use.len()), (2, 2));
}

/// SGLang has all stages of a request under one name.
#[test]
fn of_sglangs_stages_the_pass_that_ends_a_prompt_is_its_prefill() {
    let stage = |stage: &str, requests: u64, seconds: f64| {
        let name = |part: &str| format!("sglang:per_stage_req_latency_seconds_{part}");
        format!(
            "{}{{stage=\"{stage}\"}} {requests}\n{}{{stage=\"{stage}\"}} {seconds}\n",
            name("count"),
            name("sum")
        )
    };
    let mut history = History::new();
    for (ms, requests) in [(0, 4), (2_000, 14)] {
        let seconds = 0.2 * requests as f64;
        let page = stage("prefill_forward", requests, seconds)
            + &stage("request_process", 10 * requests, 7.0 * seconds);
        history.record(instant(ms), &Page::read(page.as_bytes(), None).unwrap());
    }
    let server = ServerWindow::of(&history, Window::alone(at(0), at(2_000)), Nanos::from_secs(2));
    let prefill = server.prefill_time.unwrap().figure;
    assert_eq!((prefill.count.delta, prefill.mean.map(f64::round)), (10.0, Some(200.0)));
}

/// SGLang with a metric of each scheduler: two tensor-parallel ranks share a batch, and the total has its parts beside it.
#[test]
fn a_batch_that_several_schedulers_tell_of_is_counted_once() {
    let mut page = String::new();
    for (dp, tp, running) in [(0, 0, 5), (0, 1, 5), (1, 2, 7), (1, 3, 7)] {
        let rank = format!("dp_rank=\"{dp}\",pp_rank=\"0\",tp_rank=\"{tp}\"");
        for (priority, of_it) in [("", running), ("0", running - 1), ("1", 1)] {
            let labels = format!("{rank},priority=\"{priority}\"");
            writeln!(page, "sglang:num_running_reqs{{{labels}}} {of_it}").unwrap();
        }
        writeln!(page, "sglang:max_total_num_tokens{{{rank}}} 1000").unwrap();
        writeln!(page, "sglang:queue_time_seconds_sum{{{rank}}} 2").unwrap();
        writeln!(page, "sglang:queue_time_seconds_count{{{rank}}} 4").unwrap();
    }
    let told = over_two(&page, &page.replace("} 4\n", "} 9\n"));
    let running = told.running.unwrap().figure;
    assert_eq!((running.mean, running.peak), (12.0, Some(12.0)));
    assert_eq!((told.kv_capacity_tokens, told.engines), (Some(Tokens::new(2_000)), 2));
    assert_eq!(told.queue_time.unwrap().figure.count.delta, 10.0);
}

/// SGLang's estimate of one GPU, told by every scheduler of an engine: by two stages, by four tensor-parallel ranks, and by two engines.
#[test]
fn an_estimate_of_one_gpu_is_its_own_however_many_schedulers_tell_it() {
    let told = |ranks: &[[u32; 3]]| {
        let page = |times: f64| {
            let mut page = String::new();
            for [dp, pp, tp] in ranks {
                let labels = format!("dp_rank=\"{dp}\",pp_rank=\"{pp}\",tp_rank=\"{tp}\"");
                for (name, each) in [("flops", 4e12), ("read_bytes", 2e9), ("write_bytes", 6e8)] {
                    let value = each * times * f64::from(dp + 1);
                    writeln!(page, "sglang:estimated_{name}_per_gpu_total{{{labels}}} {value}")
                        .unwrap();
                }
            }
            page
        };
        let told = over_two(&page(1.0), &page(2.0));
        [
            told.estimated_flops_per_gpu,
            told.estimated_read_bytes_per_gpu,
            told.estimated_write_bytes_per_gpu,
        ]
        .map(|told| told.unwrap().figure.delta)
    };
    let one = [4e12, 2e9, 6e8];
    assert_eq!(told(&[[0, 0, 0]]), one);
    assert_eq!(told(&[[0, 0, 0], [0, 1, 0]]), one);
    assert_eq!(told(&[[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]]), one);
    // The second engine does twice as much.
    assert_eq!(told(&[[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]), one.map(|each| 1.5 * each));
}

/// vLLM has the size of its cache in labels: a restart with another one leaves the series of the old cache behind.
#[test]
fn a_cache_that_is_gone_is_not_counted_after_a_restart() {
    let page = |engines: &[(u32, u32, f64)]| {
        let mut page = String::new();
        for (engine, blocks, usage) in engines {
            writeln!(page, "vllm:cache_config_info{{engine=\"{engine}\",num_gpu_blocks=\"{blocks}\",block_size=\"16\"}} 1").unwrap();
            writeln!(page, "vllm:kv_cache_usage_perc{{engine=\"{engine}\"}} {usage}").unwrap();
        }
        Page::read(page.as_bytes(), None).unwrap()
    };
    let (before, after) =
        (page(&[(0, 1_000, 0.2), (1, 3_000, 0.6)]), page(&[(0, 9_000, 0.2), (1, 3_000, 0.6)]));
    let of = |pages: &[&Page], to: u64| {
        let mut history = History::new();
        for (ms, page) in (0..).step_by(1_000).zip(pages) {
            history.record(instant(ms), page);
        }
        let told = ServerWindow::of(&history, Window::within(at(500), at(to)), Nanos::from_secs(2));
        (told.kv_capacity_tokens, told.kv_use.map(|told| (told.figure.mean * 1e3).round()))
    };
    assert_eq!(of(&[&before, &before, &before], 1_500), (Some(Tokens::new(64_000)), Some(500.0)));
    assert_eq!(of(&[&before, &after, &after], 1_500), (Some(Tokens::new(192_000)), Some(300.0)));
    // A window that ended before has the cache of its time.
    assert_eq!(of(&[&before, &before, &after], 1_500), (Some(Tokens::new(64_000)), Some(500.0)));
    // A page that stopped half way hides a cache, and does not take it away.
    let cut = Page::read(b"vllm:num_requests_running 1\nvllm:cache_co", None).unwrap();
    assert_eq!(of(&[&before, &after, &after, &cut], 3_500).0, Some(Tokens::new(192_000)));
}

/// TGI has no counters of tokens but the sums of what it measures of each request.
#[test]
fn tgis_sums_are_its_counters_of_tokens_and_its_time_per_token_is_no_tpot() {
    let page = |requests: u64| {
        let mut page = String::new();
        for (metric, each) in [
            ("tgi_request_input_length", 100),
            ("tgi_request_generated_tokens", 8),
            ("tgi_request_mean_time_per_token_duration", 1),
        ] {
            writeln!(page, "{metric}_sum {}", requests * each).unwrap();
            writeln!(page, "{metric}_count {requests}").unwrap();
        }
        page
    };
    let told = over_two(&page(1), &page(6));
    let delta = |told: Option<fizeau_telemetry::ReportedCounter>| told.unwrap().figure.delta;
    assert_eq!((delta(told.prompt_tokens), delta(told.generation_tokens)), (500.0, 40.0));
    assert_eq!(told.tpot, None);
}

/// TensorRT-LLM counts what it generated as requests end, and accepted tokens step by step.
#[test]
fn tensorrt_llm_tells_its_drafts_its_cached_prompts_and_its_cache() {
    let fixture = text_of("trtllm.txt");
    let behind = fixture
        .replace(
            "reused_blocks_total{model_name=\"tiny\"} 60",
            "reused_blocks_total{model_name=\"tiny\"} 90",
        )
        .replace(
            "missed_blocks_total{model_name=\"tiny\"} 140",
            "missed_blocks_total{model_name=\"tiny\"} 150",
        )
        .replace(
            "prompt_tokens_total{model_name=\"tiny\"} 6000",
            "prompt_tokens_total{model_name=\"tiny\"} 7000",
        )
        .replace(
            "cached_tokens_total{model_name=\"tiny\"} 1500",
            "cached_tokens_total{model_name=\"tiny\"} 2400",
        )
        .replace(
            "draft_tokens_total{model_name=\"tiny\"} 90",
            "draft_tokens_total{model_name=\"tiny\"} 290",
        )
        .replace(
            "accepted_tokens_total{model_name=\"tiny\"} 54",
            "accepted_tokens_total{model_name=\"tiny\"} 204",
        );
    // Of requests that ended 160 tokens, of steps 150 accepted ones: together they would say 16 tokens a step.
    let tokens = |count: u32| format!("trtllm_generation_tokens_total {count}\n");
    let told = over_two(&(fixture + &tokens(0)), &(behind + &tokens(160)));
    assert_eq!(told.kv_capacity_tokens, Some(Tokens::new(600 * 32)));
    assert_eq!((told.prefix_hit_share(), told.cached_share()), (Some(0.75), Some(0.9)));
    assert_eq!((told.tokens_per_step(), told.accepted_share()), (Some(2.8), Some(0.75)));
}

/// A step without a draft has an acceptance length of 0, which is none.
#[test]
fn of_a_length_of_rounds_only_pages_with_a_round_count() {
    let page = |length: f64| {
        format!("trtllm_num_requests_running 1\ntrtllm_spec_decode_acceptance_length {length}\n")
    };
    assert_eq!(over_two(&page(2.8), &page(0.0)).tokens_per_step(), Some(2.8));
    assert_eq!(over_two(&page(0.0), &page(0.0)).tokens_per_step(), None);
}

/// Dynamo's front end: a request is in flight from its arrival to its end, and queued until its first token, in prefill too.
#[test]
fn of_dynamo_those_run_that_have_a_token_and_nothing_is_a_queue() {
    let page = |pages: &[(&str, u32)]| {
        let page: String = pages.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
        let told = over_two(&page, &page);
        assert_eq!((told.exporter, told.waiting), (Some(Exporter::Dynamo), None));
        told.running.unwrap().figure.mean
    };
    let (inflight, active) =
        ("dynamo_frontend_inflight_requests", "dynamo_frontend_active_requests");
    assert_eq!(page(&[(inflight, 32), ("dynamo_frontend_queued_requests", 4)]), 28.0);
    // As since 1.0.
    let stage = |stage, phase| {
        format!("dynamo_frontend_stage_requests{{stage=\"{stage}\",phase=\"{phase}\"}}")
    };
    let (early, late) = (stage("preprocess", ""), stage("dispatch", "prefill"));
    assert_eq!(page(&[(active, 32), (&early, 1), (&late, 4)]), 27.0);
    assert_eq!(page(&[(active, 32)]), 32.0);
    // Two gauges of one page are not of one moment.
    assert_eq!(page(&[(inflight, 3), ("dynamo_frontend_queued_requests", 4)]), 0.0);
    let fixture = fixture("dynamo.txt");
    let mut history = History::new();
    history.record(instant(0), &fixture);
    history.record(instant(2_000), &fixture);
    let timeline = ServerTimeline::of(&history, Window::alone(at(0), at(2_000)));
    assert_eq!(timeline.running.first().map(|point| point.value), Some(8.0));
}

#[test]
fn dynamos_sums_are_its_counters_of_prompts() {
    let page = |requests: u32| {
        let mut page = String::new();
        for (name, each) in [("input_sequence_tokens", 1_000), ("cached_tokens", 900)] {
            let name = format!("dynamo_frontend_{name}");
            writeln!(page, "{name}_sum {}\n{name}_count {requests}", each * requests).unwrap();
        }
        page
    };
    let told = over_two(&page(2), &page(22));
    assert_eq!(told.prompt_tokens.as_ref().map(|told| told.figure.delta), Some(20_000.0));
    let each = told.request_prompt_tokens.as_ref().and_then(|told| told.figure.mean);
    assert_eq!((each, told.cached_share()), (Some(1_000.0), Some(0.9)));
}

/// Engines whose names are vLLM's behind another prefix, and one whose labels say what a series is about.
#[test]
fn names_behind_other_prefixes_are_known() {
    let of = |name: &str| {
        let page = text_of(name);
        let told = over_two(&page, &page);
        let mean = |told: &Option<fizeau_telemetry::ReportedGauge>| {
            told.as_ref().map(|told| told.figure.mean)
        };
        let gauges = [&told.running, &told.waiting, &told.kv_use].map(mean);
        (gauges, told)
    };
    let (gauges, ray) = of("ray.txt");
    assert_eq!((ray.exporter, gauges), (Some(Exporter::Vllm), [Some(11.0), None, None]));
    assert_eq!(ray.ttft.unwrap().metric, "ray_vllm_time_to_first_token_seconds");
    let (gauges, lmdeploy) = of("lmdeploy.txt");
    assert_eq!(gauges, [Some(9.0), None, Some(0.5)]);
    assert_eq!((lmdeploy.exporter, lmdeploy.engines), (Some(Exporter::Lmdeploy), 2));
    let (gauges, nim) = of("nim.txt");
    assert_eq!((nim.exporter, gauges), (Some(Exporter::Nim), [Some(5.0), Some(2.0), Some(0.125)]));
    assert!(nim.generation_tokens.is_some());
    let (gauges, triton) = of("triton.txt");
    assert_eq!(gauges, [Some(12.0), Some(3.0), Some(0.4)]);
    assert_eq!(triton.kv_capacity_tokens, Some(Tokens::new(500 * 64)));
    assert_eq!(triton.exporter, Some(Exporter::TensorrtLlm));
}

#[test]
fn requests_of_lmdeploy_that_failed_are_none() {
    let page = |good: u32, bad: u32| {
        let name = "lmdeploy:request_success_total{finished_reason=\"ResponseType.";
        format!("{name}FINISH\"}} {good}\n{name}INTERNAL_ENGINE_ERROR\"}} {bad}\n")
    };
    assert_eq!(over_two(&page(1, 1), &page(8, 5)).requests.unwrap().figure.delta, 7.0);
}

/// What a page before a window and one behind it say.
fn over_two(before: &str, behind: &str) -> ServerWindow {
    let mut history = History::new();
    for (ms, page) in [(0, before), (2_000, behind)] {
        history.record(instant(ms), &Page::read(page.as_bytes(), None).unwrap());
    }
    ServerWindow::of(&history, Window::alone(at(0), at(2_000)), Nanos::from_secs(2))
}
