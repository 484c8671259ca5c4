//! A model as a person reads it.

use std::fmt::Write as _;

use fizeau_record::text::wrap_hanging;
use fizeau_roofline::{
    Attention, AttentionKeys, FeedForward, Layers, Mixer, Model, ModelSheet as Sheet,
};

use crate::Shown;

impl Shown<'_, Vec<Sheet>> {
    /// A table with a line for each, 80 columns wide.
    #[must_use]
    pub fn text(&self) -> String {
        table(self)
    }
}

impl Shown<'_, Sheet> {
    /// What was understood of a config: the sheet's figures, and the layers of `model`, of which it is.
    ///
    /// ```
    /// use fizeau_report::Shown;
    /// use fizeau_roofline::{KnownModel, ModelSheet};
    ///
    /// let known = KnownModel::named("llama-3.1-8b")?;
    /// let model = known.model()?;
    /// let sheet = ModelSheet::of(known.name, Some(known), &model);
    /// assert!(Shown(&sheet).text(&model).contains("32 layers: 32 heads of size 128, 8 key-value heads"));
    /// assert!(Shown(&vec![sheet]).text().contains("8.03 B"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text(&self, model: &Model) -> String {
        sheet(self, model)
    }
}

/// All of them, a line each.
fn table(sheets: &[Sheet]) -> String {
    let mut text = format!(
        "{:<23} {:>6} {:>7} {:>7} {:>8} {:>8}  {}\n",
        "model", "layers", "total", "active", "streamed", "KV/token", "kind"
    );
    for sheet in sheets {
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{:<23} {:>6} {:>7} {:>7} {:>8} {:>8}  {}",
            sheet.name,
            sheet.layers,
            count(sheet.params.total),
            count(sheet.params.active),
            count(sheet.params.streamed),
            bytes(sheet.kv_bytes_per_token),
            sheet.kind,
        );
    }
    text.push_str(
        "\nParameters: all of them, those that one token uses, and those that a decode\n    step of one sequence reads.\nKV/token: of the layers that keep the whole context;\n    windows and \
         states come on top.\n",
    );
    text
}

/// One model.
fn sheet(sheet: &Sheet, model: &Model) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}, {}", sheet.name, sheet.architecture, sheet.kind);
    if let Some(repository) = sheet.repository {
        let _ = writeln!(text, "config of {repository}");
    }
    let context = sheet.max_context.map_or_else(|| "not given".to_owned(), |most| most.to_string());
    let _ = writeln!(
        text,
        "hidden size {}, vocabulary {}, longest context {context}\n",
        sheet.hidden, sheet.vocabulary
    );
    for layers in &model.layers {
        let plural = if layers.count == 1 { "" } else { "s" };
        let line = format!("{:>4} layer{plural}: {}", layers.count, one_layer(layers));
        let _ = writeln!(text, "{}", wrap_hanging(&line, WIDTH, "        "));
    }
    let params = &sheet.params;
    let _ = writeln!(
        text,
        "\nparameters: {}; {} active per token; {} read per decode step",
        count(params.total),
        count(params.active),
        count(params.streamed)
    );
    if params.draft > 0 {
        let _ = writeln!(text, "modules for further tokens (MTP) apart: {}", count(params.draft));
    }
    tensors(&mut text, sheet);
    cache(&mut text, sheet);
    for warning in &sheet.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

fn tensors(text: &mut String, sheet: &Sheet) {
    let _ = writeln!(
        text,
        "\n{:<15} {:<11} {:>9} {:>9} {:>10}",
        "tensors", "format", "stored", "read", "bytes"
    );
    for tensors in &sheet.tensors {
        let _ = writeln!(
            text,
            "{:<15} {:<11} {:>9} {:>9} {:>10}",
            tensors.class.replace('_', " "),
            tensors.format,
            count(tensors.stored),
            count(tensors.streamed),
            bytes(tensors.bytes)
        );
    }
    let params = &sheet.params;
    let _ = writeln!(
        text,
        "{:<27} {:>9} {:>9} {:>10}\n{:<47} {:>10}",
        "all",
        count(params.total),
        count(params.streamed),
        bytes(sheet.weight_bytes),
        "read by a decode step alone",
        bytes(sheet.streamed_weight_bytes)
    );
}

fn cache(text: &mut String, sheet: &Sheet) {
    let kept = match sheet.cache_limit {
        Some(limit) => format!("within windows or states, {} at most", bytes(limit)),
        None => format!("{} for each token of the whole context", bytes(sheet.kv_bytes_per_token)),
    };
    let _ = writeln!(text, "\ncache in {}: {kept}", sheet.kv_cache);
    for kept in &sheet.cache {
        let _ = writeln!(text, "{:>9} tokens {:>10}", kept.context, bytes(kept.bytes));
    }
}

/// The columns of a terminal.
const WIDTH: usize = 80;

/// `64 heads of size 64, 8 key-value heads, window 128; 4 of 128 experts 2880 wide`.
fn one_layer(layers: &Layers) -> String {
    let mixer = match &layers.mixer {
        Mixer::Attention(attention) => Some(softmax(attention)),
        Mixer::Latent(latent) => {
            let picked = latent.indexer.as_ref().map(|index| format!(", picks {}", index.top_k));
            Some(format!(
                "latent {}+{}, {} heads{}",
                latent.kv_rank,
                latent.rope_dim,
                latent.heads,
                picked.unwrap_or_default()
            ))
        }
        Mixer::DeltaNet(layer) => Some(format!(
            "DeltaNet, {} heads, state {}x{}",
            layer.value_heads, layer.key_dim, layer.value_dim
        )),
        Mixer::Mamba2(layer) => Some(format!(
            "Mamba-2, {} heads, state {}x{}",
            layer.heads, layer.head_dim, layer.state
        )),
        _ => None,
    };
    let feed_forward = match &layers.feed_forward {
        FeedForward::Dense(dense) => Some(format!("dense {} wide", dense.width)),
        FeedForward::Experts(experts) => {
            let shared = experts.shared.as_ref().map(|dense| format!(", shared {}", dense.width));
            Some(format!(
                "{} of {} experts {} wide{}",
                experts.per_token,
                experts.count,
                experts.each.width,
                shared.unwrap_or_default()
            ))
        }
        _ => None,
    };
    [mixer, feed_forward].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn softmax(attention: &Attention) -> String {
    let Attention { heads, kv_heads, key_dim, value_dim, .. } = attention;
    let dims =
        if key_dim == value_dim { key_dim.to_string() } else { format!("{key_dim}/{value_dim}") };
    let reach = if attention.chunked { "chunks of" } else { "window" };
    let window = attention.window.map_or_else(String::new, |window| format!(", {reach} {window}"));
    let keys = match attention.keys {
        AttentionKeys::Shared => ", keys of an earlier layer",
        AttentionKeys::AreValues => ", one projection for keys and values",
        _ => "",
    };
    format!("{heads} heads of size {dims}, {kv_heads} key-value heads{window}{keys}")
}

/// A number of parameters to three or four digits: `8.03 B`.
fn count(count: u64) -> String {
    scaled(count as f64, &[(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")])
}

/// Bytes in decimal units.
fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    match units.iter().find(|(unit, _)| number >= *unit) {
        Some((unit, name)) => {
            let short = number / unit;
            let digits = if short < 10.0 { 2 } else { usize::from(short < 100.0) };
            format!("{short:.digits$} {name}")
        }
        None => format!("{number}"),
    }
}
