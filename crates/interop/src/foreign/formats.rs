//! Which formats there are.

use super::{
    ForeignError, ForeignFile, ForeignFormat, ImportedLevel, aiperf::AiPerf, genai_perf::GenAiPerf,
    guidellm::GuideLlm, inference_perf::InferencePerf, sglang::Sglang, vllm::VllmPython,
    vllm_rust::VllmRust, vllm_sweep::VllmSweep,
};

/// The more peculiar before the more general: the first that recognises a file has it.
const FORMATS: [&dyn ForeignFormat; 8] =
    [&VllmSweep, &VllmRust, &VllmPython, &Sglang, &AiPerf, &GuideLlm, &GenAiPerf, &InferencePerf];

/// The formats that are known.
///
/// ```
/// use fizeau_interop::{ForeignFile, ForeignFormats};
/// assert_eq!(ForeignFormats::named("vllm").map(|format| format.key()), Ok("vllm"));
/// let error = ForeignFormats::of(&ForeignFile::new("notes.txt", b"Dear diary")).err().unwrap();
/// assert!(error.to_string().starts_with("notes.txt: its format is not known (no JSON); the formats are "));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ForeignFormats;

impl ForeignFormats {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static dyn ForeignFormat> {
        FORMATS.into_iter()
    }

    /// Their names, for a message.
    #[must_use]
    pub fn names() -> String {
        FORMATS.map(ForeignFormat::key).join(", ")
    }

    /// The one of this name.
    ///
    /// # Errors
    /// If there is none; the message has all names.
    pub fn named(name: &str) -> Result<&'static dyn ForeignFormat, ForeignError> {
        let is_it =
            |format: &&dyn ForeignFormat| format.key() == name || format.aliases().contains(&name);
        let unknown = || ForeignError::NoFormat { name: name.to_owned(), known: Self::names() };
        FORMATS.into_iter().find(is_it).ok_or_else(unknown)
    }

    /// The one that a file has.
    ///
    /// # Errors
    /// If it has none; the message says what it looks like, and what was tried.
    pub fn of(file: &ForeignFile<'_>) -> Result<&'static dyn ForeignFormat, ForeignError> {
        let found = FORMATS.into_iter().find(|format| format.recognises(file));
        found.ok_or_else(|| ForeignError::Unknown {
            file: file.name().to_owned(),
            why: file.looks_like(),
            known: Self::names(),
        })
    }

    /// The one that was named, unless the file has surely another.
    fn named_for(
        form: &'static dyn ForeignFormat,
        file: &ForeignFile<'_>,
    ) -> Result<&'static dyn ForeignFormat, ForeignError> {
        match Self::of(file) {
            Ok(found) if found.key() != form.key() && !form.recognises(file) => {
                let (found, named) = (found.key(), form.key());
                Err(ForeignError::Other { file: file.name().to_owned(), found, named })
            }
            _ => Ok(form),
        }
    }

    /// The levels in files of whatever forms, or all of the one form that is given: files of one folder and form together.
    ///
    /// # Errors
    /// If one has no form that is known, or is damaged.
    pub fn import(
        files: Vec<ForeignFile<'_>>,
        form: Option<&'static dyn ForeignFormat>,
    ) -> Result<Vec<ImportedLevel>, ForeignError> {
        let mut groups: Vec<(&dyn ForeignFormat, Vec<ForeignFile<'_>>)> = Vec::new();
        for file in files {
            let format =
                form.map_or_else(|| Self::of(&file), |form| Self::named_for(form, &file))?;
            let is_its = |(known, group): &&mut (&dyn ForeignFormat, Vec<ForeignFile<'_>>)| {
                known.key() == format.key()
                    && group.first().is_some_and(|first| first.folder() == file.folder())
            };
            match groups.iter_mut().find(is_its) {
                Some((_, group)) => group.push(file),
                None => groups.push((format, vec![file])),
            }
        }
        let levels = groups.iter().map(|(format, files)| format.import(files));
        Ok(levels.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
