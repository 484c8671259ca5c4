//! What stands at each layer: which mixer, which feed-forward block.

use serde_json::Value;

use super::super::ModelConfigError;
use super::super::fields::{ConfigFields, LAYERS, RANK, shown};
use super::{Config, experts};

/// What mixes tokens in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MixerKind {
    Full,
    Window,
    Latent,
    DeltaNet,
    Mamba,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedKind {
    Dense,
    Experts,
    None,
}

/// One layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayerPlace {
    pub(super) mixer: MixerKind,
    /// Its keys and values are those of an earlier layer.
    pub(super) shares_keys: bool,
    pub(super) feed: FeedKind,
    /// The tokens that it attends to are those that an earlier layer's indexer chose.
    pub(super) shares_choice: bool,
}

impl LayerPlace {
    const fn new(mixer: MixerKind, feed: FeedKind) -> Self {
        Self { mixer, shares_keys: false, feed, shares_choice: false }
    }

    /// Whether later tokens read what it keeps of earlier ones: keys and values of its own, or a state.
    pub(super) fn writes(self) -> bool {
        self.mixer != MixerKind::None && !self.shares_keys
    }
}

impl Config<'_> {
    /// Every layer, in order.
    pub(super) fn layout(&self) -> Result<Vec<LayerPlace>, ModelConfigError> {
        if self.family.single_blocks {
            return self.single_blocks();
        }
        let mixers = self.mixers()?;
        let feeds = experts::feeds(self)?;
        let mut places: Vec<LayerPlace> = mixers
            .into_iter()
            .zip(feeds)
            .map(|(mixer, feed)| LayerPlace::new(mixer, feed))
            .collect();
        let sharing = self.fields.nonzero("num_kv_shared_layers", LAYERS)?.unwrap_or(0);
        let owning = self.layers.saturating_sub(sharing);
        // Hunyuan: of each so many layers in a row, the first has keys of its own.
        let across = match self.fields.flag("use_cla")? {
            Some(true) => self.fields.nonzero("cla_share_factor", LAYERS)?.unwrap_or(2),
            _ => 1,
        };
        let choosers = self.choosers()?;
        for (place, index) in places.iter_mut().zip(0..) {
            place.shares_keys = index >= owning || !index.is_multiple_of(across);
            place.shares_choice = !choosers.has(index);
        }
        Ok(places)
    }

    /// Layers of one block each, by letters (`M*-E`) or by names.
    fn single_blocks(&self) -> Result<Vec<LayerPlace>, ModelConfigError> {
        let field = "hybrid_override_pattern";
        if let Some(pattern) = self.fields.text(field) {
            let letters: Vec<char> = pattern.chars().collect();
            self.same_length(field, letters.len() as u64)?;
            return letters.into_iter().map(|letter| self.block(field, letter)).collect();
        }
        let named = |field| Some((field, self.fields.list(field)?));
        let found = named("layers_block_type").or_else(|| named("layer_types"));
        let Some((field, names)) = found else {
            let expected =
                "a letter for each layer: M (Mamba), * (attention), - (dense), E (experts)";
            return Err(ModelConfigError::Missing { field: "hybrid_override_pattern", expected });
        };
        self.same_length(field, names.len() as u64)?;
        let letter = |name: &Value| match name.as_str() {
            // Some exports call it by what it is one kind of.
            Some("mamba" | "mamba2" | "linear_attention") => 'M',
            Some("attention" | "full_attention") => '*',
            Some("mlp") => '-',
            Some("moe") => 'E',
            _ => '?',
        };
        names.iter().map(|name| self.block(field, letter(name))).collect()
    }

    fn block(&self, field: &'static str, letter: char) -> Result<LayerPlace, ModelConfigError> {
        match letter {
            'M' => Ok(LayerPlace::new(MixerKind::Mamba, FeedKind::None)),
            '*' => Ok(LayerPlace::new(MixerKind::Full, FeedKind::None)),
            '-' => Ok(LayerPlace::new(MixerKind::None, FeedKind::Dense)),
            'E' => Ok(LayerPlace::new(MixerKind::None, FeedKind::Experts)),
            _ => Err(ModelConfigError::Unsupported {
                field,
                found: self.fields.get(field).map_or_else(String::new, shown),
                reason: "only Mamba, attention, dense and expert layers are known",
            }),
        }
    }

    fn mixers(&self) -> Result<Vec<MixerKind>, ModelConfigError> {
        // MiniMax: 1 is softmax attention, 0 lightning attention.
        if let Some(types) = self.fields.list("attn_type_list")
            && types.iter().any(|value| value.as_u64() != Some(1))
        {
            return Err(ModelConfigError::Unsupported {
                field: "attn_type_list",
                found: self.fields.get("attn_type_list").map_or_else(String::new, shown),
                reason: "only layers of type 1 (softmax attention) are known",
            });
        }
        let kinds = match self.stated_mixers()? {
            Some(kinds) => kinds,
            None => self.patterned_mixers()?,
        };
        if self.fields.nonzero("kv_lora_rank", RANK)?.is_none() {
            return Ok(kinds);
        }
        let latent = |kind| if kind == MixerKind::Full { MixerKind::Latent } else { kind };
        Ok(kinds.into_iter().map(latent).collect())
    }

    /// The kinds that a list in the config gives layer by layer.
    fn stated_mixers(&self) -> Result<Option<Vec<MixerKind>>, ModelConfigError> {
        for field in ["layer_types", "layers_block_type"] {
            if let Some(names) = self.fields.list(field) {
                self.long_enough(field, names.len() as u64)?;
                let names = names.iter().take(self.layers as usize);
                return names.map(|name| mixer(field, name)).collect::<Result<_, _>>().map(Some);
            }
        }
        let field = "hybrid_layer_pattern";
        if let Some(windows) = self.fields.list(field) {
            self.long_enough(field, windows.len() as u64)?;
            let kind = |value: &Value| match value.as_u64() {
                Some(1) => MixerKind::Window,
                _ => MixerKind::Full,
            };
            return Ok(Some(windows.iter().take(self.layers as usize).map(kind).collect()));
        }
        if let Some(Value::Object(own)) = self.fields.get("linear_attn_config")
            && let Some(full) = ConfigFields(own).list("full_attn_layers")
        {
            // Counted from 1.
            let attends = |layer: u64| full.iter().any(|index| index.as_u64() == Some(layer + 1));
            let kind = |layer| if attends(layer) { MixerKind::Full } else { MixerKind::DeltaNet };
            return Ok(Some((0..self.layers).map(kind).collect()));
        }
        if let Some(attending) = self.fields.list("attn_layer_indices") {
            let attends = |layer: u64| attending.iter().any(|index| index.as_u64() == Some(layer));
            let kind = |layer| if attends(layer) { MixerKind::Full } else { MixerKind::Mamba };
            return Ok(Some((0..self.layers).map(kind).collect()));
        }
        Ok(None)
    }

    /// The kinds that follow from how often something comes.
    fn patterned_mixers(&self) -> Result<Vec<MixerKind>, ModelConfigError> {
        let every = |n: u64, other: MixerKind| {
            let kind = move |layer: u64| {
                if (layer + 1).is_multiple_of(n) { MixerKind::Full } else { other }
            };
            (0..self.layers).map(kind).collect()
        };
        if let Some(interval) = self.fields.nonzero("full_attention_interval", LAYERS)? {
            return Ok(every(interval, MixerKind::DeltaNet));
        }
        if self.window()?.is_none() || !self.flag(self.family.windows)? {
            return Ok(every(1, MixerKind::Full));
        }
        if let Some(roped) = self.fields.list("no_rope_layers").filter(|list| !list.is_empty())
            && self.fields.get("attention_chunk_size").is_some()
        {
            self.long_enough("no_rope_layers", roped.len() as u64)?;
            let kind = |value: &Value| match value.as_u64() {
                Some(0) => MixerKind::Full,
                _ => MixerKind::Window,
            };
            return Ok(roped.iter().take(self.layers as usize).map(kind).collect());
        }
        if let Some(pattern) = self.fields.text("sliding_window_pattern") {
            // One letter a layer, repeated: L looks back locally.
            let letters = pattern.chars().cycle().take(self.layers as usize);
            let kind = |letter| if letter == 'L' { MixerKind::Window } else { MixerKind::Full };
            let kinds: Vec<MixerKind> = letters.map(kind).collect();
            return Ok(if kinds.is_empty() { every(1, MixerKind::Full) } else { kinds });
        }
        if let Some(n) = self.full_every()? {
            return Ok(every(n, MixerKind::Window));
        }
        // Qwen: the first layers see everything, the rest a window.
        let first = match self.fields.get("use_sliding_window") {
            Some(_) => self.fields.nonzero("max_window_layers", LAYERS)?.unwrap_or(0),
            None => 0,
        };
        let kind = |layer| if layer < first { MixerKind::Full } else { MixerKind::Window };
        Ok((0..self.layers).map(kind).collect())
    }

    fn full_every(&self) -> Result<Option<u64>, ModelConfigError> {
        if let Some(n) = self.fields.nonzero("sliding_window_pattern", LAYERS)? {
            return Ok(Some(n));
        }
        if self.fields.get("attention_chunk_size").is_some() {
            return Ok(Some(self.fields.nonzero("no_rope_layer_interval", LAYERS)?.unwrap_or(4)));
        }
        Ok(self.family.full_every)
    }

    /// A list with an entry for each layer; MTP modules may have further ones.
    pub(super) fn long_enough(
        &self,
        field: &'static str,
        length: u64,
    ) -> Result<(), ModelConfigError> {
        if length >= self.layers { Ok(()) } else { Err(self.wrong_length(field, length)) }
    }

    fn same_length(&self, field: &'static str, length: u64) -> Result<(), ModelConfigError> {
        if length == self.layers { Ok(()) } else { Err(self.wrong_length(field, length)) }
    }

    const fn wrong_length(&self, field: &'static str, length: u64) -> ModelConfigError {
        ModelConfigError::Contradiction {
            field,
            value: length,
            other: "num_hidden_layers",
            other_value: self.layers,
            rule: "the first (its length) must have an entry for each layer",
        }
    }
}

fn mixer(field: &'static str, name: &Value) -> Result<MixerKind, ModelConfigError> {
    match name.as_str() {
        Some("full_attention" | "attention" | "global" | "global_attention") => Ok(MixerKind::Full),
        Some("sliding_attention" | "sliding_window" | "chunked_attention" | "local") => {
            Ok(MixerKind::Window)
        }
        Some("linear_attention") => Ok(MixerKind::DeltaNet),
        Some("mamba" | "mamba2") => Ok(MixerKind::Mamba),
        _ => Err(ModelConfigError::Unsupported {
            field,
            found: shown(name),
            reason: "known layers are full, sliding, chunked or linear attention and Mamba",
        }),
    }
}
