//! The client's proof over all levels of a sweep.

use fizeau_core::{Millis, StampSource};
use fizeau_metrics::Distribution;

use crate::Shown;
use fizeau_record::SweepReport;
use fizeau_record::text;
use fizeau_record::text::{number, percent};
use fizeau_record::{LevelReport, TailLatency};

impl Shown<'_, SweepReport> {
    /// What the client's machine saw of it, in two lines: who measured, and the worst of all levels. None without a
    /// level, and where nothing was measured.
    pub(crate) fn client_lines(&self) -> Option<[String; 2]> {
        if self.is_simulated() {
            return None;
        }
        let sum = |of: fn(&LevelReport) -> u64| self.levels().iter().map(of).sum::<u64>();
        if let Some(tool) = self.measured_by() {
            let late = self.lateness().unwrap_or_else(|| "nothing about itself".to_owned());
            return Some([format!("Client: {tool}"), format!("It reported: {late}")]);
        }
        let threads = self.levels().iter().map(|level| level.client.watch.threads).max()?;
        let plural = if threads == 1 { "" } else { "s" };
        let stamps =
            self.worst_stamps().map(|by| format!(", arrivals stamped by: {}", text::stamps(by)));
        let stamps = stamps.unwrap_or_default();
        let made = sum(|level| level.client.connections_fresh);
        let replaced = sum(|level| level.client.connections_replaced);
        let who = format!(
            "Client: {threads} thread{plural}{stamps}; {made} connections made, {replaced} replaced"
        );
        let parts = [
            self.lateness(),
            self.worst(|level| {
                TailLatency::of(&level.summary.metrics.read_lag).map(|lag| lag.ms())
            })
            .map(|lag| format!("read lag p99 {} ms", number(lag))),
            self.worst(|level| level.client.watch.cpu_share)
                .map(|share| format!("CPU {}", percent(share))),
            self.worst(|level| level.client.watch.run_delay_share)
                .map(|share| format!("CPU starvation {}", percent(share))),
            self.worst(|level| level.client.watch.steal_share)
                .map(|share| format!("CPU stolen {}", percent(share))),
            self.worst(LevelReport::ceiling_share)
                .map(|share| format!("{} of its own ceiling", percent(share))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some([who, format!("  at worst: {}", parts.join(", "))])
    }

    /// The worst median, tail and greatest value of any level.
    fn lateness(&self) -> Option<String> {
        fn of(level: &LevelReport) -> &Distribution {
            &level.summary.metrics.send_lateness
        }
        let p50 = self.worst(|level| of(level).p50.value().map(Millis::get))?;
        let p99 = self.worst(|level| TailLatency::of(of(level)).map(|tail| tail.ms()))?;
        let max = self.worst(|level| of(level).max.map(Millis::get))?;
        let [p50, p99, max] = [p50, p99, max].map(number);
        Some(format!("send lateness p50 {p50}, p99 {p99}, max {max} ms"))
    }

    fn worst(&self, of: fn(&LevelReport) -> Option<f64>) -> Option<f64> {
        self.levels().iter().filter_map(of).max_by(f64::total_cmp)
    }

    /// The least trustworthy stamps of any level.
    fn worst_stamps(&self) -> Option<StampSource> {
        let has = |source| self.levels().iter().any(|level| level.client.stamps == Some(source));
        let all = [StampSource::User, StampSource::Kernel, StampSource::Simulated];
        all.into_iter().find(|source| has(*source))
    }
}
