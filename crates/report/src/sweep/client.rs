//! The client's proof over all levels of a sweep.

use fizeau_core::{Millis, StampSource};
use fizeau_metrics::Distribution;

use crate::Shown;
use fizeau_record::SweepReport;
use fizeau_record::text;
use fizeau_record::text::{number, percent};
use fizeau_record::{LatencyBasis, LevelReport, TailLatency};

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
            self.worst_tail(|level| &level.summary.metrics.read_lag)
                .map(|(which, lag)| format!("read lag {which} {lag} ms")),
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
        let (which, tail) = self.worst_tail(of)?;
        let max = self.worst(|level| of(level).max.map(Millis::get))?;
        let [p50, max] = [p50, max].map(number);
        let tail = if which == "p99" { format!(", p99 {tail}") } else { String::new() };
        Some(format!("send lateness p50 {p50}{tail}, max {max} ms"))
    }

    /// The worst tail of any level: of which statistic it is, since few values have no p99, and its milliseconds.
    fn worst_tail(&self, of: fn(&LevelReport) -> &Distribution) -> Option<(&'static str, String)> {
        let tails = self.levels().iter().filter_map(|level| TailLatency::of(of(level)));
        let worst = tails.max_by(|a, b| a.ms().total_cmp(&b.ms()))?;
        let which = if worst.basis == LatencyBasis::Max { "max" } else { "p99" };
        Some((which, number(worst.ms())))
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
