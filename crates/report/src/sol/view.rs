//! An answer for a person: what it is of, what fits, how fast it can be, and what limits it.

use fizeau_roofline::{Device, MathType, PassPhase, Tensors};

use super::quantity::{bytes, count, per_second};
use super::{SolExtra, SolScope, SolView, tables};
use crate::Shown;
use crate::text::{Verbosity, plain};
use fizeau_record::text::number;
use fizeau_record::text::wrap;

/// The most columns that a sentence takes.
const SENTENCE: usize = 80;

impl SolView<'_> {
    /// The answer; in full also the schedules, where the time of each pass goes, and what better resources would gain.
    /// Tables are at most 80 columns wide; sentences are broken at `width` or 80 columns, whichever is less. Without a newline
    /// at the end.
    #[must_use]
    pub fn text(&self, width: usize, verbosity: Verbosity) -> String {
        let is_full = verbosity == Verbosity::Full;
        let mut text = Text { lines: Vec::new(), width: width.min(SENTENCE) };
        self.say_model(&mut text);
        self.say_device(&mut text);
        self.say_load(&mut text);
        text.table(tables::memory(self));
        text.table(tables::figures(self));
        if let Some(unread) = self.system.model().unread_in_words() {
            text.say(
                "As read",
                &format!(
                    "These figures are of the model as its config was read, which was not understood whole ({unread}): to be \
                     faster than this bound is not impossible."
                ),
            );
        }
        if is_full && self.scope == SolScope::Requests {
            text.table(tables::schedules(self));
        }
        if let Some(calibrated) = self.calibrated.and_then(|calibrated| Shown(&calibrated).table())
        {
            text.table(calibrated);
        }
        if is_full {
            self.say_passes(&mut text);
        }
        for aside in self.asides {
            text.aside(&aside.lines());
        }
        text.blank();
        self.say_limits(&mut text);
        if let Some(refusal) = self.calibrated.and_then(|calibrated| Shown(&calibrated).refusal()) {
            text.say("Calibrated", &refusal);
        }
        for warning in self.answer.warnings.iter().chain(self.notes) {
            text.say("Warning", warning);
        }
        text.lines.join("\n")
    }

    /// Where the time of each pass goes, and what better resources would gain.
    fn say_passes(&self, text: &mut Text) {
        if self.scope == SolScope::Requests {
            text.table(tables::operator_rows(self, PassPhase::Prefill));
        }
        if self.decodes() {
            text.table(tables::operator_rows(self, PassPhase::Decode));
        }
        let gains = self.gains();
        if !gains.is_empty() {
            text.table(tables::gains(&gains, self));
        }
    }

    fn say_model(&self, text: &mut Text) {
        let model = self.system.model();
        let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
        let parameters = &self.answer.parameters;
        text.say("Model", &format!("{}: {}, {layers} layers", self.name, model.architecture));
        let active = match parameters.active == parameters.total {
            true => String::new(),
            false => format!("{} active, ", count(parameters.active)),
        };
        text.say(
            "",
            &format!(
                "{} parameters, {active}{} read for a token",
                count(parameters.total),
                count(parameters.streamed)
            ),
        );
        let classes: Vec<String> = model.tensors().iter().filter_map(class).collect();
        let whole = bytes(self.answer.weight_bytes.get());
        text.say("", &format!("{whole} of weights: {}", classes.join(", ")));
        let context = (self.load.input_tokens + self.load.output_tokens).get();
        text.say(
            "",
            &format!(
                "cache: {} a token in {}, {} for a sequence of {context}",
                bytes(self.answer.kv_bytes_per_token.get()),
                model.kv_cache(),
                bytes(model.cache_bytes(context as f64).get()),
            ),
        );
    }

    fn say_device(&self, text: &mut Text) {
        let device = self.system.device();
        let deployment = self.system.deployment();
        let spread = match deployment.devices() {
            1 => "1".to_owned(),
            devices => format!("{devices} ({deployment})"),
        };
        text.say("Devices", &format!("{spread} x {}: {}", device.name, device.title));
        let each = if deployment.devices() > 1 { "each " } else { "" };
        text.say("", &format!("{each}{}", device_figures(device)));
    }

    fn say_load(&self, text: &mut Text) {
        let load = self.load;
        let running = self.answer.running_batch;
        if self.scope == SolScope::Step {
            let context = load.input_tokens.get() + 1;
            let sequences = tables::sequences(running);
            text.say("Load", &format!("a step of {sequences} at a context of {context}"));
            return;
        }
        let cached = match load.cached_tokens.get() {
            0 => String::new(),
            cached => format!(" ({cached} cached)"),
        };
        let requested = load.concurrency.get();
        let at_once = match running < requested as f64 {
            true => format!("{requested} in flight, {} running on average", number(running)),
            false => format!("{requested} at once"),
        };
        let (input, output) = (load.input_tokens.get(), load.output_tokens.get());
        text.say("Load", &format!("{input} tokens in{cached}, {output} out; {at_once}"));
    }

    fn say_limits(&self, text: &mut Text) {
        let limits = self.answer.limited_by;
        let (system, load) = (self.system, self.load);
        let prompt = tables::shares(&system.expected_pass(&system.prefill_pass(load)));
        let prefill = format!("expected: prefill by {} ({prompt})", limits.prefill);
        if !self.decodes() {
            return text.say("Limits", &prefill);
        }
        let step = tables::shares(&system.expected_decode(load, self.answer.running_batch));
        let load_at = load.input_tokens.get() as f64 + load.output_tokens.get() as f64 / 2.0;
        let decode = match system.crossover(load_at) {
            Some(batch) => format!(
                "; above {batch:.0} sequences a micro-batch, the bound spends more time on \
                 arithmetic than on memory"
            ),
            None => String::new(),
        };
        let decode = format!("decode by {} ({step}){decode}", limits.decode);
        match self.scope {
            SolScope::Requests => text.say("Limits", &format!("{prefill}; {decode}")),
            SolScope::Step => text.say("Limits", &format!("expected: {decode}")),
        }
    }
}

