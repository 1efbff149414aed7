//! libtorch is found at run time without any variable set by the user.
#![cfg(feature = "torch")]

#[test]
fn libtorch_answers() {
    assert_eq!(bosch::attn::probe(3), 3.0);
}
