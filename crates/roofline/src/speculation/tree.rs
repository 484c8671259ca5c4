//! Drafts that branch.

/// One guess in a [`DraftTree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The node that it continues, by its place in the list; none: it follows the last accepted token.
    pub parent: Option<usize>,
    /// How likely it is accepted if its parent is. Of the children of one node only one can be: their probabilities
    /// add up to 1 at most.
    pub acceptance: f64,
}

/// A tree of guesses that one pass verifies (SpecInfer, arXiv 2305.09781; Medusa, arXiv 2401.10774).
#[derive(Debug, Clone, PartialEq)]
pub struct DraftTree {
    /// For each node, how deep it is, and how likely its whole path is accepted.
    paths: Vec<(u32, f64)>,
}

impl DraftTree {
    /// A tree of these nodes, each after its parent; none where a node names a parent that is not before it, a
    /// probability is not from 0 to 1, or those of a node's children come to more than 1.
    ///
    /// ```
    /// use fizeau_roofline::{DraftTree, Node};
    /// // Two guesses for the first token, and one that continues the likelier.
    /// let tree = DraftTree::new(&[
    ///     Node { parent: None, acceptance: 0.6 },
    ///     Node { parent: None, acceptance: 0.2 },
    ///     Node { parent: Some(0), acceptance: 0.5 },
    /// ]);
    /// let tree = tree.ok_or("not a tree")?;
    /// assert_eq!((tree.size(), tree.depth()), (3, 2));
    /// assert_eq!(tree.expected_tokens(), 1.0 + 0.6 + 0.2 + 0.6 * 0.5);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn new(nodes: &[Node]) -> Option<Self> {
        let mut paths: Vec<(u32, f64)> = Vec::with_capacity(nodes.len());
        // Of the root, then of each node: what its children have of its probability.
        let mut given = vec![0.0; nodes.len() + 1];
        for node in nodes {
            let (depth, reached) = match node.parent {
                None => (0, 1.0),
                Some(parent) => *paths.get(parent)?,
            };
            let children = given.get_mut(node.parent.map_or(0, |parent| parent + 1))?;
            *children += node.acceptance;
            // Sums of decimal fractions may pass 1 by a rounding.
            if !(0.0..=1.0).contains(&node.acceptance) || *children > 1.0 + 1e-9 {
                return None;
            }
            paths.push((depth + 1, reached * node.acceptance));
        }
        Some(Self { paths })
    }

    /// Tokens that are verified.
    #[must_use]
    pub fn size(&self) -> u32 {
        u32::try_from(self.paths.len()).unwrap_or(u32::MAX)
    }

    /// The longest path, which is drafted level by level.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.paths.iter().map(|(depth, _)| *depth).max().unwrap_or(0)
    }

    /// The expected length of the accepted path and the verifying pass's own token: 1 and the probabilities of all paths.
    #[must_use]
    pub fn expected_tokens(&self) -> f64 {
        1.0 + self.paths.iter().map(|(_, reached)| reached).sum::<f64>()
    }
}
