//! Messages of protocol buffers, as far as ONNX files need them: written field by field, and read back.
//!
//! A message is a list of fields. A field is a key, number · 8 + wire type, and a value: a whole number in
//! groups of seven bits (wire type 0), four or eight bytes (5, 1), or a length and as many bytes (2).
//!
//! Reference: the encoding guide of protocol buffers, and `onnx.proto` for the numbers of the fields.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn whole(mut self, field: u32, value: i64) -> Message {
        self.key(field, 0);
        // A negative number is written as if it had no sign.
        self.varint(value as u64);
        self
    }

    pub(super) fn single(mut self, field: u32, value: f32) -> Message {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u32, inner: &Message) -> Message {
        self.bytes(field, &inner.0)
    }

    pub(super) fn messages<'a>(
        self,
        field: u32,
        inner: impl IntoIterator<Item = &'a Message>,
    ) -> Message {
        inner.into_iter().fold(self, |message, inner| message.message(field, inner))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(8 * field + wire));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// The value of a field that was read. Values of eight bytes do not occur in what is written here.
pub(super) enum Value<'a> {
    /// Whole numbers are checked for their form only.
    Whole,
    Single(f32),
    Bytes(&'a [u8]),
}

/// The fields of a message in their order, or nothing where the bytes are none.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = take_varint(&mut bytes)?;
        let value = match key & 7 {
            0 => {
                take_varint(&mut bytes)?;
                Value::Whole
            }
            2 => {
                let length = usize::try_from(take_varint(&mut bytes)?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Value::Bytes(value)
            }
            5 => {
                let (value, rest) = bytes.split_first_chunk::<4>()?;
                bytes = rest;
                Value::Single(f32::from_le_bytes(*value))
            }
            _ => return None,
        };
        fields.push((u32::try_from(key >> 3).ok()?, value));
    }
    Some(fields)
}

/// All values of a field that are bytes: texts and messages.
pub(super) fn all<'a>(message: &'a [u8], field: u32) -> Option<Vec<&'a [u8]>> {
    let bytes = |(number, value): (u32, Value<'a>)| match value {
        Value::Bytes(bytes) if number == field => Some(bytes),
        _ => None,
    };
    Some(fields(message)?.into_iter().filter_map(bytes).collect())
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding guide: 150 in field 1, "testing" in field 2, a message in field 3.
    #[test]
    fn messages_have_the_bytes_of_the_guide() {
        assert_eq!(Message::default().whole(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").into_bytes();
        assert_eq!(text, [&[0x12, 0x07], &b"testing"[..]].concat());
        let inner = Message::default().whole(1, 150);
        let outer = Message::default().message(3, &inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = Message::default().whole(1, -1).into_bytes();
        assert_eq!(negative.len(), 11);
    }

    #[test]
    fn what_was_written_reads_back_and_what_was_cut_does_not() {
        let message = Message::default().whole(8, -5).single(7, 0.1).text(300, "a").into_bytes();
        let read = fields(&message).expect("a message");
        assert!(matches!(read[0], (8, Value::Whole)));
        assert!(matches!(read[1], (7, Value::Single(x)) if x == 0.1));
        assert!(matches!(read[2], (300, Value::Bytes(b"a"))));
        let read = |length: usize| fields(&message[..length]).map(|fields| fields.len());
        // A message may end behind a field, and nowhere else.
        let whole: Vec<usize> = (0..=message.len()).filter(|&at| read(at).is_some()).collect();
        assert_eq!(whole, [0, 11, 16, message.len()]);
    }
}
