//! How a checkpoint's tensors are stored: `dtype`, `quantization_config` and their kin.
//!
//! Checkpoints say which modules are quantised in half a dozen dialects, one a quantiser. Each is read into the same
//! table: a format for each matrix of each layer. What a dialect says and this module does not understand is a
//! warning, or an error where nothing sensible would be left.

mod compressed;
mod harmless;
mod methods;
mod mlx;
mod modelopt;
mod modules;
mod overrides;
mod pattern;
mod quark;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::modules::{Depth, Lookups, MatchedModule};
use self::sizes::ClassSizes;
use super::super::fields::{ConfigFields, LAYERS, shown};
use super::super::parts::{MatrixPart, SLOTS};
use super::super::{ModelConfigError, TensorClass};
use super::drafts;
use super::remarks::Remarks;
use crate::{FileType, Format};

/// The classes whose matrices are the linear layers of a decoder layer: what quantisers take unless told otherwise.
/// Routers are small and decide much, so that all of them leave those alone.
pub(in super::super) const LINEAR: [TensorClass; 6] = [
    TensorClass::Attention,
    TensorClass::Indexer,
    TensorClass::Recurrent,
    TensorClass::Dense,
    TensorClass::Experts,
    TensorClass::SharedExperts,
];

/// How each tensor of a checkpoint is stored.
#[derive(Debug, Clone)]
pub(super) struct Quantization {
    /// What is not quantised.
    base: Format,
    depth: Depth,
    /// A format for each slot, layer by layer, those of the MTP modules last. Tables are in all rows alike.
    rows: Vec<[Format; SLOTS.len()]>,
    sizes: ClassSizes,
    lookups: Lookups,
    remarks: Remarks,
    kv_cache: Option<Format>,
    state_cache: Option<Format>,
}

/// The field that most configs say it in.
pub(super) const FIELD: &str = "quantization_config";

/// What the config says of it, by whichever name; none of a checkpoint that is not quantised.
pub(super) fn block<'a>(fields: ConfigFields<'a>) -> Option<&'a Value> {
    [FIELD, "compression_config", "quantization"].into_iter().find_map(|name| fields.get(name))
}

/// Reads how the tensors of a model are stored.
pub(super) fn read(fields: ConfigFields<'_>) -> Result<Quantization, ModelConfigError> {
    let quantization = block(fields);
    let mut all = Quantization::plain(fields)?;
    all.check_dtype(fields, quantization.is_some())?;
    let state = fields.get("mamba_ssm_cache_dtype").or_else(|| fields.get("mamba_ssm_dtype"));
    all.state_cache = state_cache(state)?;
    match quantization {
        None => {}
        Some(Value::Object(quantization)) => methods::apply(&mut all, ConfigFields(quantization))?,
        Some(other) => {
            return Err(ModelConfigError::Invalid {
                field: "quantization_config",
                found: shown(other),
                expected: "an object with a `quant_method`, or absent",
            });
        }
    }
    if let Some(value) = fields.get("expert_dtype") {
        all.read_expert_dtype(value)?;
    }
    Ok(all)
}

/// Everything at 16 bits, for the dimensions of the language model.
impl Quantization {
    fn plain(fields: ConfigFields<'_>) -> Result<Self, ModelConfigError> {
        let depth = Depth {
            layers: fields.optional_count("num_hidden_layers", LAYERS)?.unwrap_or(1),
            drafts: fields.any(&drafts::COUNT, LAYERS)?.unwrap_or(0),
            in_attention: fields.get("linear_attn_config").is_some(),
        };
        let base = Format::Bf16;
        Ok(Self {
            base,
            depth,
            rows: vec![[base; SLOTS.len()]; usize::try_from(depth.rows()).unwrap_or(1)],
            sizes: ClassSizes::read(fields),
            lookups: Lookups::new(),
            remarks: Remarks::default(),
            kv_cache: None,
            state_cache: None,
        })
    }

    /// How the tensors of `class` are stored in layer `layer`, counted from 0, the MTP modules after the last. Where
    /// the matrices of a class differ, the blend of them. For the tables any layer will do.
    pub(super) fn format_of(&self, class: TensorClass, layer: u64) -> Format {
        let row = usize::try_from(layer).ok().and_then(|layer| self.rows.get(layer));
        let Some(row) = row.or_else(|| self.rows.last()) else {
            return self.base;
        };
        self.sizes.of(class).blend(|part| self.format_in(row, class, part))
    }

