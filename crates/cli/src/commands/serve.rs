//! `fizeau serve`: the simulated engine behind HTTP, until Ctrl-C.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};

use fizeau::core::{Nanos, Tokens};
use fizeau::experiment::published_passes;
use fizeau::record::text::wrap;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{
    Faults, NaturalLength, Server, ServerConfig, ServerHandle, TimeScale, Tls,
};
use fizeau::telemetry::ForwardPassPublisher;

use crate::args::ServeArgs;
use crate::commands::shared::scenario;
use crate::exit::{Exit, Fail, Named, read_named};
use crate::terminal::runtime;
use crate::terminal::say::say;

pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Fail> {
    if args.list_faults {
        say(faults())?;
        return Ok(Exit::Good);
    }
    let Served { config, what, mut also } = match (args.ttft_ms, args.itl_ms) {
        (Some(ttft), Some(itl)) => fixed_timing(args, [ttft, itl])?,
        _ => simulated(args)?,
    };
    let mut config = configured(args, config)?;
    if let Some(port) = args.forward_pass_metrics_port {
        let place = SocketAddr::new(address(args)?.ip(), port);
        let publisher = ForwardPassPublisher::bind(place).named("--forward-pass-metrics-port")?;
        also.push_str(&format!("forward passes at {}", publisher.address()));
        config = config.with_passes(published_passes(publisher).map_err(Fail::broken)?);
    }
    let server = Server::bind(address(args)?, config).map_err(Fail::usage)?;
    let handle = server.spawn().map_err(Fail::broken)?;
    if args.until_stdin_ends {
        announce(args, [&what, &also], &handle)?;
        // However it ends.
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        return Ok(Exit::Good);
    }
    runtime::single()?.block_on(async {
        let interrupt = tokio::spawn(tokio::signal::ctrl_c());
        // Once it runs it listens; only then is Ctrl-C promised.
        tokio::task::yield_now().await;
        announce(args, [&what, &also], &handle)?;
        let listened = interrupt.await.map_err(Fail::broken)?;
        listened.map_err(|error| broken!("the system does not report Ctrl-C: {error}"))
    })?;
    if let Some(lateness) = handle.shutdown() {
        say(format!("lateness of the {} tokens sent: {lateness}", lateness.n))?;
    }
    Ok(Exit::Good)
}

/// What is behind the server, and lines that describe it.
struct Served {
    config: ServerConfig,
    what: String,
    /// What else there is to know.
    also: String,
}

fn fixed_timing(args: &ServeArgs, [ttft, itl]: [f64; 2]) -> Result<Served, Fail> {
    let ttft = Nanos::from_secs_f64(ttft / 1e3).named("--ttft-ms")?;
    let itl = Nanos::from_secs_f64(itl / 1e3).named("--itl-ms")?;
    let what =
        format!("fixed timing, no engine: first token after {ttft}, each further one after {itl}");
    let mut also = String::new();
    let mut engine = FixedTiming::new(ttft, itl);
    if let Some(blocks) = args.engine.enable_prefix_caching {
        engine = engine.with_prefixes(blocks);
        let most =
            blocks.map_or_else(|| "no limit".to_owned(), |blocks| format!("at most {blocks}"));
        also = format!("prefix cache: blocks of 16 tokens, {most}");
    }
    let config = ServerConfig::new(engine);
    let config = match args.max_model_len {
        Some(tokens) => config.with_max_model_len(Tokens::new(tokens)),
        None => config,
    };
    Ok(Served { config, what, also })
}

fn simulated(args: &ServeArgs) -> Result<Served, Fail> {
    let simulated = scenario::of(&args.system, &args.engine, args.max_model_len)?;
    let scenario = simulated.scenario();
    let what = format!(
        "simulated engine, no accelerator is used:\n  {}",
        wrap(&scenario.describe(), 76).replace('\n', "\n  ")
    );
    Ok(Served { config: ServerConfig::new(scenario.serve()), what, also: String::new() })
}

/// The certificate to speak TLS with, if any.
fn tls(args: &ServeArgs) -> Result<Option<Tls>, Fail> {
    if let (Some(chain), Some(key)) = (&args.ssl_certfile, &args.ssl_keyfile) {
        let flag = format!("--ssl-certfile {}", chain.display());
        let pem = [
            read_named("--ssl-certfile", chain, "a PEM file of certificates")?,
            read_named("--ssl-keyfile", key, "a PEM file of a key")?,
        ];
        return Tls::from_pem(&pem[0], &pem[1]).named(&flag).map(Some);
    }
    let Some(path) = &args.tls_self_signed else { return Ok(None) };
    let flag = format!("--tls-self-signed {}", path.display());
    let tls = Tls::self_signed(&["localhost", &args.host]).named(&flag)?;
    fs::write(path, tls.certificate()).named(&flag)?;
    Ok(Some(tls))
}

/// `config` with what goes for any engine.
fn configured(args: &ServeArgs, mut config: ServerConfig) -> Result<ServerConfig, Fail> {
    let seed = args.engine.engine_seed;
    if let Some(name) = &args.served_model_name {
        config = config.with_model(name.clone());
    }
    if let Some(length) = &args.natural_len {
        let length: NaturalLength = length.parse().given_as("--natural-len")?;
        config = config.with_natural_length(length.with_seed(seed));
    }
    if let Some(text) = args.sglang {
        config = config.with_sglang(text);
    }
    if args.text_prompts {
        config = config.with_text_prompts();
    }
    if let Some(tls) = tls(args)? {
        config = config.with_tls(tls);
    }
    if let Some(faults) = &args.fault {
        let faults: Faults = faults.parse().named("--fault")?;
        config = config.with_faults(faults.with_seed(seed));
    }
    let scale = TimeScale::new(args.time_scale).named("--time-scale")?;
    Ok(config.with_time_scale(scale))
}

/// Says what is served, where, and what else there is to know.
fn announce(args: &ServeArgs, [what, also]: [&str; 2], handle: &ServerHandle) -> Result<(), Fail> {
    say(what)?;
    let model = args.served_model_name.as_deref().unwrap_or("(any name)");
    say(format_args!("serving model {model} on {}", handle.base_url()))?;
    if !also.is_empty() {
        say(also)?;
    }
    if args.time_scale != 1.0 {
        say(format_args!("time runs {} times as fast as real time", args.time_scale))?;
    }
    if let Some(faults) = &args.fault {
        say(format_args!("faults: {faults}; a request chooses by the header x-fizeau-fault"))?;
    }
    say(ROUTES)?;
    say("Ctrl-C ends it and prints how well it kept its schedule")
}

const ROUTES: &str = "\
                      routes: /v1/completions /v1/chat/completions /v1/responses
        /v1/messages /generate /v1/models
        /tokenize /detokenize /health /metrics /truth[?summary]";

/// Every fault, with a line about it.
fn faults() -> String {
    let each =
        Faults::all().iter().map(|fault| format!("{}\n    {}\n", fault.form(), fault.about()));
    each.collect::<String>() + FAULTS
}

const FAULTS: &str = "
--fault NAME+NAME          both for each reply
--fault 0.1*NAME,0.02*NAME each for that share of the replies
--fault allow              only for requests that choose so";

fn address(args: &ServeArgs) -> Result<SocketAddr, Fail> {
    let name = format!("--host {}", args.host);
    let mut found = (args.host.as_str(), args.port).to_socket_addrs().named(&name)?;
    found.next().ok_or_else(|| usage!("{name}: no such address"))
}
