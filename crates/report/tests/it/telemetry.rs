//! What servers said, in reports: the pages of `fixtures/telemetry`, worked out by hand in `fizeau-telemetry`'s own tests.

use fizeau_core::{Millis, Nanos, PerSec, Seconds, Stamp, Tokens};
use fizeau_record::{
    CheckOutcome, Checklist, ChecklistItem, LevelReport, LevelTelemetry, ScrapedPages,
    ServingDevices, SweepDocument, SweepReport, TelemetryWindows,
};
use fizeau_report::{Exposition, LevelTable, Shown, TableCell, TableRun, Verbosity};
use fizeau_roofline::{Deployment, Device, KnownModel, System};
use fizeau_telemetry::{
    ClientWindow, DeviceWindow, Fetch, ForwardPass, JudgedStep, Page, ReportedGauge, ScheduledWork,
    ScrapeReport, SpeedWitnesses, StepsAssessment, Window, WitnessInput, total_power,
};

use crate::sample;

fn at(ms: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(ms)
}

/// Pages of `fixtures/telemetry` and the times at which they came.
fn read(address: &str, pages: &[(u64, &str)]) -> ScrapedPages {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/telemetry/");
    let mut report = ScrapeReport::default();
    for (ms, name) in pages {
        let page = Page::read(&std::fs::read(format!("{folder}{name}")).unwrap(), None).unwrap();
        report.history.record(Fetch { requested: at(*ms), answered: at(*ms) }, &page);
        report.cost.pages += 1;
    }
    ScrapedPages { address: address.to_owned(), report }
}

fn engine() -> ScrapedPages {
    let pages = [(0, "vllm-0.txt"), (5_000, "vllm-1.txt"), (10_000, "vllm-2.txt")];
    read("http://a/metrics", &pages)
}

fn said() -> LevelTelemetry {
    said_by(&[engine()])
}

/// The same, and what two GPUs tell.
fn said_with_devices() -> LevelTelemetry {
    let pages =
        [(0, "dcgm-0.txt"), (3_000, "dcgm-1.txt"), (6_000, "dcgm-2.txt"), (9_000, "dcgm-3.txt")];
    said_by(&[engine(), read("http://gpu/metrics", &pages)])
}

fn said_by(pages: &[ScrapedPages]) -> LevelTelemetry {
    let windows = TelemetryWindows {
        level: Window::alone(at(1_000), at(9_000)),
        steady: Some(Window::within(at(4_000), at(6_000))),
        interval: Nanos::from_secs(1),
        devices: ServingDevices::Unknown,
        unread: &[],
    };
    let client = ClientWindow {
        prompt_tokens: Some(Tokens::new(5_000)),
        output_tokens: Some(Tokens::new(2_600)),
        ttft: std::iter::repeat_n(Millis::new(130.0), 21).collect(),
        ..ClientWindow::default()
    };
    LevelTelemetry::of(pages, windows, &client)
}

/// The level that follows the knee of the sample.
const BEYOND: u32 = 64;

fn level(concurrency: u32) -> LevelReport {
    let mut level = sample::level(concurrency);
    level.telemetry = (concurrency == BEYOND).then(|| Box::new(said()));
    level
}

#[test]
fn a_sentence_in_brief_and_every_figure_in_full() {
    let level = level(BEYOND);
    let brief = Shown(&level).block(Verbosity::Brief);
    let brief = brief.split_whitespace().collect::<Vec<_>>().join(" ");
    let server =
        "server: running 8, waiting 3, KV 70 %, preemptions 7, prefix cache 28 % of queries";
    assert!(brief.contains(server) && !brief.contains("gap: "), "{brief}");
    let full = Shown(&level).block(Verbosity::Full);
    for words in ["generated tokens:                      2600", "pages read / missed:"] {
        assert!(full.contains(words), "{words}: {full}");
    }
    let full = full.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        server,
        "gap: client TTFT less server TTFT 6.19 ms; tokens agree",
        "prompt tokens by source: local_cache_hit 1200, local_compute 2800",
        "the same by position in the draft: 0 180, 1 80, 2 40",
    ] {
        assert!(full.contains(words), "{words}: {full}");
    }
    assert!(!Shown(&sample::level(BEYOND)).block(Verbosity::Full).contains("server: "));
}

