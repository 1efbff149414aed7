//! The function between the two layers of an MLP.

/// The activation of the MLP's gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Activation {
    /// x · σ(x).
    #[default]
    Silu,
    /// x · Φ(x), with the normal distribution's Φ itself.
    Gelu,
    /// x · Φ(x), with Φ by the hyperbolic tangent.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

impl Activation {
    /// The names that [`Activation::from_name`] knows, for messages.
    pub(crate) const KNOWN: &str = "one of silu, swish, gelu, gelu_new, gelu_pytorch_tanh, relu";

    /// The activation that transformers calls `name`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "silu" | "swish" => Some(Self::Silu),
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Some(Self::GeluTanh),
            "relu" => Some(Self::Relu),
            _ => None,
        }
    }
}
