//! Broadcasts and answers as bytes: little-endian numbers, lists behind their length. Floats keep their
//! bits. Reading refuses bytes that end early or are left over, and makes no room for more numbers than
//! there are bytes.

use crate::model::Plane;
use linsep_data::error::{Error, Result};

/// Something that travels between a driver and its workers.
pub trait Wire: Sized {
    /// Appends the bytes of this.
    fn write(&self, out: &mut Vec<u8>);

    /// Takes this from the front of `bytes`.
    fn read(bytes: &mut &[u8]) -> Result<Self>;
}

/// The bytes of a message.
pub fn encode<T: Wire>(message: &T) -> Vec<u8> {
    let mut out = Vec::new();
    message.write(&mut out);
    out
}

/// The message that some bytes are, all of them.
pub fn decode<T: Wire>(mut bytes: &[u8]) -> Result<T> {
    let message = T::read(&mut bytes)?;
    match bytes.len() {
        0 => Ok(message),
        more => Err(Error::usage(format!("{more} bytes follow the end of a message"))),
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (first, rest) =
        bytes.split_first_chunk::<N>().ok_or_else(|| Error::usage("a message ends too early"))?;
    *bytes = rest;
    Ok(*first)
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Wire for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Result<$number> {
                Ok(<$number>::from_le_bytes(take(bytes)?))
            }
        })*
    };
}

numbers!(u8, u32, u64, f64);

impl Wire for () {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(_: &mut &[u8]) -> Result<()> {
        Ok(())
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Result<Vec<T>> {
        let len = u64::read(bytes)?;
        // A list of empty messages has no bytes to be held against.
        if len > bytes.len() as u64 {
            return Err(Error::usage(format!("a list of {len} in {} bytes", bytes.len())));
        }
        let least = size_of::<T>().max(1);
        let mut list = Vec::with_capacity((len as usize).min(bytes.len() / least + 1));
        for _ in 0..len {
            list.push(T::read(bytes)?);
        }
        Ok(list)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(self.is_some()).write(out);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Result<Option<T>> {
        match u8::read(bytes)? {
            0 => Ok(None),
            1 => Ok(Some(T::read(bytes)?)),
            other => Err(Error::usage(format!("{other} is neither 0 nor 1"))),
        }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<(A, B)> {
        Ok((A::read(bytes)?, B::read(bytes)?))
    }
}

impl Wire for Plane {
    fn write(&self, out: &mut Vec<u8>) {
        self.weights.write(out);
        self.bias.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Plane> {
        Ok(Plane { weights: Vec::read(bytes)?, bias: f64::read(bytes)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_with_their_bits_and_cut_ones_are_refused() {
        let message =
            (vec![(1u32, f64::NAN), (7, -0.0)], Some(Plane { weights: vec![1e300], bias: 2.0 }));
        let bytes = encode(&message);
        let back: (Vec<(u32, f64)>, Option<Plane>) = decode(&bytes).unwrap();
        assert_eq!(encode(&back), bytes);
        for end in 0..bytes.len() {
            assert!(decode::<(Vec<(u32, f64)>, Option<Plane>)>(&bytes[..end]).is_err(), "{end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode::<(Vec<(u32, f64)>, Option<Plane>)>(&longer).is_err());
    }

    #[test]
    fn a_length_beyond_the_bytes_makes_no_room() {
        let bytes = [&u64::MAX.to_le_bytes()[..], &[0; 16]].concat();
        assert!(decode::<Vec<f64>>(&bytes).is_err());
        assert!(decode::<Vec<Vec<f64>>>(&bytes).is_err());
    }
}
