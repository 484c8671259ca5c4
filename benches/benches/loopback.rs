//! The client against a server with exact timing on loopback, held against the server's own record of the same requests.
//!
//! Both run in this process, on threads of their own. What is printed is the client's figure, the server's, and how far
//! they are apart.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;

use fizeau::core::{Millis, Nanos, Tokens};
use fizeau::harness::{Cancel, LevelSpec, Load, Pacer, Rig, SelfWatch, run_level};
use fizeau::metrics::{Distribution, GoodputGoals};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Server, ServerConfig};
use fizeau::transport::{Backend, HttpTransport, MonotonicClock, Target};
use fizeau::workload::{Length, Plan, Spec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Streams at once, and the server's timing.
const SHAPES: [(u32, u64, u64); 3] = [(1, 20, 5), (64, 20, 5), (256, 50, 5)];
const TOKENS: u64 = 250;

fn main() -> Result<(), Box<dyn Error>> {
    // As criterion's benches do, run unless a filter names something else. Cargo adds `--bench`.
    let filter = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    if filter.is_some_and(|filter| !"loopback".contains(&filter)) {
        return Ok(());
    }
    println!(
        "loopback: the client's figures against the server's own record, {TOKENS} in, {TOKENS} out"
    );
    println!("streams           figure   client ms   server ms   apart ms");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for shape in SHAPES {
        runtime.block_on(compare(shape))?;
    }
    Ok(())
}

async fn compare((streams, ttft, itl): (u32, u64, u64)) -> Result<(), Box<dyn Error>> {
    let timing = FixedTiming::new(Nanos::from_millis(ttft), Nanos::from_millis(itl));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::bind(address, ServerConfig::new(timing))?.spawn()?;
    let clock = MonotonicClock::new();
    let timer = Pacer::new(clock);
    let transport = HttpTransport::new(Target::new(&server.base_url(), Backend::Vllm, "m")?, clock);
    transport.preconnect(streams as usize).await?;
    let plan = Plan::new(Spec {
        input: Length::Fixed(Tokens::new(TOKENS)),
        output: Length::Fixed(Tokens::new(TOKENS)),
        ..Spec::new(u64::from(streams) * 8)?
    })?;
    let (cancel, goals) = (Cancel::new(), GoodputGoals::default());
    let rig =
        Rig { transport: &transport, timer: &timer, watch: SelfWatch::Thread, cancel: &cancel };
    let load = Load { max_in_flight: NonZeroU32::new(streams), stop_after: None };
    let spec = LevelSpec { requests: plan.source(), warmup: Vec::new(), load, goals: &goals };
    let run = run_level(&rig, spec, &mut Vec::new(), &mut ()).await?;
    let truth = truth(server.addr()).await?;
    let row = |name: &str, client: &Distribution, server: &serde_json::Value| {
        for (quantile, client) in [("p50", client.p50.value()), ("p99", client.p99.value())] {
            let (client, server) = (client.map(Millis::get), server[quantile].as_f64());
            if let (Some(client), Some(server)) = (client, server) {
                let apart = client - server;
                println!(
                    "{streams:>7} {name:>12} {quantile} {client:>11.3} {server:>11.3} {apart:>+10.3}"
                );
            }
        }
    };
    row("TTFT", &run.summary.metrics.ttft, &truth["ttft_ms"]);
    row("ITL", &run.summary.metrics.itl, &truth["itl_ms"]);
    let cpu = run.client.watch.cpu_share.unwrap_or(f64::NAN);
    let tokens = run.summary.tokens.output.get() as f64;
    let seconds = cpu * run.summary.throughput.duration.get();
    println!(
        "{streams:>7}  {:.0} tokens/s, client CPU {:.0} %, {:.1} CPU s per million tokens, verdict {:?}",
        run.summary.throughput.output_tokens_per_s.get(),
        cpu * 100.0,
        seconds / tokens * 1e6,
        run.validity.verdict,
    );
    Ok(())
}

/// The server's own record.
async fn truth(address: SocketAddr) -> Result<serde_json::Value, Box<dyn Error>> {
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let request = format!("GET /truth HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let json = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    // The body is chunked or not; the object is what lies between the outermost braces.
    let object = json.find('{').zip(json.rfind('}')).map_or("", |(start, end)| &json[start..=end]);
    Ok(serde_json::from_str(object)?)
}
