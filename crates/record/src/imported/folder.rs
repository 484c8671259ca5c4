//! Imported runs as folders, written and read again.

use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use serde_json::{Value, json};

use super::{ImportedLevel, ImportedRun};
use crate::run::RUN;
use crate::stored::document;
use crate::{
    FolderError, ImportedFrom, LevelPlan, RequestedLength, RequestedLengths, RunDocument,
    RunFolder, StoredError, file, level_folder,
};

/// The schema of a level's document.
const SCHEMA: &str = "fizeau.imported/1";

/// A level under the schema of its document, with its fields in the order of their names.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Imported"))]
pub(crate) struct ImportedDocument<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    schema: &'static str,
    #[serde(flatten)]
    level: &'a ImportedLevel,
}

impl ImportedLevel {
    /// What was imported into `folder`, that of a run of one level or of one level; none if it was not imported.
    ///
    /// # Errors
    /// If the document cannot be read, or is of another schema.
    pub fn read(folder: &Path) -> Result<Option<Self>, StoredError> {
        let path = folder.join(file::IMPORTED);
        path.is_file().then(|| document::read(&path, SCHEMA)).transpose()
    }

    /// Its document.
    fn document(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(ImportedDocument { schema: SCHEMA, level: self })
    }

    /// What is noted on it beside what its tapes show.
    pub(crate) fn notes(&self) -> Vec<String> {
        let source = &self.source;
        let mut notes = vec![format!(
            "imported from {} of {}: imported.json lists what its file lacks",
            source.file, source.tool
        )];
        if self.load.is_unknown {
            let note = "its file does not name the load; it is recorded as all requests at once";
            notes.push(note.to_owned());
        }
        notes
    }
}

impl ImportedRun {
    /// The run in `folder` if it was imported and holds figures alone; none of any other run, one that was imported with tapes
    /// among them.
    ///
    /// # Errors
    /// If its levels cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, StoredError> {
        let Ok(run) = document::read::<RunDocument>(&folder.join(file::RUN), RUN) else {
            return Ok(None);
        };
        let Some(imported) = run.imported.filter(|imported| !imported.has_tapes) else {
            return Ok(None);
        };
        let mut folders = vec![folder.to_owned()];
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let path = || folder.join(file::RUN);
        let entries = entries.map_err(|error| StoredError::Io { path: path(), error })?;
        folders.extend(entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()));
        folders.sort();
        let mut levels = Vec::new();
        for folder in &folders {
            levels.extend(ImportedLevel::read(folder)?);
        }
        if levels.is_empty() {
            return Err(StoredError::NothingImported(folder.to_owned()));
        }
        Ok(Some(Self::new(imported.name, levels)))
    }

    /// Writes `run.json`, and for each level `imported.json`; where there are tapes these too, so that it is a run like any other
    /// once its summaries are computed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, folder: &RunFolder) -> Result<(), FolderError> {
        let names = self.folders();
        folder.write_run(&self.document(&names)?)?;
        for (level, (name, _)) in self.levels().iter().zip(&names) {
            let folder = match name.as_str() {
                "" => folder.clone(),
                name => folder.level(name)?,
            };
            let document = level.document().map_err(FolderError::json(file::IMPORTED))?;
            folder.write_json(file::IMPORTED, &document)?;
            if self.has_tapes() {
                folder.write_lines(file::TAPES, &level.tapes)?;
            }
        }
        Ok(())
    }

    /// The folder of each level and how often its load came before; without a name for a single one.
    fn folders(&self) -> Vec<(String, u32)> {
        if self.levels().len() == 1 {
            return vec![(String::new(), 0)];
        }
        let mut names: Vec<(String, u32)> = Vec::new();
        for (index, level) in self.levels().iter().enumerate() {
            if level.load.is_unknown && !self.has_tapes() {
                names.push((format!("load-unknown-{:02}", index + 1), 0));
                continue;
            }
            // Two rates may have one name: a name has three decimals.
            let free = (0..).map(|visit| (level_folder(level.level_load(), visit, None), visit));
            let free = free
                .take(self.levels().len() + 1)
                .find(|(name, _)| names.iter().all(|(taken, _)| taken != name));
            names.extend(free);
        }
        names
    }

    /// `run.json`: what is known of what was asked, and where it comes from.
    fn document(&self, names: &[(String, u32)]) -> Result<RunDocument, FolderError> {
        let (first, has_tapes) = (self.levels().first(), self.has_tapes());
        let is_closed = self.levels().iter().all(|level| level.load.requests_per_s.is_none());
        let level = |(level, (_, visit)): (&ImportedLevel, &(String, u32))| LevelPlan {
            load: (has_tapes || !level.load.is_unknown).then(|| level.level_load()),
            visit: Some(*visit),
            role: None,
            requests: level.sent(),
            warmup_requests: None,
            max_in_flight: level.load.max_in_flight,
            slots_of_all: None,
            arrivals: level.requested_load().arrivals,
            release_for_ms: None,
            seed: None,
            window: None,
            until: None,
        };
        // No plan is known. These are compared with each other where runs are compared.
        let plan = json!({
            "arrivals": if is_closed { "closed_loop" } else { "open" },
            "dataset": {"name": first.and_then(|level| level.about.dataset.as_ref())},
        });
        let plan = serde_json::from_value(plan).map_err(FolderError::json(file::RUN))?;
        let mean = first.and_then(|level| level.figure("prompt_tokens"));
        let input =
            mean.map(|mean| RequestedLength { mean: Some(mean), ..RequestedLength::default() });
        let lengths = RequestedLengths { input, output: None };
        let mut document = RunDocument::new(self.setup(), plan, lengths);
        document.levels = self.levels().iter().zip(names).map(level).collect();
        // Goals that only some of its levels had are not those of the run.
        let goals = first.and_then(|level| level.about.goodput.clone());
        let is_of_all = self.levels().iter().all(|level| level.about.goodput == goals);
        document.goodput = goals.filter(|_| is_of_all).into_iter().collect();
        document.imported = Some(ImportedFrom {
            name: self.name().to_owned(),
            source: first.map(|level| level.source.clone()),
            has_tapes,
        });
        Ok(document)
    }
}
