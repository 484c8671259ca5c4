//! The same requests at the same instants, to the same engine: in virtual time, and over HTTP on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau::core::{Nanos, PerSec, Timer, Tokens, Transport};
use fizeau::harness::{Cancel, Load, Measure, Pacer, PlannedLevel, Rig, SelfWatch};
use fizeau::metrics::LevelSummary;
use fizeau::sim::http::{Server, ServerConfig};
use fizeau::sim::{Engine, EngineConfig, SimTransport, StepLoad, StepTime, VirtualTime};
use fizeau::transport::{Backend, HttpTransport, MonotonicClock, Target};
use fizeau::workload::{Arrivals, Length, Lengths, Plan, Spec};

/// How far the two may be apart.
const APART: f64 = 0.03;
/// What disturbs a run on a busy machine does not disturb all of them; what is wrong does.
const TRIES: usize = 5;

/// Steps as long as those of a large model, so that a machine's own delays are small beside them.
fn step(load: &StepLoad) -> Nanos {
    let tokens = load.prefill_tokens.get();
    Nanos::from_micros(20_000 + 2_500 * load.decode_sequences + 120 * tokens)
}

fn engine() -> Engine<impl StepTime + Clone + Send + 'static> {
    let config = EngineConfig::new(16, Tokens::new(100_000));
    Engine::new(EngineConfig { max_batched_tokens: Tokens::new(512), ..config }, step).unwrap()
}

/// A few requests in flight at a time, of random length, some of them read in two chunks.
fn plan() -> Plan {
    let uniform = |nominal, ratio| Length::Uniform { nominal: Tokens::new(nominal), ratio };
    let lengths = Lengths::Independent { input: uniform(400, 0.5), output: uniform(16, 0.5) };
    let arrivals = Arrivals::poisson(PerSec::new(5.0));
    Plan::new(Spec { arrivals, lengths, ..Spec::new(24).unwrap() }).unwrap()
}

async fn measured<T: Transport, C: Timer>(transport: &T, timer: &C) -> LevelSummary {
    let (plan, cancel) = (plan(), Cancel::new());
    let mut rig = Rig { transport, timer, watch: SelfWatch::Off, cancel: &cancel };
    let level = PlannedLevel::new(&plan, Load::default());
    let run = rig.measure(level, &mut Vec::new(), &mut ()).await;
    run.unwrap().summary
}

fn in_virtual_time() -> LevelSummary {
    let time = VirtualTime::new();
    let transport = SimTransport::new(&time, engine());
    time.block_on(measured(&transport, &time)).unwrap()
}

async fn over_http() -> LevelSummary {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::bind(loopback, ServerConfig::new(engine())).unwrap().spawn().unwrap();
    let target = Target::new(&server.base_url(), Backend::Vllm, "m").unwrap();
    let clock = MonotonicClock::new();
    let transport = HttpTransport::new(target, clock);
    measured(&transport, &Pacer::new(clock)).await
}

/// Mean TTFT and TPOT in milliseconds, and output tokens per second.
fn figures(level: &LevelSummary) -> [f64; 3] {
    assert_eq!(level.requests.completed, 24);
    let (ttft, tpot) = (level.metrics.ttft.mean.unwrap(), level.metrics.tpot.mean.unwrap());
    [ttft.get(), tpot.get(), level.throughput.output_tokens_per_s.get()]
}

#[tokio::test]
async fn both_clocks_give_the_same_figures() {
    let expected = figures(&in_virtual_time());
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let found = figures(&over_http().await);
        let apart = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs();
        if found.iter().zip(&expected).map(apart).all(|apart| apart < APART) {
            return;
        }
        seen.push(found);
    }
    panic!("virtual time gives {expected:?}, HTTP gave {seen:?}");
}
