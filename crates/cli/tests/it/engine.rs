//! The whole path against a real engine: llama.cpp's server on the CPU, eight slots.

use crate::stand::{HOWEVER_BUSY, Scratch, fizeau, json};

/// `FIZEAU_BASE_URL` and `FIZEAU_MODEL`, as `cargo xtask test` sets them.
fn engine() -> [String; 2] {
    ["FIZEAU_BASE_URL", "FIZEAU_MODEL"].map(|name| {
        std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; run `cargo xtask test`"))
    })
}

#[test]
#[ignore = "needs the real engine; run by cargo xtask test"]
fn a_real_engine_is_swept_and_queues_past_its_slots() {
    let [url, model] = engine();
    let scratch = Scratch::new("engine-sweep");
    let out = scratch.path("run");
    let mut command = fizeau(&[
        "sweep",
        "--levels",
        "1,8,32",
        "--isl",
        "60",
        "--osl",
        "40",
        "--num-prompts",
        "64",
    ]);
    command.args(HOWEVER_BUSY);
    command.args(["--level-seconds", "120", "--base-url", &url, "--model", &model, "--out", &out]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let sweep = json(format!("{out}/sweep.json"));
    let levels = sweep["levels"].as_array().unwrap();
    for level in levels {
        assert_eq!(
            (&level["requests"]["completed"], &level["requests"]["failed"]),
            (&64.into(), &0.into())
        );
        assert_eq!(
            level["tokens"]["output"],
            64 * 40,
            "exactly the asked tokens, by the server's count"
        );
        // Its own page of metrics counted the same, to the token.
        let server = &level["telemetry"]["server"];
        assert_eq!(server["exporter"], "llama-cpp");
        assert_eq!(server["generation_tokens"]["delta"], 64.0 * 40.0);
        let findings = level["telemetry"]["findings"].as_array().unwrap();
        let equal = findings.iter().filter(|finding| finding["kind"] == "tokens_equal").count();
        assert_eq!(equal, 2, "prompts and replies: {findings:?}");
        assert!(level["speed_of_light"].is_null(), "nobody said what it runs on");
        assert_eq!(level["speed_of_light_reason"], "no model and device were given");
    }
    // Relations that hold on any machine: with four requests to a slot, three quarters of the time is waiting.
    let figure = |i: usize, path: [&str; 3]| levels[i][path[0]][path[1]][path[2]].as_f64().unwrap();
    let ttft = |i| figure(i, ["metrics", "ttft_ms", "p50"]);
    assert!(ttft(2) > 2.0 * ttft(1), "{} then {}", ttft(1), ttft(2));
    assert_eq!(sweep["setup"]["engine"]["kind"], "remote");
}

#[test]
#[ignore = "needs the real engine; run by cargo xtask test"]
fn a_real_engine_takes_vllms_command_line_on_both_routes() {
    let [url, model] = engine();
    for endpoint in ["/v1/completions", "/v1/chat/completions"] {
        let scratch = Scratch::new(&format!("engine-{}", endpoint.len()));
        let dir = scratch.path("");
        let mut command = fizeau(&[
            "bench",
            "--backend",
            "llama.cpp",
            "--num-prompts",
            "16",
            "--max-concurrency",
            "8",
        ]);
        command.args(["--random-input-len", "40", "--random-output-len", "24", "--save-result"]);
        command.args(["--result-filename", "r.json", "--result-dir", &dir, "--base-url", &url]);
        command.args(["--model", &model, "--endpoint", endpoint]).args(HOWEVER_BUSY);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let result = json(scratch.path("r.json"));
        assert_eq!(
            (&result["completed"], &result["failed"]),
            (&16.into(), &0.into()),
            "{endpoint}"
        );
        assert_eq!(result["total_output_tokens"], 16 * 24, "{endpoint}");
    }
}
