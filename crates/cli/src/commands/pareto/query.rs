//! What is asked of a table.

use fizeau::pareto::{Axis, Epsilon, FrontierQuery, QueryError};
use fizeau::report::AxesPreset;

use crate::args::{AxisArgs, ParetoAnswerArgs};
use crate::exit::Fail;

/// What the flags ask of rows with these axes.
pub(super) fn query(axes: Vec<Axis>, args: &ParetoAnswerArgs) -> Result<FrontierQuery, Fail> {
    let reference = args.hypervolume.as_ref().map(|text| numbers(text, &axes)).transpose()?;
    let epsilons = args.epsilon.as_ref().map(|text| epsilons(text, axes.len())).transpose()?;
    if args.knee.is_some() && axes.len() != 2 {
        let message = format!("--knee: a knee needs two axes, and there are {}", axes.len());
        return Err(Fail::usage(message));
    }
    let mut query = FrontierQuery::new(axes);
    (query.reference, query.epsilons, query.layers) = (reference, epsilons, args.layers);
    (query.significant, query.by) = (args.significant, args.by.clone());
    query.knee = args.knee;
    Ok(query)
}

impl From<QueryError> for Fail {
    fn from(error: QueryError) -> Self {
        Self::usage(match &error {
            QueryError::NoInterval { .. } => format!("--significant: {error}"),
            QueryError::Epsilon(_) => format!("--epsilon: {error}"),
            QueryError::Reference(_) => format!("--hypervolume: {error}"),
            _ => error.to_string(),
        })
    }
}

/// The axes of the command line, in their order; of folders those of the first preset where it names none.
pub(super) fn axes(args: &AxisArgs, of_folders: bool) -> Result<Vec<Axis>, Fail> {
    let preset = match &args.preset {
        Some(name) => Some(AxesPreset::named(name).ok_or_else(|| {
            usage!("--axes: no axes are called `{name}`; there are {}", AxesPreset::names())
        })?),
        None if of_folders => AxesPreset::all().first().copied(),
        None => None,
    };
    let axes = match (&*args.axes, preset) {
        ([], Some(preset)) => preset.axes().to_vec(),
        ([], None) => bail!(
            "name a column to --maximize or to --minimize: a table does not say which way is better"
        ),
        (axes, _) => axes.to_vec(),
    };
    match Axis::repeated(&axes) {
        Some(axis) => Err(usage!(
            "--maximize and --minimize: `{}` is named twice; name each column once",
            axis.name()
        )),
        None => Ok(axes),
    }
}

fn numbers(text: &str, axes: &[Axis]) -> Result<Vec<f64>, Fail> {
    let parsed: Result<Vec<f64>, _> =
        text.split([',', ' ']).filter(|part| !part.is_empty()).map(str::parse).collect();
    match parsed {
        Ok(numbers) if numbers.len() == axes.len() => Ok(numbers),
        _ => Err(usage!(
            "--hypervolume: `{text}`; give a number for each axis, in this order: {}",
            axes.iter().map(Axis::name).collect::<Vec<_>>().join(",")
        )),
    }
}

/// `0.5`, `5%`, or one of these for each axis.
fn epsilons(text: &str, axes: usize) -> Result<Vec<Epsilon>, Fail> {
    Epsilon::parse_list(text, axes).ok_or_else(|| {
        usage!(
            "--epsilon: `{text}`; give one value for all axes, or one for each axis ({axes} here), such as 0.5 or 5%")
    })
}
