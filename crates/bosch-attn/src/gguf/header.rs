//! The header: magic, version, counts, metadata, tensor infos.

use std::collections::HashMap;
use std::path::Path;

use super::TensorInfo;
use super::element::ElementType;
use super::metadata::{Metadata, Value};
use super::reader::Reader;
use crate::error::Error;

const ENTRIES: u64 = 1 << 16; // of the metadata; files have some dozens
const TENSORS: u64 = 1 << 20;
const ELEMENTS: u64 = 1 << 24; // of one array; vocabularies have some 10⁵
const LARGEST_TENSOR: u64 = 1 << 48;

/// Fewest bytes of a metadata entry (key length, type, one byte) and of a tensor info (name length, rank, one size,
/// type, offset): what the counts are checked against.
const ENTRY_BYTES: u64 = 8 + 4 + 1;
const INFO_BYTES: u64 = 8 + 4 + 8 + 4 + 8;

pub(super) fn read(path: &Path) -> Result<(Metadata, HashMap<String, TensorInfo>), Error> {
    let mut reader = Reader::open(path)?;
    let (tensor_count, entry_count) = read_counts(&mut reader)?;
    let mut values = HashMap::new();
    for _ in 0..entry_count {
        let key = reader.string("a metadata key")?;
        let value = read_value(&mut reader, &key)?;
        if values.contains_key(&key) {
            return Err(reader.error("each metadata key once", format!("{key} twice")));
        }
        values.insert(key, value);
    }
    let alignment = alignment(&reader, &values)?;
    let mut unplaced = Vec::new();
    for _ in 0..tensor_count {
        unplaced.push(read_info(&mut reader, alignment)?);
    }
    let data = reader.position().next_multiple_of(alignment);
    let mut tensors = HashMap::new();
    for (name, info) in unplaced {
        let info = place(&reader, &name, info, data)?;
        if tensors.contains_key(&name) {
            return Err(reader.error("each tensor once", format!("{name} twice")));
        }
        tensors.insert(name, info);
    }
    Ok((Metadata::new(path.to_path_buf(), values), tensors))
}

/// Numbers of tensors and of metadata entries.
fn read_counts(reader: &mut Reader) -> Result<(u64, u64), Error> {
    let magic: [u8; 4] = reader.bytes()?;
    if &magic != b"GGUF" {
        return Err(reader.error(
            "a GGUF file, which starts with the bytes GGUF",
            magic.escape_ascii(),
        ));
    }
    let version = reader.u32()?;
    if version != 2 && version != 3 {
        let found = match version.swap_bytes() {
            2 | 3 => "a big-endian file".to_string(),
            _ => format!("version {version}"),
        };
        return Err(reader.error("a little-endian GGUF file of version 2 or 3", found));
    }
    let (tensors, entries) = (reader.u64()?, reader.u64()?);
    for (count, limit, bytes, what) in [
        (tensors, TENSORS, INFO_BYTES, "tensors"),
        (entries, ENTRIES, ENTRY_BYTES, "metadata entries"),
    ] {
        if count > limit {
            return Err(reader.error(format!("at most {limit} {what}"), count));
        }
        reader.need(count, bytes, what)?;
    }
    Ok((tensors, entries))
}

fn read_value(reader: &mut Reader, key: &str) -> Result<Value, Error> {
    let kind = reader.u32()?;
    Ok(match kind {
        6 => Value::Float(shortest(f32::from_le_bytes(reader.bytes()?))),
        7 => Value::Bool(read_bool(reader, key)?),
        8 => Value::Text(reader.string(key)?),
        9 => read_array(reader, key)?,
        12 => Value::Float(f64::from_le_bytes(reader.bytes()?)),
        _ => Value::Integer(read_integer(reader, key, kind)?),
    })
}

fn read_integer(reader: &mut Reader, key: &str, kind: u32) -> Result<i128, Error> {
    Ok(match kind {
        0 => u8::from_le_bytes(reader.bytes()?).into(),
        1 => i8::from_le_bytes(reader.bytes()?).into(),
        2 => u16::from_le_bytes(reader.bytes()?).into(),
        3 => i16::from_le_bytes(reader.bytes()?).into(),
        4 => u32::from_le_bytes(reader.bytes()?).into(),
        5 => i32::from_le_bytes(reader.bytes()?).into(),
        10 => u64::from_le_bytes(reader.bytes()?).into(),
        11 => i64::from_le_bytes(reader.bytes()?).into(),
        _ => return Err(unknown_type(reader, key, kind)),
    })
}

fn unknown_type(reader: &Reader, key: &str, kind: u32) -> Error {
    reader.error(
        format!("a value of a type from 0 to 12 for {key}"),
        format!("type {kind}"),
    )
}

fn read_bool(reader: &mut Reader, key: &str) -> Result<bool, Error> {
    match reader.bytes()? {
        [0] => Ok(false),
        [1] => Ok(true),
        [other] => Err(reader.error(format!("0 or 1 for {key}"), other)),
    }
}

