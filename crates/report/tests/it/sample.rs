//! A synthetic sweep with every feature of a real one: an engine of 32 slots, so that throughput is flat
//! beyond; levels with fewer than 100 requests; one level cut short. Everything is computed; nothing is random.

use std::num::NonZeroU64;

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Nanos, Outcome, PerSec, ReadLag, Stamp, StampSource,
    Tape, TokenSource, Tokens,
};
use fizeau_core::{LevelLoad, LoadKind, WarmUp};
use fizeau_interop::beside_ours;
use fizeau_interop::{OwnFigures, Peer, PeerSettings};
use fizeau_metrics::{
    ClientProof, ClientWatch, GoodputGoals, LevelShape, LevelSummary, Validity, Verdict,
    VerdictConcern, VerdictReason,
};
use fizeau_record::{
    ClientHost, ConnectionRecord, EndpointRecord, EngineRecord, LengthTally, LevelContext,
    LevelDetail, LevelOutcome, LevelReport, RequestedLoad, RunSetup, SpeedOfLight,
    SpeedOfLightCurve, SweepReport, ToolVersion, WorkloadRecord,
};
use fizeau_roofline::{Deployment, Device, Model, System};

const SLOTS: u64 = 32;
const OUTPUT: u64 = 40;

/// The whole sweep.
pub(crate) fn sweep() -> SweepReport {
    let levels = [1, 2, 4, 8, 16, 32, 64, 128].map(level).into();
    SweepReport::new(setup(), levels, "p99 ttft<150ms, p99 e2el<600ms".parse().ok())
        .with_curve(Some(curve()))
}

/// The same with what pages and pictures show of its tapes.
#[cfg(any(feature = "html", feature = "pictures"))]
pub(crate) fn detailed() -> SweepReport {
    let levels = [1, 2, 4, 8, 16, 32, 64, 128].map(|concurrency| {
        let tapes = tapes(concurrency.into());
        let mut level = level(concurrency);
        level.detail = Some(Box::new(detail(&tapes)));
        level
    });
    SweepReport::new(setup(), levels.into(), "p99 ttft<150ms, p99 e2el<600ms".parse().ok())
        .with_curve(Some(curve()))
}

/// What tapes show beside figures.
#[cfg(any(feature = "html", feature = "pictures"))]
pub(crate) fn detail(tapes: &[Tape]) -> LevelDetail {
    let settings = PeerSettings::default();
    let own = OwnFigures::of(tapes, &settings);
    let peer = |peer: &Peer| beside_ours(&peer.figures(tapes, &settings), &own);
    LevelDetail { shape: LevelShape::of(tapes), peers: Peer::ALL.iter().map(peer).collect() }
}

pub(crate) fn setup() -> RunSetup {
    let mut setup = RunSetup::default();
    setup.tool = ToolVersion {
        name: "fizeau".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("481bb45".to_owned()),
    };
    setup.started = "2026-08-01T12:00:00Z".to_owned();
    setup.command_line =
        ["fizeau", "sweep", "--slo", "p99 ttft<150ms, p99 e2el<600ms"].map(str::to_owned).into();
    setup.endpoint = EndpointRecord {
        base_url: "http://127.0.0.1:8000".to_owned(),
        path: "/v1/completions".to_owned(),
        backend: "vllm".to_owned(),
        model: "org/model-8b".to_owned(),
        connections: ConnectionRecord {
            http_version: "1.1".to_owned(),
            lifetime: "kept".to_owned(),
            stamps: "kernel if available".to_owned(),
            ..ConnectionRecord::default()
        },
        prefix_cache: None,
    };
    setup.engine = EngineRecord::Simulated {
        description: "Llama-3.1-8B bf16 on one H100 SXM, 32 slots".to_owned(),
    };
    setup.workload = WorkloadRecord {
        dataset: "random".to_owned(),
        input_tokens: "250".to_owned(),
        output_tokens: OUTPUT.to_string(),
        seed: Some(0),
        arrivals: "closed loop, concurrency 1 to 128".to_owned(),
        requested: RequestedLoad::default(),
    };
    setup.host = ClientHost {
        os: "Linux 6.1".to_owned(),
        cpu: Some("Example CPU at 3 GHz".to_owned()),
        cores: Some(2),
    };
    setup.model_config = Some("llama-3.1-8b".to_owned());
    setup.hardware = Some("h100-sxm".to_owned());
    setup.deployment = Some("one device".to_owned());
    setup.precision = Some("weights bf16, KV cache bf16".to_owned());
    setup
}

