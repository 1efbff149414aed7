//! RAZOR (RazorAttention, arXiv 2407.15891): over random tokens that are repeated, a head's echo score is its attention to the
//! earlier copies of the query's token, its induction score that to the tokens after them. The order is by the better of the
//! two ranks.

use tch::{Kind, Tensor};

use super::heads::{Heads, Rows};
use crate::decoder::Decoder;
use crate::error::Error;

/// Tokens in a block, and how often it stands in the text.
const BLOCK: usize = 64;
const COPIES: usize = 4;

/// One score for each (layer, KV group): minus the better rank, 0 for the first.
pub(super) fn scores(decoder: &Decoder, seed: u64) -> Result<Vec<f64>, Error> {
    let ids = text(decoder.config().vocab, seed);
    let (mut echo, mut induction) = (Vec::new(), Vec::new());
    decoder.observe(&ids, |_, heads| {
        echo.extend(super::values(&attention_back(heads, 0))?);
        induction.extend(super::values(&attention_back(heads, 1))?);
        Ok(())
    })?;
    let echo = ranks(&decoder.greatest_of_groups(&echo));
    let induction = ranks(&decoder.greatest_of_groups(&induction));
    let better = echo
        .iter()
        .zip(&induction)
        .map(|(a, b)| -(*a.min(b) as f64));
    Ok(better.collect())
}

/// A random block, repeated.
fn text(vocab: usize, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let block: Vec<u32> = (0..BLOCK)
        .map(|_| (next(&mut state) % vocab as u64) as u32)
        .collect();
    block.repeat(COPIES)
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The mean over the later copies of the attention to the keys `after` places behind each earlier copy of the query's token.
fn attention_back(heads: &Heads, after: i64) -> Tensor {
    heads.mean(BLOCK as i64, |rows: &Rows| {
        let back = &rows.i - &rows.j + after; // [queries, keys]
        let copy = back
            .remainder(BLOCK as i64)
            .eq(0)
            .logical_and(&back.ge(BLOCK as i64));
        (rows.attention() * copy).sum_dim_intlist([-1i64].as_slice(), false, Kind::Float)
    })
}

/// The place of each score in descending order; ties go to the lower index.
fn ranks(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut ranks = vec![0; scores.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(rank, &at)| ranks[at] = rank);
    ranks
}
