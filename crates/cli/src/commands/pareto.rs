//! `fizeau pareto`: which rows of a table, or which levels of runs, no other beats.

mod answer;
mod asked;
mod folders;
mod sample;
mod show;
mod text;

use std::io::Read as _;
use std::path::Path;

use fizeau::interop::{Table, TableError};
use fizeau::report::{LeftOut, LevelTable};

use crate::args::ParetoArgs;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use answer::Answer;
use asked::Asked;
use folders::Folders;
use sample::Sample;

pub(crate) fn run(args: &ParetoArgs) -> Result<Exit, Fail> {
    let folders = folders::named(&args.inputs)?;
    let asked = || Asked::new(asked::axes(&args.axes, folders.is_some())?, &args.answers);
    // A wrong flag is found before anything is read.
    let asked = if args.output.table { None } else { Some(asked()?) };
    if let (Some(folders), Some(asked)) = (&folders, &asked) {
        has_quality(folders, args, asked)?;
    }
    let (table, left_out) = match &folders {
        Some(folders) => of_folders(folders, args, asked.as_ref())?,
        None => (of_file(args)?, None),
    };
    let table = match &args.runs.join {
        Some(path) => joined(&table, &read(path)?)?,
        None => table,
    };
    let Some(mut asked) = asked else {
        let rows = table.compared();
        left_out.iter().flatten().for_each(|left_out| tell!("note: {}", text::left_out(left_out)));
        say(table.to_csv(&rows, &[]).trim_end())?;
        return Ok(Exit::Good);
    };
    asked.skip_incomplete = args.output.skip_incomplete || folders.is_some();
    if folders.is_some() && asked.by.is_none() && asked.epsilons.is_none() {
        asked.by = Some("run".to_owned());
    }
    let sample = Sample::read(&table, &asked)?;
    let answer = Answer::of(&sample, &asked)?;
    let shown = Shown { args, table: &table, asked: &asked, sample: &sample, answer: &answer };
    match &left_out {
        Some(left_out) => shown.folders(left_out),
        None => shown.table(),
    }
}

/// No run knows how good its output is.
fn has_quality(folders: &Folders, args: &ParetoArgs, asked: &Asked) -> Result<(), Fail> {
    let is_asked = asked.axes.iter().any(|axis| axis.name() == "quality");
    if !is_asked || !args.runs.quality.is_empty() || args.runs.join.is_some() {
        return Ok(());
    }
    Err(Fail::usage(format!(
        "--quality: no run knows how good its output is; give NAME=VALUE for each of {}",
        folders.names().join(", ")
    )))
}

/// The one table that is named.
fn of_file(args: &ParetoArgs) -> Result<Table, Fail> {
    let of_runs = [
        (!args.runs.quality.is_empty(), "--quality"),
        (!args.runs.devices.is_empty(), "--devices"),
        (!args.runs.gpu_hour.is_empty(), "--gpu-hour"),
    ];
    if let Some((_, flag)) = of_runs.iter().find(|(is_given, _)| *is_given) {
        return Err(Fail::usage(format!("{flag}: it is for folders of runs, and here is a table")));
    }
    match &*args.inputs {
        [path] => read(path),
        inputs => Err(Fail::usage(format!(
            "{}: one table at a time; put the rows into one, with a column that tells them apart, and see --by",
            inputs.join(", ")
        ))),
    }
}

/// The levels of runs, and those that are not compared.
fn of_folders(
    folders: &Folders,
    args: &ParetoArgs,
    asked: Option<&Asked>,
) -> Result<(Table, Option<Vec<LeftOut>>), Fail> {
    let is_priced = asked.is_some_and(|asked| {
        asked.axes.iter().any(|axis| axis.name() == "cost_per_million_output")
    });
    let levels = folders.table(&args.runs, is_priced)?;
    let name = folders.names().join(", ");
    let table = Table::new(&name, levels.to_csv().into_bytes())?;
    Ok((table, Some(levels.left_out().to_vec())))
}

