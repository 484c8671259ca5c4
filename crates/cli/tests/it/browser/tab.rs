//! A tab of the browser, and what a person does in it.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::chromium::Chromium;
use super::wire::Wire;

/// A script that waits until `condition` holds, and looks again whenever the page changes.
const UNTIL: &str = "(condition) => new Promise((resolve) => {
  const look = () => { const found = condition(); if (found) { watch.disconnect(); resolve(found); } };
  const watch = new MutationObserver(look);
  watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
})";

/// The greatest height of a picture: Chromium draws no more than 16,384 pixels.
const TALLEST: f64 = 16_000.0;

pub(super) struct Tab {
    wire: Wire,
    session: String,
    downloads: PathBuf,
}

impl Tab {
    pub(super) fn new(chromium: &Chromium) -> Self {
        let mut wire = Wire::connect(&chromium.address);
        let target = wire.call(None, "Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = wire.call(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let downloads = PathBuf::from(chromium.scratch.path("downloads"));
        let allow =
            json!({ "behavior": "allow", "downloadPath": downloads, "eventsEnabled": true });
        wire.call(None, "Browser.setDownloadBehavior", &allow);
        let mut tab = Self { wire, session, downloads };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        tab
    }

    pub(super) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.wire.call(Some(&self.session), method, params)
    }

    /// Opens a file and waits until it is there and every chart is drawn.
    pub(super) fn open(&mut self, page: &Path) {
        self.wire.events.clear();
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", &json!({ "url": url }));
        self.wire.wait(|event| event["method"] == "Page.loadEventFired");
        self.drawn();
    }

    pub(super) fn drawn(&mut self) {
        self.until(
            "[...document.querySelectorAll('figure.chart')].every((figure) => figure.dataset.drawn) \
             && document.documentElement.dataset.scripts === 'yes'",
        );
    }

    /// The value of an expression in the page.
    pub(super) fn eval(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    pub(super) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Waits until an expression is true, and gives its value.
    pub(super) fn until(&mut self, condition: &str) -> Value {
        self.eval(&format!("({UNTIL})(() => {condition})"))
    }

    /// A window of that size; narrow ones are those of phones.
    pub(super) fn resize(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        self.settle();
    }

    /// `light` or `dark`, on a screen (`screen`, or as the browser has it: an empty name) or as on paper; nothing moves.
    pub(super) fn show_as(&mut self, media: &str, scheme: &str) {
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
        self.settle();
    }

    /// Two frames: sizes are told in the first, and what follows of them is drawn by the second.
    fn settle(&mut self) {
        self.eval(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))",
        );
    }

    pub(super) fn point_at(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", &json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Clicks in the middle of the element of an expression, as a person does.
    pub(super) fn click(&mut self, element: &str) {
        let middle = self.eval(&format!(
            "(() => {{ const it = {element}; it.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    pub(super) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Clicks on `element`, waits for the file that comes of it, and reads it.
    pub(super) fn download(&mut self, element: &str) -> (String, Vec<u8>) {
        let is_download = |event: &Value, method: &str| event["method"] == method;
        self.wire.events.retain(|event| {
            !event["method"].as_str().unwrap_or("").starts_with("Browser.download")
        });
        self.click(element);
        let begun = self.wire.wait(|event| is_download(event, "Browser.downloadWillBegin"));
        let name = begun["params"]["suggestedFilename"].as_str().unwrap().to_owned();
        self.wire.wait(|event| {
            is_download(event, "Browser.downloadProgress")
                && event["params"]["state"] == "completed"
        });
        let bytes = fs::read(self.downloads.join(&name)).unwrap();
        (name, bytes)
    }

    /// The whole page as it is, or as much as a picture holds, into `target/screenshots`.
    pub(super) fn photograph(&mut self, name: &str) {
        let size = self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"].take();
        let height = size["height"].as_f64().unwrap().min(TALLEST);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        self.keep(name, &params);
    }

    /// What is seen without scrolling.
    pub(super) fn photograph_the_top(&mut self, name: &str) {
        self.eval("window.scrollTo(0, 0)");
        self.keep(name, &json!({ "format": "png" }));
    }

    /// The page on paper, beside the screenshots; how many bytes it has.
    pub(super) fn print(&mut self, name: &str) -> usize {
        let printed = self.call("Page.printToPDF", &json!({ "printBackground": true }));
        write(&format!("{name}.pdf"), &printed["data"])
    }

    fn keep(&mut self, name: &str, params: &Value) {
        let taken = self.call("Page.captureScreenshot", params);
        write(&format!("{name}.png"), &taken["data"]);
    }

    /// What went wrong in the page since it was opened: errors, exceptions, and whatever it complained of.
    pub(super) fn complaints(&mut self) -> Vec<Value> {
        self.eval("0");
        let is_one = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                matches!(event["params"]["type"].as_str(), Some("error" | "warning" | "assert"))
            }
            Some("Log.entryAdded") => event["params"]["entry"]["level"] != "verbose",
            _ => false,
        };
        self.wire.events.iter().filter(is_one).cloned().collect()
    }

    /// What it asked for since it was opened, beside what it carries itself.
    pub(super) fn requests(&mut self) -> Vec<String> {
        let asked =
            self.wire.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls =
            asked.map(|event| event["params"]["request"]["url"].as_str().unwrap().to_owned());
        urls.filter(|url| !url.starts_with("data:") && !url.starts_with("blob:")).collect()
    }
}

/// Into `target/screenshots`, for people to look at; how many bytes it is.
fn write(name: &str, data: &Value) -> usize {
    let bytes = STANDARD.decode(data.as_str().unwrap()).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), &bytes).unwrap();
    bytes.len()
}
