//! The pages that are watched, and why one does not come, in the words of the flags that would help.

use fizeau::experiment::ExtraHeader;
use fizeau::telemetry::{FetchError, FetchErrorKind, PageSettings, PageSource, Source};

use crate::args::{WatchArgs, check_page_address};
use crate::exit::Fail;

/// Why a page did not come, in one line: its address is said by whoever shows this.
fn why(error: &FetchError) -> String {
    match error.kind {
        FetchErrorKind::Refused { .. } => {
            format!("{} (--server-metrics-header NAME=VALUE)", error.kind)
        }
        _ => error.kind.to_string(),
    }
}

/// All of them, each with its address without user, password and query.
pub(super) fn sources(
    args: &WatchArgs,
) -> Result<Vec<(String, impl Source + Send + 'static)>, Fail> {
    let mut settings = PageSettings::default().assessed_only();
    for header in &args.server_metrics_header {
        // What was typed is a secret, and so not in the error.
        let given: Option<ExtraHeader> = header.parse().ok();
        let ExtraHeader { name, value, .. } =
            given.filter(ExtraHeader::can_be_sent).ok_or_else(|| {
                usage!(
                    "--server-metrics-header: give NAME=VALUE, such as Authorization=\"Bearer KEY\""
                )
            })?;
        settings = settings.header(name, value);
    }
    let mut sources = Vec::new();
    for (index, url) in args.server_metrics.iter().enumerate() {
        check_page_address(url)?;
        let source = PageSource::new(url, settings.clone());
        let address = source.address().to_owned();
        refuse_if!(
            args.server_metrics.iter().take(index).any(|other| other == url),
            "--server-metrics {address}: it is given twice; name each replica once"
        );
        sources.push((address, source.explained(why)));
    }
    Ok(sources)
}
