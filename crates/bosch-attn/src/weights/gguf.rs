//! A GGUF file as a source of weights under their Hugging Face names.
//!
//! The names are those of llama.cpp's converter (`gguf-py/gguf/tensor_mapping.py`). The converter reorders the rows of q
//! and k of the architecture `llama` (`LlamaModel.permute`): within a head, row i + j·d/2 of Hugging Face's order (i in
//! 0..d/2, j in 0..2) is row 2i + j of the file's. Reading undoes this.

use tch::Tensor;

use super::WeightSource;
use crate::error::{Error, TensorProblem};
use crate::gguf::{GgufFile, TensorInfo};

/// Parts of a layer: Hugging Face's name, the file's name. Each has a `.weight`, and a `.bias` where there is one.
const PARTS: [(&str, &str); 12] = [
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("mlp.gate", "ffn_gate_inp"),
];

/// Where the file keeps a tensor.
#[derive(Debug, PartialEq)]
struct Place {
    name: String,
    /// Which expert's slice of it, where all experts are in one tensor.
    expert: Option<usize>,
}

impl Place {
    fn whole(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            expert: None,
        }
    }

    /// The place of the tensor that Hugging Face calls `name`.
    fn of(name: &str) -> Option<Self> {
        match name {
            "model.embed_tokens.weight" => return Some(Self::whole("token_embd.weight")),
            "model.norm.weight" => return Some(Self::whole("output_norm.weight")),
            "lm_head.weight" => return Some(Self::whole("output.weight")),
            _ => {}
        }
        let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
        let layer: usize = layer.parse().ok()?;
        let (part, suffix) = rest.rsplit_once('.')?;
        if suffix != "weight" && suffix != "bias" {
            return None;
        }
        if let Some(part) = part.strip_prefix("mlp.experts.") {
            let (expert, projection) = part.split_once('.')?;
            let kind = projection.strip_suffix("_proj")?;
            return Some(Self {
                name: format!("blk.{layer}.ffn_{kind}_exps.{suffix}"),
                expert: Some(expert.parse().ok()?),
            });
        }
        let (_, file) = PARTS.iter().find(|(ours, _)| *ours == part)?;
        Some(Self::whole(format!("blk.{layer}.{file}.{suffix}")))
    }
}

impl GgufFile {
    fn located(&self, name: &str) -> Option<(Place, &TensorInfo)> {
        let place = Place::of(name)?;
        let info = self.tensor_info(&place.name)?;
        let fits = match place.expert {
            Some(expert) => info.shape.len() == 3 && expert < info.shape[0],
            None => true,
        };
        fits.then_some((place, info))
    }

    /// Heads whose rows the converter reordered in the tensor that Hugging Face calls `name`, or `None`.
    fn reordered_heads(&self, name: &str) -> Result<Option<usize>, Error> {
        let metadata = self.metadata();
        if metadata.text("general.architecture")? != Some("llama") {
            return Ok(None);
        }
        let count = |key: &str| metadata.size(&format!("llama.attention.{key}"));
        if name.contains(".q_proj.") {
            count("head_count")
        } else if name.contains(".k_proj.") {
            Ok(count("head_count_kv")?.or(count("head_count")?))
        } else {
            Ok(None)
        }
    }
}

impl WeightSource for GgufFile {
    fn origin(&self) -> String {
        self.path().display().to_string()
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        let (place, info) = self.located(name)?;
        let skipped = usize::from(place.expert.is_some());
        let sizes = info.shape[skipped..].iter();
        Some(sizes.map(|size| *size as i64).collect())
    }

    fn read_into(&self, name: &str, target: &Tensor) -> Result<(), Error> {
        let Some((place, info)) = self.located(name) else {
            let problem = TensorProblem::Missing {
                name: name.to_string(),
                expected: Vec::new(),
            };
            return Err(Error::Tensors {
                origin: self.origin(),
                problems: vec![problem],
            });
        };
        let tensor = match place.expert {
            Some(expert) => self
                .read_part(info, expert, info.shape[0])?
                .f_squeeze_dim(0)
                .map_err(Error::torch("taking an expert's slice"))?,
            None => self.read_part(info, 0, 1)?,
        };
        let tensor = match self.reordered_heads(name)? {
            Some(heads) => restore_rows(&tensor, heads, name)?,
            None => tensor,
        };
        target
            .shallow_clone()
            .f_copy_(&tensor)
            .map_err(Error::torch("converting a tensor"))?;
        Ok(())
    }
}

/// Brings the rows of `heads` heads from the file's order to Hugging Face's.
fn restore_rows(tensor: &Tensor, heads: usize, name: &str) -> Result<Tensor, Error> {
    let shape = tensor.size();
    let (rows, heads) = (shape[0], i64::try_from(heads).unwrap_or_default());
    if heads == 0 || rows % heads != 0 || rows / heads % 2 != 0 {
        let expected = format!("rows for {heads} heads of an even size in {name}");
        return Err(Error::input("tensor", expected, rows));
    }
    tensor
        .f_reshape([heads, rows / heads / 2, 2, -1]) // [head, i, j, D]
        .and_then(|tensor| tensor.f_transpose(1, 2)) // [head, j, i, D]
        .and_then(|tensor| tensor.f_reshape(&shape)) // [rows, D]
        .map_err(Error::torch("restoring the order of rows"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind};

    #[test]
    fn names_are_those_of_the_converter() {
        let named = |name: &str| Place::of(name).map(|place| (place.name, place.expert));
        for (ours, file) in [
            (
                "model.layers.12.self_attn.q_proj.bias",
                "blk.12.attn_q.bias",
            ),
            (
                "model.layers.0.mlp.gate.weight",
                "blk.0.ffn_gate_inp.weight",
            ),
            (
                "model.layers.0.mlp.gate_proj.weight",
                "blk.0.ffn_gate.weight",
            ),
            ("lm_head.weight", "output.weight"),
        ] {
            assert_eq!(named(ours), Some((file.to_string(), None)));
        }
        let expert = Some(("blk.3.ffn_down_exps.weight".to_string(), Some(7)));
        assert_eq!(
            named("model.layers.3.mlp.experts.7.down_proj.weight"),
            expert
        );
        for unknown in [
            "",
            "model.layers.x.mlp.gate.weight",
            "model.layers.1.mlp.other.weight",
            "model.layers.1",
        ] {
            assert_eq!(named(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn row_order_is_the_inverse_of_the_converter_s() {
        // The converter swaps the axes [head, 2, d/2] -> [head, d/2, 2] of Hugging Face's rows; two heads of size 4.
        let ours = Tensor::arange(16, (Kind::Float, Device::Cpu)).reshape([8, 2]);
        let file = ours.reshape([2, 2, 2, 2]).transpose(1, 2).reshape([8, 2]);
        assert_ne!(file, ours);
        assert_eq!(restore_rows(&file, 2, "q").unwrap(), ours);
        assert!(restore_rows(&file, 3, "q").is_err());
        assert!(restore_rows(&file, 0, "q").is_err());
    }
}
