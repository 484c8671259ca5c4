//! What the page has of how the sweep went: repeats, what was left out, the sustained run.

use super::sections::put;
use crate::SweepReport;
use crate::chart::escape;
use crate::sweep::{HEADS, REPEATS_NOTE};

impl SweepReport {
    /// What the runs of each load came to together; nothing where each was measured once.
    pub(super) fn repeats_table(&self, out: &mut String) {
        let rows = self.repeat_rows();
        if rows.is_empty() {
            return;
        }
        out.push_str(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Repeats\">\n<table>\n<thead>\n<tr>",
        );
        for head in HEADS {
            put(out, format_args!("<th scope=\"col\">{head}</th>"));
        }
        out.push_str("</tr>\n</thead>\n<tbody>\n");
        for row in rows {
            out.push_str("<tr>");
            for cell in row {
                put(out, format_args!("<td>{}</td>", escape(&cell)));
            }
            out.push_str("</tr>\n");
        }
        put(
            out,
            format_args!("</tbody>\n</table>\n</div>\n<p class=\"note\">{REPEATS_NOTE}.</p>\n"),
        );
    }

    /// The loads that were planned and never measured, and what came of the sustained run.
    pub(super) fn protocol_notes(&self, out: &mut String) {
        let never = self.never_measured();
        if !never.is_empty() {
            let never = escape(&never.join(", "));
            put(out, format_args!("<p class=\"note\">Left out: {never}.</p>\n"));
        }
        for line in self.sustained_words() {
            put(out, format_args!("<p class=\"note\">{}.</p>\n", escape(line.trim_start())));
        }
    }
}
