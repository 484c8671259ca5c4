//! Many loads at once.

use crate::system::System;
use crate::{Figures, UniformLoad};

impl System {
    /// [`System::bound_figures`] of each load, in order, in place of what `figures` had. It allocates nothing where
    /// `figures` has the room.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let loads: Vec<UniformLoad> = (1..=64)
    ///     .filter_map(NonZeroU64::new)
    ///     .map(|concurrency| UniformLoad::new(Tokens::new(2048), Tokens::new(256), concurrency))
    ///     .collect();
    /// let mut figures = Vec::new();
    /// system.bound_batch(&loads, &mut figures);
    /// assert_eq!(figures.len(), loads.len());
    /// assert_eq!(figures[31], system.bound_figures(&loads[31]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bound_batch(&self, loads: &[UniformLoad], figures: &mut Vec<Figures>) {
        figures.clear();
        figures.extend(loads.iter().map(|load| self.bound_figures(load)));
    }
}
