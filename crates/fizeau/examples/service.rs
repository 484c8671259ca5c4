//! A service that measures an endpoint in the background, and tells how far it is and what came of it.

use std::sync::{Arc, Mutex};

use fizeau::experiment::{Experiment, ProgressState, SweepLoads, SweepRates};
use fizeau::sim::Scenario;
use fizeau::sim::http::{Server, ServerConfig};
use fizeau::transport::{Backend, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let scenario = Scenario::llama_3_1_8b_h100()?;
    let config = ServerConfig::new(scenario.engine()).with_model("llama");
    let engine = Server::bind(([127, 0, 0, 1], 0).into(), config)?.spawn()?;
    let target = Target::new(&engine.base_url(), Backend::Vllm, "llama")?;
    let size = fizeau::experiment::level_size(Some(20), None, Some(1))?;
    let loads = SweepLoads::new(&[4], SweepRates::default())?;
    let mut handle = Experiment::new(target).loads(loads).size(size).spawn()?;

    let answer = Arc::new(Mutex::new(String::from("preparing")));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener, Arc::clone(&answer)));
    let told = Arc::clone(&answer);
    let run = tokio::spawn(async move {
        let (mut state, begun) = (ProgressState::default(), std::time::Instant::now());
        while let Some(event) = handle.progress.next().await {
            state.note(&event, begun.elapsed());
            if let (Some(level), Ok(mut answer)) = (state.level(), told.lock()) {
                *answer = format!("{}: {} done", level.name(), level.done());
            }
        }
        handle.join().await
    });
    println!("{}", get(address).await?);
    let report = run.await??;
    *answer.lock().map_err(|_| "nobody answers")? = report.to_json()?;
    assert!(get(address).await?.contains("\"fizeau.sweep/2\""));
    Ok(())
}

/// Answers each request with what is known.
async fn serve(listener: TcpListener, answer: Arc<Mutex<String>>) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let _asked = stream.read(&mut [0; 1024]).await?;
        let body = answer.lock().map(|answer| answer.clone()).unwrap_or_default();
        stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{body}").as_bytes()).await?;
    }
}

/// What somebody who asks is told.
async fn get(address: std::net::SocketAddr) -> std::io::Result<String> {
    let (mut stream, mut text) = (TcpStream::connect(address).await?, String::new());
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    stream.read_to_string(&mut text).await.map(|_| text)
}
