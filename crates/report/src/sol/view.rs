//! An answer for a person: what it is of, what fits, how fast it can be, and what limits it.

use fizeau_roofline::{Device, Figures, MathType, Pass, PassTime, System, Tensors};

use super::grid::Grid;
use super::quantity::{bytes, count, per_second, row, time};
use super::{Answer, SolView};
use crate::number::{number, percent};
use crate::terminal::{plain, wrap};

/// The most columns that a sentence takes.
const SENTENCE: usize = 80;

impl SolView<'_> {
    /// The whole answer. Tables are at most 80 columns wide and sentences are broken at `width` or 80 columns, whichever is
    /// less. Without a newline at the end.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut text = Text { lines: Vec::new(), width: width.min(SENTENCE) };
        self.say_model(&mut text);
        self.say_device(&mut text);
        self.say_load(&mut text);
        text.table(self.memory());
        text.table(self.figures());
        text.table(self.parts());
        self.say_limits(&mut text);
        self.say_warnings(&mut text);
        text.lines.join("\n")
    }

    fn say_model(&self, text: &mut Text) {
        let model = self.system.model();
        let layers: u64 = model.layers().iter().map(|layers| layers.count).sum();
        let parameters = &self.answer.parameters;
        text.say(&format!("Model   {}: {}, {layers} layers", self.name, model.architecture()));
        let (total, streamed) = (count(parameters.total), count(parameters.streamed));
        let active = match parameters.active == parameters.total {
            true => String::new(),
            false => format!(", {} active", count(parameters.active)),
        };
        text.more(&format!("parameters: {total}{active}, {streamed} read for a token"));
        let classes: Vec<String> = model.tensors().iter().filter_map(class).collect();
        let whole = bytes(self.answer.weight_bytes.get());
        text.more(&format!("weights: {whole} ({})", classes.join(", ")));
        let context = (self.load.input_tokens + self.load.output_tokens).get();
        text.more(&format!(
            "cache: {} a token in {}, {} for a sequence of {context}",
            bytes(self.answer.kv_bytes_per_token.get()),
            model.kv_cache(),
            bytes(model.cache_bytes(context as f64).get()),
        ));
    }

    fn say_device(&self, text: &mut Text) {
        let device = self.system.device();
        let deployment = self.system.deployment();
        let spread = match deployment.devices() {
            1 => "1 device".to_owned(),
            devices => format!("{devices} devices, {deployment}"),
        };
        text.say(&format!("Device  {}: {}; {spread}", device.name(), device.title()));
        text.more(&device_figures(device));
    }

    fn say_load(&self, text: &mut Text) {
        let load = self.load;
        let cached = match load.cached_tokens.get() {
            0 => String::new(),
            cached => format!(" ({cached} cached)"),
        };
        let (running, asked) = (self.answer.running_batch, load.concurrency.get());
        let running = match running < asked as f64 {
            true => format!("; {} of them run, the others wait for room", number(running)),
            false => String::new(),
        };
        text.say(&format!(
            "Load    {} tokens in{cached}, {} out, {asked} at once{running}",
            load.input_tokens.get(),
            load.output_tokens.get()
        ));
    }

    /// What lies where on each device.
    fn memory(&self) -> Grid {
        let system = self.system;
        let deployment = system.deployment();
        let groups = f64::from(deployment.attention_groups()) * f64::from(deployment.replicas());
        let context =
            self.load.input_tokens.get() as f64 + self.load.output_tokens.get() as f64 / 2.0;
        let each = system.cache_bytes_per_device(context).get();
        let local = self.answer.running_batch / groups;
        let weights = system.weight_bytes_per_device().get();
        let whole = system.device().memory().get();
        let kept = whole * (1.0 - system.serving().memory_share) + system.serving().reserve.get();
        let free = whole - weights - local * each - kept;
        let mut grid = Grid::new(&["Memory of a device, GB", "", "", ""]);
        let mut row = |name: &str, bytes: f64, note: String| {
            grid.row([name.to_owned(), gb(bytes), percent(bytes / whole), note]);
        };
        row("weights", weights, String::new());
        row("cache", local * each, format!("{} sequences, {} each", number(local), bytes(each)));
        row("free", free, format!("room for {} at once in all", number(self.answer.max_batch)));
        row("kept back", kept, String::new());
        grid.with_notes()
    }

    /// The figures, each way of reckoning in a column of its own.
    fn figures(&self) -> Grid {
        let ways = [("bound", &self.answer.bound), ("expected", &self.answer.expected)];
        let heads: Vec<&str> = std::iter::once("").chain(ways.map(|way| way.0)).collect();
        let mut grid = Grid::new(&heads);
        let devices = self.system.deployment().devices() as f64;
        let mut add = |name: &str, of: &dyn Fn(&Figures) -> f64| {
            grid.row(row(name, ways.iter().map(|way| of(way.1))));
        };
        add("TTFT, ms", &|figures| figures.ttft.get() * 1e3);
        add("TPOT, ms", &|figures| figures.tpot.get() * 1e3);
        add("E2EL, ms", &|figures| figures.e2el.get() * 1e3);
        add("output tokens/s for a user", &|figures| 1.0 / figures.tpot.get());
        add("output tokens/s", &|figures| figures.output_tokens_per_s.get());
        add("output tokens/s of a device", &|figures| figures.output_tokens_per_s.get() / devices);
        add("requests/s", &|figures| figures.requests_per_s.get());
        grid
    }

    /// What the two kinds of passes take, resource by resource.
    fn parts(&self) -> Grid {
        let input = self.load.input_tokens.get() as f64;
        let prompt = Pass::prefill(input, self.load.cached_tokens.get() as f64);
        let system = self.system;
        let decode = system.expected_decode(self.load, self.answer.running_batch);
        let passes = [system.bound_pass(&prompt), system.expected_pass(&prompt), decode];
        let mut grid = Grid::new(&["ms", "prefill bound", "expected", "decode step expected"]);
        let parts: [(&str, fn(&PassTime) -> f64); 8] = [
            ("whole", |pass| pass.total.get()),
            ("  memory: weights", |pass| pass.weights.get()),
            ("  memory: cache", |pass| pass.cache.get()),
            ("  memory: activations", |pass| pass.activations.get()),
            ("  arithmetic: matrices", |pass| pass.matrices.get()),
            ("  arithmetic: attention", |pass| pass.attention.get()),
            ("  links: bytes", |pass| pass.link.get()),
            ("  links: hops", |pass| pass.hops.get()),
        ];
        for (name, part) in parts {
            let values = passes.iter().map(|pass| part(pass) * 1e3);
            if values.clone().any(|value| value > 0.0) {
                grid.row(row(name, values));
            }
        }
        grid
    }

    fn say_limits(&self, text: &mut Text) {
        let Answer { prefill, decode, .. } = self.answer;
        text.say(&format!("Limited by: {prefill} in prefill, {decode} in decode"));
    }

    fn say_warnings(&self, text: &mut Text) {
        for warning in self.answer.warnings.iter().chain(self.notes) {
            text.say(&format!("warning: {warning}"));
        }
    }
}

