//! What devices say beside a level that is measured over HTTP, on pages that tests make up, and what becomes of pages that are none.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use fizeau::core::Nanos;
use fizeau::experiment::{
    Experiment, ServerPages, SweepLoads, SweepRates, TelemetrySpec, WorkloadSpec, level_size,
};
use fizeau::record::{LevelTelemetry, SpeedOfLightReference, SweepReport};
use fizeau::sim::Scenario;
use fizeau::telemetry::{LightWitness, Page, PageError, Source, WitnessCause};
use fizeau::transport::{Backend, Target};
use fizeau::workload::Lengths;

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, fixed, json, reply, run, scripted_gets};

/// Three requests one after the other at a server that takes 20 ms a token, which is a quarter of what the devices allow; beside them the
/// page at `url` is read a hundred times a second.
fn measured(url: String) -> SweepReport {
    let mut telemetry = TelemetrySpec::default();
    telemetry.pages = vec![url];
    measured_beside(telemetry)
}

fn measured_beside(mut telemetry: TelemetrySpec) -> SweepReport {
    let server = fixed(Nanos::from_millis(20), Nanos::from_millis(20));
    let (scenario, mut workload) =
        (Scenario::llama_3_1_8b_h100().unwrap(), WorkloadSpec::default());
    workload.lengths = Lengths::fixed(8, 24);
    telemetry.interval = Nanos::from_millis(10);
    let target = Target::new(&server.base_url(), Backend::Vllm, "m").unwrap();
    let experiment = Experiment::new(target)
        .workload(workload)
        .loads(SweepLoads::new(&[1], SweepRates::default()).unwrap())
        .size(level_size(Some(3), None, Some(0)).unwrap())
        .speed_of_light(SpeedOfLightReference::new("llama-3.1-8b", scenario.system().clone()))
        .telemetry(telemetry);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(experiment.run(&mut ())).unwrap()
}

fn said(sweep: &SweepReport) -> &LevelTelemetry {
    sweep.levels()[0].telemetry.as_deref().unwrap()
}

/// How long the level takes is the machine's matter: the page says the same of any part of it.
#[test]
fn devices_that_are_busier_than_the_client_accounts_for_are_a_finding() {
    let page = |number: u64| {
        let dram = if number.is_multiple_of(2) { 0.90 } else { 0.94 };
        format!(
            "# TYPE DCGM_FI_PROF_DRAM_ACTIVE gauge\n\
             DCGM_FI_PROF_DRAM_ACTIVE{{gpu=\"0\",UUID=\"GPU-0\"}} {dram}\n\
             DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{gpu=\"0\",UUID=\"GPU-0\"}} 0.05\n"
        )
    };
    let url = scripted_gets(move |number| Some(reply("200 OK", "text/plain", &page(number))));
    let sweep = measured(url + "/metrics");
    let told = said(&sweep).witnesses.as_ref().unwrap();
    let of = |witness| told.share_of(witness).unwrap();
    let (client, devices) = (of(LightWitness::ClientThroughput), of(LightWitness::DeviceActivity));
    assert!((0.9..=0.94).contains(&devices.share), "{told:?}");
    assert!(devices.low <= devices.share && devices.share <= devices.high, "{told:?}");
    assert!(client.share < 0.3, "{told:?}");
    let [differ] = &told.disagreements[..] else { panic!("{told:?}") };
    let expected =
        (LightWitness::DeviceActivity, LightWitness::ClientThroughput, WitnessCause::UncountedWork);
    assert_eq!((differ.higher, differ.lower, differ.cause), expected);
    let notes = &sweep.levels()[0].validity.notes;
    assert!(notes.iter().any(|note| note.contains("by the devices' activity")), "{notes:?}");
}

/// An engine within this program, of which nobody has a page: it generates ten tokens whenever it is looked at, and draws 500 W.
struct Own(u64);

impl Source for Own {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        self.0 += 10;
        let page = format!(
            "vllm:generation_tokens_total {}\nDCGM_FI_DEV_POWER_USAGE{{gpu=\"0\",UUID=\"GPU-0\"}} 500\n",
            self.0
        );
        Page::read(page.as_bytes(), None)
    }
}

/// Each level asks the one source anew, beside what is found at the server and in its place.
#[test]
fn a_source_of_ones_own_is_in_the_figures_of_each_level() {
    for servers in [ServerPages::Found, ServerPages::Unasked] {
        let mut telemetry = TelemetrySpec::default().source("own", Own(0));
        telemetry.servers = servers;
        let sweep = measured_beside(telemetry);
        let told = said(&sweep);
        let addresses: Vec<&str> =
            told.sources.iter().map(|source| source.address.as_str()).collect();
        assert!(addresses.contains(&"own"), "{addresses:?}");
        assert_eq!(addresses.len(), if servers == ServerPages::Found { 2 } else { 1 });
        assert_eq!(told.devices.len(), 1);
        let power = told.devices[0].power.as_ref().unwrap().figure;
        assert!((power.mean - 500.0).abs() < 1e-9, "{power:?}");
        if servers == ServerPages::Unasked {
            let own = told.server.as_ref().unwrap().generation_tokens.as_ref().unwrap();
            let pages = told.sources[0].cost.pages as f64;
            assert!(own.figure.delta >= 10.0 && own.figure.delta <= 10.0 * pages, "{own:?}");
        }
    }
}