#[test]
fn what_did_not_happen_is_left_out_in_brief_wherever_it_stands() {
    let mut level = level(BEYOND);
    let server = level.telemetry.as_mut().unwrap().server.as_mut().unwrap();
    server.preemptions.as_mut().unwrap().figure.delta = 0.2;
    server.prefix_hits.as_mut().unwrap().figure.delta = 0.0;
    let shown = |level: &LevelReport, verbosity| {
        let text = Shown(level).block(verbosity);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let all = "server: running 8, waiting 3, KV 70 %, preemptions 0, prefix cache 0 % of queries";
    assert!(shown(&level, Verbosity::Full).contains(all));
    let brief = shown(&level, Verbosity::Brief);
    assert!(brief.contains("server: running 8, waiting 3, KV 70 % "), "{brief}");
    let server = level.telemetry.as_mut().unwrap().server.as_mut().unwrap();
    (server.running, server.waiting, server.kv_use) = (None, None, None);
    let brief = shown(&level, Verbosity::Brief);
    assert!(!brief.contains("server: "), "{brief}");
}

/// SGLang counts no queries of its prefix cache.
#[test]
fn the_share_of_the_prefix_cache_says_of_what_it_is() {
    let mut level = level(BEYOND);
    let server = level.telemetry.as_mut().unwrap().server.as_mut().unwrap();
    (server.prefix_hits, server.prefix_queries) = (None, None);
    server.prompt_tokens_cached = server.prompt_tokens.clone();
    let text = Shown(&level).block(Verbosity::Brief);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("prefix cache 100 % of prompt tokens"), "{text}");
}

#[test]
fn energy_stands_both_ways() {
    let said = said_with_devices();
    let (each, tokens) = (said.joules_per_token.unwrap(), said.tokens_per_joule.unwrap());
    assert!((each.get() * tokens.get() - 1.0).abs() < 1e-12, "{each:?} {tokens:?}");
    let mut level = sample::level(BEYOND);
    level.telemetry = Some(Box::new(said));
    let brief = Shown(&level).block(Verbosity::Brief);
    let brief = brief.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(brief.contains(" J a token, ") && brief.contains(" tokens a joule"), "{brief}");
    let sweep = SweepReport::new(sample::setup(), vec![level], None);
    let table = LevelTable::of_all(&[TableRun::of(&sweep, "r")]);
    assert_eq!(table.cell(0, "tokens_per_joule"), Some(&TableCell::Number(tokens.get())));
    let series = Exposition::of(&sweep, "r").to_prometheus();
    assert!(series.contains("\nfizeau_output_tokens_per_joule{"), "{series}");
}

/// A sweep of one level of which all that can be said is.
fn told_sweep() -> SweepReport {
    let mut level = sample::level(BEYOND);
    level.telemetry = Some(Box::new(with_steps(said_with_devices())));
    SweepReport::new(sample::setup(), vec![level], None)
}

