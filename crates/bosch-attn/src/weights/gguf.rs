//! [`GgufFile`] as a [`WeightSource`]: Hugging Face names and row order.

use tch::{Device, Kind, Tensor};

use super::WeightSource;
use crate::error::{Error, TensorProblem};
use crate::gguf::{GgufFile, TensorInfo};

/// Where a Hugging Face tensor is found: the file's tensor, and which of how many equal parts of it.
struct Place<'f> {
    info: &'f TensorInfo,
    part: usize,
    parts: usize,
    /// Heads whose rows llama.cpp interleaved, for q and k of the architecture `llama`.
    permuted_heads: Option<usize>,
}

impl GgufFile {
    fn place(&self, name: &str) -> Option<Place<'_>> {
        let (ggml, part) = ggml_name(name)?;
        let info = self.tensor_info(&ggml)?;
        let parts = if part.is_some() {
            *info.shape.first()?
        } else {
            1
        };
        let part = part.unwrap_or(0);
        if part >= parts {
            return None;
        }
        Some(Place {
            info,
            part,
            parts,
            permuted_heads: self.permuted_heads(&ggml),
        })
    }

    /// The number of heads in a tensor whose rows are permuted.
    fn permuted_heads(&self, ggml: &str) -> Option<usize> {
        let metadata = self.metadata();
        if metadata.text("general.architecture").ok()?? != "llama" {
            return None;
        }
        let count = |key: &str| metadata.size(key).ok().flatten();
        let queries = count("llama.attention.head_count");
        if ggml.contains(".attn_q.") {
            queries
        } else if ggml.contains(".attn_k.") {
            count("llama.attention.head_count_kv").or(queries)
        } else {
            None
        }
    }
}

impl WeightSource for GgufFile {
    fn origin(&self) -> String {
        self.path().display().to_string()
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        let place = self.place(name)?;
        let shape = place.info.shape.iter().map(|size| *size as i64);
        // An expert is one slice of a tensor of all experts.
        Some(shape.skip(usize::from(is_expert(name))).collect())
    }

    fn read(&self, name: &str, kind: Kind, device: Device) -> Result<Tensor, Error> {
        let Some(place) = self.place(name) else {
            let problem = TensorProblem::Missing {
                name: name.to_string(),
                expected: Vec::new(),
            };
            return Err(Error::Tensors {
                origin: self.origin(),
                problems: vec![problem],
            });
        };
        let mut tensor = self.read_part(place.info, place.part, place.parts)?;
        if is_expert(name) {
            tensor = tensor.squeeze_dim(0);
        }
        if let Some(heads) = place.permuted_heads {
            tensor = unpermuted(&tensor, heads as i64)?;
        }
        tensor
            .f_to_kind(kind)
            .and_then(|tensor| tensor.f_to_device(device))
            .map_err(Error::torch("converting a tensor"))
    }
}

fn is_expert(name: &str) -> bool {
    name.contains(".mlp.experts.")
}

/// llama.cpp's converter stores row 2i + s of a head where Hugging Face has row s · d/2 + i.
fn unpermuted(tensor: &Tensor, heads: i64) -> Result<Tensor, Error> {
    let rows = tensor.size()[0];
    if heads == 0 || rows % (2 * heads) != 0 {
        return Err(Error::input(
            "rows of q or k",
            format!("a multiple of twice {heads} heads"),
            rows,
        ));
    }
    let shape = tensor.size();
    let halves = tensor.reshape([heads, rows / heads / 2, 2, -1]); // [heads, d/2, 2, D]
    Ok(halves.transpose(1, 2).reshape(shape))
}

/// The file's name of a Hugging Face tensor, and the number of the expert where it is one of several.
fn ggml_name(name: &str) -> Option<(String, Option<usize>)> {
    let whole = match name {
        "model.embed_tokens.weight" => Some("token_embd.weight"),
        "model.norm.weight" => Some("output_norm.weight"),
        "lm_head.weight" => Some("output.weight"),
        _ => None,
    };
    if let Some(name) = whole {
        return Some((name.to_string(), None));
    }
    let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let (module, end) = rest.rsplit_once('.')?; // end: weight or bias
    let block = |part: &str| format!("blk.{layer}.{part}.{end}");
    if let Some(expert) = module.strip_prefix("mlp.experts.") {
        let (number, projection) = expert.split_once('.')?;
        let part = match projection {
            "gate_proj" => "ffn_gate_exps",
            "up_proj" => "ffn_up_exps",
            "down_proj" => "ffn_down_exps",
            _ => return None,
        };
        return Some((block(part), Some(number.parse().ok()?)));
    }
    let part = match module {
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.o_proj" => "attn_output",
        "self_attn.q_norm" => "attn_q_norm",
        "self_attn.k_norm" => "attn_k_norm",
        "mlp.gate" => "ffn_gate_inp",
        "mlp.gate_proj" => "ffn_gate",
        "mlp.up_proj" => "ffn_up",
        "mlp.down_proj" => "ffn_down",
        "input_layernorm" => "attn_norm",
        "post_attention_layernorm" => "ffn_norm",
        _ => return None,
    };
    Some((block(part), None))
}
