//! Lets every binary that links this crate find libtorch at run time under Cargo.
//!
//! Cargo puts a build script's search path on the library path of what it runs only if that path
//! lies inside the target folder. So a link to the libtorch folder is made in `OUT_DIR` and the
//! link is what is printed. Crates further down read the real folder as `DEP_BOSCH_LIBTORCH_LIB`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Absent with `doc-only`, where nothing is linked.
    let Some(library) = env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from) else {
        return;
    };
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        println!("cargo::error=OUT_DIR is not set; build scripts are run by Cargo");
        return;
    };
    let joint = out.join("libtorch-lib");
    if let Err(error) = link_folder(&library, &joint) {
        println!(
            "cargo::error=cannot link {} to {}: {error}",
            joint.display(),
            library.display()
        );
        return;
    }
    println!("cargo::rustc-link-search=native={}", joint.display());
    println!("cargo::metadata=LIBTORCH_LIB={}", library.display());
}

/// Makes `joint` a link to the folder `library`, in place of an older one.
fn link_folder(library: &Path, joint: &Path) -> io::Result<()> {
    match fs::remove_file(joint) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    return std::os::unix::fs::symlink(library, joint);
    #[cfg(windows)]
    return std::os::windows::fs::symlink_dir(library, joint);
}