    /// How the projections around experts of a narrower width are stored in layer `layer`.
    pub(super) fn latent_projections(&self, layer: u64) -> Format {
        let row = usize::try_from(layer).ok().and_then(|layer| self.rows.get(layer));
        let Some(row) = row.or_else(|| self.rows.last()) else {
            return self.base;
        };
        let parts = [MatrixPart::ToLatent, MatrixPart::FromLatent];
        let each = parts.map(|part| (self.format_in(row, TensorClass::Dense, part), 1.0));
        Format::blend(&each)
    }

    fn format_in(&self, row: &[Format], class: TensorClass, part: MatrixPart) -> Format {
        let slots = SLOTS.iter().zip(row);
        let mut own = slots.filter(|(slot, _)| slot.class == class && slot.part == part);
        own.next().map_or(self.base, |(_, format)| *format)
    }

    /// Whether `block`, in a config of these `fields`, says the same of every matrix.
    pub(super) fn is_said_by(&self, fields: &Map<String, Value>, block: Value) -> bool {
        let mut fields = fields.clone();
        fields.insert(FIELD.to_owned(), block);
        read(ConfigFields(&fields)).is_ok_and(|other| other.rows == self.rows)
    }

    /// What is to be said of it, and what could matter and was not understood.
    pub(super) const fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// How the checkpoint asks its keys and values to be kept; none where it does not say.
    pub(super) const fn kv_cache(&self) -> Option<Format> {
        self.kv_cache
    }

    /// How the config asks for the states of recurrent layers to be kept; none where it does not say.
    pub(super) const fn state_cache(&self) -> Option<Format> {
        self.state_cache
    }

    /// Stores all matrices of these classes in `format`.
    fn set_classes(&mut self, classes: &[TensorClass], format: Format) {
        for row in &mut self.rows {
            for (slot, stored) in SLOTS.iter().zip(row) {
                if classes.contains(&slot.class) {
                    *stored = format;
                }
            }
        }
    }

    /// Stores what `pattern` names in `format`.
    fn set_pattern(&mut self, pattern: &str, format: Format) -> MatchedModule {
        let rows = &mut self.rows;
        let put = |row: &mut [Format; SLOTS.len()], class, part| {
            let slots = SLOTS.iter().zip(row);
            for (_, stored) in slots.filter(|(slot, _)| slot.class == class && slot.part == part) {
                *stored = format;
            }
        };
        modules::find(pattern, self.depth, &mut self.lookups, &mut |layer, class, part| match layer
        {
            None => rows.iter_mut().for_each(|row| put(row, class, part)),
            Some(layer) => {
                let row = usize::try_from(layer).ok().and_then(|layer| rows.get_mut(layer));
                row.into_iter().for_each(|row| put(row, class, part));
            }
        })
    }

    /// Leaves at 16 bits what the patterns in `field` name.
    fn keep(&mut self, patterns: &[&str], field: &str) {
        let base = self.base;
        self.set_patterns(patterns, base, field);
    }

