//! [`Steps`]: how much work one score may take.

use crate::{Error, Result};

/// Steps left, each about a nanosecond. Counted and not timed, so that a score that is refused on one
/// machine is refused on all.
pub(crate) struct Steps {
    left: usize,
}

impl Steps {
    /// What [`Metric::score`](crate::Metric::score) grants each ground truth: some five seconds.
    pub(crate) const MOST: usize = 5_000_000_000;

    /// At most [`MOST`](Self::MOST) steps.
    pub(crate) fn limited() -> Self {
        Self { left: Self::MOST }
    }

    /// As many as it takes.
    pub(crate) fn unlimited() -> Self {
        Self { left: usize::MAX }
    }

    /// Takes some of them.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if fewer are left.
    pub(crate) fn take(&mut self, steps: usize) -> Result<()> {
        let left = self.left.checked_sub(steps);
        self.left = left.ok_or_else(|| {
            let expected = format!("at most {} steps to score it", Self::MOST);
            Error::input("prediction and ground truth", expected, "more")
        })?;
        Ok(())
    }
}
