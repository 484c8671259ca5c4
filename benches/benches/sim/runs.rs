//! What is run, and what is said of it.

use anyhow::{Context, Result};
use fizeau::core::{Nanos, Tokens};
use fizeau::sim::{
    Engine, EngineConfig, ReplicaRouting, Replicas, RooflineStep, Scenario, Serve, StepLoad,
    StepTime,
};
use fizeau_benches::Since;

use crate::load::{Chat, Seen};

/// Requests per second of one engine: about six tenths of what it can do.
const RATE: f64 = 12.0;

/// One engine, with as many requests as make a figure.
pub(crate) fn one_replica() -> Result<()> {
    let scenario = Scenario::llama_3_1_8b_h100()?;
    println!("{}", scenario.describe());
    println!("one replica, 1,024 tokens in, 128 out, {RATE} requests/s of virtual time");
    let chat = Chat::of(300_000, RATE);
    measured(&chat, &mut scenario.engine(), "asked: 100,000 requests/s, memory of those in flight")
}

/// The same with steps that have a closed form and with steps that have not: few requests, long replies.
pub(crate) fn pace() -> Result<()> {
    let scenario = Scenario::llama_3_1_8b_h100()?;
    let chat = Chat { output: Tokens::new(4_096), ..Chat::of(2_000, 0.05) };
    println!("long replies one by one, 4,096 tokens out, {} requests/s", chat.rate.get());
    measured(&chat, &mut scenario.engine(), "in closed form")?;
    let config = scenario.config().clone();
    let step = RooflineStep::new(scenario.system().clone(), fizeau::sim::Overheads::default())?;
    measured(&chat, &mut stepping(config, step)?, "step by step")
}

/// The same engine, which says of no run of steps how long it takes.
fn stepping(config: EngineConfig, step: RooflineStep) -> Result<impl Serve> {
    let step_time = move |load: &StepLoad| -> Nanos { step.step_time(load) };
    Ok(Engine::new(config, step_time)?)
}

/// A million requests over 64 engines.
pub(crate) fn many_replicas() -> Result<()> {
    let scenario = Scenario::llama_3_1_8b_h100()?;
    for routing in [ReplicaRouting::RoundRobin, ReplicaRouting::LeastInFlight] {
        let engines = (0..64).map(|_| scenario.engine()).collect();
        let mut replicas = Replicas::new(engines, routing)?;
        println!("64 replicas, {routing:?}, a million requests at {} a second", 64.0 * RATE);
        let chat = Chat::of(1_000_000, 64.0 * RATE);
        measured(&chat, &mut replicas, "asked: under 30 s on two cores")?;
    }
    Ok(())
}

fn measured(chat: &Chat, engine: &mut impl Serve, asked: &str) -> Result<()> {
    let since = Since::now();
    let Seen { tokens, last, ttft, in_flight } = chat.run(engine)?;
    let spent = since.spent();
    let seconds = spent.processor.unwrap_or(spent.wall).as_secs_f64();
    let virtual_seconds = last as f64 / 1e9;
    let memory = spent.memory.context("the system does not say how much memory there was")?;
    println!(
        "  {:>9.0} requests/s, {:>6.1} M tokens/s, {:.0} times as fast as real time; {seconds:.2} CPU s, {:.2} s, {:.1} MB; {asked}",
        chat.requests as f64 / seconds,
        tokens as f64 / seconds / 1e6,
        virtual_seconds / seconds,
        spent.wall.as_secs_f64(),
        memory as f64 / 1e6,
    );
    println!(
        "  mean TTFT {:.1} ms, at most {in_flight} in flight, {:.2} requests/s, {} steps",
        ttft / chat.requests as f64 * 1e3,
        chat.requests as f64 / virtual_seconds,
        engine.gauges().steps,
    );
    Ok(())
}
