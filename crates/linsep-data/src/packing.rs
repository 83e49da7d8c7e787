//! gzip and zstd, each behind the feature of its name, so that the library builds without them (zstd is
//! written in C). A file that needs a feature which is not there is refused by that feature's name.

use std::io::{self, Read, Write};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl Packing {
    /// Every way to pack.
    pub const ALL: [Packing; 3] = [Packing::Plain, Packing::Gzip, Packing::Zstd];

    /// The name, which is that of the feature.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    /// Whether this build has it.
    pub fn is_there(self) -> bool {
        match self {
            Packing::Plain => true,
            Packing::Gzip => cfg!(feature = "gzip"),
            Packing::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// How bytes that begin so are packed.
    pub(crate) fn of(bytes: &[u8]) -> Packing {
        match bytes {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Undoes the packing.
    pub(crate) fn unpack<'r>(
        self,
        packed: Box<dyn Read + Send + 'r>,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        match self {
            Packing::Plain => Ok(packed),
            #[cfg(feature = "gzip")]
            Packing::Gzip => Ok(Box::new(flate2::read::MultiGzDecoder::new(packed))),
            #[cfg(feature = "zstd")]
            Packing::Zstd => Ok(Box::new(zstd::stream::read::Decoder::new(packed)?)),
            #[allow(unreachable_patterns)] // With all features there is nothing left.
            _ => Err(self.missing()),
        }
    }

    /// The error of a build without it.
    #[cfg_attr(all(feature = "gzip", feature = "zstd"), allow(dead_code))]
    fn missing(self) -> io::Error {
        let name = self.name();
        let words = format!(
            "{name} is not in this build of linsep: build it with the feature {name}, or leave the packing to the program {name}"
        );
        io::Error::new(io::ErrorKind::Unsupported, words)
    }
}

/// A writer that packs what it is given. [`Packer::finish`] must be called at the end.
pub struct Packer<W: Write>(Inner<W>);

enum Inner<W: Write> {
    Plain(W),
    #[cfg(feature = "gzip")]
    Gzip(flate2::write::GzEncoder<W>),
    #[cfg(feature = "zstd")]
    Zstd(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> Packer<W> {
    /// A packer in front of `out`; an error of the kind `Unsupported` where the build has it not.
    pub fn new(out: W, packing: Packing) -> io::Result<Packer<W>> {
        Ok(Packer(match packing {
            Packing::Plain => Inner::Plain(out),
            #[cfg(feature = "gzip")]
            Packing::Gzip => {
                Inner::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            #[cfg(feature = "zstd")]
            Packing::Zstd => Inner::Zstd(zstd::stream::write::Encoder::new(out, 3)?),
            #[allow(unreachable_patterns)] // With all features there is nothing left.
            _ => return Err(packing.missing()),
        }))
    }

    /// Writes what is still held back.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Inner::Plain(mut out) => out.flush(),
            #[cfg(feature = "gzip")]
            Inner::Gzip(encoder) => encoder.finish()?.flush(),
            #[cfg(feature = "zstd")]
            Inner::Zstd(encoder) => encoder.finish()?.flush(),
        }
    }

    fn inner(&mut self) -> &mut dyn Write {
        match &mut self.0 {
            Inner::Plain(out) => out,
            #[cfg(feature = "gzip")]
            Inner::Gzip(out) => out,
            #[cfg(feature = "zstd")]
            Inner::Zstd(out) => out,
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds for every set of features: what is there comes back, what is not is named.
    #[test]
    fn a_packing_is_there_or_named() {
        for packing in Packing::ALL {
            let mut bytes = Vec::new();
            let packed = Packer::new(&mut bytes, packing).and_then(|mut packer| {
                packer.write_all(b"1,2,a\n")?;
                packer.finish()
            });
            assert_eq!(packed.is_ok(), packing.is_there());
            let Err(error) = packed else {
                assert_eq!(Packing::of(&bytes), packing);
                let mut back = Vec::new();
                let packed = Box::new(io::Cursor::new(bytes));
                packing.unpack(packed).unwrap().read_to_end(&mut back).unwrap();
                assert_eq!(back, b"1,2,a\n");
                continue;
            };
            assert!(bytes.is_empty() && packing.unpack(Box::new(io::empty())).is_err());
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert!(error.to_string().contains(&format!("feature {}", packing.name())));
        }
    }
}
