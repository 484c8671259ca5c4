//! How much of a draft is accepted.

/// How likely each token of a draft is accepted, given that all before it were.
///
/// ```
/// use fizeau_roofline::Acceptance;
/// let usual = Acceptance::uniform(0.8)?;
/// assert_eq!(format!("{:.2}", usual.tokens(1)), "1.80");
/// assert_eq!(format!("{:.2}", usual.tokens(3)), "2.95");
/// // Later tokens are accepted less often.
/// let falling = Acceptance::per_position(&[0.8, 0.7, 0.5])?;
/// assert_eq!(format!("{:.2}", falling.tokens(3)), "2.64");
/// # Ok::<(), fizeau_roofline::AcceptanceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptance {
    /// Of each position; the last holds for all after it. Never empty.
    each: Vec<f64>,
}

/// Why numbers are no acceptance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptanceError {
    /// No position at all.
    #[error("an acceptance needs at least one probability, for the first token of a draft")]
    Empty,
    /// Not a probability.
    #[error("the acceptance of drafted token {position} is {value}; it must be from 0 to 1")]
    NotAProbability {
        /// Which token of the draft, from 1.
        position: usize,
        /// What it was.
        value: f64,
    },
}

impl Acceptance {
    /// The same probability at every position, `q`.
    ///
    /// # Errors
    /// If it is not from 0 to 1.
    pub fn uniform(probability: f64) -> Result<Self, AcceptanceError> {
        Self::per_position(&[probability])
    }

    /// For each position the probability that its token is accepted if those before it were. Positions past the last
    /// have the last one's.
    ///
    /// # Errors
    /// If there is none, or one is not from 0 to 1.
    pub fn per_position(probabilities: &[f64]) -> Result<Self, AcceptanceError> {
        if probabilities.is_empty() {
            return Err(AcceptanceError::Empty);
        }
        for (before, value) in probabilities.iter().enumerate() {
            if !(0.0..=1.0).contains(value) {
                let (position, value) = (before + 1, *value);
                return Err(AcceptanceError::NotAProbability { position, value });
            }
        }
        Ok(Self { each: probabilities.to_vec() })
    }

    /// Tokens that a draft of `length` yields on average, the one that the verifying pass adds included:
    /// `1 + q_1 + q_1 q_2 + ...`, which is `(1 - q^(s+1)) / (1 - q)` where all are alike (Leviathan et al.,
    /// arXiv 2211.17192). From 1 to `length + 1`.
    #[must_use]
    pub fn tokens(&self, length: u32) -> f64 {
        let (mut sum, mut reached) = (1.0, 1.0);
        for position in 1..=length {
            reached *= self.at(position);
            sum += reached;
        }
        sum
    }

    /// The probability that drafted token `position`, from 1, is accepted if those before it were.
    #[must_use]
    pub fn at(&self, position: u32) -> f64 {
        let place = position.saturating_sub(1) as usize;
        self.each.get(place).or_else(|| self.each.last()).copied().unwrap_or(0.0)
    }
}