/// All that is known when something is to be shown.
struct Shown<'a> {
    args: &'a ParetoArgs,
    table: &'a Table,
    asked: &'a Asked,
    sample: &'a Sample,
    answer: &'a Answer,
}

impl Shown<'_> {
    /// Of somebody's table.
    fn table(&self) -> Result<Exit, Fail> {
        let skipped = self.sample.skipped.len();
        if self.args.output.skip_incomplete {
            let rows = if skipped == 1 { "row" } else { "rows" };
            tell!("note: {skipped} {rows} left out: no number on an axis");
        }
        if self.args.output.json {
            say(serde_json::Value::Object(show::document(self.answer)))?;
        } else {
            say(show::csv(self.table, self.answer).trim_end_matches('\n'))?;
            let remarks = show::remarks(self.answer, |row| format!("row {row}"));
            remarks.iter().for_each(|remark| tell!("{remark}"));
        }
        self.exit()
    }

    /// Of runs.
    fn folders(&self, left_out: &[LeftOut]) -> Result<Exit, Fail> {
        let points = text::Levels::read(self.table, self.asked)?;
        let output = &self.args.output;
        if output.json || output.csv {
            let left_out = left_out.iter().map(text::left_out);
            let lacking = points.lacking(self.sample);
            left_out.chain(lacking).for_each(|line| tell!("note: {line}"));
        }
        if output.json {
            let mut document = show::document(self.answer);
            document.insert("points".to_owned(), points.json(self.answer));
            say(serde_json::Value::Object(document))?;
        } else if output.csv {
            say(show::csv(self.table, self.answer).trim_end_matches('\n'))?;
            let remarks = show::remarks(self.answer, |row| points.at(row));
            remarks.iter().for_each(|remark| tell!("{remark}"));
        } else {
            say(points.text(self.answer, self.sample, left_out).trim_end())?;
        }
        self.exit()
    }

    /// Nothing to choose from is no answer.
    fn exit(&self) -> Result<Exit, Fail> {
        if !self.answer.frontier.is_empty() {
            return Ok(Exit::Good);
        }
        let axes: Vec<&str> = self.asked.axes.iter().map(fizeau::pareto::Axis::name).collect();
        let why = match self.table.compared().len() {
            0 => "there are no rows".to_owned(),
            1 => format!("its one row has no number for {}", axes.join(" or ")),
            many => format!("none of its {many} rows has a number for each of {}", axes.join(", ")),
        };
        let why = match asked::axes_with_numbers(self.table)? {
            Some(name) => format!("{why}; --axes {name} has numbers"),
            None => why,
        };
        Err(Fail::broken(format!("{}: the frontier is empty: {why}", self.table.name())))
    }
}

/// Reads a table of a file, or with `-` of standard input, without the rows that `fizeau report --csv` marks as not to be compared.
pub(crate) fn read(path: &str) -> Result<Table, Fail> {
    let mut bytes = Vec::new();
    let name = if path == "-" { "standard input" } else { path };
    match path {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(drop).named(name)?,
        path => bytes = std::fs::read(path).named(name)?,
    }
    let mut table = Table::new(name, bytes)?;
    let left_out = table.leave_out(LevelTable::LEFT_OUT);
    if left_out > 0 {
        let rows = if left_out == 1 { "row" } else { "rows" };
        tell!("note: {name}: {left_out} {rows} left out, as `{}` says", LevelTable::LEFT_OUT);
    }
    Ok(table)
}

fn joined(table: &Table, other: &Table) -> Result<Table, Fail> {
    let (joined, unused) = table.join(other).map_err(|error| match error {
        TableError::NothingShared { .. } => Fail::usage(format!("--join: {error}")),
        error => error.into(),
    })?;
    if unused > 0 {
        let all = other.compared().len();
        tell!("note: --join: {unused} of {all} rows are for none of the table");
    }
    Ok(joined)
}

impl From<TableError> for Fail {
    fn from(error: TableError) -> Self {
        Self::usage(error)
    }
}

/// Whether a path is a folder.
fn is_folder(path: &str) -> bool {
    Path::new(path).is_dir()
}
