//! The state of a run: what it takes to go on where it was.
//!
//! A state is bytes without types, code or paths:
//!
//! ```text
//! 8 bytes   N, little-endian
//! N bytes   JSON text, blanks up to a multiple of 8
//! the rest  whole numbers of 8 bytes, little-endian
//! ```
//!
//! Weights are saved by their bits, so most of a state is lists of whole numbers. Long ones stand behind the
//! text, one behind the other in the order of the text, which has `{"$list": [start, length]}` in their place.
//! In a model file a list that is the weights of a plane of the model is left out, and the text has
//! `{"$plane": k}`. States of format 1 are JSON text alone.

use crate::model::Plane;
use linsep_data::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// A saved run: bytes without types, code or paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(Vec<u8>);

impl State {
    /// From bytes written earlier by [`State::as_bytes`].
    pub fn from_bytes(bytes: Vec<u8>) -> State {
        State(bytes)
    }

    /// The bytes to keep.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    #[doc(hidden)]
    pub fn encode<T: Serialize>(content: &T) -> State {
        // Plain structs of numbers always have a JSON form.
        State(Packed::of(serde_json::to_value(content).unwrap_or_default()).to_bytes())
    }

    #[doc(hidden)]
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(self.value().map_err(refused)?).map_err(|e| refused(e.to_string()))
    }

    /// The bytes to keep beside these planes: a list that is the weights of one is left out.
    pub(crate) fn beside(&self, planes: &[Plane]) -> Vec<u8> {
        match Packed::from_bytes(&self.0) {
            Ok(packed) => packed.without(planes).map_or_else(|_| self.0.clone(), |p| p.to_bytes()),
            Err(_) => self.0.clone(),
        }
    }

    /// The state of which [`State::beside`] made these bytes.
    pub(crate) fn from_beside(
        bytes: &[u8],
        planes: &[Plane],
    ) -> std::result::Result<State, String> {
        match is_packed(bytes) {
            true => Ok(State(Packed::from_bytes(bytes)?.with(planes)?.to_bytes())),
            false => Ok(State(bytes.to_vec())),
        }
    }

    fn value(&self) -> std::result::Result<Value, String> {
        match is_packed(&self.0) {
            true => Packed::from_bytes(&self.0)?.value(),
            false => serde_json::from_slice(&self.0).map_err(|e| e.to_string()),
        }
    }
}

fn refused(words: String) -> Error {
    // The parser's backticks mark fields of the state, not parameters.
    let words = words.replace('`', "\"");
    Error::usage(format!("the saved state does not belong to this run: {words}"))
}

/// A state inside another one is a part of its JSON.
impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.value() {
            Ok(value) => value.serialize(serializer),
            Err(_) => String::from_utf8_lossy(&self.0).serialize(serializer),
        }
    }
}

/// In format 1 it was a text.
impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<State, D::Error> {
        Ok(match Value::deserialize(d)? {
            Value::String(text) => State(text.into_bytes()),
            value => State(Packed::of(value).to_bytes()),
        })
    }
}

/// The shortest list that stands behind the text.
const LONG: usize = 8;
const LIST: &str = "$list";
const PLANE: &str = "$plane";

/// The text of a state, and the lists behind it.
struct Packed {
    text: Value,
    numbers: Vec<u64>,
}

/// What stands in the text in place of a list.
enum Place {
    List(usize, usize),
    Plane(usize),
}

impl Place {
    fn of(value: &Value) -> Option<Place> {
        let fields = value.as_object().filter(|fields| fields.len() == 1)?;
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        match (fields.get(LIST), fields.get(PLANE)) {
            (Some(Value::Array(pair)), None) => match &pair[..] {
                [start, length] => Some(Place::List(number(start)?, number(length)?)),
                _ => None,
            },
            (None, Some(plane)) => Some(Place::Plane(number(plane)?)),
            _ => None,
        }
    }
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes[4..8] == [0; 4]
}

