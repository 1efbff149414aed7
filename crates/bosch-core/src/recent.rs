//! [`Recent`]: numbers of the masks last used.

use crate::mask::Mask;

/// Masks that are remembered: a candidate and its rival.
const KEPT: usize = 2;

/// Numbers for each of the masks last used; those of older ones are forgotten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    /// The latest last.
    kept: Vec<(Mask, Vec<f64>)>,
}

impl Recent {
    /// The numbers of a mask, none at first; it is now the latest.
    pub(crate) fn of(&mut self, mask: &Mask) -> &mut Vec<f64> {
        let at = self.kept.iter().position(|(kept, _)| kept == mask);
        let entry = at.map_or_else(|| (mask.clone(), Vec::new()), |at| self.kept.remove(at));
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push_mut(entry).1.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_not_used_for_longest_is_forgotten() {
        let mask = |i: usize| Mask::zeros(3).with(i, true);
        let mut recent = Recent::default();
        recent.of(&mask(0)).push(1.0);
        recent.of(&mask(1)).push(2.0);
        assert_eq!(recent.of(&mask(0)), &[1.0]);
        assert_eq!(recent.of(&mask(2)), &[0.0; 0]);
        assert_eq!(recent.of(&mask(0)), &[1.0]);
        assert_eq!(recent.of(&mask(1)), &[0.0; 0]);
    }
}
