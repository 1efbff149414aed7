//! Which KV groups use sliding-window attention, and the window they use.

use crate::error::Error;

/// One bit for each (layer, KV group): true = sliding-window attention, false = what the model does itself.
///
/// ```
/// use bosch_attn::HeadMask;
///
/// let mask = HeadMask::from_rows(&[[false, true], [true, true]])?;
/// assert_eq!((mask.layers(), mask.groups(), mask.count_swa()), (2, 2, 3));
/// assert_eq!(mask.ratio(), 0.75);
/// assert_eq!(mask.row(0), Some(&[false, true][..]));
/// # Ok::<(), bosch_attn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeadMask {
    groups: usize,
    bits: Vec<bool>,
}

impl HeadMask {
    /// The mask of the unchanged model.
    pub fn zeros(layers: usize, groups: usize) -> Self {
        Self {
            groups,
            bits: vec![false; layers * groups],
        }
    }

    /// The mask that converts every group.
    pub fn all_swa(layers: usize, groups: usize) -> Self {
        Self {
            groups,
            bits: vec![true; layers * groups],
        }
    }

    /// A mask from one row of bits for each layer.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where there is no row or the rows differ in length.
    pub fn from_rows<R: AsRef<[bool]>>(rows: &[R]) -> Result<Self, Error> {
        let groups = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some(row) = rows.iter().find(|row| row.as_ref().len() != groups) {
            return Err(Error::input(
                "row of a mask",
                format!("{groups} groups, as in the first row"),
                row.as_ref().len(),
            ));
        }
        let bits: Vec<bool> = rows
            .iter()
            .flat_map(|row| row.as_ref().iter().copied())
            .collect();
        Self::from_bits(rows.len(), groups, &bits)
    }

    /// A mask from `layers · groups` bits, layer by layer.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where a size is 0 or the number of bits is another one.
    pub fn from_bits(layers: usize, groups: usize, bits: &[bool]) -> Result<Self, Error> {
        if layers == 0 || groups == 0 {
            return Err(Error::input(
                "mask",
                "at least 1 layer and 1 group",
                format!("{layers} layers, {groups} groups"),
            ));
        }
        if layers.checked_mul(groups) != Some(bits.len()) {
            return Err(Error::input(
                "bits of a mask",
                format!("{layers} layers × {groups} groups"),
                bits.len(),
            ));
        }
        Ok(Self {
            groups,
            bits: bits.to_vec(),
        })
    }

    /// Layers, L.
    pub fn layers(&self) -> usize {
        self.bits.len().checked_div(self.groups).unwrap_or(0)
    }

    /// KV groups in a layer, G.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether group `group` of layer `layer` slides; `None` outside the mask.
    pub fn get(&self, layer: usize, group: usize) -> Option<bool> {
        self.row(layer)?.get(group).copied()
    }

    /// Sets one bit.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] outside the mask.
    pub fn set(&mut self, layer: usize, group: usize, swa: bool) -> Result<(), Error> {
        if layer >= self.layers() || group >= self.groups {
            let expected = format!("below ({}, {})", self.layers(), self.groups);
            return Err(Error::input(
                "(layer, group)",
                expected,
                format!("({layer}, {group})"),
            ));
        }
        self.bits[layer * self.groups + group] = swa;
        Ok(())
    }

    /// The bits of one layer; `None` outside the mask.
    pub fn row(&self, layer: usize) -> Option<&[bool]> {
        self.rows().nth(layer)
    }

    /// The rows, layer 0 first.
    pub fn rows(&self) -> impl Iterator<Item = &[bool]> {
        self.bits.chunks(self.groups.max(1))
    }

    /// All bits, layer by layer.
    pub fn bits(&self) -> &[bool] {
        &self.bits
    }

    /// Number of groups that slide.
    pub fn count_swa(&self) -> usize {
        self.bits.iter().filter(|bit| **bit).count()
    }

    /// Groups that slide over all groups, ρ; 0 for a mask without groups.
    pub fn ratio(&self) -> f64 {
        if self.bits.is_empty() {
            0.0
        } else {
            self.count_swa() as f64 / self.bits.len() as f64
        }
    }

    /// Checks the mask against a model of `layers` × `groups`.
    pub(crate) fn check(&self, layers: usize, groups: usize) -> Result<(), Error> {
        if (self.layers(), self.groups) == (layers, groups) {
            return Ok(());
        }
        let expected = format!("{layers} layers × {groups} groups, as the model has");
        Err(Error::input(
            "mask",
            expected,
            format!("{} layers × {} groups", self.layers(), self.groups),
        ))
    }
}

/// What a sliding group sees: key j is visible to query i iff j ≤ i and (i − j < W or j < S).
///
/// W counts the query itself, as in transformers and llama.cpp (flash-attention's `window_left` is W − 1). S, the
/// sinks, are the first positions of the text.
///
/// ```
/// use bosch_attn::Window;
///
/// let window = Window::new(16, 4)?;
/// assert!(window.sees(20, 5) && !window.sees(20, 4) && window.sees(20, 3));
/// assert!(Window::new(0, 4).is_err());
/// # Ok::<(), bosch_attn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    window: usize,
    sinks: usize,
}

impl Window {
    /// A window of `window` ≥ 1 keys and `sinks` ≥ 0 first positions, both below 2³¹.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] outside these ranges.
    pub fn new(window: usize, sinks: usize) -> Result<Self, Error> {
        let limit = 1 << 31;
        if window == 0 || window >= limit {
            return Err(Error::input(
                "window",
                format!("1 to {}", limit - 1),
                window,
            ));
        }
        if sinks >= limit {
            return Err(Error::input("sinks", format!("0 to {}", limit - 1), sinks));
        }
        Ok(Self { window, sinks })
    }

    /// W, the keys that a query sees before it and including itself.
    pub fn window(self) -> usize {
        self.window
    }

    /// S, the first positions, always visible.
    pub fn sinks(self) -> usize {
        self.sinks
    }

    /// W + S, the slots that a cache needs.
    pub fn slots(self) -> usize {
        self.window + self.sinks
    }

    /// Whether query `i` sees key `j`.
    pub fn sees(self, i: usize, j: usize) -> bool {
        j <= i && (i - j < self.window || j < self.sinks)
    }
}
