//! What an engine does, as it comes to the wire and the record.

use std::io::Read;

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::http::{NaturalLength, ServerConfig, SglangText, TimeScale};
use fizeau_sim::{
    Emission, Engine, EngineConfig, EngineJob, FixedTiming, Gauges, JobId, JobTiming, Serve,
    StepLoad, SubmitError,
};
use serde_json::{Value, json};

use super::client::{get, post};
use super::{send, serve};

/// Gives all of a job's tokens, some at a time, as it comes.
struct Bunches {
    size: u64,
    due: Vec<EngineJob>,
}

impl Serve for Bunches {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        self.due.push(job);
        Ok(())
    }

    fn cancel(&mut self, id: JobId) {
        self.due.retain(|job| job.id != id);
    }

    fn next_event(&self) -> Option<Stamp> {
        self.due.first().map(|job| job.at)
    }

    fn advance(&mut self, _: Stamp, emit: &mut dyn FnMut(Emission)) {
        for job in self.due.drain(..) {
            let (at, output) = (job.at, job.output_tokens.get());
            let timing = JobTiming {
                submitted: at,
                admitted: at,
                first_token: at,
                cached_tokens: Tokens::ZERO,
                preemptions: 3,
            };
            for index in (0..output).step_by(self.size as usize) {
                let count = self.size.min(output - index);
                let last = index + count == output;
                emit(Emission { job: job.id, rank: 0, at, index, count, last, timing });
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        None
    }

    fn gauges(&self) -> Gauges {
        Gauges { preemptions: 3, drafted: 8, accepted: 5, ..Gauges::default() }
    }
}

#[test]
fn tokens_that_leave_together_are_one_event() {
    let server = serve(ServerConfig::new(Bunches { size: 3, due: Vec::new() }));
    let body = json!({"prompt": [1], "max_tokens": 8, "stream": true, "return_token_ids": true,
        "stream_options": {"include_usage": true, "continuous_usage_stats": true}});
    let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
    let sizes = |of: &dyn Fn(&Value) -> usize| objects.iter().take(3).map(of).collect::<Vec<_>>();
    let ids = |chunk: &Value| chunk["choices"][0]["token_ids"].as_array().unwrap().len();
    let words =
        |chunk: &Value| chunk["choices"][0]["text"].as_str().unwrap().split_whitespace().count();
    assert_eq!((sizes(&ids), sizes(&words)), (vec![3, 3, 2], vec![3, 3, 2]));
    let counted = objects.iter().map(|chunk| chunk["usage"]["completion_tokens"].as_u64());
    assert_eq!(counted.collect::<Vec<_>>(), [3, 6, 8, 8].map(Some));

    let truth = get(server.addr(), "/truth").json();
    let request = &truth["requests"][0];
    let stamps = |field: &str| -> Vec<_> {
        request[field].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect()
    };
    assert_eq!(stamps("scheduled_ns"), vec![request["arrived_ns"].as_u64().unwrap(); 8]);
    let handed = stamps("token_ns");
    assert_eq!(handed.len(), 8);
    for bunch in handed.chunks(3) {
        assert!(bunch.iter().all(|at| at == &bunch[0]), "{handed:?}");
    }
    assert_eq!((&request["preemptions"], &truth["engine"]["accepted"]), (&json!(3), &json!(5)));
    let metrics = get(server.addr(), "/metrics").body;
    let accepted =
        "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\",model_name=\"simulated\"} 5.0\n";
    assert!(metrics.contains(accepted), "{metrics}");
}

/// What an event of tokens shows, wherever its dialect has it.
fn text_of(event: &Value) -> &str {
    let places = match event["type"].is_null() {
        true => ["/choices/0/text", "/choices/0/delta/content", "/text"].as_slice(),
        false => &["/delta/text", "/delta"],
    };
    let mut shown = places.iter().filter_map(|place| event.pointer(place)?.as_str());
    shown.next().unwrap_or_default()
}

/// However tokens leave together, all of them are shown and counted, and but for responses in one event.
#[test]
fn bursts_lose_nothing() {
    let messages = json!([{"role": "user", "content": "x"}]);
    let routes = [
        ("/v1/chat/completions", json!({"messages": messages, "max_tokens": 17})),
        ("/v1/completions", json!({"prompt": "x", "max_tokens": 17})),
        ("/generate", json!({"text": "x", "sampling_params": {"max_new_tokens": 17}})),
        ("/v1/messages", json!({"messages": messages, "max_tokens": 17})),
        ("/v1/responses", json!({"input": "x", "max_output_tokens": 17})),
    ];
    for (path, mut body) in routes {
        let mut texts = Vec::new();
        body["stream"] = true.into();
        body["return_token_ids"] = true.into();
        body["stream_options"] = json!({"include_usage": true, "continuous_usage_stats": true});
        // The last two end by themselves with the tenth token, which has no text.
        for (size, natural) in [(1, 99), (3, 99), (5, 99), (1, 10), (4, 10)] {
            let config = ServerConfig::new(Bunches { size, due: Vec::new() })
                .with_natural_length(NaturalLength::Fixed(Tokens::new(natural)))
                .with_sglang(SglangText::Incremental);
            let reply = post(serve(config).addr(), path, &body.to_string());
            let data = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
            let objects = data.filter(|data| *data != "[DONE]").map(serde_json::from_str);
            let events: Vec<Value> = objects.map(Result::unwrap).collect();
            let total = natural.min(17);
            let shown: Vec<_> =
                events.iter().map(text_of).filter(|text| !text.is_empty()).collect();
            let text = shown.concat();
            assert_eq!(text.split_whitespace().count() as u64, total - u64::from(natural == 10));
            let bursts = total.div_ceil(size) as usize;
            if path != "/v1/responses" && natural == 99 {
                assert_eq!(shown.len(), bursts, "{path}: {size}");
            }
            let counts = ["/usage/completion_tokens", "/meta_info/completion_tokens"];
            let counted = events
                .iter()
                .filter_map(|event| counts.iter().find_map(|count| event.pointer(count)?.as_u64()));
            let ids = events.iter().filter_map(|event| {
                let lists = ["/choices/0/token_ids", "/output_ids"];
                Some(lists.iter().find_map(|list| event.pointer(list)?.as_array())?.len() as u64)
            });
            if ["/v1/chat/completions", "/v1/completions", "/generate"].contains(&path) {
                assert_eq!(ids.sum::<u64>(), total, "{path}: {size}");
                let counted: Vec<u64> = counted.filter(|count| *count > 0).collect();
                let steps = (size..total).step_by(size as usize).chain([total]);
                assert!(counted.iter().copied().take(bursts).eq(steps), "{path}: {counted:?}");
            }
            texts.push(text);
        }
        assert!(texts[1..3].iter().all(|text| *text == texts[0]), "{path}");
        assert_eq!(texts[3], texts[4], "{path}");
        assert!(texts[0].starts_with(&texts[3]), "{path}");
    }
}

#[test]
fn a_full_queue_is_refused_with_a_time_to_come_again() {
    let config = EngineConfig { max_waiting: Some(1), ..EngineConfig::new(1, Tokens::new(1_600)) };
    let engine = Engine::new(config, |_: &StepLoad| Nanos::from_secs(600)).unwrap();
    let server = serve(ServerConfig::new(engine));
    let body = r#"{"prompt":"x","max_tokens":5,"stream":true}"#;
    let held = [(); 2].map(|()| {
        let mut client = send(server.addr(), "POST", "/v1/completions", body);
        // The head comes as soon as the engine has taken the request.
        client.read_exact(&mut [0; 9]).unwrap();
        client
    });
    let reply = post(server.addr(), "/v1/completions", body);
    assert_eq!(reply.status, 429, "{}", reply.body);
    assert!(reply.head.contains("\r\nretry-after: 1"), "{}", reply.head);
    assert!(
        reply.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("1 requests are waiting already")
    );
    drop(held);
}

#[test]
fn what_is_no_scale_is_refused() {
    for times in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7, 1e-4] {
        assert!(TimeScale::new(times).is_err(), "{times}");
    }
}