fn read_array(reader: &mut Reader, key: &str) -> Result<Value, Error> {
    let (kind, count) = (reader.u32()?, reader.u64()?);
    let bytes = match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        8 | 10..=12 => 8,
        9 => {
            return Err(reader.error(
                format!("a list without lists in it for {key}"),
                "a list of lists",
            ));
        }
        _ => return Err(unknown_type(reader, key, kind)),
    };
    if count > ELEMENTS {
        return Err(reader.error(format!("at most {ELEMENTS} elements of {key}"), count));
    }
    reader.need(count, bytes, &format!("elements of {key}"))?;
    let numbers = || 0..count;
    Ok(match kind {
        6 => Value::Floats(
            numbers()
                .map(|_| reader.bytes().map(f32::from_le_bytes))
                .collect::<Result<_, _>>()?,
        ),
        7 => {
            for _ in numbers() {
                read_bool(reader, key)?;
            }
            Value::Other("a list of booleans")
        }
        8 => Value::Texts(
            numbers()
                .map(|_| reader.string(key))
                .collect::<Result<_, _>>()?,
        ),
        12 => {
            for _ in numbers() {
                reader.bytes::<8>()?;
            }
            Value::Other("a list of 64-bit floats")
        }
        _ => Value::Integers(
            numbers()
                .map(|_| {
                    let value = read_integer(reader, key, kind)?;
                    i64::try_from(value)
                        .map_err(|_| reader.error(format!("numbers below 2^63 in {key}"), value))
                })
                .collect::<Result<_, _>>()?,
        ),
    })
}

/// The shortest decimal that rounds to `value`, as a 64-bit float: 1e-5 for the 32-bit float nearest to 1e-5.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// `general.alignment`: of the tensors' offsets; 32 unless given.
fn alignment(reader: &Reader, values: &HashMap<String, Value>) -> Result<u64, Error> {
    match values.get("general.alignment") {
        None => Ok(32),
        Some(Value::Integer(value)) => match u64::try_from(*value) {
            Ok(alignment) if alignment.is_power_of_two() && alignment <= 1 << 20 => Ok(alignment),
            _ => Err(reader.error("a power of 2 up to 2^20 for general.alignment", value)),
        },
        Some(_) => Err(reader.error("a power of 2 for general.alignment", "another type")),
    }
}

/// Name and info of the next tensor; its place is still counted from the start of the tensor data.
fn read_info(reader: &mut Reader, alignment: u64) -> Result<(String, TensorInfo), Error> {
    let name = reader.string("a tensor's name")?;
    let rank = reader.u32()?;
    if rank == 0 || rank > 4 {
        return Err(reader.error(format!("1 to 4 dimensions of {name}"), rank));
    }
    let sizes = (0..rank)
        .map(|_| reader.u64())
        .collect::<Result<Vec<_>, _>>()?;
    let elements = sizes
        .iter()
        .try_fold(1_u64, |product, size| product.checked_mul(*size));
    if !elements.is_some_and(|elements| (1..=LARGEST_TENSOR).contains(&elements)) {
        return Err(reader.error(
            format!("a shape of 1 to 2^48 elements for {name}"),
            format!("{sizes:?}"),
        ));
    }
    let code = reader.u32()?;
    let Some(element) = ElementType::from_code(code) else {
        let expected = format!("{name} of the type {}", ElementType::NAMES);
        return Err(reader.error(expected, ElementType::describe(code)));
    };
    // GGUF names the fastest-running dimension first, and rows are whole blocks.
    if !sizes[0].is_multiple_of(element.block_size() as u64) {
        let expected = format!(
            "rows of {name} in blocks of {} elements",
            element.block_size()
        );
        return Err(reader.error(expected, format!("rows of {}", sizes[0])));
    }
    let start = reader.u64()?;
    if !start.is_multiple_of(alignment) {
        return Err(reader.error(
            format!("{name} at a multiple of {alignment}"),
            format!("offset {start}"),
        ));
    }
    let shape = sizes.iter().rev().map(|size| *size as usize).collect();
    Ok((
        name,
        TensorInfo {
            element,
            shape,
            start,
        },
    ))
}

/// Counts the tensor's place from the start of the file, and checks that it lies inside.
fn place(reader: &Reader, name: &str, info: TensorInfo, data: u64) -> Result<TensorInfo, Error> {
    let bytes = info.element.bytes(info.shape.iter().product()) as u64;
    let start = data.checked_add(info.start);
    match start.and_then(|start| Some((start, start.checked_add(bytes)?))) {
        Some((start, end)) if end <= reader.length() => Ok(TensorInfo { start, ..info }),
        _ => {
            let expected = format!(
                "{bytes} bytes of {name} at offset {} of the tensor data",
                info.start
            );
            Err(reader.error(
                expected,
                format!("the end of the file at byte {}", reader.length()),
            ))
        }
    }
}