#[test]
fn an_exporter_that_is_gone_in_the_midst_is_a_note_and_the_level_counts() {
    let page = "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-0\"} 300\n";
    let url = scripted_gets(move |number| {
        Some(match number {
            0..3 => reply("200 OK", "text/plain", page),
            _ => reply("500 Oops", "text/plain", ""),
        })
    });
    let sweep = measured(url + "/metrics");
    let level = &sweep.levels()[0];
    let gone =
        |note: &&String| note.contains("pages did not come, and nothing is known of that time");
    let gone: Vec<&String> = level.validity.notes.iter().filter(gone).collect();
    assert_eq!(gone.len(), 1, "{:?}", level.validity);
    assert_eq!(gone[0].matches("status 500").count(), 1, "{gone:?}");
    assert_eq!(level.summary.requests.completed, 3);
}

/// A page of which no name is known but the one that is asked for.
#[test]
fn a_metric_of_ones_own_is_told_by_its_name() {
    let page = |number: u64| format!("my_own_metric_total {number}\nanother 1\n");
    let url = scripted_gets(move |number| Some(reply("200 OK", "text/plain", &page(number))));
    let mut telemetry = TelemetrySpec::default();
    telemetry.pages = vec![url + "/metrics"];
    telemetry.metrics = vec!["my_own_metric_total".to_owned()];
    let sweep = measured_beside(telemetry);
    let told = said(&sweep);
    assert!(told.other_metrics["my_own_metric_total"].value() >= 1.0, "{told:?}");
    assert_eq!(told.other_metrics.len(), 1);
    assert_eq!(told.notes(), Vec::<String>::new());
}

const BENCH: &str =
    "bench --model m --isl 4 --osl 4 --num-prompts 2 --max-concurrency 1 --num-warmups 0";

/// `bench` of a server that answers, with the page at `url` besides.
fn beside(url: &str, more: &[&str]) -> Ended {
    let server = fixed(Nanos::from_millis(1), Nanos::from_micros(100));
    let base = server.base_url();
    let mut words: Vec<&str> = BENCH.split_whitespace().collect();
    words.extend(["--base-url", &base, "--server-metrics", url]);
    words.extend(HOWEVER_BUSY);
    words.extend(more);
    run(&words)
}

#[test]
fn what_is_no_page_is_one_note_and_the_load_is_not_disturbed() {
    let long = "vllm:prompt_tokens_total 1\n".repeat(50_000_000 / 27);
    let cases = [
        ("404 Not Found", "{}", "SGLang only where it was started with --enable-metrics"),
        ("401 Unauthorized", "", "that the server expects (--server-metrics-header NAME=VALUE)"),
        ("500 Oops", "", "the server answered with status 500"),
        (
            "200 OK",
            "<html><body>hello</body></html>",
            "this is HTML; give the address of a metrics page",
        ),
        ("200 OK", "", "the page is empty"),
        ("200 OK", "{\"detail\":\"no\"}", "this is JSON, not metrics"),
        ("200 OK", &long, "the page is longer than 16777216 bytes"),
    ];
    for (status, body, said) in cases {
        let answer = reply(status, "text/plain", body);
        let url = scripted_gets(move |_| Some(answer.clone())) + "/metrics";
        let ended = beside(&url, &[]);
        assert_eq!(ended.code, Some(0), "{said}: {ended:?}");
        let notes: Vec<&str> = ended
            .err
            .lines()
            .filter(|line| line.starts_with("note: no server metrics: "))
            .collect();
        let [note] = notes[..] else { panic!("{said}: {ended:?}") };
        assert!(note.contains(&url) && note.contains(said), "{said}: {note}");
        // Nobody looked for it: it was given.
        assert!(!note.contains("stops looking"), "{note}");
    }
}

/// Answers whoever has the key with a page.
fn behind_a_key() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut asked = String::new();
            while !asked.ends_with("\r\n\r\n") && reader.read_line(&mut asked).unwrap_or(0) > 0 {}
            let page = "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-0\"} 300\n";
            let answer = match asked.contains("Bearer opensesame") {
                true => reply("200 OK", "text/plain", page),
                false => reply("401 Unauthorized", "text/plain", ""),
            };
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    url
}

#[test]
fn a_page_behind_a_key_is_read_with_it_and_the_key_is_written_nowhere() {
    let (url, scratch) = (behind_a_key(), Scratch::new("telemetry-key"));
    let out = scratch.path("run");
    let key = ["--server-metrics-header", "Authorization=Bearer opensesame", "--out", &out];
    let ended = beside(&url, &key);
    assert!(ended.code == Some(0) && !ended.err.contains("no server metrics"), "{ended:?}");
    let telemetry = &json(format!("{out}/summary.json"))["telemetry"];
    let sources = telemetry["sources"].as_array().unwrap();
    let own = sources.iter().find(|source| source["address"] == url.as_str()).unwrap();
    assert_eq!((&own["exporter"], &own["cost"]["failed"]), (&"dcgm".into(), &0.into()), "{own}");
    assert!(!format!("{ended:?}").contains("opensesame"));
    for file in std::fs::read_dir(&out).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|word| word == b"opensesame"));
    }
}
