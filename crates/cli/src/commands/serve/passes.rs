//! The simulated engine's steps, published as vLLM publishes its forward passes.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use fizeau::core::Seconds;
use fizeau::sim::EnginePass;
use fizeau::sim::http::ServerConfig;
use fizeau::telemetry::{ForwardPass, ForwardPassPublisher, QueuedWork, ScheduledWork};

use crate::args::ServeArgs;
use crate::exit::{Fail, Named};

/// How often an idle engine says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
const WORKER: &str = "fizeau-sim";

/// `config` with its steps published where `args` say; and where that is, if they do.
pub(super) fn published(
    args: &ServeArgs,
    config: ServerConfig,
) -> Result<(ServerConfig, Option<SocketAddr>), Fail> {
    let Some(port) = args.forward_pass_metrics_port else { return Ok((config, None)) };
    let mut places = (args.host.as_str(), port).to_socket_addrs().named("--host")?;
    let place = places.next().ok_or_else(|| Fail::usage("--host: no such address"))?;
    let publisher = ForwardPassPublisher::bind(place).named("--forward-pass-metrics-port")?;
    let address = publisher.address();
    let (sender, passes) = channel();
    let thread = std::thread::Builder::new().name("publisher".to_owned());
    thread.spawn(move || publish(publisher, &passes)).map_err(Fail::broken)?;
    // The thread that serves only hands a pass over; if nobody takes it any more, nobody is told.
    let hand_over = move |pass| {
        let _ = sender.send(pass);
    };
    Ok((config.with_passes(hand_over), Some(address)))
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
