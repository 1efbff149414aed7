//! [`Blocks`]: variables in consecutive blocks, such as the groups of each layer.

use std::ops::Range;

use crate::error::InvalidInput;

/// A partition of the variables `0..dim` into consecutive, non-empty blocks.
///
/// ```
/// use bosch_core::Blocks;
///
/// let blocks = Blocks::uniform(30, 3)?; // 30 layers of 3 groups
/// assert_eq!(blocks.dim(), 90);
/// assert_eq!(blocks.range(1), 3..6);
/// assert_eq!(blocks.block_of(5), 1);
/// # Ok::<(), bosch_core::InvalidInput>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Start of each block, then the number of variables.
    starts: Vec<usize>,
}

impl Blocks {
    /// `blocks` blocks of `size` variables each.
    ///
    /// # Errors
    ///
    /// If either is 0, or their product overflows.
    pub fn uniform(blocks: usize, size: usize) -> Result<Self, InvalidInput> {
        if blocks == 0 || size == 0 || blocks.checked_mul(size).is_none() {
            let found = format!("{blocks} blocks of {size}");
            return Err(InvalidInput::new(
                "blocks",
                "at least one block of at least one",
                found,
            ));
        }
        Ok(Self {
            starts: (0..=blocks).map(|b| b * size).collect(),
        })
    }

    /// One block for each size, in order.
    ///
    /// # Errors
    ///
    /// If there is no block, a block is empty, or the sum overflows.
    pub fn from_sizes(sizes: &[usize]) -> Result<Self, InvalidInput> {
        let mut starts = vec![0usize];
        for (b, &size) in sizes.iter().enumerate() {
            let end = starts[b]
                .checked_add(size)
                .filter(|_| size > 0)
                .ok_or_else(|| {
                    InvalidInput::new(
                        format!("size of block {b}"),
                        "at least 1, no overflow",
                        size,
                    )
                })?;
            starts.push(end);
        }
        if sizes.is_empty() {
            return Err(InvalidInput::new("blocks", "at least one", 0));
        }
        Ok(Self { starts })
    }

    /// The number of variables.
    pub fn dim(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The number of blocks, at least 1.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Never: there is always a block. Here because [`len`](Self::len) is.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The variables of block `b`.
    ///
    /// # Panics
    ///
    /// If `b` is not below [`len`](Self::len), as a slice does.
    pub fn range(&self, b: usize) -> Range<usize> {
        self.starts[b]..self.starts[b + 1]
    }

    /// The number of variables in block `b`.
    ///
    /// # Panics
    ///
    /// If `b` is not below [`len`](Self::len), as a slice does.
    pub fn size(&self, b: usize) -> usize {
        self.range(b).len()
    }

    /// The block of variable `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`dim`](Self::dim), as a slice does.
    pub fn block_of(&self, i: usize) -> usize {
        assert!(i < self.dim(), "variable {i} of {}", self.dim());
        self.starts.partition_point(|&start| start <= i) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_in_the_block_whose_range_holds_it() {
        let blocks = Blocks::from_sizes(&[2, 1, 4]).unwrap();
        assert_eq!((blocks.dim(), blocks.len()), (7, 3));
        for i in 0..blocks.dim() {
            assert!(blocks.range(blocks.block_of(i)).contains(&i));
        }
        assert_eq!(
            Blocks::uniform(3, 2).unwrap(),
            Blocks::from_sizes(&[2, 2, 2]).unwrap()
        );
    }

    #[test]
    fn empty_and_overflowing_shapes_are_refused() {
        assert!(Blocks::uniform(0, 3).is_err());
        assert!(Blocks::uniform(usize::MAX, 2).is_err());
        assert!(Blocks::from_sizes(&[]).is_err());
        assert!(Blocks::from_sizes(&[1, 0]).is_err());
        assert!(Blocks::from_sizes(&[usize::MAX, 1]).is_err());
    }
}