/// Sixteen hours of the engine's time, a hundred thousand times faster.
#[test]
fn time_runs_as_fast_as_asked_for() {
    let engine = FixedTiming::new(Nanos::from_secs(200), Nanos::from_secs(100));
    let scale = TimeScale::new(1e5).unwrap();
    let server = serve(ServerConfig::new(engine).with_time_scale(scale));
    let body = r#"{"prompt":"x","max_tokens":6,"stream":true}"#;
    post(server.addr(), "/v1/completions", body);
    let truth = get(server.addr(), "/truth").json();
    assert_eq!(truth["time_scale"], 1e5);
    let request = &truth["requests"][0];
    let arrived = request["arrived_ns"].as_u64().unwrap();
    let scheduled: Vec<_> = request["scheduled_ns"].as_array().unwrap().iter().collect();
    let timetable: Vec<_> = (0..6).map(|k| json!(arrived + 2_000_000 + k * 1_000_000)).collect();
    assert_eq!(scheduled, timetable.iter().collect::<Vec<_>>());
    let handed = request["token_ns"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap());
    let due = scheduled.iter().map(|at| at.as_u64().unwrap());
    assert!(handed.zip(due).all(|(handed, due)| handed >= due), "none is early");
    assert!(get(server.addr(), "/metrics").body.contains(
        "vllm:time_to_first_token_seconds_sum{engine=\"0\",model_name=\"simulated\"} 0.002\n"
    ));
}

