//! A step time of one's own for the simulated engine: a rule in place of a model on a device.

use fizeau::core::{Nanos, Prompt, Release, Request, RequestId, Stamp, Tokens, Transport};
use fizeau::sim::{Engine, EngineConfig, SimTransport, StepLoad, VirtualTime};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = VirtualTime::new();
    // Ten milliseconds a step, and a microsecond more for each token of a prompt.
    let step =
        |load: &StepLoad| Nanos::from_millis(10) + Nanos::from_micros(load.prefill_tokens.get());
    let config = EngineConfig::new(8, Tokens::new(100_000));
    let engine = Engine::new(config, step)?;
    let engine = SimTransport::new(&time, engine);
    let request = Request::new(RequestId(0), Prompt::TokenIds(vec![1; 100]), Tokens::new(5));
    let release = Release::at(Stamp::EPOCH);
    let tape = time.block_on(engine.send(&request, release))??;
    let first = tape.first_token().ok_or("no token came")?;
    println!("the first of {} tokens came at {first:?}", tape.output_tokens().get());
    assert_eq!(tape.output_tokens(), Tokens::new(5));
    assert!(first.saturating_since(Stamp::EPOCH) >= Nanos::from_micros(10_100));
    Ok(())
}
