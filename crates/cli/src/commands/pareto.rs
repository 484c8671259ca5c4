//! `fizeau pareto`: which rows of a table, or which levels of runs, no other beats.

mod folders;
mod query;

use fizeau::interop::{InputTable, InputTableError};
use fizeau::pareto::{FrontierAnswer, FrontierQuery, RowPoints};
use fizeau::record::NamedRun;
use fizeau::report::{AxesPreset, ExcludedLevel, FrontierLevels, LevelTable, Shown};

use crate::args::ParetoArgs;
use crate::exit::{Exit, Fail, refuse_given};
use crate::terminal::say::say;

pub(crate) fn run(args: &ParetoArgs) -> Result<Exit, Fail> {
    let folders = NamedRun::given(&args.inputs).map_err(Fail::usage)?;
    let asked = || query::query(query::axes(&args.axes, folders.is_some())?, &args.answers);
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
    let Some(mut query) = asked else {
        let rows = table.compared();
        left_out.iter().flatten().for_each(|left_out| tell!("note: {}", left_out.words()));
        say(table.to_csv(&rows, &[]).trim_end())?;
        return Ok(Exit::Good);
    };
    if folders.is_some() && query.by.is_none() && query.epsilons.is_none() {
        query.by = Some("run".to_owned());
    }
    let is_lenient = args.output.skip_incomplete || folders.is_some();
    let (rows, skipped) = rows(&table, &query, is_lenient)?;
    let answer = rows.answer()?;
    let shown =
        AnswerContext { args, table: &table, query: &query, skipped: &skipped, answer: &answer };
    match &left_out {
        Some(left_out) => shown.folders(left_out),
        None => shown.table(),
    }
}

/// The rows as points, and those that lack a number on an axis, where these may be left out.
fn rows(
    table: &InputTable,
    query: &FrontierQuery,
    is_lenient: bool,
) -> Result<(RowPoints, Vec<usize>), Fail> {
    let mut rows = RowPoints::new(query.clone(), table.heads())?;
    let columns: Vec<String> = rows.columns().into_iter().map(str::to_owned).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut skipped = Vec::new();
    table.each::<Fail>(&columns, |row, fields| {
        match rows.add(row, fields) {
            Err(error) if error.is_incomplete() && is_lenient => skipped.push(row),
            Err(error) if error.is_incomplete() => {
                let remedy = "--skip-incomplete leaves such rows out";
                return Err(table.wrong(row, format!("{error}; {remedy}")).into());
            }
            added => added.map_err(|error| table.wrong(row, error.to_string()))?,
        }
        Ok(())
    })?;
    Ok((rows, skipped))
}

/// No run knows how good its output is.
fn has_quality(folders: &[NamedRun], args: &ParetoArgs, query: &FrontierQuery) -> Result<(), Fail> {
    let is_asked = query.axes.iter().any(|axis| axis.name() == "quality");
    if !is_asked || !args.runs.quality.is_empty() || args.runs.join.is_some() {
        return Ok(());
    }
    Err(usage!(
        "--quality: no run knows how good its output is; give NAME=VALUE for each of {}",
        names(folders)
    ))
}

fn names(runs: &[NamedRun]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    names.join(", ")
}

/// The one table that is named.
fn of_file(args: &ParetoArgs) -> Result<InputTable, Fail> {
    let of_runs = [
        (!args.runs.quality.is_empty(), "--quality"),
        (!args.runs.devices.is_empty(), "--devices"),
        (!args.runs.gpu_hour.is_empty(), "--gpu-hour"),
    ];
    let why = "works only with folders of runs, and this is a table; leave it out";
    refuse_given(&of_runs, |flag| format!("{flag} {why}"))?;
    match &*args.inputs {
        [path] => read(path),
        inputs => Err(usage!(
            "{}: one table at a time; put the rows into one, with a column that tells them apart, and see --by",
            inputs.join(", ")
        )),
    }
}

/// The levels of runs, and those that are not compared.
fn of_folders(
    folders: &[NamedRun],
    args: &ParetoArgs,
    query: Option<&FrontierQuery>,
) -> Result<(InputTable, Option<Vec<ExcludedLevel>>), Fail> {
    let is_priced = query.is_some_and(|query| {
        query.axes.iter().any(|axis| axis.name() == "cost_per_million_output")
    });
    let levels = folders::table(folders, &args.runs, is_priced)?;
    let table = InputTable::new(&names(folders), levels.to_csv().into_bytes())?;
    Ok((table, Some(levels.left_out().to_vec())))
}

