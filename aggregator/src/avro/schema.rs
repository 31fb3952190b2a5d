//! Writer schemas: how the bytes of a message divide into columns.
//!
//! Read here and not by a library, since LDMS uses logical types of its own to distinguish a counter of 64 bits
//! from one of 32 (which its store always writes as 0), and names columns as no Avro name may be.

use serde_json::Value;
use std::collections::HashMap;

/// Types in one schema, those of nested records and of references included. An Aries router has 800 columns.
const NODES_MAX: usize = 20_000;
/// Nesting of types.
const DEPTH_MAX: usize = 16;

/// What a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Signed,
    /// 64 bits without sign: from 2^63 it is written as a negative number.
    Unsigned,
    /// 32 bits without sign.
    Unsigned32,
    /// Time since the epoch: so many of these are a microsecond, or a microsecond so many of these.
    Millis,
    Micros,
    Nanos,
}

/// An Avro type, as far as its bytes go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Also everything else that takes no bytes.
    Null,
    Boolean,
    /// `int` or `long`: both are written alike.
    Number(Meaning),
    Float,
    Double,
    /// `string` or `bytes`.
    Text,
    Fixed(usize),
    /// Number of symbols.
    Enum(usize),
    Array(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(Vec<Type>),
}

/// The record that a schema describes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub name: String,
    pub columns: Vec<(String, Type)>,
    /// Types in it, a measure of its size.
    pub nodes: usize,
}

/// Reads a writer schema.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn record(json: &str) -> Result<Record, String> {
    let schema: Value = serde_json::from_str(json).map_err(|error| format!("no JSON: {error}"))?;
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind != "record" {
        return Err("not a record, so its messages are no rows".to_string());
    }
    let mut reader = Reader { named: HashMap::new(), nodes: 0 };
    let (name, namespace) = full_name(&schema, "")?;
    reader.named.insert(name.clone(), None);
    let columns = reader.fields(&schema, &namespace, 1)?;
    Ok(Record { name, columns, nodes: reader.nodes })
}

/// Named types so far; `None` for one whose definition has not ended.
struct Reader {
    named: HashMap<String, Option<Type>>,
    nodes: usize,
}

impl Reader {
    fn of(&mut self, schema: &Value, namespace: &str, depth: usize) -> Result<Type, String> {
        self.charge(1)?;
        if depth > DEPTH_MAX {
            return Err(format!("types are nested more than {DEPTH_MAX} deep"));
        }
        match schema {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let types = branches.iter().map(|branch| self.of(branch, namespace, depth + 1));
                Ok(Type::Union(types.collect::<Result<_, _>>()?))
            }
            Value::Object(_) => self.of_object(schema, namespace, depth),
            _ => Err("a type is neither name, list nor object".to_string()),
        }
    }

    fn charge(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes += nodes;
        if self.nodes > NODES_MAX { Err(format!("more than {NODES_MAX} types")) } else { Ok(()) }
    }

    fn by_name(&mut self, name: &str, namespace: &str) -> Result<Type, String> {
        if let Some(primitive) = primitive(name) {
            return Ok(primitive);
        }
        let full = if name.contains('.') { name.to_string() } else { joined(namespace, name) };
        match self.named.get(&full).or_else(|| self.named.get(name)) {
            Some(Some(known)) => {
                let known = known.clone();
                self.charge(known.nodes())?;
                Ok(known)
            }
            Some(None) => Err(format!("type {name:?} holds itself")),
            None => Err(format!("type {name:?} is not defined")),
        }
    }

    fn of_object(&mut self, schema: &Value, namespace: &str, depth: usize) -> Result<Type, String> {
        let part = |name: &str| schema.get(name).ok_or_else(|| format!("a type lacks {name:?}"));
        let kind = part("type")?;
        let Some(kind) = kind.as_str() else {
            return self.of(kind, namespace, depth + 1);
        };
        match kind {
            "array" => Ok(Type::Array(Box::new(self.of(part("items")?, namespace, depth + 1)?))),
            "map" => Ok(Type::Map(Box::new(self.of(part("values")?, namespace, depth + 1)?))),
            "record" | "error" | "enum" | "fixed" => self.define(schema, kind, namespace, depth),
            _ => Ok(match self.by_name(kind, namespace)? {
                Type::Number(plain) => Type::Number(meaning(schema, plain)),
                other => other,
            }),
        }
    }

    fn define(&mut self, schema: &Value, kind: &str, namespace: &str, depth: usize) -> Result<Type, String> {
        let (name, inner) = full_name(schema, namespace)?;
        self.named.insert(name.clone(), None);
        let defined = match kind {
            "enum" => Type::Enum(schema.get("symbols").and_then(Value::as_array).map_or(0, Vec::len)),
            "fixed" => {
                let size = schema.get("size").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
                match size.ok_or_else(|| format!("fixed type {name:?} lacks a size"))? {
                    0 => Type::Null,
                    size => Type::Fixed(size),
                }
            }
            _ => {
                let fields = self.fields(schema, &inner, depth + 1)?;
                // What takes no bytes is left out: a few bytes could otherwise cause endless work.
                let kept: Vec<Type> =
                    fields.into_iter().map(|(_, kept)| kept).filter(|kept| *kept != Type::Null).collect();
                if kept.is_empty() { Type::Null } else { Type::Record(kept) }
            }
        };
        self.named.insert(name, Some(defined.clone()));
        Ok(defined)
    }

    fn fields(
        &mut self,
        schema: &Value,
        namespace: &str,
        depth: usize,
    ) -> Result<Vec<(String, Type)>, String> {
        let fields = schema.get("fields").and_then(Value::as_array).ok_or("a record lacks fields")?;
        let mut columns = Vec::with_capacity(fields.len().min(NODES_MAX));
        for field in fields {
            let name = field.get("name").and_then(Value::as_str).ok_or("a field lacks a name")?;
            let kind = field.get("type").ok_or_else(|| format!("field {name:?} lacks a type"))?;
            let kind = self.of(kind, namespace, depth + 1).map_err(|why| format!("field {name:?}: {why}"))?;
            columns.push((name.to_string(), kind));
        }
        Ok(columns)
    }
}

