//! What is asked of a table.

use fizeau::interop::Table;
use fizeau::pareto::{Axis, Direction, Epsilon, KneeMethod};
use fizeau::report::AxesPreset;

use crate::args::{AxisArgs, KneeArg, ParetoAnswerArgs};
use crate::exit::Fail;

/// What is asked of a table, read.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) axes: Vec<Axis>,
    /// The reference point of the hypervolume.
    pub(super) reference: Option<Vec<f64>>,
    pub(super) layers: bool,
    pub(super) knee: Option<KneeMethod>,
    pub(super) epsilons: Option<Vec<Epsilon>>,
    pub(super) significant: bool,
    /// The column that tells configurations apart.
    pub(super) by: Option<String>,
    pub(super) skip_incomplete: bool,
}

impl Asked {
    /// Of rows with these axes.
    pub(super) fn new(axes: Vec<Axis>, args: &ParetoAnswerArgs) -> Result<Self, Fail> {
        let numbers = |text: &String| numbers("--hypervolume", text, &axes);
        let reference = args.hypervolume.as_ref().map(numbers).transpose()?;
        let epsilons = args.epsilon.as_ref().map(|text| epsilons(text, axes.len()));
        let knee = args.knee.map(|rule| match rule {
            KneeArg::Kneedle => KneeMethod::KNEEDLE,
            KneeArg::Curvature => KneeMethod::Curvature,
        });
        if knee.is_some() && axes.len() != 2 {
            let message = format!("--knee: a knee is of two axes, and here are {}", axes.len());
            return Err(Fail::usage(message));
        }
        Ok(Self {
            reference,
            epsilons: epsilons.transpose()?,
            knee,
            layers: args.layers,
            significant: args.significant,
            by: args.by.clone(),
            skip_incomplete: false,
            axes,
        })
    }

    /// Whether intervals matter to any answer.
    pub(super) const fn wants_intervals(&self) -> bool {
        self.significant || self.knee.is_some()
    }
}

/// The axes of the command line, in their order; of folders those of the first preset where it names none.
pub(super) fn axes(args: &AxisArgs, of_folders: bool) -> Result<Vec<Axis>, Fail> {
    let preset = match &args.preset {
        Some(name) => Some(AxesPreset::named(name).ok_or_else(|| {
            Fail::usage(format!(
                "--axes: no axes are called `{name}`; there are {}",
                AxesPreset::names()
            ))
        })?),
        None if of_folders => AxesPreset::all().first().copied(),
        None => None,
    };
    let axes = match (&*args.axes, preset) {
        ([], Some(preset)) => preset.axes().to_vec(),
        ([], None) => {
            return Err(Fail::usage(
                "name a column to --maximize or to --minimize: a table does not say which way is better",
            ));
        }
        (axes, _) => axes.to_vec(),
    };
    let is_repeated = |&i: &usize| {
        axes.iter().take(i).any(|axis| Some(axis.name()) == axes.get(i).map(Axis::name))
    };
    match (1..axes.len()).find(is_repeated).and_then(|i| axes.get(i)) {
        Some(axis) => Err(Fail::usage(format!(
            "--maximize and --minimize: `{}` is named twice; name each column once",
            axis.name()
        ))),
        None => Ok(axes),
    }
}

/// The first of the axes that people use of both of which some row has numbers; none of a table of other columns.
pub(super) fn axes_with_numbers(table: &Table) -> Result<Option<&'static str>, Fail> {
    let heads = table.heads();
    for preset in AxesPreset::all() {
        let axes = preset.axes();
        let names = axes.each_ref().map(Axis::name);
        let mut has_numbers = false;
        if names.iter().all(|name| heads.iter().any(|head| head == name)) {
            table.each::<Fail>(&names, |_, fields| {
                has_numbers |= fields.iter().all(|field| field.number().is_some());
                Ok(())
            })?;
        }
        if has_numbers {
            return Ok(Some(preset.name()));
        }
    }
    Ok(None)
}

/// Each axis with its direction in words.
pub(super) fn words(axes: &[Axis]) -> String {
    let one = |axis: &Axis| {
        let better = match axis.direction() {
            Direction::Maximize => "more is better",
            Direction::Minimize => "less is better",
        };
        // The names of the others have their unit in them.
        let unit = if axis.name() == "cost_per_million_output" { "US dollars, " } else { "" };
        format!("{} ({unit}{better})", axis.name())
    };
    axes.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn numbers(flag: &str, text: &str, axes: &[Axis]) -> Result<Vec<f64>, Fail> {
    let parsed: Result<Vec<f64>, _> =
        text.split([',', ' ']).filter(|part| !part.is_empty()).map(str::parse).collect();
    match parsed {
        Ok(numbers) if numbers.len() == axes.len() => Ok(numbers),
        _ => Err(Fail::usage(format!(
            "{flag}: `{text}`; give a number for each axis, in this order: {}",
            axes.iter().map(Axis::name).collect::<Vec<_>>().join(",")
        ))),
    }
}

/// `0.5`, `5%`, or one of these for each axis.
fn epsilons(text: &str, axes: usize) -> Result<Vec<Epsilon>, Fail> {
    let one = |part: &str| match part.trim().strip_suffix('%') {
        Some(percent) => {
            percent.trim().parse().ok().map(|percent: f64| Epsilon::Relative(percent / 100.0))
        }
        None => part.trim().parse().ok().map(Epsilon::Additive),
    };
    let parsed: Option<Vec<Epsilon>> = text.split(',').map(one).collect();
    match parsed {
        Some(one) if one.len() == 1 => Ok(one.repeat(axes)),
        Some(all) if all.len() == axes => Ok(all),
        _ => Err(Fail::usage(format!(
            "--epsilon: `{text}`; give one for all axes or one for each of {axes}, such as 0.5 or 5%"
        ))),
    }
}
