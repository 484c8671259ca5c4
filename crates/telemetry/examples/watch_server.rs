//! What a server says of itself over some seconds, as JSON: `cargo run --example watch_server --features http -- URL SECONDS`.

use std::time::{Duration, Instant};

use fizeau_core::{Clock, Nanos, Stamp};
use fizeau_telemetry::{PageSettings, PageSource, ScrapeSettings, Scraper, ServerWindow, Window};

/// The machine's clock since the program began.
#[derive(Clone, Copy)]
struct Since(Instant);

impl Clock for Since {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + self.0.elapsed().into()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(url) = arguments.next() else {
        println!(
            "give the address of a page, such as http://127.0.0.1:8000/metrics, and for how many seconds"
        );
        return Ok(());
    };
    let seconds = arguments.next().map_or(Ok(10), |seconds| seconds.parse())?;

    let clock = Since(Instant::now());
    let source = PageSource::new(url, PageSettings::default().known_only());
    let scraper = Scraper::start(source, clock, ScrapeSettings::default())?;
    let patience = Duration::from_secs(10);
    if !scraper.scrape_now(patience) {
        return Err("no answer within ten seconds".into());
    }
    let from = clock.now();
    std::thread::sleep(Duration::from_secs(seconds));
    let to = clock.now();
    scraper.scrape_now(patience);

    let report = scraper.stop();
    let window = ServerWindow::of(&report.history, Window::within(from, to), Nanos::from_secs(2));
    println!("{}", serde_json::to_string_pretty(&window)?);
    for failure in report.history.failures().iter().take(1) {
        eprintln!("{}", failure.why);
    }
    eprintln!("{} pages, {} bytes", report.cost.pages, report.cost.bytes);
    Ok(())
}
