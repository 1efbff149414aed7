//! Longest common subsequences by bit vectors: 64 cells of the usual table at a time.

/// Where each symbol occurs in a sequence, as bits.
pub(crate) struct Matches {
    length: usize,
    /// One bit vector a symbol.
    masks: Vec<Vec<u64>>,
}

impl Matches {
    /// The occurrences in `sequence` of the symbols `0..symbols`; larger ones match nothing.
    pub(crate) fn new(sequence: &[usize], symbols: usize) -> Self {
        let words = sequence.len().div_ceil(64);
        let mut masks = vec![vec![0; words]; symbols];
        for (i, &symbol) in sequence.iter().enumerate() {
            if let Some(mask) = masks.get_mut(symbol) {
                mask[i / 64] |= 1 << (i % 64);
            }
        }
        Self {
            length: sequence.len(),
            masks,
        }
    }

    /// The next row of the table from the one before it. Bit `j` of a row is clear where the row's
    /// value grows from column `j` to `j + 1` (Hyyrö 2004, "Bit-parallel LCS-length computation
    /// revisited").
    fn step(&self, row: &mut [u64], symbol: usize) {
        let Some(mask) = self.masks.get(symbol) else {
            return;
        };
        let mut carry = false;
        for (word, &mask) in row.iter_mut().zip(mask) {
            let matched = *word & mask;
            let (sum, first) = word.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *word = sum | (*word & !mask);
        }
    }

    /// Length of the longest common subsequence with `other`.
    pub(crate) fn length(&self, other: impl Iterator<Item = usize>) -> usize {
        let mut row = vec![u64::MAX; self.length.div_ceil(64)];
        for symbol in other {
            self.step(&mut row, symbol);
        }
        (0..self.length).filter(|&j| grows(&row, j)).count()
    }

    /// The symbols of one longest common subsequence of `rows` and this sequence, from the end.
    ///
    /// Of several, the one that the table's walk back finds that goes up only where the upper cell
    /// is greater than the left one. Every ⌈√n⌉-th row is kept and the others are computed again,
    /// so that memory stays small.
    pub(crate) fn subsequence(&self, rows: &[usize], sequence: &[usize]) -> Vec<usize> {
        let stride = rows.len().isqrt().max(1);
        let mut row = vec![u64::MAX; self.length.div_ceil(64)];
        let mut kept = Vec::with_capacity(rows.len() / stride + 1);
        for (i, &symbol) in rows.iter().enumerate() {
            if i % stride == 0 {
                kept.push(row.clone());
            }
            self.step(&mut row, symbol);
        }

        let mut found = Vec::new();
        let mut column = self.length;
        for (mut row, symbols) in kept.into_iter().zip(rows.chunks(stride)).rev() {
            let table: Vec<Vec<u64>> = symbols
                .iter()
                .map(|&symbol| {
                    self.step(&mut row, symbol);
                    row.clone()
                })
                .collect();
            let mut i = symbols.len();
            while i > 0 && column > 0 {
                if symbols[i - 1] == sequence[column - 1] {
                    found.push(symbols[i - 1]);
                    i -= 1;
                    column -= 1;
                } else if grows(&table[i - 1], column - 1) {
                    i -= 1; // the value came from above: the upper cell is greater
                } else {
                    column -= 1;
                }
            }
        }
        found
    }
}

fn grows(row: &[u64], j: usize) -> bool {
    row[j / 64] & (1 << (j % 64)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The table and the walk back, as in the textbooks.
    fn slow(rows: &[usize], columns: &[usize]) -> Vec<usize> {
        let mut table = vec![vec![0; columns.len() + 1]; rows.len() + 1];
        for i in 1..=rows.len() {
            for j in 1..=columns.len() {
                table[i][j] = if rows[i - 1] == columns[j - 1] {
                    table[i - 1][j - 1] + 1
                } else {
                    table[i - 1][j].max(table[i][j - 1])
                };
            }
        }
        let (mut i, mut j) = (rows.len(), columns.len());
        let mut found = Vec::new();
        while i > 0 && j > 0 {
            if rows[i - 1] == columns[j - 1] {
                found.push(rows[i - 1]);
                (i, j) = (i - 1, j - 1);
            } else if table[i - 1][j] > table[i][j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        found
    }

    #[test]
    fn agrees_with_the_table_and_its_walk_back() {
        let mut rng = Rng::stream(1, "lcs");
        for round in 0..400 {
            let symbols = 2 + round % 9;
            let mut draw = |longest: usize| -> Vec<usize> {
                (0..rng.below(longest))
                    .map(|_| rng.below(symbols))
                    .collect()
            };
            let (rows, columns) = (draw(90), draw(200));
            let matches = Matches::new(&columns, symbols);
            let expected = slow(&rows, &columns);
            assert_eq!(matches.subsequence(&rows, &columns), expected);
            assert_eq!(matches.length(rows.iter().copied()), expected.len());
        }
    }
}
