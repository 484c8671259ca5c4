//! `fizeau pareto`.

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{ArgMatches, Args, FromArgMatches};
use fizeau::core::NamedChoice;
use fizeau::pareto::{Axis, KneeMethod};

use super::choice::among;

#[derive(Debug, Default, Args)]
#[command(after_long_help = after_help())]
pub(crate) struct ParetoArgs {
    /// A table, as CSV with a header or as JSON Lines (one object a line), `-` for standard input; or folders of runs, sweeps,
    /// searches and what-ifs, of which each level becomes a row. NAME=DIR gives a run another name than its folder's.
    #[arg(required = true, value_name = "FILE|[NAME=]DIR")]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) axes: AxisArgs,
    #[command(flatten)]
    pub(crate) answers: ParetoAnswerArgs,
    #[command(flatten)]
    pub(crate) runs: ParetoRunArgs,
    #[command(flatten)]
    pub(crate) output: ParetoOutputArgs,
}

/// The axes, in the order in which they stand on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct AxisArgs {
    pub(crate) axes: Vec<Axis>,
    /// The name of a pair that people use.
    pub(crate) preset: Option<String>,
}

/// How clap is told of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Axes")]
struct AxisFlags {
    /// A column of which more is better; give the flag once for each column.
    #[arg(long, value_name = "COL", value_parser = StringValueParser::new().map(Axis::maximize))]
    maximize: Vec<Axis>,
    /// A column of which less is better; give the flag once for each column.
    #[arg(long, value_name = "COL", value_parser = StringValueParser::new().map(Axis::minimize))]
    minimize: Vec<Axis>,
    /// A usual pair of axes, by a name from the list below. Folders have throughput-latency by default.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["maximize", "minimize"])]
    axes: Option<String>,
}

impl FromArgMatches for AxisArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let of = |id: &str| {
            let places = matches.indices_of(id).into_iter().flatten();
            let axes = matches.get_many::<Axis>(id).into_iter().flatten();
            places.zip(axes.cloned()).collect::<Vec<_>>()
        };
        let mut all = [of("maximize"), of("minimize")].concat();
        all.sort_by_key(|(place, _)| *place);
        let axes = all.into_iter().map(|(_, axis)| axis).collect();
        Ok(Self { axes, preset: matches.get_one::<String>("axes").cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for AxisArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        AxisFlags::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        AxisFlags::augment_args_for_update(command)
    }
}

/// What to answer beside which rows no other beats.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Answers")]
pub(crate) struct ParetoAnswerArgs {
    /// Show the hypervolume: the volume between the frontier and this point. Give numbers separated by commas, in the order of the axes
    /// on the command line, such as 0,1000.
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    pub(crate) hypervolume: Option<String>,
    /// Show the layer of each row: 1 is the frontier, 2 the frontier of the other rows, and so on.
    #[arg(long)]
    pub(crate) layers: bool,
    /// Show where a frontier of two axes bends, by this rule; with intervals, how sure that is.
    #[arg(long, value_parser = among(KNEES.to_vec()), value_name = "RULE", num_args = 0..=1, require_equals = true,
          default_missing_value = "kneedle")]
    pub(crate) knee: Option<KneeMethod>,
    /// Show a few rows that stand for the frontier: no other row is better than one of them by more than this on any axis. Give one value
    /// for all axes, or one for each separated by commas: 0.5 in the unit of the axis, or 5% of the figure.
    #[arg(long, value_name = "EPSILON", conflicts_with_all = ["significant", "by"])]
    pub(crate) epsilon: Option<String>,
    /// Use the columns COL_low and COL_high, where there are such, as the interval of an axis. A row then beats another only if it is
    /// better wherever in their intervals the figures lie.
    #[arg(long)]
    pub(crate) significant: bool,
    /// Show the frontier of each value of this column too, beside that of all rows; for folders the default is run.
    #[arg(long, value_name = "COL")]
    pub(crate) by: Option<String>,
}

const KNEES: [NamedChoice<KneeMethod>; 2] = [
    NamedChoice::new(
        "kneedle",
        KneeMethod::KNEEDLE,
        "Furthest from the line between both ends (Satopaa and others, 2011)",
    ),
    NamedChoice::new(
        "curvature",
        KneeMethod::Curvature,
        "Where the curve through neighbours is tightest",
    ),
];

/// What the folders of runs do not say.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Runs")]
pub(crate) struct ParetoRunArgs {
    /// The quality of a run's output, by a measure of your own, as NAME=VALUE. It becomes the column quality.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) quality: Vec<String>,
    /// The number of devices of a run, as NAME=N, where the run does not know it.
    #[arg(long, value_name = "NAME=N")]
    pub(crate) devices: Vec<String>,
    /// The price of one device for an hour in US dollars, for all runs, or as NAME=USD for one; by default the lowest published price
    /// of the device, where one is known.
    #[arg(long, value_name = "[NAME=]USD")]
    pub(crate) gpu_hour: Vec<String>,
    /// A CSV file whose rows are joined to those of the table by the columns that both have, such as run,accuracy.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) join: Option<String>,
}

/// How to print it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ParetoOutputArgs {
    /// Leave out rows without a number on an axis, and say how many.
    #[arg(long)]
    pub(crate) skip_incomplete: bool,
    /// Print JSON: `{"frontier": [rows], "layers": [[rows], ...], "hypervolume": x, "knee": row}`. A row is its number, from 0; the
    /// first list of layers is layer 1; what was not asked for is null. --by adds "by", --significant adds "undecided", folders add
    /// "points".
    #[arg(long, conflicts_with_all = ["csv", "table"])]
    pub(crate) json: bool,
    /// Print the rows of the frontier as CSV, which is the default for a table.
    #[arg(long, conflicts_with = "table")]
    pub(crate) csv: bool,
    /// Print the whole table as CSV and no answer, for other tools.
    #[arg(long)]
    pub(crate) table: bool,
}

/// The presets and the columns, from the tables that define them.
fn after_help() -> String {
    use fizeau::report::{AxesPreset, LevelTable};
    let mut text =
        "Usual pairs of axes (--axes), with + where more is better and - where less is:\n"
            .to_owned();
    for preset in AxesPreset::all() {
        text.push_str(&format!("  {:<24} {}\n", preset.name(), preset.words()));
    }
    text.push_str(
        "\nColumns of folders (times in ms; columns that may have an interval come with _low and _high too):\n",
    );
    for (name, about) in LevelTable::legend() {
        text.push_str(&format!("  {name:<27} {about}\n"));
    }
    text.push_str(
        "\nOf a table, the output is CSV: the rows of the frontier, unchanged and in order; with --layers all rows and a column \
         layer.\nHypervolume and knee then go to standard error. Of folders, the output is a text table.",
    );
    text
}
