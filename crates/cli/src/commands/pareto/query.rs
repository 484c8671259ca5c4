//! What is asked of a table.

use fizeau::pareto::{Axis, Epsilon, FrontierQuery, QueryError};
use fizeau::report::AxesPreset;

use crate::args::{AxisArgs, ParetoAnswerArgs};
use crate::exit::Fail;

/// What the flags ask of rows with these axes.
pub(super) fn query(axes: Vec<Axis>, args: &ParetoAnswerArgs) -> Result<FrontierQuery, Fail> {
    let mut query = FrontierQuery::new(axes);
    query.knee = args.knee;
    query.check()?;
    let axes = &query.axes;
    query.reference = args.hypervolume.as_ref().map(|text| reference(text, axes)).transpose()?;
    query.epsilons = args.epsilon.as_ref().map(|text| epsilons(text, axes.len())).transpose()?;
    (query.layers, query.significant, query.by) = (args.layers, args.significant, args.by.clone());
    Ok(query)
}

impl From<QueryError> for Fail {
    fn from(error: QueryError) -> Self {
        Self::usage(match &error {
            QueryError::NamedTwice { .. } => format!("--maximize and --minimize: {error}"),
            QueryError::Knee { .. } => format!("--knee: {error}"),
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
    match (&*args.axes, preset) {
        ([], Some(preset)) => Ok(preset.axes().to_vec()),
        ([], None) => bail!(
            "name a column to --maximize or to --minimize: a table does not say which way is better"
        ),
        (axes, _) => Ok(axes.to_vec()),
    }
}

fn reference(text: &str, axes: &[Axis]) -> Result<Vec<f64>, Fail> {
    FrontierQuery::parse_reference(text, axes.len()).ok_or_else(|| {
        usage!(
            "--hypervolume: `{text}`; give a number for each axis, in this order: {}",
            axes.iter().map(Axis::name).collect::<Vec<_>>().join(",")
        )
    })
}

/// `0.5`, `5%`, or one of these for each axis.
fn epsilons(text: &str, axes: usize) -> Result<Vec<Epsilon>, Fail> {
    Epsilon::parse_list(text, axes).ok_or_else(|| {
        usage!(
            "--epsilon: `{text}`; give one value for all axes, or one for each axis ({axes} here), such as 0.5 or 5%")
    })
}
