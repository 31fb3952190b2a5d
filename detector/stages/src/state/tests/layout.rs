//! The layout of a value as postcard writes it: a line for each field of each struct and variant in it, with its place and the
//! type of what it holds. Values of other numbers and other orders of maps have the same lines.

use serde::ser::{self, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The lines of values that were added.
#[derive(Debug, Default)]
pub struct Layout {
    /// `Struct.place field: type`, in their order.
    pub lines: BTreeSet<String>,
}

#[derive(Debug)]
pub struct Never;

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that cannot be written")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(_: T) -> Never {
        Never
    }
}

/// The fields of a struct, or the elements of a list, map or tuple.
pub struct Inside<'a> {
    layout: &'a mut Layout,
    name: String,
    place: usize,
    /// Types of elements: each once in a list or map, which may hold none of some.
    elements: Vec<String>,
}

impl Layout {
    /// Adds the lines of a value; returns its type.
    pub fn add(&mut self, value: &impl Serialize) -> String {
        value.serialize(self).unwrap()
    }

    fn inside(&mut self, name: String) -> Inside<'_> {
        Inside { layout: self, name, place: 0, elements: Vec::new() }
    }

    fn line(&mut self, of: &str, place: usize, field: &str, holds: &str) {
        self.lines.insert(format!("{of}.{place:02} {field}: {holds}"));
    }
}

impl Inside<'_> {
    fn field(&mut self, field: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Never> {
        let holds = value.serialize(&mut *self.layout)?;
        // Whether an option has a value now is no part of the layout.
        if holds != "None" {
            self.layout.line(&self.name, self.place, field, &holds);
        }
        self.place += 1;
        Ok(())
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Never> {
        let holds = value.serialize(&mut *self.layout)?;
        self.elements.push(holds);
        Ok(())
    }

    /// The type of a list or map.
    fn of_elements(mut self) -> String {
        self.elements.sort();
        self.elements.dedup();
        format!("{}<{}>", self.name, self.elements.join("|"))
    }
}

macro_rules! primitives {
    ($($method:ident $holds:ty),*) => {
        $(fn $method(self, _: $holds) -> Result<String, Never> {
            Ok(stringify!($holds).trim_start_matches('&').to_string())
        })*
    };
}

impl<'a> ser::Serializer for &'a mut Layout {
    type Ok = String;
    type Error = Never;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    primitives!(
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_f32 f32,
        serialize_f64 f64, serialize_char char, serialize_str &str, serialize_bytes &[u8]
    );

    fn serialize_none(self) -> Result<String, Never> {
        Ok("None".to_string())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, Never> {
        Ok(format!("Option<{}>", value.serialize(self)?))
    }

    fn serialize_unit(self) -> Result<String, Never> {
        Ok("()".to_string())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<String, Never> {
        Ok(name.to_string())
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<String, Never> {
        self.line(name, index as usize, variant, "()");
        Ok(name.to_string())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<String, Never> {
        Ok(format!("{name}({})", value.serialize(self)?))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<String, Never> {
        let holds = value.serialize(&mut *self)?;
        self.line(name, index as usize, variant, &holds);
        Ok(name.to_string())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>, Never> {
        Ok(self.inside("list".to_string()))
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'a>, Never> {
        Ok(self.inside(String::new()))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Inside<'a>, Never> {
        Ok(self.inside(name.to_string()))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Never> {
        self.line(name, index as usize, variant, "fields");
        Ok(self.inside(format!("{name}::{variant}")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'a>, Never> {
        Ok(self.inside("map".to_string()))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Inside<'a>, Never> {
        Ok(self.inside(name.to_string()))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Never> {
        self.line(name, index as usize, variant, "fields");
        Ok(self.inside(format!("{name}::{variant}")))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// A trait whose values come one after the other.
macro_rules! elements {
    ($($compound:ident $method:ident $end:expr),*) => {
        $(impl ser::$compound for Inside<'_> {
            type Ok = String;
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                self.element(value)
            }

            fn end(self) -> Result<String, Never> {
                Ok($end(self))
            }
        })*
    };
}

elements!(
    SerializeSeq serialize_element Inside::of_elements,
    SerializeTuple serialize_element (|tuple: Inside<'_>| format!("({})", tuple.elements.join(", "))),
    SerializeTupleStruct serialize_field (|tuple: Inside<'_>| format!("{}({})", tuple.name, tuple.elements.join(", "))),
    SerializeTupleVariant serialize_field (|tuple: Inside<'_>| format!("{}({})", tuple.name, tuple.elements.join(", ")))
);

impl ser::SerializeMap for Inside<'_> {
    type Ok = String;
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.element(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let key = self.elements.pop().unwrap_or_default();
        let holds = value.serialize(&mut *self.layout)?;
        self.elements.push(format!("{key}: {holds}"));
        Ok(())
    }

    fn end(self) -> Result<String, Never> {
        Ok(self.of_elements())
    }
}

/// A trait whose values have names.
macro_rules! fields {
    ($($compound:ident),*) => {
        $(impl ser::$compound for Inside<'_> {
            type Ok = String;
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Never> {
                self.field(name, value)
            }

            fn end(self) -> Result<String, Never> {
                Ok(self.name)
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);