#[test]
fn the_record_says_how_long_each_waited() {
    let config = EngineConfig::new(1, Tokens::new(1_600));
    let engine = Engine::new(config, |_: &StepLoad| Nanos::from_millis(1)).unwrap();
    let server = serve(ServerConfig::new(engine));
    let body = r#"{"prompt":"x","max_tokens":5,"stream":true}"#;
    let mut clients = [(); 3].map(|()| send(server.addr(), "POST", "/v1/completions", body));
    for client in &mut clients {
        client.read_to_end(&mut Vec::new()).unwrap();
    }
    let truth = get(server.addr(), "/truth").json();
    let at = |request: &Value, field: &str| request[field].as_u64().unwrap();
    let mut free_at = 0;
    for request in truth["requests"].as_array().unwrap() {
        let begun = at(request, "arrived_ns").max(free_at);
        assert_eq!(at(request, "arrived_ns") + at(request, "queue_ns"), begun);
        let scheduled: Vec<_> = request["scheduled_ns"].as_array().unwrap().iter().collect();
        free_at = scheduled[4].as_u64().unwrap();
        assert_eq!(scheduled[0].as_u64().unwrap(), begun + 1_000_000);
        assert_eq!(
            [&request["preemptions"], &request["finish_reason"], &request["client"]],
            [&json!(0), &json!("length"), &json!("127.0.0.1")]
        );
    }
    assert_eq!(truth["engine"]["steps"], 15);
    assert_eq!((&truth["engine"]["running"], &truth["time_scale"]), (&json!(0), &json!(1.0)));
}

/// Whoever goes away is counted as vLLM counts it.
#[test]
fn a_request_given_up_is_an_abort() {
    let engine = FixedTiming::new(Nanos::from_secs(600), Nanos::ZERO);
    let server = serve(ServerConfig::new(engine));
    let body = r#"{"prompt":"x","max_tokens":5,"stream":true}"#;
    let mut client = send(server.addr(), "POST", "/v1/completions", body);
    client.read_exact(&mut [0; 9]).unwrap();
    drop(client);
    let aborted = || {
        let metrics = get(server.addr(), "/metrics").body;
        metrics.contains("finished_reason=\"abort\"} 1.0")
    };
    // The server reads the end of that connection before or after a request on another.
    assert!((0..1_000).any(|_| aborted()));
    assert_eq!(get(server.addr(), "/truth").json()["cancelled"], 1);
}
