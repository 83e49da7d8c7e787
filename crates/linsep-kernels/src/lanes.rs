//! Kernels of sweeps: a sparse row of binary32 and the planes that stand side by side in each column.

#[cfg_attr(linsep_portable, allow(unused_imports))]
use crate::{Divided, Fused, Quotient};

/// The weights of a column on all planes.
pub trait Lanes: Copy + Sized {
    /// sums += row · planes.
    fn add_dot(columns: &[u32], values: &[f32], weights: &[Self], sums: &mut Self);
    /// planes += steps · row.
    fn add_row(columns: &[u32], values: &[f32], steps: Self, weights: &mut [Self]);
}

impl Lanes for [f32; 1] {
    /// In four sums that do not wait for each other.
    #[inline]
    fn add_dot(columns: &[u32], values: &[f32], weights: &[Self], sums: &mut Self) {
        let mut parts = [0.0; 4];
        let (fours, rest) = columns.as_chunks::<4>();
        let (value_fours, value_rest) = values.as_chunks::<4>();
        for (columns, values) in fours.iter().zip(value_fours) {
            for k in 0..4 {
                parts[k] += values[k] * weights[columns[k] as usize][0];
            }
        }
        for (column, value) in rest.iter().zip(value_rest) {
            parts[0] += value * weights[*column as usize][0];
        }
        sums[0] += (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }

    #[inline]
    fn add_row(columns: &[u32], values: &[f32], steps: Self, weights: &mut [Self]) {
        add(columns, values, steps, weights);
    }
}

impl Lanes for [f32; 8] {
    #[inline]
    fn add_dot(columns: &[u32], values: &[f32], weights: &[Self], sums: &mut Self) {
        dot_8(columns, values, weights, sums);
    }

    #[inline]
    fn add_row(columns: &[u32], values: &[f32], steps: Self, weights: &mut [Self]) {
        add_8(columns, values, steps, weights);
    }
}

impl Lanes for [f32; 16] {
    #[inline]
    fn add_dot(columns: &[u32], values: &[f32], weights: &[Self], sums: &mut Self) {
        dot_16(columns, values, weights, sums);
    }

    #[inline]
    fn add_row(columns: &[u32], values: &[f32], steps: Self, weights: &mut [Self]) {
        add_16(columns, values, steps, weights);
    }
}

#[inline(always)]
fn dot<const L: usize>(columns: &[u32], values: &[f32], w: &[[f32; L]], out: &mut [f32; L]) {
    let mut sums = *out;
    let values = &values[..columns.len()];
    for k in 0..columns.len() {
        let weights = w[columns[k] as usize];
        for lane in 0..L {
            sums[lane] += values[k] * weights[lane];
        }
    }
    *out = sums;
}

#[inline(always)]
fn add<const L: usize>(columns: &[u32], values: &[f32], steps: [f32; L], w: &mut [[f32; L]]) {
    let values = &values[..columns.len()];
    for k in 0..columns.len() {
        let weights = &mut w[columns[k] as usize];
        let mut moved = *weights;
        for lane in 0..L {
            moved[lane] += values[k] * steps[lane];
        }
        *weights = moved;
    }
}

kernels! {
    /// sums += row · planes of eight.
    fn dot_8(columns: &[u32], values: &[f32], w: &[[f32; 8]], sums: &mut [f32; 8]) {
        dot(columns, values, w, sums);
    }

    /// sums += row · planes of sixteen.
    fn dot_16(columns: &[u32], values: &[f32], w: &[[f32; 16]], sums: &mut [f32; 16]) {
        dot(columns, values, w, sums);
    }

    /// planes += steps · row, of eight.
    fn add_8(columns: &[u32], values: &[f32], steps: [f32; 8], w: &mut [[f32; 8]]) {
        add(columns, values, steps, w);
    }

    /// planes += steps · row, of sixteen.
    fn add_16(columns: &[u32], values: &[f32], steps: [f32; 16], w: &mut [[f32; 16]]) {
        add(columns, values, steps, w);
    }
}