/// A level at `concurrency` with all its parts.
pub(crate) fn level(concurrency: u32) -> LevelReport {
    let tapes = tapes(concurrency.into());
    let summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    let failures = (concurrency >= 64).then(|| {
        let text = "1.6 % of requests failed, more than 1 %";
        VerdictReason::new(Verdict::Suspect, VerdictConcern::Failures, text)
    });
    let load = LoadKind::Concurrency.at(concurrency.into());
    let watch = ClientWatch {
        threads: 2,
        cpu_share: Some(0.21),
        run_delay_share: Some(0.01),
        ..ClientWatch::default()
    };
    let mut client = ClientProof::new(StampSource::Kernel, watch);
    client.connections_fresh = concurrency.into();
    let speed_of_light = speed_of_light(&tapes, &summary, load);
    let context = LevelContext::new(RequestedLoad::default());
    let mut level = LevelReport::from_run(load, LevelOutcome::new(summary, client), &context);
    level.speed_of_light = speed_of_light;
    level.validity = Validity::of(failures.into_iter().collect());
    level.warm_up = Some(WarmUp { sent: u64::from(concurrency).min(50), failed: 0 });
    level.folder = Some(format!("concurrency-{concurrency}"));
    level
}

/// The tapes of a closed loop with `n` requests in flight against 32 slots, every token a chunk.
pub(crate) fn tapes(n: u64) -> Vec<Tape> {
    let batch = n.min(SLOTS);
    let gap_us = 5_000 + 60 * batch;
    let prefill_us = 18_000 + 300 * batch;
    let service_us = prefill_us + gap_us * (OUTPUT - 1);
    // Beyond the slots each request waits for a free one.
    let wait_us = service_us * (n - batch) / batch;
    let each_us = service_us + wait_us;
    let mut tapes = Vec::new();
    for i in 0..(4 * n).max(8) {
        let (round, slot) = (i / n, i % n);
        // Starts are spread over a round, as they are once a loop has settled.
        let sent = Stamp::EPOCH + Nanos::from_micros(round * each_us + slot * each_us / n);
        let wobble_us = (i * 7919) % 1000;
        tapes.push(tape(sent, wait_us + prefill_us + wobble_us, gap_us));
    }
    // Far beyond the slots some fail.
    let most = if n >= 64 { tapes.len() } else { 0 };
    for failed in tapes.iter_mut().take(most).skip(63).step_by(64) {
        failed.arrivals.clear();
        failed.outcome =
            Outcome::Failed(Failure::new(FailureClass::Connect, "<script>alert(1)</script>"));
    }
    tapes
}

fn tape(sent: Stamp, ttft_us: u64, gap_us: u64) -> Tape {
    let mut tape = Tape::sent_at(sent);
    let token = |k: u64| {
        let at = sent + Nanos::from_micros(ttft_us + k * gap_us);
        let read_lag = ReadLag::of(Nanos::from_micros(9 + k % 7));
        Arrival { read_lag, ..Arrival::tokens(at, 1, Channel::Visible) }
    };
    tape.stamps = StampSource::Kernel;
    tape.marks.intended = sent - Nanos::from_micros(20 + ttft_us % 31);
    tape.marks.released = tape.marks.intended;
    tape.arrivals = (0..OUTPUT).map(token).collect();
    tape.token_source = TokenSource::TokenIds;
    tape.requested.input_tokens = Some(Tokens::new(250));
    tape.requested.output_tokens = Tokens::new(OUTPUT);
    tape.marks.end = tape.last_token();
    tape
}

fn speed_of_light(tapes: &[Tape], summary: &LevelSummary, load: LevelLoad) -> SpeedOfLight {
    let system = system();
    SpeedOfLight::of((&system).into(), &lengths(&system, tapes), load, summary)
}

/// A level of prompts so long that compute limits their prefill, as weights limit the decoding.
pub(crate) fn long_prompts(rate: PerSec) -> LevelReport {
    let mut tapes = tapes(32);
    tapes.iter_mut().for_each(|tape| tape.requested.input_tokens = Some(Tokens::new(500)));
    let summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    let load = LevelLoad::Rate(rate);
    let mut level = level(32);
    level.load = load;
    level.speed_of_light = speed_of_light(&tapes, &summary, load);
    level.summary = summary;
    level
}

/// The lengths of all replies.
pub(crate) fn lengths(system: &System, tapes: &[Tape]) -> LengthTally {
    let mut lengths = LengthTally::new(Tokens::new(250), system.model());
    tapes.iter().for_each(|tape| lengths.add(tape));
    lengths
}

/// What the sample says that it ran on.
pub(crate) fn system() -> System {
    let config = include_str!("../../../roofline/data/models/llama-3.1-8b.json");
    let model = Model::from_config_json(config).unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    System::new(model, device, Deployment::SINGLE).unwrap()
}

/// What the hardware could do with the requests of all levels.
pub(crate) fn curve() -> SpeedOfLightCurve {
    let (system, loads) = (system(), [1, 2, 4, 8, 16, 32, 64, 128]);
    let tapes: Vec<Tape> = loads.into_iter().flat_map(tapes).collect();
    let loads = loads.map(|load| NonZeroU64::new(load).unwrap());
    SpeedOfLightCurve::over((&system).into(), &lengths(&system, &tapes), &loads).unwrap()
}
