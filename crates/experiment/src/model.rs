//! Which model is meant: a file's, or one that is built in.

use std::path::{Path, PathBuf};

use fizeau::roofline::{KnownModel, Model};

/// A model and the text that it was read from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) model: Model,
    /// The text of its config.json.
    pub(crate) text: String,
    /// That of the `hf_quant_config.json` beside it, where there is one.
    pub(crate) quantization: Option<String>,
    /// The built-in model, where it is one.
    pub(crate) known: Option<&'static KnownModel>,
}

/// The model of the config.json at `name` (or in the folder of that name); where there is no such file, the built-in one that is
/// called so. A `hf_quant_config.json` beside a `config.json` says how that checkpoint is quantised; beside a file of
/// another name it belongs to something else.
pub(crate) fn load(name: &str) -> Result<Loaded, String> {
    let given = Path::new(name);
    if !given.exists()
        && let Ok(known) = KnownModel::named(name)
    {
        let model = known.model().map_err(|error| error.to_string())?;
        return Ok(Loaded {
            model,
            text: known.config().to_owned(),
            quantization: None,
            known: Some(known),
        });
    }
    let path = if given.is_dir() { given.join("config.json") } else { PathBuf::from(given) };
    let text = std::fs::read_to_string(&path).map_err(|error| match given.exists() {
        true => error.to_string(),
        false => format!("{error}, and no built-in model is called so (see `fizeau models`)"),
    })?;
    let beside = path.with_file_name("hf_quant_config.json");
    let named_so = path.file_name().is_some_and(|name| name == "config.json");
    let quantization = std::fs::read_to_string(beside).ok().filter(|_| named_so);
    let model = match &quantization {
        Some(quantization) => Model::from_config_and_quantization(&text, quantization),
        None => Model::from_config_json(&text),
    };
    let model = model.map_err(|error| error.to_string())?;
    Ok(Loaded { model, text, quantization, known: None })
}
