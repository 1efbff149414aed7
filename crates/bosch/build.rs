//! Passes the libtorch folder on, so that a crate which ships a binary can set an rpath to it
//! (`DEP_BOSCH_LIBTORCH_LIB`, see docs/libtorch.md).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(library) = std::env::var("DEP_BOSCH_ATTN_LIBTORCH_LIB") {
        println!("cargo::metadata=LIBTORCH_LIB={library}");
    }
}
