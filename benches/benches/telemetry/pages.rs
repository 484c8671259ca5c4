//! Pages of an engine with many ranks, and a process that serves them.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// How the path of a page begins whose names are its own.
const OWN_NAMES: &str = "own-names-";

/// With this word the bench is the server.
pub(crate) const SERVE: &str = "serve-pages";

/// What vLLM gives with two ranks.
const PAGE: &str = include_str!("../../../fixtures/telemetry/vllm-1.txt");
/// As many ranks more as make a page of some 86 kB.
const RANKS: u32 = 26;

/// The page when it is asked for the `asked`-th time: counters, counts and sums have grown, and gauges are elsewhere.
pub(crate) fn page(asked: u64) -> String {
    let mut page = String::new();
    for line in PAGE.lines() {
        let of_ranks = line.starts_with("vllm:") && line.contains("engine=\"0\"");
        let ranks = if of_ranks { 2..RANKS } else { 0..0 };
        let lines = ranks.map(|rank| line.replace("engine=\"0\"", &format!("engine=\"{rank}\"")));
        for line in std::iter::once(line.to_owned()).chain(lines) {
            match line.rsplit_once(' ').and_then(|(name, of)| Some((name, of.parse().ok()?))) {
                Some((name, value)) if !name.starts_with('#') => {
                    let _ = writeln!(page, "{name} {:?}", moved(name, value, asked));
                }
                _ => page += &format!("{line}\n"),
            }
        }
    }
    page
}

/// What `value` has become when the page is asked for the `asked`-th time.
fn moved(series: &str, value: f64, asked: u64) -> f64 {
    let metric = series.split('{').next().unwrap_or_default();
    let is_counter = ["_total", "_count", "_bucket"].iter().any(|end| metric.ends_with(end));
    let times = asked as f64;
    match metric {
        "vllm:num_requests_running" => value + (asked % 7) as f64,
        "vllm:kv_cache_usage_perc" => (asked % 97) as f64 / 97.0,
        _ if is_counter => 40.0_f64.mul_add(times, value),
        _ if metric.ends_with("_sum") => 0.9137_f64.mul_add(times, value),
        _ => value,
    }
}

/// A process that serves pages.
#[derive(Debug)]
pub(crate) struct PageServer {
    process: Child,
    address: String,
}

impl PageServer {
    pub(crate) fn start() -> Result<Self> {
        let program = std::env::current_exe()?;
        let mut process = Command::new(program).arg(SERVE).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        let output = process.stdout.as_mut().context("its output")?;
        BufReader::new(output).read_line(&mut address)?;
        Ok(Self { process, address: address.trim().to_owned() })
    }

    /// The address of page `number`, each of which is a server's own. All name their series alike, as replicas of one model do.
    pub(crate) fn url(&self, number: usize) -> String {
        format!("http://{}/{number}/metrics", self.address)
    }

    /// The same of a page on which each series has a name that no other page has.
    pub(crate) fn url_of_own_names(&self, number: usize) -> String {
        format!("http://{}/{OWN_NAMES}{number}/metrics", self.address)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Serves pages until it is killed.
pub(crate) fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || answer(stream));
    }
    Ok(())
}

/// A request comes in one piece, since nothing but a small GET is asked.
fn answer(mut stream: TcpStream) {
    let mut request = [0; 4_096];
    let mut asked = 0;
    while stream.read(&mut request).is_ok_and(|length| length > 0) {
        asked += 1;
        let mut page = page(asked);
        let path = request.split(|byte| *byte == b'/').nth(1).unwrap_or_default();
        if let Some(own) = path.strip_prefix(OWN_NAMES.as_bytes()) {
            let model = format!("\"tiny-{}\"", String::from_utf8_lossy(own));
            page = page.replace("\"tiny\"", &model);
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: {}\r\n\r\n",
            page.len()
        );
        if stream.write_all(&[head.as_bytes(), page.as_bytes()].concat()).is_err() {
            return;
        }
    }
}
