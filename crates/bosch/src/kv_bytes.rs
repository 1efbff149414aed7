//! What a mask saves: the bytes of its KV cache.

use bosch_core::Mask;

use crate::Grid;

/// Bytes of the keys and values of one sequence of `tokens` tokens under `mask`.
///
/// Per layer `2 · head_dim · element_bytes · (G_full · T + G_swa · min(T, W + S))`: a full group keeps
/// every token, a window group a ring of W + S slots.
#[must_use]
pub fn kv_bytes(grid: &Grid, mask: &Mask, head_dim: usize, tokens: usize, element_bytes: usize) -> u64 {
    let swa = mask.count_ones() as u64;
    let full = grid.dim() as u64 - swa;
    let ring = tokens.min(grid.window.saturating_add(grid.sinks)) as u64;
    2 * (head_dim * element_bytes) as u64 * (full * tokens as u64 + swa * ring)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { layers: 30, groups: 3, query_heads: 9, window: 1024, sinks: 4 };

    #[test]
    fn zeros_cost_the_full_cache_and_ones_the_rings() {
        let element = 2 * 64 * 4;
        assert_eq!(kv_bytes(&GRID, &Mask::zeros(90), 64, 8192, 4), 90 * element * 8192);
        assert_eq!(kv_bytes(&GRID, &Mask::filled(90, true), 64, 8192, 4), 90 * element * 1028);
    }

    #[test]
    fn a_window_longer_than_the_text_saves_nothing() {
        let full = kv_bytes(&GRID, &Mask::zeros(90), 64, 1000, 4);
        assert_eq!(kv_bytes(&GRID, &Mask::filled(90, true), 64, 1000, 4), full);
    }

    #[test]
    fn three_quarters_of_windows_at_32k_leave_the_published_share() {
        // T = 32k, W = 1024, S = 4, ratio .75: 27 % of the bytes are left.
        let grid = Grid { layers: 4, groups: 1, query_heads: 1, ..GRID };
        let mask = Mask::from_ones(4, &[0, 1, 2]).unwrap();
        let share = kv_bytes(&grid, &mask, 128, 32768, 2) as f64 / kv_bytes(&grid, &Mask::zeros(4), 128, 32768, 2) as f64;
        assert!((share - 0.2735).abs() < 1e-3, "{share}");
    }
}