impl Type {
    fn nodes(&self) -> usize {
        match self {
            Type::Array(inner) | Type::Map(inner) => 1 + inner.nodes(),
            Type::Union(list) | Type::Record(list) => 1 + list.iter().map(Type::nodes).sum::<usize>(),
            _ => 1,
        }
    }
}

fn primitive(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" | "long" => Type::Number(Meaning::Signed),
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" | "string" => Type::Text,
        _ => return None,
    })
}

fn meaning(schema: &Value, plain: Meaning) -> Meaning {
    match schema.get("logicalType").and_then(Value::as_str).unwrap_or_default() {
        "unsigned-long" => Meaning::Unsigned,
        "unsigned-int" => Meaning::Unsigned32,
        "timestamp-millis" => Meaning::Millis,
        "timestamp-micros" => Meaning::Micros,
        "timestamp-nanos" => Meaning::Nanos,
        _ => plain,
    }
}

/// Full name and namespace of a named type.
fn full_name(schema: &Value, outer: &str) -> Result<(String, String), String> {
    let text = |part: &str| schema.get(part).and_then(Value::as_str);
    let name = text("name").filter(|name| !name.is_empty()).ok_or("a named type lacks its name")?;
    if let Some((namespace, _)) = name.rsplit_once('.') {
        return Ok((name.to_string(), namespace.to_string()));
    }
    let namespace = text("namespace").unwrap_or(outer);
    Ok((joined(namespace, name), namespace.to_string()))
}

fn joined(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(schema: &str, why: &str) {
        let error = record(schema).unwrap_err();
        assert!(error.contains(why), "{error}");
    }

    fn of_field(kind: &str) -> String {
        format!(r#"{{"type":"record","name":"r","namespace":"n","fields":[{{"name":"x","type":{kind}}}]}}"#)
    }

    #[test]
    fn what_is_no_row_is_refused_in_words() {
        refused("", "no JSON");
        refused(r#""long""#, "not a record");
        refused(r#"{"type":"array","items":"long"}"#, "not a record");
        refused(r#"{"type":"record","name":"r"}"#, "fields");
        refused(&of_field(r#""r""#), "holds itself");
        refused(&of_field(r#""other""#), "field \"x\": type \"other\" is not defined");
        refused(&of_field(r#"{"type":"fixed","name":"f","size":-1}"#), "size");
        refused(&of_field("7"), "neither");
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep =
            (0..40).fold("\"long\"".to_string(), |inner, _| format!(r#"{{"type":"array","items":{inner}}}"#));
        refused(&of_field(&deep), "nested");
        let mut inner = r#"{"type":"record","name":"a0","fields":[{"name":"x","type":"long"}]}"#.to_string();
        for level in 1..6 {
            let again = format!(r#",{{"name":"y","type":"a{}"}}"#, level - 1).repeat(20);
            inner = format!(
                r#"{{"type":"record","name":"a{level}","fields":[{{"name":"x","type":{inner}}}{again}]}}"#
            );
        }
        refused(&of_field(&inner), "more than 20000 types");
    }

    #[test]
    fn what_takes_no_bytes_is_nothing() {
        let empty = r#"{"type":"record","name":"e","fields":[{"name":"n","type":"null"}]}"#;
        let read = record(&of_field(&format!(r#"{{"type":"array","items":{empty}}}"#))).unwrap();
        assert_eq!(read.columns[0].1, Type::Array(Box::new(Type::Null)));
    }
}
