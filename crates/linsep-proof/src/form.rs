//! Strict JSON: no key stands twice, and a value has the form in which it would be written.
//!
//! Reading with serde alone takes the last of two equal keys in some types, and a list for an object.

use serde::Serialize;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// A value from JSON text.
pub fn strict<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let typed: T = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    has_form(&parse(bytes)?, &typed)?;
    Ok(typed)
}

/// A value from parsed JSON.
pub fn typed<T: Serialize + DeserializeOwned>(parsed: &impl Serialize) -> Result<T, String> {
    let value = serde_json::to_value(parsed).map_err(|e| e.to_string())?;
    let typed = T::deserialize(&value).map_err(|e| e.to_string())?;
    has_form(&value, &typed)?;
    Ok(typed)
}

/// Parsed JSON, for those who have to change it before it has its form. No object has a key twice.
pub fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    T::deserialize(parse(bytes)?).map_err(|e| e.to_string())
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice::<Strict>(bytes).map(|strict| strict.0).map_err(|e| e.to_string())
}

/// Refuses JSON that is not what writing the value back gives.
fn has_form(read: &Value, typed: &impl Serialize) -> Result<(), String> {
    let written = serde_json::to_value(typed).map_err(|e| e.to_string())?;
    match same_form(read, &written) {
        true => Ok(()),
        false => Err("a part of it is not of the form that it should have".into()),
    }
}

/// Whether two JSON values are the same but for the way in which numbers are written.
fn same_form(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            // An optional field may be written as null or left out.
            let there = |(key, x): (&String, &Value)| match b.get(key) {
                Some(y) => same_form(x, y),
                None => x.is_null(),
            };
            a.iter().all(there) && b.keys().all(|key| a.contains_key(key))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_form(x, y))
        }
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

/// A JSON value in which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_bool<E>(self, x: bool) -> Result<Value, E> {
        Ok(x.into())
    }

    fn visit_i64<E>(self, x: i64) -> Result<Value, E> {
        Ok(x.into())
    }

    fn visit_u64<E>(self, x: u64) -> Result<Value, E> {
        Ok(x.into())
    }

    fn visit_f64<E>(self, x: f64) -> Result<Value, E> {
        Ok(x.into())
    }

    fn visit_str<E>(self, x: &str) -> Result<Value, E> {
        Ok(x.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if object.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key \"{key}\" stands twice")));
            }
        }
        Ok(Value::Object(object))
    }
}
