//! What is asked of a table's rows.

use crate::{Axis, Epsilon, EpsilonError, HypervolumeError, KneeMethod, PointsError};

/// A question about the rows of a table: which rows no other row dominates, and more.
///
/// ```
/// use fizeau_pareto::{Axis, FrontierQuery, RowPoints};
///
/// let mut query = FrontierQuery::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")]);
/// query.layers = true;
/// query.by = Some("run".to_owned());
/// let heads = ["run", "rps", "p99_ms"];
/// let mut rows = RowPoints::new(query, &heads)?;
/// for (number, row) in [["a", "1", "210"], ["a", "7", "480"], ["b", "6.5", "900"]].iter().enumerate() {
///     let field = |name: &str| {
///         let at = heads.iter().position(|head| *head == name)?;
///         Some(row[at].into())
///     };
///     rows.add(number, &field)?;
/// }
/// let answer = rows.answer()?;
/// assert_eq!(answer.frontier, [0, 1]);
/// assert_eq!(answer.layer_of(2), Some(2));
/// assert_eq!(answer.by.as_deref().unwrap_or_default()[1], ("b".to_owned(), vec![2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrontierQuery {
    /// The columns that rows are compared by.
    pub axes: Vec<Axis>,
    /// Up to which point the hypervolume is wanted; absent where it is not.
    pub reference: Option<Vec<f64>>,
    /// Whether the layer of each row is wanted.
    pub layers: bool,
    /// By which rule a knee is wanted, of two axes; absent where none is.
    pub knee: Option<KneeMethod>,
    /// How much worse still counts as no worse, for each axis: a few rows then stand for the frontier.
    pub epsilons: Option<Vec<Epsilon>>,
    /// Whether a row is beaten only by one that is better wherever in their intervals the figures lie. The interval of a column is
    /// in the columns `NAME_low` and `NAME_high`.
    pub significant: bool,
    /// The column of whose every value the own frontier is wanted too.
    pub by: Option<String>,
}

impl FrontierQuery {
    /// The rows that no other beats on these axes, and nothing else.
    #[must_use]
    pub const fn new(axes: Vec<Axis>) -> Self {
        let (reference, knee, epsilons, by) = (None, None, None, None);
        Self { axes, reference, layers: false, knee, epsilons, significant: false, by }
    }

    /// Why a frontier is empty of a table with so many `rows`, in plain words.
    #[must_use]
    pub fn why_empty(&self, rows: usize) -> String {
        let axes: Vec<&str> = self.axes.iter().map(Axis::name).collect();
        match rows {
            0 => "there are no rows".to_owned(),
            1 => format!("its one row has no number for {}", axes.join(" or ")),
            many => format!("none of its {many} rows has a number for each of {}", axes.join(", ")),
        }
    }
}

/// Why a table has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The axes are none.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// Intervals are to count, and no axis has one.
    #[error(
        "no axis has an interval; the table needs columns such as `{axis}_low` and `{axis}_high`"
    )]
    NoInterval {
        /// The first axis.
        axis: String,
    },
    /// The epsilons cannot be meant.
    #[error(transparent)]
    Epsilon(#[from] EpsilonError),
    /// The reference point of the hypervolume cannot be meant.
    #[error(transparent)]
    Reference(#[from] HypervolumeError),
}
