//! `fizeau serve`: the simulated engine behind HTTP, until Ctrl-C.

use std::net::{SocketAddr, ToSocketAddrs};

use fizeau::core::{Nanos, Tokens};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Server, ServerConfig, ServerHandle, Spread};

use crate::args::ServeArgs;
use crate::exit::{Exit, Fail, Named};
use crate::runtime;
use crate::say::say;
use crate::scenario;

pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Fail> {
    let (config, what) = engine(args)?;
    let config = limited(args, config);
    let server = Server::bind(address(args)?, config).map_err(Fail::usage)?;
    let handle = server.spawn().map_err(Fail::broken)?;
    if args.until_stdin_ends {
        announce(args, &what, &handle)?;
        // However it ends.
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        return Ok(Exit::Good);
    }
    runtime::single()?.block_on(async {
        let interrupt = tokio::spawn(tokio::signal::ctrl_c());
        // Once it runs it listens; only then is Ctrl-C promised.
        tokio::task::yield_now().await;
        announce(args, &what, &handle)?;
        let listened = interrupt.await.map_err(Fail::broken)?;
        listened
            .map_err(|error| Fail::broken(format!("the system does not tell of Ctrl-C: {error}")))
    })?;
    if let Some(lateness) = handle.shutdown() {
        say(kept(&lateness))?;
    }
    Ok(Exit::Good)
}

/// `config` with what goes for any engine.
fn limited(args: &ServeArgs, config: ServerConfig) -> ServerConfig {
    let config = match &args.served_model_name {
        Some(name) => config.with_model(name.clone()),
        None => config,
    };
    let config = match args.max_model_len {
        Some(tokens) => config.with_max_model_len(Tokens::new(tokens)),
        None => config,
    };
    config
}

fn announce(args: &ServeArgs, what: &str, handle: &ServerHandle) -> Result<(), Fail> {
    say(what)?;
    let model = args.served_model_name.as_deref().unwrap_or("(any name)");
    say(format_args!("serving model {model} on {}", handle.base_url()))?;
    if let Some(blocks) = args.engine.enable_prefix_caching {
        let most =
            blocks.map_or_else(|| "no limit".to_owned(), |blocks| format!("at most {blocks}"));
        say(format_args!("prefix cache: blocks of 16 tokens, {most}"))?;
    }
    say("routes: /v1/completions /v1/chat/completions /v1/models /health /truth[?summary]")?;
    say("Ctrl-C ends it and tells how well it kept its schedule")
}

/// How well the server kept its own schedule, in one line.
fn kept(lateness: &Spread) -> String {
    let Spread { n, p50, p99, max } = *lateness;
    format!(
        "{n} tokens left late by p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms",
        p50.get(),
        p99.get(),
        max.get()
    )
}

/// The engine that was asked for, and a line that describes it.
fn engine(args: &ServeArgs) -> Result<(ServerConfig, String), Fail> {
    if let (Some(ttft), Some(itl)) = (args.ttft_ms, args.itl_ms) {
        let ttft = Nanos::from_secs_f64(ttft / 1e3).named("--ttft-ms")?;
        let itl = Nanos::from_secs_f64(itl / 1e3).named("--itl-ms")?;
        let what = format!(
            "fixed timing, no engine: first token after {ttft}, each further one after {itl}"
        );
        let engine = FixedTiming::new(ttft, itl);
        let engine = match args.engine.enable_prefix_caching {
            Some(blocks) => engine.with_prefixes(blocks),
            None => engine,
        };
        return Ok((ServerConfig::new(engine), what));
    }
    let scenario = scenario::of(&args.system, &args.engine)?;
    let scenario = match args.max_model_len {
        Some(tokens) => scenario.with_max_context(Tokens::new(tokens)).named("--max-model-len")?,
        None => scenario,
    };
    let what = format!("simulated engine, no accelerator is used:\n  {}", scenario.describe());
    Ok((ServerConfig::new(scenario.serve()), what))
}

fn address(args: &ServeArgs) -> Result<SocketAddr, Fail> {
    let name = format!("--host {}", args.host);
    let mut found = (args.host.as_str(), args.port).to_socket_addrs().named(&name)?;
    found.next().ok_or_else(|| Fail::usage(format!("{name}: no such address")))
}
