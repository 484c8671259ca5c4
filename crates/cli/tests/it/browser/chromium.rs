//! A browser of the test's own: found, started without a window, and ended with the test.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::stand::Scratch;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Chromium, with a profile that is thrown away.
pub(super) struct Chromium {
    child: Child,
    /// Where it listens for a driver: `ws://127.0.0.1:...`.
    pub(super) address: String,
    pub(super) scratch: Scratch,
}

impl Chromium {
    /// Starts it; none where there is no browser, which is said aloud, and no excuse where all tests must run.
    pub(super) fn start(name: &str) -> Option<Self> {
        let Some(program) = find() else {
            let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!is_ci, "no Chromium: on Debian, apt-get install chromium");
            eprintln!(
                "!!! SKIPPED, NOT TESTED: the page in a browser. No Chromium was found: on Debian, apt-get install chromium"
            );
            return None;
        };
        let scratch = Scratch::new(name);
        let mut command = Command::new(program);
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-extensions", "--mute-audio"]);
        command.args([
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
        ]);
        command.arg("--remote-debugging-port=0");
        command.arg(format!("--user-data-dir={}", scratch.path("profile")));
        // Of a group of its own, so that its helpers end with it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = lines.by_ref().map_while(Result::ok);
        let address = said
            .filter_map(|line| Some(line.strip_prefix("DevTools listening on ")?.trim().to_owned()))
            .next()
            .unwrap_or_else(|| panic!("Chromium ended before it listened"));
        // A pipe that nobody reads fills up, and whoever writes into it waits.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Some(Self { child, address, scratch })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

fn find() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.into_iter().chain(all).find(|program| program.is_file())
}