impl Packed {
    fn of(mut text: Value) -> Packed {
        let mut numbers = Vec::new();
        take_lists(&mut text, &mut numbers);
        Packed { text, numbers }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec(&self.text).unwrap_or_default();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut bytes = Vec::with_capacity(8 + text.len() + 8 * self.numbers.len());
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        bytes.extend(self.numbers.iter().flat_map(|n| n.to_le_bytes()));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> std::result::Result<Packed, String> {
        if !is_packed(bytes) {
            let text = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
            return Ok(Packed::of(text));
        }
        let cut = || "the state is cut off".to_owned();
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
        let (words, more) = rest.as_chunks::<8>();
        if !more.is_empty() {
            return Err(cut());
        }
        let text = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        let numbers = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Ok(Packed { text, numbers })
    }

    /// The JSON with its lists.
    fn value(self) -> std::result::Result<Value, String> {
        let Packed { mut text, numbers } = self;
        each_list(&mut text, &numbers, &mut |place| match place {
            Found::List(list) => Ok(list.iter().map(|&n| Value::from(n)).collect()),
            Found::Plane(_) => Err("the state refers to a plane that is not beside it".to_owned()),
        })?;
        Ok(text)
    }

    /// Without the lists that are the weights of planes, each plane once.
    fn without(self, planes: &[Plane]) -> std::result::Result<Packed, String> {
        let Packed { mut text, numbers } = self;
        let mut left: Vec<bool> = vec![true; planes.len()];
        let mut kept = Vec::new();
        each_list(&mut text, &numbers, &mut |place| {
            let Found::List(list) = place else { return Err("planes are left out twice".into()) };
            let same = |plane: &Plane| {
                plane.weights.len() == list.len()
                    && plane.weights.iter().zip(list).all(|(w, bits)| w.to_bits() == *bits)
            };
            match (0..planes.len()).find(|&k| left[k] && same(&planes[k])) {
                Some(k) => {
                    left[k] = false;
                    Ok(json!({ PLANE: k }))
                }
                None => Ok(keep(&mut kept, list.iter().copied())),
            }
        })?;
        Ok(Packed { text, numbers: kept })
    }

    /// With the weights of the planes that are referred to.
    fn with(self, planes: &[Plane]) -> std::result::Result<Packed, String> {
        let Packed { mut text, numbers } = self;
        let mut left: Vec<bool> = vec![true; planes.len()];
        let mut all = Vec::new();
        each_list(&mut text, &numbers, &mut |place| match place {
            Found::List(list) => Ok(keep(&mut all, list.iter().copied())),
            Found::Plane(k) => {
                // Each plane once, so that a short file cannot ask for much memory.
                if !std::mem::take(left.get_mut(k).ok_or("the state refers to no plane")?) {
                    return Err("the state refers to a plane twice".to_owned());
                }
                Ok(keep(&mut all, planes[k].weights.iter().map(|w| w.to_bits())))
            }
        })?;
        Ok(Packed { text, numbers: all })
    }
}

/// Adds a list to others and gives what stands in its place.
fn keep(numbers: &mut Vec<u64>, list: impl Iterator<Item = u64>) -> Value {
    let start = numbers.len();
    numbers.extend(list);
    json!({ LIST: [start, numbers.len() - start] })
}

/// Moves long lists of whole numbers out of a text.
fn take_lists(text: &mut Value, numbers: &mut Vec<u64>) {
    match text {
        Value::Array(items) if items.len() >= LONG && items.iter().all(Value::is_u64) => {
            let list = std::mem::take(items);
            *text = keep(numbers, list.iter().filter_map(Value::as_u64));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| take_lists(item, numbers)),
        Value::Object(fields) => fields.values_mut().for_each(|item| take_lists(item, numbers)),
        _ => {}
    }
}

/// A list of a text as it is found.
enum Found<'a> {
    List(&'a [u64]),
    Plane(usize),
}

/// Replaces what stands in place of lists. The lists have to stand one behind the other and to fill the
/// numbers, so that no part of them is used twice.
fn each_list(
    text: &mut Value,
    numbers: &[u64],
    replace: &mut dyn FnMut(Found<'_>) -> std::result::Result<Value, String>,
) -> std::result::Result<(), String> {
    fn walk(
        text: &mut Value,
        rest: &mut &[u64],
        end: &mut usize,
        replace: &mut dyn FnMut(Found<'_>) -> std::result::Result<Value, String>,
    ) -> std::result::Result<(), String> {
        let wrong = "the lists of the state are out of order or out of range";
        match Place::of(text) {
            Some(Place::List(start, length)) => {
                let (list, behind) = rest.split_at_checked(length).ok_or(wrong)?;
                if start != *end {
                    return Err(wrong.into());
                }
                (*rest, *end) = (behind, *end + length);
                *text = replace(Found::List(list))?;
            }
            Some(Place::Plane(k)) => *text = replace(Found::Plane(k))?,
            None => match text {
                Value::Array(items) => {
                    items.iter_mut().try_for_each(|item| walk(item, rest, end, replace))?;
                }
                Value::Object(fields) => {
                    fields.values_mut().try_for_each(|item| walk(item, rest, end, replace))?;
                }
                _ => {}
            },
        }
        Ok(())
    }
    let mut rest = numbers;
    walk(text, &mut rest, &mut 0, replace)?;
    match rest.is_empty() {
        true => Ok(()),
        false => Err("the state has numbers that nothing refers to".into()),
    }
}

/// A plane in a saved state: its numbers by their bits, so that it comes back as it was.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[doc(hidden)]
pub struct SavedPlane(Vec<u64>, u64);

impl SavedPlane {
    #[doc(hidden)]
    pub fn of(plane: &Plane) -> SavedPlane {
        SavedPlane(plane.weights.iter().map(|w| w.to_bits()).collect(), plane.bias.to_bits())
    }

    /// The saved planes, if they can take the place of the ones that are there.
    #[doc(hidden)]
    pub fn all(saved: &[SavedPlane], there: &[Plane]) -> Result<Vec<Plane>> {
        let fits = saved.len() == there.len()
            && saved.iter().zip(there).all(|(a, b)| a.0.len() == b.weights.len());
        if !fits {
            return Err(Error::usage("the saved state belongs to a run on other data"));
        }
        Ok(saved.iter().map(SavedPlane::plane).collect())
    }

    /// The saved planes on columns that begin with theirs; a new column has the weight 0.
    pub(crate) fn widened(saved: &[SavedPlane], there: &[Plane]) -> Result<Vec<Plane>> {
        let fits = saved.len() == there.len()
            && saved.iter().zip(there).all(|(a, b)| a.0.len() <= b.weights.len());
        if !fits {
            return Err(Error::usage("the saved state belongs to planes of other data"));
        }
        let widen = |(saved, there): (&SavedPlane, &Plane)| {
            let mut plane = saved.plane();
            plane.weights.resize(there.weights.len(), 0.0);
            plane
        };
        Ok(saved.iter().zip(there).map(widen).collect())
    }

    pub(crate) fn plane(&self) -> Plane {
        let weights = self.0.iter().map(|w| f64::from_bits(*w)).collect();
        Plane { weights, bias: f64::from_bits(self.1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Content = (Vec<u64>, String, Vec<Vec<u64>>, Option<State>, Vec<f64>, Vec<u64>);

    fn content() -> Content {
        let weights = |from: u32| (from..from + 9).map(|n| f64::from(n).sqrt().to_bits()).collect();
        let inner = State::encode(&(7u64, vec![u64::MAX; 12], vec![1u64; 3]));
        let lists = vec![weights(2), weights(30), vec![1, 2], weights(2)];
        let floats = vec![0.1, -0.0, 1e300, f64::MIN_POSITIVE / 8.0, 1.0 / 3.0, 2.0, 5.0, 7.5, 9.0];
        (vec![1, 2, 3], "$list".into(), lists, Some(inner), floats, (0..20).collect())
    }

    fn planes() -> Vec<Plane> {
        let bits = |list: &Vec<u64>| list.iter().map(|b| f64::from_bits(*b)).collect();
        let lists = content().2;
        let plane = |list: &Vec<u64>| Plane { weights: bits(list), bias: 1.0 };
        vec![plane(&lists[1]), plane(&lists[0]), Plane { weights: vec![1.0; 9], bias: 0.0 }]
    }

    #[test]
    fn what_is_saved_comes_back() {
        let state = State::encode(&content());
        let back: Content = state.decode().unwrap();
        assert_eq!(back, content());
        assert_eq!(State::from_bytes(state.as_bytes().to_vec()), state);
        let inner: (u64, Vec<u64>, Vec<u64>) = back.3.unwrap().decode().unwrap();
        assert_eq!(inner, (7, vec![u64::MAX; 12], vec![1; 3]));
        let text = String::from_utf8_lossy(state.as_bytes()).into_owned();
        assert!(!text.contains("\\\""), "no text of JSON in JSON: {text}");
    }

    #[test]
    fn format_1_is_read() {
        let inner = serde_json::to_string(&(7u64, vec![u64::MAX; 12], vec![1u64; 3])).unwrap();
        let (a, b, c, _, e, f) = content();
        let old = State::from_bytes(serde_json::to_vec(&(a, b, c, inner, e, f)).unwrap());
        let back: Content = old.decode().unwrap();
        let inner: (u64, Vec<u64>, Vec<u64>) = back.3.as_ref().unwrap().decode().unwrap();
        assert_eq!(inner, (7, vec![u64::MAX; 12], vec![1; 3]));
        assert_eq!((back.0, back.1, back.2), (content().0, content().1, content().2));
        assert_eq!((back.4, back.5), (content().4, content().5));
    }

    #[test]
    fn weights_of_planes_stand_beside_it() {
        let state = State::encode(&content());
        let beside = state.beside(&planes());
        assert!(state.as_bytes().len() - beside.len() > 2 * 8 * 9 - 40);
        assert_eq!(State::from_beside(&beside, &planes()).unwrap(), state);
        assert_eq!(State::from_beside(&state.beside(&[]), &[]).unwrap(), state);
        assert!(State::from_beside(&beside, &planes()[..1]).is_err());
        assert!(State::from_bytes(beside).decode::<Content>().is_err());
        for bytes in [&b""[..], b"no JSON", b"{\"a\":1}"] {
            let odd = State::from_bytes(bytes.to_vec());
            let back = State::from_beside(&odd.beside(&planes()), &planes()).unwrap();
            assert_eq!(back.value(), odd.value());
        }
    }

    #[test]
    fn what_no_state_is_gets_refused() {
        let packed = |text: &str, numbers: &[u64]| {
            let text = serde_json::from_str(text).unwrap();
            Packed { text, numbers: numbers.to_vec() }.to_bytes()
        };
        let good = packed("[{\"$list\":[0,2]},{\"$list\":[2,1]}]", &[1, 2, 3]);
        assert!(State::from_beside(&good, &[]).is_ok());
        for (text, numbers) in [
            ("[{\"$list\":[0,2]},{\"$list\":[0,2]}]", &[1, 2][..]),
            ("[{\"$list\":[0,2]},{\"$list\":[1,2]}]", &[1, 2, 3]),
            ("[{\"$list\":[1,2]}]", &[1, 2, 3]),
            ("[{\"$list\":[0,2]}]", &[1, 2, 3]),
            ("[{\"$list\":[0,4]}]", &[1, 2, 3]),
            ("[{\"$list\":[0,18446744073709551615]}]", &[1]),
            ("[{\"$plane\":3}]", &[]),
            ("[{\"$plane\":0},{\"$plane\":0}]", &[]),
        ] {
            assert!(State::from_beside(&packed(text, numbers), &planes()).is_err(), "{text}");
        }
        for end in 8..good.len() {
            assert!(State::from_beside(&good[..end], &[]).is_err(), "cut at {end}");
        }
        let long = [&(1u64 << 31).to_le_bytes(), &good[8..]].concat();
        assert!(State::from_beside(&long, &[]).is_err());
    }
}