impl SolExtra {
    /// The table by itself, where there is no answer to stand beside, and why there is none. Broken as [`SolView::text`] is.
    #[must_use]
    pub fn text_without_answer(&self, why: &str, width: usize) -> String {
        let mut text = Text { lines: self.lines(), width: width.min(SENTENCE) };
        text.lines.iter_mut().for_each(|line| *line = wrap_wide(&plain(line), text.width));
        text.blank();
        text.say("Warning", why);
        text.lines.join("\n")
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
    // Data sheets call 80 GiB `80 GB`.
    let gib = device.memory().get() / f64::from(1 << 30);
    let sheet = if gib.fract() == 0.0 { format!(" ({gib} GiB)") } else { String::new() };
    let mut text = format!(
        "{}{sheet}, {}; dense peaks {}",
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

/// Lines as they come together.
struct Text {
    lines: Vec<String>,
    width: usize,
}

/// Columns of a label and the space behind it.
const LABEL: usize = 12;

impl Text {
    /// A sentence behind a label, or below the one before.
    fn say(&mut self, label: &str, sentence: &str) {
        let wrapped = wrap(&plain(sentence), self.width.saturating_sub(LABEL));
        for (line, label) in
            wrapped.lines().zip(std::iter::once(label).chain(std::iter::repeat("")))
        {
            self.lines.push(format!("{label:<LABEL$}{line}"));
        }
    }

    /// A table whose words may be long.
    fn aside(&mut self, lines: &[String]) {
        self.blank();
        self.lines.extend(lines.iter().map(|line| wrap_wide(&plain(line), self.width)));
    }

    fn blank(&mut self) {
        self.lines.push(String::new());
    }

    fn table(&mut self, lines: Vec<String>) {
        self.blank();
        self.lines.extend(lines);
    }
}

/// `line` as it is where it fits, so that its columns stay.
fn wrap_wide(line: &str, width: usize) -> String {
    if line.chars().count() <= width { line.to_owned() } else { wrap(line, width) }
}