/// The bytes of a class, by name; none for what is too small to matter.
fn class(tensors: &Tensors) -> Option<String> {
    let size = tensors.bytes().get();
    (size >= 5e6).then(|| format!("{} {} {}", tensors.class, bytes(size), tensors.format))
}

fn device_figures(device: &Device) -> String {
    let rates = MathType::ALL.iter().filter_map(|math| {
        let rate = device.dense_rate(*math)?;
        Some(format!("{} {}", math.name(), per_second(rate.get(), "FLOP/s")))
    });
    let rates: Vec<String> = rates.collect();
    let mut text = format!(
        "{}, {}; {}",
        bytes(device.memory().get()),
        per_second(device.memory_bandwidth().get(), "B/s"),
        rates.join(", ")
    );
    if let Some(link) = device.link() {
        let rate = per_second(link.bandwidth.get(), "B/s");
        text.push_str(&format!("; {} {rate} each way", link.topology.name()));
    }
    text
}

fn gb(bytes: f64) -> String {
    format!("{:.2}", bytes / 1e9)
}

/// Lines as they come together.
struct Text {
    lines: Vec<String>,
    width: usize,
}

impl Text {
    fn say(&mut self, sentence: &str) {
        self.lines.push(wrap(&plain(sentence), self.width));
    }

    /// A line that belongs to the one above.
    fn more(&mut self, sentence: &str) {
        self.lines.push(wrap(&format!("        {}", plain(sentence)), self.width));
    }

    fn table(&mut self, grid: Grid) {
        self.lines.push(String::new());
        self.lines.extend(grid.lines());
    }
}
