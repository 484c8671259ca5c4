//! A simulated engine's steps, published as vLLM publishes its forward passes.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use fizeau_core::Seconds;
use fizeau_sim::EnginePass;
use fizeau_telemetry::{ForwardPass, ForwardPassPublisher, QueuedWork, ScheduledWork};

/// How often an idle engine says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
const WORKER: &str = "fizeau-sim";

/// Takes the steps of a simulated engine and publishes them on a thread of its own, as vLLM publishes its forward passes, until it is dropped.
/// The thread that serves only hands a step over.
///
/// ```
/// use fizeau_experiment::published_passes;
/// use fizeau_telemetry::ForwardPassPublisher;
///
/// let publisher = ForwardPassPublisher::bind("127.0.0.1:0")?;
/// println!("forward passes at {}", publisher.address());
/// // For `ServerConfig::with_passes`.
/// let sink = published_passes(publisher)?;
/// # drop(sink);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the system has no thread.
pub fn published_passes(
    publisher: ForwardPassPublisher,
) -> io::Result<impl FnMut(EnginePass) + Send + 'static> {
    let (sender, passes) = channel();
    let thread = std::thread::Builder::new().name("publisher".to_owned());
    thread.spawn(move || publish(publisher, &passes))?;
    // If nobody takes it any more, nobody is told.
    Ok(move |pass| {
        let _ = sender.send(pass);
    })
}

/// Until the server is gone.
fn publish(mut publisher: ForwardPassPublisher, passes: &Receiver<EnginePass>) {
    let mut counter = 0;
    loop {
        match passes.recv_timeout(HEARTBEAT) {
            Ok(pass) => {
                publisher.publish(&record(&pass, counter));
                counter += 1;
            }
            Err(RecvTimeoutError::Timeout) => publisher.publish(&heartbeat(counter)),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// A record of zeros.
fn heartbeat(counter: u64) -> ForwardPass {
    ForwardPass {
        version: Some(1),
        worker_id: WORKER.into(),
        counter_id: counter,
        ..ForwardPass::default()
    }
}

/// Its time is from scheduling to output, as engines without a scope have it.
fn record(pass: &EnginePass, counter: u64) -> ForwardPass {
    ForwardPass {
        dp_rank: pass.rank,
        wall_time: Seconds::new(pass.length.as_secs_f64()),
        scheduled_requests: ScheduledWork {
            num_prefill_requests: pass.prefill_sequences,
            sum_prefill_tokens: pass.prefill_tokens.get(),
            var_prefill_length: pass.prefill_variance,
            sum_prefill_kv_tokens: pass.prefill_cached_tokens.get(),
            num_decode_requests: pass.decode_sequences,
            sum_decode_kv_tokens: pass.decode_context_tokens.get(),
            var_decode_kv_tokens: pass.decode_variance,
        },
        queued_requests: QueuedWork {
            num_prefill_requests: pass.waiting,
            sum_prefill_tokens: pass.waiting_tokens.get(),
            ..QueuedWork::default()
        },
        ..heartbeat(counter)
    }
}