#[test]
fn what_is_told_apart_is_a_cell_of_a_table_and_series_by_label() {
    let sweep = told_sweep();
    let table = LevelTable::of_all(&[TableRun::of(&sweep, "r")]);
    let series = Exposition::of(&sweep, "r").to_prometheus();
    let own = |metric: &str, label: &str, name: &str| {
        let line = series.lines().find(|line| {
            line.starts_with(&format!("{metric}{{"))
                && line.contains(&format!("{label}=\"{name}\""))
        });
        line.and_then(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
    };
    for (column, metric, label, each) in [
        (
            "server_prompt_tokens_by_source",
            "fizeau_server_prompt_tokens_by_source",
            "source",
            &[("local_cache_hit", 1_200.0), ("local_compute", 2_800.0)][..],
        ),
        (
            "server_accepted_by_position",
            "fizeau_server_accepted_draft_tokens_by_position",
            "position",
            &[("0", 180.0), ("1", 80.0), ("2", 40.0)],
        ),
    ] {
        let cell: Vec<String> =
            each.iter().map(|(name, number)| format!("{name}={number}")).collect();
        assert_eq!(table.cell(0, column), Some(&TableCell::Text(cell.join(" ").into())));
        for (name, number) in each {
            assert_eq!(own(metric, label, name), Some(*number), "{name}: {series}");
        }
    }
    assert_eq!(own("fizeau_server_info", "exporter", "vLLM"), Some(1.0));
    let said = sweep.levels()[0].telemetry.as_deref().unwrap();
    let power = total_power(&said.devices).unwrap().get();
    assert_eq!(table.cell(0, "power_w"), Some(&TableCell::Number(power)));
    assert_eq!(own("fizeau_device_power_watts", "run", "r"), Some(power));
    let lowered = own("fizeau_lowered_clocks_ratio", "reason", "power_cap").unwrap();
    assert!(0.0 < lowered && lowered <= 1.0, "{lowered}");
    for (column, metric, of) in DEVICE_FIGURES {
        let each = said.devices.iter().filter_map(|one| of(one).as_ref()).map(|one| one.figure);
        let is_worst =
            |number: f64| each.clone().any(|one| one.mean == number || one.peak == Some(number));
        let number = own(metric, "run", "r");
        let cell = number.map_or(TableCell::Empty, TableCell::Number);
        assert_eq!(table.cell(0, column), Some(&cell), "{column}");
        assert_eq!(number.map(is_worst), each.clone().next().map(|_| true), "{column}: {number:?}");
    }
    let clock = own("fizeau_device_compute_clock_hertz", "run", "r").unwrap();
    let Some(TableCell::Number(mega)) = table.cell(0, "compute_clock_mhz") else {
        panic!("no clock")
    };
    assert!((clock / 1e6 - mega).abs() < 1e-6, "{clock} {mega}");
}

type DeviceFigure = fn(&DeviceWindow) -> &Option<ReportedGauge>;

const DEVICE_FIGURES: [(&str, &str, DeviceFigure); 6] = [
    ("device_utilization_share", "fizeau_device_utilization_ratio", |one| &one.utilization),
    ("dram_active_share", "fizeau_device_dram_active_ratio", |one| &one.dram_active),
    ("tensor_active_share", "fizeau_device_tensor_active_ratio", |one| &one.tensor_active),
    ("sm_active_share", "fizeau_device_sm_active_ratio", |one| &one.sm_active),
    ("device_memory_used_bytes", "fizeau_device_memory_used_bytes", |one| &one.memory_used),
    ("device_temperature_c", "fizeau_device_temperature_celsius", |one| &one.temperature),
];

/// Whatever people read by name, programs have too: each figure of the full text is of the same catalogue, of which none is without.
#[test]
fn what_is_shown_is_in_tables_too() {
    let sweep = told_sweep();
    let table = LevelTable::of_all(&[TableRun::of(&sweep, "r")]);
    let columns: Vec<&String> = table
        .heads()
        .iter()
        .filter(|head| !matches!(table.cell(0, head), None | Some(TableCell::Empty)))
        .collect();
    let full = Shown(&sweep.levels()[0]).block(Verbosity::Full);
    for (shown, column) in [
        ("power of all devices (W):", "power_w"),
        ("KV cache in use, steady part:", "server_kv_use_share_steady"),
        ("compute clock of the slowest device, mean / least (MHz):", "compute_clock_min_mhz"),
        ("clocks lowered, by reason:", "lowered_clocks_share_by_reason"),
        ("DRAM activity of the least busy device:", "dram_active_share"),
        ("server's p99 TTFT, bucket (ms):", "server_ttft_p99_up_to_ms"),
        ("TTFT, client / server / gap (ms):", "server_ttft_ms"),
        ("pages read / missed:", "server_pages"),
        ("a step's share of its bound, decode / with prompts:", "step_decode_share"),
    ] {
        let full = full.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(full.contains(shown), "{shown}: {full}");
        assert!(columns.iter().any(|known| **known == column), "{column}: {columns:?}");
    }
}

#[test]
fn a_knee_has_its_cause_and_the_documents_come_back() {
    let levels: Vec<LevelReport> = [1, 2, 4, 8, 16, 32, 64, 128].map(level).into();
    let sweep = SweepReport::new(sample::setup(), levels, None);
    let knee = sweep.knee().unwrap();
    assert!(
        knee.ends_with("; there requests were preempted 7 times, with the KV cache 70 % full"),
        "{knee}"
    );
    let text = serde_json::to_string(&SweepDocument::from(&sweep)).unwrap();
    let read: SweepDocument = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    #[cfg(feature = "html")]
    assert!(Shown(&sweep).page().contains("What did the server say?"));
}

#[test]
fn the_servers_counters_answer_for_the_cache() {
    let mut level = level(BEYOND);
    level.summary.tokens.cached_share = None;
    let caches = |level: &LevelReport| {
        let checklist = Checklist::of(&sample::setup(), std::slice::from_ref(level));
        let row = checklist.rows().iter().find(|row| row.check == ChecklistItem::Caches).unwrap();
        (row.outcome, row.evidence.clone())
    };
    let (outcome, evidence) = caches(&level);
    assert_eq!(outcome, CheckOutcome::Pass);
    assert!(
        evidence.contains("28 % of prompt tokens") && evidence.ends_with("(server's counters)"),
        "{evidence}"
    );
    level.telemetry = None;
    assert_eq!(caches(&level).0, CheckOutcome::Unknown);
}

/// The same with ten seconds of steps, half of them with prompts, each at half of its bound.
fn with_steps(mut said: LevelTelemetry) -> LevelTelemetry {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let step = |prompts: u64| {
        let scheduled_requests = ScheduledWork {
            num_prefill_requests: prompts,
            sum_prefill_tokens: 500 * prompts,
            num_decode_requests: 8,
            sum_decode_kv_tokens: 8_000,
            ..ScheduledWork::default()
        };
        let wall_time = system.bound_sums(&scheduled_requests.even_sums()).total * 2.0;
        let pass = ForwardPass { wall_time, scheduled_requests, ..ForwardPass::default() };
        JudgedStep::of(at(1), &pass, &system)
    };
    said.judged = (0..400).map(|index| step(index % 2)).collect();
    said.steps = StepsAssessment::of_judged(&said.judged, 0);
    said.witnesses = SpeedWitnesses::of(&WitnessInput {
        length: Seconds::new(8.0),
        system: &system,
        client: Some((Tokens::new(2_600), PerSec::new(1_000.0))),
        server: said.server.as_ref(),
        devices: &[],
        steps: said.steps.as_ref(),
    });
    said
}

#[test]
fn witnesses_stand_side_by_side_and_steps_are_drawn() {
    let mut level = level(BEYOND);
    level.telemetry = Some(Box::new(with_steps(said())));
    let full = Shown(&level).block(Verbosity::Full);
    let words = full.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("speed of light: client's throughput 32 %"), "{full}");
    assert!(words.contains("steps: 400, none lost, at 50 % of their bounds"), "{full}");
    assert!(full.contains("a step's share of its bound, decode / with prompts"), "{full}");
    let sweep = SweepReport::new(sample::setup(), vec![level], None);
    #[cfg(feature = "pictures")]
    {
        let runs = [fizeau_report::ChartRun::of(&sweep, "")];
        let svg = fizeau_report::Picture::Steps.svg(&runs).unwrap();
        assert!(svg.contains("Steps against their bounds"));
        assert!(svg.matches("<circle").count() >= 400);
    }
    #[cfg(feature = "html")]
    {
        let page = Shown(&sweep).page();
        assert!(page.contains("forward passes"));
        #[cfg(feature = "pictures")]
        assert!(page.contains("Steps against their bounds"));
    }
}
