//! The same requests at the same instants, to the same engine: in virtual time, and over HTTP on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau::core::{Nanos, PerSec, Timer, Tokens, Transport};
use fizeau::harness::{Cancel, DriveLimits, Measure, Pacer, PlannedLevel, SelfWatch, TaskDriver};
use fizeau::metrics::LevelSummary;
use fizeau::roofline::Acceptance;
use fizeau::sim::http::{Server, ServerConfig};
use fizeau::sim::{
    Engine, EngineConfig, EngineDrafts, PrefixCaching, SimTransport, StepLoad, StepTime,
    VirtualTime,
};
use fizeau::transport::{Backend, HttpTransport, MonotonicClock, Target};
use fizeau::workload::{ArrivalLaw, Length, Lengths, Plan, PlanSpec, SharedPrefix};

/// How far the two may be apart.
const APART: f64 = 0.03;
/// What disturbs a run on a busy machine does not disturb all of them; what is wrong does.
const TRIES: usize = 8;
const REQUESTS: u64 = 24;

/// Steps as long as those of a large model, so that a machine's own delays are small beside them.
fn step(load: &StepLoad) -> Nanos {
    let tokens = load.prefill_tokens.get();
    Nanos::from_micros(20_000 + 2_500 * load.decode_sequences + 120 * tokens)
}

fn config() -> EngineConfig {
    let config = EngineConfig::new(16, Tokens::new(100_000));
    EngineConfig { max_batched_tokens: Tokens::new(512), ..config }
}

fn engine(config: &EngineConfig) -> Engine<impl StepTime + Clone + Send + 'static> {
    Engine::new(config.clone(), step).unwrap()
}

/// A few requests in flight at a time, of random length, some of them read in two chunks.
fn plan(prefix: SharedPrefix) -> Plan {
    let uniform = |nominal, ratio| Length::Uniform { nominal: Tokens::new(nominal), ratio };
    let lengths = Lengths::Independent { input: uniform(400, 0.5), output: uniform(16, 0.5) };
    let arrivals = ArrivalLaw::poisson(PerSec::new(5.0));
    Plan::new(PlanSpec { arrivals, lengths, prefix, ..PlanSpec::new(REQUESTS).unwrap() }).unwrap()
}

async fn measured<T: Transport, C: Timer>(plan: &Plan, transport: &T, timer: &C) -> LevelSummary {
    let cancel = Cancel::new();
    let mut rig = TaskDriver { transport, timer, watch: SelfWatch::Off, cancel: &cancel };
    let level = PlannedLevel::new(plan, DriveLimits::default());
    let run = rig.measure(level, &mut Vec::new(), &mut ()).await;
    run.unwrap().summary
}

fn in_virtual_time(config: &EngineConfig, plan: &Plan) -> LevelSummary {
    let time = VirtualTime::new();
    let transport = SimTransport::new(&time, engine(config));
    time.block_on(measured(plan, &transport, &time)).unwrap()
}

async fn over_http(config: &EngineConfig, plan: &Plan) -> LevelSummary {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = ServerConfig::new(engine(config));
    let server = Server::bind(loopback, config).unwrap().spawn().unwrap();
    let target = Target::new(&server.base_url(), Backend::Vllm, "m").unwrap();
    let clock = MonotonicClock::new();
    let transport = HttpTransport::new(target, clock);
    measured(plan, &transport, &Pacer::new(clock)).await
}

/// Mean TTFT and TPOT in milliseconds, and output tokens per second.
fn figures(level: &LevelSummary) -> [f64; 3] {
    assert_eq!(level.requests.completed, REQUESTS);
    let (ttft, tpot) = (level.metrics.ttft.mean.unwrap(), level.metrics.tpot.mean.unwrap());
    [ttft.get(), tpot.get(), level.throughput.output_tokens_per_s.get()]
}

/// Runs the plan by both clocks until all figures agree in one run, and what was cached too.
async fn agree(config: EngineConfig, plan: Plan) -> LevelSummary {
    let simulated = in_virtual_time(&config, &plan);
    let expected = figures(&simulated);
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let level = over_http(&config, &plan).await;
        let (found, cached) = (figures(&level), level.tokens.cached_input);
        let apart = |(found, expected): (f64, f64)| (found / expected - 1.0).abs();
        let all_near = found.into_iter().zip(expected).map(apart).all(|apart| apart < APART);
        if all_near && cached == simulated.tokens.cached_input {
            return simulated;
        }
        seen.push((found, cached));
    }
    let expected = (expected, simulated.tokens.cached_input);
    panic!("virtual time gives {expected:?}, HTTP gave {seen:?}");
}

#[tokio::test]
async fn both_clocks_give_the_same_figures() {
    agree(config(), plan(SharedPrefix::None)).await;
}

/// Of each draft the first token is accepted and the second is not, so that chance has no say.
#[tokio::test]
async fn both_clocks_draft_alike() {
    let acceptance = Acceptance::per_position(&[1.0, 0.0]).unwrap();
    let drafts = EngineDrafts { length: 2, acceptance };
    agree(EngineConfig { drafts: Some(drafts), ..config() }, plan(SharedPrefix::None)).await;
}

#[tokio::test]
async fn both_clocks_find_the_same_prefixes() {
    let keeping = EngineConfig { prefix_caching: PrefixCaching::On, ..config() };
    let shared = plan(SharedPrefix::Common { tokens: Tokens::new(200) });
    let simulated = agree(keeping, shared).await;
    let cached = simulated.tokens.cached_input.unwrap_or_default();
    assert!(cached > Tokens::new(200 * REQUESTS / 2), "{cached:?}");
}
