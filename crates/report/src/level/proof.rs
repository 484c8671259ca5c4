//! The client's proof of innocence, as lines of a block.

use fizeau_metrics::{CeilingLimit, Distribution, Statistic};

use crate::Shown;
use crate::block::line;
use crate::text::plain;
use fizeau_record::LevelReport;
use fizeau_record::text::{self, number, percent};

impl Shown<'_, LevelReport> {
    /// Who measured, if that was not this client.
    pub(super) fn measured_by(&self) -> Option<String> {
        let tool = self.unseen.as_ref().map(|unseen| plain(unseen.tool()));
        let nobody = || "no client: simulated in virtual time".to_owned();
        let by = if self.is_simulated() { Some(nobody()) } else { tool };
        by.map(|by| line("Measured by:", by))
    }

    /// The proof as lines of the block: every figure that there is.
    pub(super) fn proof_lines(&self) -> Vec<String> {
        let (client, metrics) = (&self.client, &self.summary.metrics);
        if let Some(measured_by) = self.measured_by() {
            let is_known = !self.is_simulated() && metrics.send_lateness.n > 0;
            let late = || line("Send lateness p50/p99/max (ms):", tail(&metrics.send_lateness));
            return [measured_by].into_iter().chain(is_known.then(late)).collect();
        }
        let mut lines = vec![line("Client threads:", client.watch.threads)];
        lines.extend(client.stamps.map(|by| line("Arrivals stamped by:", text::stamps(by))));
        let tails = [
            ("Send lateness p50/p99/max (ms):", &metrics.send_lateness),
            ("Read lag p50/p99/max (ms):", &metrics.read_lag),
        ];
        lines.extend(
            tails.iter().filter(|(_, sample)| sample.n > 0).map(|(name, s)| line(name, tail(s))),
        );
        let merged = self.summary.jitter.merged_gap_share.filter(|share| *share > 0.0);
        let shares = [
            ("CPU of the busiest thread:", client.watch.cpu_share),
            ("CPU starvation:", client.watch.run_delay_share),
            ("CPU stolen by the hypervisor:", client.watch.steal_share),
            ("Gaps lost to late reads:", merged),
        ];
        for (name, share) in shares {
            lines.extend(share.map(|share| line(name, percent(share))));
        }
        let (made, replaced) = (client.connections_fresh, client.connections_replaced);
        lines.push(line(
            "Connections made/replaced meanwhile:",
            format_args!("{made} / {replaced}"),
        ));
        if metrics.connection_wait.max.is_some_and(|wait| wait.get() > 0.0) {
            lines.push(line("Connection wait p50/p99/max (ms):", tail(&metrics.connection_wait)));
        }
        if let Some((most, share)) = self.nearest_limit() {
            let of = match most {
                CeilingLimit::FlatOut(most) => format!("{} tok/s", number(most.get())),
                CeilingLimit::Streams(most) => format!("{most} streams on time"),
                CeilingLimit::OneByOne(most) => format!("{} tok/s one by one", number(most.get())),
            };
            let of = format!("{} of {of}", percent(share));
            lines.push(line("Share of the client's own ceiling:", of));
        }
        lines
    }
}

/// `0.01 / 0.05 / 1.20`: the median, the p99 and the greatest; `-` where the sample supports none.
pub(crate) fn tail(sample: &Distribution) -> String {
    let figure = |statistic| {
        let value = sample.statistic(statistic);
        value.map_or_else(|| "-".to_owned(), |value| number(value.get()))
    };
    [Statistic::P50, Statistic::P99, Statistic::Max].map(figure).join(" / ")
}
