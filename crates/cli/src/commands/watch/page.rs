//! The pages that are watched, and why one does not come, in the words of the flags that would help.

use fizeau::experiment::ExtraHeader;
use fizeau::telemetry::{FetchError, FetchErrorKind, Page, PageSettings, PageSource, Source};

use crate::args::{WatchArgs, check_page_address};
use crate::exit::Fail;

/// A page by its name in the figures, whose errors name what to type.
pub(super) struct WatchedPage {
    /// Its address without user, password and query, and a number where another one has the same.
    pub(super) name: String,
    source: PageSource,
}

/// Why a page did not come.
#[derive(Debug)]
pub(super) struct WatchedPageError(FetchError);

impl Source for WatchedPage {
    type Error = WatchedPageError;

    fn page(&mut self) -> Result<Page, WatchedPageError> {
        self.source.page().map_err(WatchedPageError)
    }
}

impl std::fmt::Display for WatchedPageError {
    /// With what has it, in one line: the address is said by whoever shows this.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.kind)?;
        match self.0.kind {
            FetchErrorKind::Refused { .. } => f.write_str(" (--server-metrics-header NAME=VALUE)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for WatchedPageError {}

/// All of them.
pub(super) fn sources(args: &WatchArgs) -> Result<Vec<WatchedPage>, Fail> {
    let mut settings = PageSettings::default().assessed_only();
    for header in &args.server_metrics_header {
        // What was typed is a secret, and so not in the error.
        let given: Option<ExtraHeader> = header.parse().ok();
        let ExtraHeader { name, value, .. } = given.filter(is_header).ok_or_else(|| {
            usage!("--server-metrics-header: give NAME=VALUE, such as Authorization=\"Bearer KEY\"")
        })?;
        settings = settings.header(name, value);
    }
    let mut sources: Vec<WatchedPage> = Vec::new();
    for (index, url) in args.server_metrics.iter().enumerate() {
        check_page_address(url)?;
        let source = PageSource::new(url, settings.clone());
        let address = source.address();
        refuse_if!(
            args.server_metrics.iter().take(index).any(|other| other == url),
            "--server-metrics {address}: it is given twice; name each replica once"
        );
        // Those that differ in what is not shown.
        let alike = sources.iter().filter(|other| other.source.address() == address).count();
        let name = match alike {
            0 => address.to_owned(),
            _ => format!("{address} ({})", alike + 1),
        };
        sources.push(WatchedPage { name, source });
    }
    Ok(sources)
}

/// Whether HTTP can carry it.
fn is_header(ExtraHeader { name, value, .. }: &ExtraHeader) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_name) && !value.chars().any(char::is_control)
}
