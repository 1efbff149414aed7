//! The tensors that a model needs, by name and shape.

use super::ModelConfig;
use crate::weights::TensorSpec;

impl ModelConfig {
    /// The tensors that the model needs, in the order of the computation.
    ///
    /// A tied model needs no `lm_head.weight`.
    pub fn tensors(&self) -> Vec<TensorSpec> {
        let mut tensors = vec![self.spec("model.embed_tokens.weight", [self.vocab, self.hidden])];
        for layer in 0..self.layers {
            tensors.extend(self.attention_tensors(layer));
            tensors.extend(self.mlp_tensors(layer));
        }
        tensors.push(self.spec("model.norm.weight", [self.hidden]));
        if !self.tied_embeddings {
            tensors.push(self.spec("lm_head.weight", [self.vocab, self.hidden]));
        }
        tensors
    }

    fn attention_tensors(&self, layer: usize) -> Vec<TensorSpec> {
        let name = |part: &str| format!("model.layers.{layer}.{part}");
        let (queries, keys) = (
            self.query_heads * self.head_dim,
            self.groups * self.head_dim,
        );
        let mut tensors = vec![self.spec(name("input_layernorm.weight"), [self.hidden])];
        for (projection, width) in [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)] {
            tensors.push(self.spec(
                name(&format!("self_attn.{projection}.weight")),
                [width, self.hidden],
            ));
            if self.biases.qkv {
                tensors.push(self.spec(name(&format!("self_attn.{projection}.bias")), [width]));
            }
        }
        if self.architecture.normalises_heads() {
            tensors.push(self.spec(name("self_attn.q_norm.weight"), [self.head_dim]));
            tensors.push(self.spec(name("self_attn.k_norm.weight"), [self.head_dim]));
        }
        tensors.push(self.spec(name("self_attn.o_proj.weight"), [self.hidden, queries]));
        if self.biases.output {
            tensors.push(self.spec(name("self_attn.o_proj.bias"), [self.hidden]));
        }
        tensors.push(self.spec(name("post_attention_layernorm.weight"), [self.hidden]));
        tensors
    }

    fn mlp_tensors(&self, layer: usize) -> Vec<TensorSpec> {
        let name = |part: String| format!("model.layers.{layer}.mlp.{part}");
        let mut tensors = Vec::new();
        match &self.moe {
            Some(moe) if self.is_sparse(layer) => {
                tensors.push(self.spec(name("gate.weight".into()), [moe.experts, self.hidden]));
                for expert in 0..moe.experts {
                    for (part, shape) in self.mlp_shapes(moe.intermediate) {
                        tensors.push(
                            self.spec(name(format!("experts.{expert}.{part}.weight")), shape),
                        );
                    }
                }
            }
            _ => {
                for (part, shape) in self.mlp_shapes(self.intermediate) {
                    tensors.push(self.spec(name(format!("{part}.weight")), shape));
                    if self.biases.mlp {
                        tensors.push(self.spec(name(format!("{part}.bias")), [shape[0]]));
                    }
                }
            }
        }
        tensors
    }

    fn mlp_shapes(&self, width: usize) -> [(&'static str, [usize; 2]); 3] {
        [
            ("gate_proj", [width, self.hidden]),
            ("up_proj", [width, self.hidden]),
            ("down_proj", [self.hidden, width]),
        ]
    }

    fn spec(&self, name: impl Into<String>, shape: impl IntoIterator<Item = usize>) -> TensorSpec {
        TensorSpec {
            name: name.into(),
            shape: shape.into_iter().map(|size| size as i64).collect(),
        }
    }
}