    /// Stores what the patterns in `field` name in `format`. Experts that are listed one by one count once all are.
    fn set_patterns(&mut self, patterns: &[&str], format: Format, field: &str) {
        let (mut unknown, mut unreadable, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        let mut experts: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for pattern in patterns {
            if self.lookups.are_over() {
                unread.push((*pattern).to_owned());
            } else if let Some((all, number)) = modules::one_expert(pattern) {
                experts.entry(all).or_default().insert(number);
            } else {
                match self.set_pattern(pattern, format) {
                    MatchedModule::Parts | MatchedModule::NotCounted => {}
                    MatchedModule::Nothing => unknown.push((*pattern).to_owned()),
                    MatchedModule::Unreadable => unreadable.push((*pattern).to_owned()),
                }
            }
        }
        for (pattern, numbers) in experts {
            if self.lookups.are_over() {
                unread.push(pattern);
                continue;
            }
            let all = self.sizes.experts().is_some_and(|count| numbers.len() as u64 >= count);
            if !all || self.set_pattern(&pattern, format) == MatchedModule::Nothing {
                unknown.push(pattern);
            }
        }
        // What is kept wide and is not found is counted narrower than it is, which leaves a bound a bound.
        let doubted = format != self.base;
        self.remark_on(unknown, field, "which is no part of the model that is known here", doubted);
        self.remark_on(unreadable, field, "a pattern that cannot be read", doubted);
        self.remark_on(unread, field, "more than are looked up", doubted);
    }

    fn remark_on(&mut self, mut names: Vec<String>, field: &str, what: &str, doubted: bool) {
        if names.is_empty() {
            return;
        }
        // In an order of their own, so that the list's does not matter.
        names.sort_unstable();
        names.dedup();
        const SHOWN: usize = 3;
        let cut = |name: &String| format!("\"{}\"", name.chars().take(60).collect::<String>());
        let shown: Vec<String> = names.iter().take(SHOWN).map(cut).collect();
        let more = match names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text =
            format!("`{field}` names {}{more}, {what}; it changes nothing", shown.join(", "));
        if doubted {
            self.remarks.doubt(format!("`{field}`"), text);
        } else {
            self.remarks.say(text);
        }
    }

    /// Stores everything as llama.cpp does in a file of this type.
    fn set_file_type(&mut self, kind: FileType) {
        let shape = self.sizes.shape(self.depth.layers);
        for (layer, row) in (0..).zip(&mut self.rows) {
            for (slot, stored) in SLOTS.iter().zip(row) {
                if let Some(tensor) = slot.in_gguf() {
                    *stored = kind.format(tensor, layer, shape);
                }
            }
        }
    }

    /// Weights that are not quantised are in 16 bits. Wider ones are narrowed when an engine loads them.
    fn check_dtype(
        &mut self,
        fields: ConfigFields<'_>,
        quantized: bool,
    ) -> Result<(), ModelConfigError> {
        // The name changed over time; both are in use.
        let field = if fields.get("dtype").is_some() { "dtype" } else { "torch_dtype" };
        let Some(value) = fields.get(field) else {
            // Quantised checkpoints often leave it out.
            if !quantized {
                self.remarks
                    .say(format!("the config has no `{field}`: weights are counted as 16-bit"));
            }
            return Ok(());
        };
        match value.as_str().map(|name| name.trim_start_matches("torch.")) {
            Some("bfloat16" | "float16") => {}
            Some("float32") => self.remarks.say(format!(
                "`{field}` is \"float32\": counted as 16-bit, to which engines narrow it"
            )),
            _ => {
                let reason = "weights that are not quantised are expected in 16 or 32 bits";
                return Err(unsupported(field, value, reason));
            }
        }
        Ok(())
    }

    /// DeepSeek-V4 says beside its fp8 that experts are narrower.
    fn read_expert_dtype(&mut self, value: &Value) -> Result<(), ModelConfigError> {
        let format = match value.as_str() {
            // 4-bit values with an 8-bit scale for each 32, as the published inference code has them.
            Some("fp4" | "mxfp4") => Format::Mxfp4,
            Some("nvfp4") => Format::Nvfp4,
            // The experts are as all else.
            Some("fp8" | "bf16" | "bfloat16") => return Ok(()),
            _ => {
                let reason =
                    "the format of the experts is not known; known are \"fp4\" and \"fp8\"";
                return Err(unsupported("expert_dtype", value, reason));
            }
        };
        self.set_classes(&[TensorClass::Experts], format);
        Ok(())
    }
}

fn state_cache(value: Option<&Value>) -> Result<Option<Format>, ModelConfigError> {
    let Some(value) = value else {
        return Ok(None);
    };
    match value.as_str().map(|name| name.trim_start_matches("torch.")) {
        Some("float32") => Ok(Some(Format::F32)),
        Some("bfloat16" | "float16") => Ok(Some(Format::Bf16)),
        Some("auto") => Ok(None),
        _ => Err(ModelConfigError::Invalid {
            field: "mamba_ssm_cache_dtype",
            found: shown(value),
            expected: "\"float32\", \"bfloat16\" or \"float16\"",
        }),
    }
}

fn unsupported(field: &'static str, value: &Value, reason: &'static str) -> ModelConfigError {
    ModelConfigError::Unsupported { field, found: shown(value), reason }
}
