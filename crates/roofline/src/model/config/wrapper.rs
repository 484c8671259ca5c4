//! Configs that wrap a language model with others: vision, audio.

use serde_json::{Map, Value};

use super::remarks::Remarks;

/// Where the language model's own fields stand.
const NESTED: [&str; 4] = ["text_config", "llm_config", "language_config", "thinker_config"];

/// What holds for the whole is often written outside only.
const SHARED: [&str; 9] = [
    "architectures",
    "compression_config",
    "dtype",
    "expert_dtype",
    "model_type",
    "quantization",
    "quantization_config",
    "tie_word_embeddings",
    "torch_dtype",
];

/// Those of them that say how the checkpoint is quantised. What is written outside holds: within the part it may be left over from
/// the checkpoint that was quantised anew.
const QUANTIZATION: [&str; 3] = ["quantization_config", "compression_config", "quantization"];

/// Parts that turn other things into tokens, or tokens into them.
const OTHERS: [&str; 12] = [
    "audio_config",
    "audio_encoder_config",
    "code2wav_config",
    "code_predictor_config",
    "img_processor",
    "sound_config",
    "speech_config",
    "talker_config",
    "token2wav_config",
    "vision_config",
    "vision_tower_config",
    "vit_config",
];

/// Older names, and what the same thing is called today.
const RENAMED: [(&str, &str); 14] = [
    ("d_model", "hidden_size"),
    ("ffn_dim", "intermediate_size"),
    ("kv_channels", "head_dim"),
    ("kv_n_heads", "num_key_value_heads"),
    ("multi_query_group_num", "num_key_value_heads"),
    ("n_embd", "hidden_size"),
    ("n_head", "num_attention_heads"),
    ("n_heads", "num_attention_heads"),
    ("n_inner", "intermediate_size"),
    ("n_layer", "num_hidden_layers"),
    ("n_layers", "num_hidden_layers"),
    ("num_layers", "num_hidden_layers"),
    ("padded_vocab_size", "vocab_size"),
    ("ffn_hidden_size", "intermediate_size"),
];

/// Where DBRX keeps what belongs to a kind of block.
const BLOCKS: [&str; 2] = ["attn_config", "ffn_config"];

/// Gives fields with an older name today's, where that is free.
pub(super) fn rename(object: &mut Map<String, Value>) {
    for name in BLOCKS {
        if let Some(Value::Object(block)) = object.remove(name) {
            block.into_iter().for_each(|(name, value)| {
                object.entry(name).or_insert(value);
            });
        }
    }
    // -1 says that there is none.
    for name in ["sliding_window", "sliding_window_size"] {
        if object.get(name).and_then(Value::as_i64).is_some_and(i64::is_negative) {
            object.remove(name);
        }
    }
    for (old, new) in RENAMED {
        let taken = object.get(new).is_some_and(|value| !value.is_null());
        if !taken && let Some(value) = object.get(old).cloned() {
            object.insert(new.to_owned(), value);
        }
    }
}

/// The language model's part of a config.
pub(super) struct LanguagePart {
    pub(super) fields: Map<String, Value>,
    /// Where in the config it stands; none where it is all of it.
    pub(super) name: Option<&'static str>,
    /// What it says itself of quantisation where something else is said outside.
    pub(super) quantization: Option<Value>,
}

/// The fields of the language model, with a warning that names the parts which are left out.
pub(super) fn language_part(mut outer: Map<String, Value>, remarks: &mut Remarks) -> LanguagePart {
    for name in OTHERS {
        let present = outer.remove(name).is_some_and(|value| value.is_object());
        if present {
            remarks.say(format!("`{name}` is not counted: only the language model is"));
        }
    }
    let nested = NESTED.iter().find_map(|name| match outer.get(*name) {
        Some(Value::Object(inner)) if !inner.is_empty() => Some((*name, inner.clone())),
        _ => None,
    });
    let Some((name, mut inner)) = nested else {
        return LanguagePart { fields: outer, name: None, quantization: None };
    };
    outer.remove(name);
    let said =
        |of: &Map<String, Value>, name: &str| of.get(name).is_some_and(|value| !value.is_null());
    // What is said outside holds, by whichever of its names; what is said inside is kept to be compared with it.
    let mut own = None;
    if QUANTIZATION.iter().any(|name| said(&outer, name)) {
        for name in QUANTIZATION {
            let removed = inner.remove(name).filter(|value| !value.is_null());
            own = own.or(removed);
        }
    }
    for shared in SHARED.into_iter().filter(|shared| said(&outer, shared)) {
        if !said(&inner, shared) {
            inner.extend(outer.get(shared).map(|value| (shared.to_owned(), value.clone())));
        }
    }
    // A wrapper may nest twice: a `thinker_config` has a `text_config`.
    let part = language_part(inner, remarks);
    LanguagePart {
        name: part.name.or(Some(name)),
        quantization: part.quantization.or(own),
        fields: part.fields,
    }
}
