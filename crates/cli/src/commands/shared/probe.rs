//! `--backend auto`: what an endpoint speaks, for a person.

use fizeau::core::TokenSource;
use fizeau::experiment::DetectedEndpoint;
use fizeau::transport::ForcedLength;

/// A few lines.
pub(crate) fn block(found: &DetectedEndpoint) -> String {
    let findings = &found.findings;
    let mut rows = findings.rows();
    for (name, value) in &mut rows {
        match *name {
            "token counts" if findings.token_source == TokenSource::Events => {
                value.push_str("; --tokenizer would count");
            }
            "forced length" if findings.forced_length == ForcedLength::Refused => {
                "refused: add --no-ignore-eos".clone_into(value);
            }
            _ => {}
        }
    }
    let server = found.server.as_deref().unwrap_or("a server of unknown kind");
    let backend = ("backend", format!("{} at {}", found.backend, found.url));
    let rows = std::iter::once(backend).chain(rows);
    let rows = rows.map(|(name, value)| format!("\n  {name:<18}{value}"));
    format!("found {server}, model {}{}", found.model, rows.collect::<String>())
}
