//! Safetensors: one file, or several with an index.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, SafeTensors};
use serde::Deserialize;
use tch::{Kind, Tensor};

use super::WeightSource;
use super::mmap::Slice;
use crate::error::{Error, TensorProblem};

const INDEX: &str = "model.safetensors.index.json";
const SINGLE: &str = "model.safetensors";

/// Elements that are copied at once: what is held beside the weights themselves. Few, as the allocator leaves a hole of that
/// size behind many tensors.
const PIECE: usize = 1 << 16;

/// The weights of a Hugging Face folder: `model.safetensors`, or the shards that `model.safetensors.index.json` lists.
///
/// Opening reads the headers only; a tensor is mapped into memory piece by piece as it is being copied. Files that the
/// index does not name are ignored.
#[derive(Debug)]
pub struct SafetensorsFolder {
    origin: PathBuf,
    shards: Vec<Shard>,
    /// Which shard holds a tensor.
    places: HashMap<String, usize>,
}

#[derive(Debug)]
struct Shard {
    path: PathBuf,
    file: File,
    metadata: Metadata,
    /// Where the tensors' bytes begin.
    data: u64,
}

#[derive(Deserialize)]
struct Index {
    weight_map: HashMap<String, String>,
}

impl SafetensorsFolder {
    /// Opens the weights of `folder`. Where it has both forms, the single file wins.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that cannot be read; [`Error::Format`] where there are no weights, the index is damaged
    /// or lists files that are not there (all of them named), or a file is cut short or damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let (single, index) = (folder.join(SINGLE), folder.join(INDEX));
        if single.exists() {
            let shard = Shard::open(single)?;
            let places = shard
                .metadata
                .tensors()
                .into_keys()
                .map(|name| (name, 0))
                .collect();
            return Ok(Self {
                origin: folder.into(),
                shards: vec![shard],
                places,
            });
        }
        if !index.exists() {
            return Err(Error::format(
                folder,
                format!("{SINGLE} or {INDEX}"),
                "neither",
            ));
        }
        Self::open_sharded(folder, &index)
    }

    fn open_sharded(folder: &Path, path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|error| Error::format(path, "an index with a weight_map", error))?;
        let names: BTreeSet<&String> = index.weight_map.values().collect();
        let outside = |name: &&&String| {
            !matches!(
                Path::new(name.as_str()).components().collect::<Vec<_>>()[..],
                [Component::Normal(_)]
            )
        };
        if let Some(name) = names.iter().find(outside) {
            return Err(Error::format(
                path,
                "names of files in the same folder",
                name,
            ));
        }
        let missing: Vec<&str> = names
            .iter()
            .filter(|name| !folder.join(name).is_file())
            .map(|name| name.as_str())
            .collect();
        if !missing.is_empty() {
            return Err(Error::format(
                path,
                format!("{} shards", names.len()),
                format!("these are missing: {}", missing.join(", ")),
            ));
        }
        let shards = names
            .iter()
            .map(|name| Shard::open(folder.join(name)))
            .collect::<Result<Vec<_>, _>>()?;
        let position: HashMap<&String, usize> = names
            .into_iter()
            .enumerate()
            .map(|(place, name)| (name, place))
            .collect();
        // A tensor that its shard does not hold is left out here and reported as missing when the model asks for it.
        let places = index.weight_map.iter().filter_map(|(tensor, file)| {
            let place = *position.get(file)?;
            shards[place]
                .metadata
                .info(tensor)
                .map(|_| (tensor.clone(), place))
        });
        Ok(Self {
            origin: folder.into(),
            places: places.collect(),
            shards,
        })
    }
}

impl WeightSource for SafetensorsFolder {
    fn origin(&self) -> String {
        self.origin.display().to_string()
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        let info = self.shards[*self.places.get(name)?].metadata.info(name)?;
        Some(info.shape.iter().map(|size| *size as i64).collect())
    }

    fn read_into(&self, name: &str, target: &Tensor) -> Result<(), Error> {
        let unusable = |problem| Error::Tensors {
            origin: self.origin(),
            problems: vec![problem],
        };
        let missing = || {
            unusable(TensorProblem::Missing {
                name: name.into(),
                expected: Vec::new(),
            })
        };
        let shard = &self.shards[*self.places.get(name).ok_or_else(missing)?];
        let info = shard.metadata.info(name).ok_or_else(missing)?;
        let stored = match info.dtype {
            Dtype::F64 => Kind::Double,
            Dtype::F32 => Kind::Float,
            Dtype::F16 => Kind::Half,
            Dtype::BF16 => Kind::BFloat16,
            other => {
                return Err(unusable(TensorProblem::Type {
                    name: name.into(),
                    found: format!("{other:?}"),
                }));
            }
        };
        let torch = || Error::torch("the copy of a tensor");
        let (start, end) = info.data_offsets;
        let size = stored.elt_size_in_bytes();
        let target = target
            .f_view_([((end - start) / size) as i64])
            .map_err(torch())?;
        for first in (start..end).step_by(PIECE * size) {
            let bytes = (PIECE * size).min(end - first);
            let slice = Slice::map(&shard.file, shard.data + first as u64, bytes)
                .map_err(|source| Error::io(&shard.path, source))?;
            let count = (bytes / size) as i64;
            let piece =
                Tensor::f_from_data_size(slice.bytes(), &[count], stored).map_err(torch())?;
            target
                .f_narrow(0, ((first - start) / size) as i64, count)
                .and_then(|mut part| part.f_copy_(&piece))
                .map_err(torch())?;
        }
        Ok(())
    }
}

impl Shard {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let io = |source| Error::io(&path, source);
        let file = File::open(&path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let whole = usize::try_from(size).map_err(|_| {
            Error::format(
                &path,
                "a file that fits the address space",
                format!("{size} bytes"),
            )
        })?;
        // Mapping all of it costs nothing: only the pages of the header are touched.
        let map = Slice::map(&file, 0, whole).map_err(io)?;
        let (length, metadata) =
            SafeTensors::read_metadata(map.bytes()).map_err(|error| match error {
                SafeTensorError::HeaderTooSmall
                | SafeTensorError::InvalidHeaderLength
                | SafeTensorError::MetadataIncompleteBuffer => Error::format(
                    &path,
                    "a safetensors file of the length that its header gives",
                    format!("{size} bytes"),
                ),
                error => Error::format(&path, "a safetensors header", error),
            })?;
        drop(map);
        Ok(Self {
            path,
            file,
            metadata,
            data: 8 + length as u64,
        })
    }
}
