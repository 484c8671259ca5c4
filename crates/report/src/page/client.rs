//! The page's part on the client itself.

use fizeau_metrics::Distribution;

use super::sections::put;
use crate::level::tail;
use crate::number::percent;
use crate::{LevelReport, SweepReport, words};

/// A column: its head, and its cell for a level.
type Column = (&'static str, fn(&LevelReport) -> String);

const COLUMNS: [Column; 9] = [
    ("load", |level| level.load.to_string()),
    ("threads", |level| level.client.watch.threads.to_string()),
    ("stamps", |level| words::stamps(level.client.stamps).to_owned()),
    ("send lateness ms", |level| or_dash(&level.summary.metrics.send_lateness)),
    ("read lag ms", |level| or_dash(&level.summary.metrics.read_lag)),
    ("CPU", |level| share(level.client.watch.cpu_share)),
    ("no CPU", |level| share(level.client.watch.run_delay_share)),
    ("connections", |level| {
        format!("{} / {}", level.client.connections_fresh, level.client.connections_replaced)
    }),
    ("ceiling", |level| share(level.ceiling_share())),
];

impl SweepReport {
    /// What shows that the client was not the bottleneck.
    pub(super) fn client_table(&self, out: &mut String) {
        if self.levels().is_empty() || self.is_simulated() {
            return;
        }
        out.push_str(
            "<section>\n<h2>Was the client the bottleneck?</h2>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Client\">\n<table>\n<thead>\n<tr>",
        );
        for (head, _) in COLUMNS {
            put(out, format_args!("<th scope=\"col\">{head}</th>"));
        }
        out.push_str("</tr>\n</thead>\n<tbody>\n");
        for level in self.levels() {
            out.push_str("<tr>");
            for (i, (_, cell)) in COLUMNS.iter().enumerate() {
                let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                put(out, format_args!("<{tag}{scope}>{}</{tag}>", cell(level)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str(
            "</tbody>\n</table>\n</div>\n\
             <p class=\"note\">Send lateness: intended release to send start. Read lag: the kernel's stamp of an \
             arrival to its reading. Both p50 / p99 / max. CPU, no CPU: time running, and time ready to run without \
             a CPU, of the measuring thread that had most of it. Connections: made in the level / found dead and \
             replaced. Ceiling: tokens/s or streams, whichever is nearer to what the client can do on this \
             machine, as a share of that.</p>\n</section>\n",
        );
    }
}

fn or_dash(sample: &Distribution) -> String {
    if sample.n == 0 { "-".to_owned() } else { tail(sample) }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent)
}
