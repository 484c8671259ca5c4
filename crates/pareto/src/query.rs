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

    /// Refuses what no table can answer.
    ///
    /// # Errors
    /// If two axes have one name, or a knee is wanted of axes that are not two.
    pub fn check(&self) -> Result<(), QueryError> {
        let is_before = |(place, axis): &(usize, &Axis)| {
            self.axes.iter().take(*place).any(|before| before.name() == axis.name())
        };
        if let Some((_, axis)) = self.axes.iter().enumerate().find(is_before) {
            return Err(QueryError::NamedTwice { axis: axis.name().to_owned() });
        }
        match self.axes.len() {
            axes if self.knee.is_some() && axes != 2 => Err(QueryError::Knee { axes }),
            _ => Ok(()),
        }
    }

    /// A point between which and the frontier the hypervolume lies: a number for each of so many `axes`, with commas between them. None if
    /// `text` is no such point.
    ///
    /// ```
    /// use fizeau_pareto::FrontierQuery;
    /// assert_eq!(FrontierQuery::parse_reference("0,1000", 2), Some(vec![0.0, 1000.0]));
    /// assert_eq!(FrontierQuery::parse_reference("0", 2), None);
    /// ```
    #[must_use]
    pub fn parse_reference(text: &str, axes: usize) -> Option<Vec<f64>> {
        let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
        let point: Vec<f64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
        (point.len() == axes).then_some(point)
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
    /// Two axes have one name.
    #[error("`{axis}` is named twice; name each column once")]
    NamedTwice {
        /// The name.
        axis: String,
    },
    /// A knee is wanted of axes that are not two.
    #[error("a knee needs two axes, and there are {axes}")]
    Knee {
        /// How many there are.
        axes: usize,
    },
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