/// All that is known when something is to be shown.
struct AnswerContext<'a> {
    args: &'a ParetoArgs,
    table: &'a InputTable,
    query: &'a FrontierQuery,
    skipped: &'a [usize],
    answer: &'a FrontierAnswer,
}

impl AnswerContext<'_> {
    /// Of somebody's table.
    fn table(&self) -> Result<Exit, Fail> {
        let skipped = self.skipped.len();
        if self.args.output.skip_incomplete {
            let rows = if skipped == 1 { "row" } else { "rows" };
            tell!("note: {skipped} {rows} left out: no number on an axis");
        }
        match self.args.output.json {
            true => say(Shown(self.answer).to_json(None).map_err(Fail::broken)?)?,
            false => self.csv(|row| format!("row {row}"))?,
        }
        self.exit()
    }

    /// Of runs.
    fn folders(&self, left_out: &[ExcludedLevel]) -> Result<Exit, Fail> {
        let mut levels = FrontierLevels::new(self.query);
        self.table.each::<Fail>(&levels.columns(), |_, fields| {
            levels.add(fields);
            Ok(())
        })?;
        let output = &self.args.output;
        if output.json || output.csv {
            let left_out = left_out.iter().map(ExcludedLevel::words);
            let lacking = levels.missing_columns(self.skipped);
            left_out.chain(lacking).for_each(|line| tell!("note: {line}"));
        }
        if output.json {
            say(Shown(self.answer).to_json(Some(&levels)).map_err(Fail::broken)?)?;
        } else if output.csv {
            self.csv(|row| levels.at(row))?;
        } else {
            say(levels.text(self.answer, self.skipped, left_out).trim_end())?;
        }
        self.exit()
    }

    /// The rows as they came, and what is of no row beside them.
    fn csv(&self, at: impl Fn(usize) -> String) -> Result<(), Fail> {
        let columns = self.answer.columns(self.table.heads());
        let csv = self.table.to_csv(&self.answer.shown(), &columns);
        say(csv.trim_end_matches('\n'))?;
        Shown(self.answer).remarks(at).iter().for_each(|remark| tell!("{remark}"));
        Ok(())
    }

    /// Nothing to choose from is no answer.
    fn exit(&self) -> Result<Exit, Fail> {
        if !self.answer.frontier.is_empty() {
            return Ok(Exit::Good);
        }
        let why = self.query.why_empty(self.table.compared().len());
        let has_numbers = |preset: &&AxesPreset| {
            let query = FrontierQuery::new(preset.axes().to_vec());
            rows(self.table, &query, true).is_ok_and(|(rows, _)| !rows.is_empty())
        };
        let why = match AxesPreset::all().iter().find(has_numbers) {
            Some(preset) => format!("{why}; --axes {} has numbers", preset.name()),
            None => why,
        };
        Err(broken!("{}: the frontier is empty: {why}", self.table.name()))
    }
}

/// Reads a table of a file, or with `-` of standard input, without the rows that `fizeau report --csv` marks as not to be compared.
pub(crate) fn read(path: &str) -> Result<InputTable, Fail> {
    let mut table = InputTable::read(path)?;
    let left_out = table.leave_out(LevelTable::LEFT_OUT);
    if left_out > 0 {
        let rows = if left_out == 1 { "row" } else { "rows" };
        let name = table.name();
        tell!("note: {name}: {left_out} {rows} left out, as `{}` says", LevelTable::LEFT_OUT);
    }
    Ok(table)
}

fn joined(table: &InputTable, other: &InputTable) -> Result<InputTable, Fail> {
    let (joined, unused) = table.join(other).map_err(|error| match error {
        InputTableError::NothingShared { .. } => usage!("--join: {error}"),
        error => error.into(),
    })?;
    if unused > 0 {
        let all = other.compared().len();
        tell!("note: --join: {unused} of {all} rows match no row of the table");
    }
    Ok(joined)
}

impl From<InputTableError> for Fail {
    fn from(error: InputTableError) -> Self {
        Self::usage(error)
    }
}
