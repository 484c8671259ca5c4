//! What is another in each run or on each machine: when it began, where, on what, and by which version.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::document::sum;

/// What stands for what.
pub(super) struct Mask {
    /// When the first line began, in seconds since 1970.
    began: u64,
    replaced: Vec<(String, &'static str)>,
}

impl Mask {
    /// That of lines which begin to run now, in this folder.
    pub(super) fn new(folder: &Path) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let mut replaced = vec![
            (folder.to_str().unwrap().to_owned(), "<folder>"),
            (format!("\"version\": \"{version}\""), "\"version\": \"<version>\""),
            (format!("\"version\":\"{version}\""), "\"version\":\"<version>\""),
            (format!("version=\"{version}\""), "version=\"<version>\""),
            (format!("fizeau {version}"), "fizeau <version>"),
        ];
        // Whether two runs of one scenario began in the same second is chance.
        let differs = "<tr class=\"differs\"><th scope=\"row\">Started";
        replaced.push((differs.to_owned(), "<tr><th scope=\"row\">Started"));
        Self { began: now(), replaced }
    }

    /// Learns the instants until now and the hosts of the files.
    pub(super) fn learn(&mut self, files: &[(String, Vec<u8>)]) {
        for second in self.began..=now() {
            let [year, month, day, hour, minute, second] = calendar(second);
            let (date, clock) =
                (format!("{year}-{month:02}-{day:02}"), format!("{hour:02}:{minute:02}"));
            for instant in [
                format!("{date}T{clock}:{second:02}Z"),
                format!("{date}T{clock}:{second:02}"),
                format!("{date} {clock}:{second:02}"),
                format!("{date} {clock} UTC"),
            ] {
                self.replaced.push((instant, "<started>"));
            }
            self.replaced.push((
                format!("{year}{month:02}{day:02}-{hour:02}{minute:02}{second:02}"),
                "<started-compact>",
            ));
        }
        // What is said of the bytes of a file that names its instant is another each time, too.
        let sums = files.iter().filter(|(_, bytes)| self.bytes(bytes.clone()) != *bytes);
        let sums: Vec<u64> = sums.map(|(_, bytes)| sum(bytes)).collect();
        self.replaced.extend(sums.iter().map(|sum| (format!("{sum:016x}"), "<checksum>")));
        for (_, bytes) in files.iter().filter(|(name, _)| name.ends_with("run.json")) {
            let record: Value = serde_json::from_slice(bytes).unwrap_or_default();
            // One that was stored has a host of its own, which is the same everywhere.
            if record["time"] == "virtual" {
                self.host(&record["setup"]["host"]);
            }
        }
    }

    fn host(&mut self, host: &Value) {
        let cores = host["cores"].as_u64().unwrap_or_default();
        self.replaced.push((format!("\"cores\": {cores}"), "\"cores\": <cores>"));
        self.replaced.push((format!("\"cores\":{cores}"), "\"cores\":<cores>"));
        for (key, mask) in [("cpu", "<cpu>"), ("os", "<os>")] {
            let text = host[key].as_str().unwrap_or_default();
            if !text.is_empty() {
                self.replaced.push((format!("{text}, {cores} cores"), mask));
                self.replaced.push((text.to_owned(), mask));
            }
        }
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.replaced.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    /// The same of a file; one that is no text stays as it is.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(bytes) {
            Ok(text) => self.text(&text).into_bytes(),
            Err(error) => error.into_bytes(),
        }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Year, month, day, hour, minute and second, in UTC: Howard Hinnant's `civil_from_days`.
fn calendar(seconds: u64) -> [u64; 6] {
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + years + u64::from(month <= 2);
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let rest = seconds % 86_400;
    [year, month, day, rest / 3_600, rest / 60 % 60, rest % 60]
}
