//! A row in version 1 of the digest: the label's UTF-8 bytes with their number before them (u32), the
//! number of values that are not 0 (u32), then for each of them the 0-based column (u32) and the bits of
//! the binary64 (u64), columns rising, everything little-endian.

use super::second::Bytes;

/// Writes a row: values with their columns, or all values without any columns.
pub(super) fn write_row(label: &str, columns: &[u32], values: &[f64], bytes: &mut Bytes) {
    let label = label.as_bytes();
    let mut room = bytes.room(8 + label.len() + 12 * values.len());
    room.push(&(label.len() as u32).to_le_bytes());
    room.push(label);
    let count = values.iter().filter(|value| **value != 0.0).count();
    room.push(&(count as u32).to_le_bytes());
    let column = |place: usize| columns.get(place).copied().unwrap_or(place as u32);
    for (place, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        room.push(&column(place).to_le_bytes());
        room.push(&value.to_bits().to_le_bytes());
    }
    let at = room.at;
    bytes.end(at);
}
