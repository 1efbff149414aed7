//! A decoder for one mask: the full groups of each layer first, so that a layer is at most two calls of attention.

use super::Decoder;
use crate::error::Error;
use crate::mask::HeadMask;

impl Decoder {
    /// The same model for serving under `mask`: in each layer the groups whose bit is 0 come first, and the mask is in that
    /// order too.
    ///
    /// The weights of q, k, v and the output projection are permuted once, layer by layer; the logits are those of the old
    /// decoder under the old mask. Other masks then mean other groups.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a mask of another shape.
    pub fn specialize(mut self, mask: &HeadMask) -> Result<(Self, HeadMask), Error> {
        let _guard = tch::no_grad_guard();
        mask.check(self.config.layers, self.config.groups)?;
        let mut sorted = Vec::with_capacity(self.layers.len());
        for (block, row) in self.layers.iter_mut().zip(mask.rows()) {
            let mut order: Vec<usize> = (0..row.len()).collect();
            order.sort_by_key(|&group| row[group]); // stable: within a kind the old order
            if !order.is_sorted() {
                block.attention.reorder(&order);
            }
            sorted.push(order.iter().map(|&group| row[group]).collect::<Vec<_>>());
        }
        Ok((self, HeadMask::from_rows(&sorted)?))
    }
}
