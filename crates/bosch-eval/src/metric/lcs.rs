//! Longest common subsequences by bit vectors: 64 cells of the usual table at a time.

/// Where each symbol occurs in a sequence, as bits.
pub(crate) struct Matches {
    length: usize,
    /// For each symbol, the words of its bit vector that are not 0, each after its index.
    masks: Vec<Vec<(usize, u64)>>,
}

impl Matches {
    /// The occurrences in `sequence` of the symbols `0..symbols`; larger ones match nothing.
    pub(crate) fn new(sequence: &[usize], symbols: usize) -> Self {
        let mut masks: Vec<Vec<(usize, u64)>> = vec![Vec::new(); symbols];
        for (i, &symbol) in sequence.iter().enumerate() {
            let Some(mask) = masks.get_mut(symbol) else {
                continue;
            };
            match mask.last_mut() {
                Some((word, bits)) if *word == i / 64 => *bits |= 1 << (i % 64),
                _ => mask.push((i / 64, 1 << (i % 64))),
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
        let (mut at, mut carry) = (0, false);
        for &(word, bits) in mask.iter().chain([&(row.len(), 0)]) {
            // Where nothing matches, only a carry changes anything.
            while carry && at < word {
                carry = add(&mut row[at], 0, carry);
                at += 1;
            }
            if let Some(cell) = row.get_mut(word) {
                carry = add(cell, bits, carry);
            }
            at = word + 1;
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

/// One word of the next row, and the carry.
fn add(word: &mut u64, mask: u64, carry: bool) -> bool {
    let (sum, first) = word.overflowing_add(*word & mask);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    *word = sum | (*word & !mask);
    first || second
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
