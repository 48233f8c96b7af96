//! Go's `path`: slashes only. `filepath` is the same on the systems that Helm renders for.

use go_std::path::{base, clean_bytes, dir, ext};

use super::super::function::Functions;
use super::super::text::Text;

pub(super) fn add(table: &mut Functions) {
    for name in ["base", "osBase"] {
        table.add(name, |path: Text| Text::from(base(&path)));
    }
    for name in ["dir", "osDir"] {
        table.add(name, |path: Text| Text::from(dir(&path)));
    }
    for name in ["clean", "osClean"] {
        table.add(name, |path: Text| Text::from(clean_bytes(&path)));
    }
    for name in ["ext", "osExt"] {
        table.add(name, |path: Text| Text::from(ext(&path)));
    }
    for name in ["isAbs", "osIsAbs"] {
        table.add(name, |path: Text| path.starts_with(b"/"));
    }
}
