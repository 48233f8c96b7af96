//! What files with Applications cost to read: all of a dry tree together have one limit.
//!
//! A file counts by its size, and by what its aliases stand for, before that is written out: 16 kB can be 400,000 values.

use go_yaml::{self as yaml, Limits, Node, Size, sizes};

/// How deep a document may be nested, and how many values a file may have once its aliases are written out. No object
/// that etcd takes comes near.
pub(super) const LIMITS: Limits = Limits { bytes: 16 << 20, depth: 100, nodes: VALUES_MAX };
pub(super) const VALUES_MAX: usize = 500_000;

/// What a value counts for, in bytes of its file. A file that people read has more for each.
const VALUE_BYTES: u64 = 16;

/// How many times what is more than its text counts: a value takes far more memory than [`VALUE_BYTES`].
const EXTRA: u64 = 4;

/// What a file costs beside its size: its values as far as they are more than its text accounts for, and the text that aliases
/// stand for. Little or nothing for a file that people write; none for one that is too large by itself, so that it is not read.
pub(super) fn extra(bytes: &[u8], nodes: &[Node]) -> Option<u64> {
    let (mut values, mut aliased) = (0_u64, 0_u64);
    for node in nodes {
        let (whole, written) = sizes(node);
        let text = whole.text.saturating_sub(written.text);
        values = values.saturating_add(whole.values);
        if values > VALUES_MAX as u64 || text > LIMITS.bytes as u64 {
            return None;
        }
        aliased += text;
    }
    Some(excess(bytes.len() as u64, values, aliased))
}

fn excess(bytes: u64, values: u64, aliased: u64) -> u64 {
    let all = values.saturating_mul(VALUE_BYTES).saturating_add(aliased);
    all.saturating_sub(bytes).saturating_mul(EXTRA)
}

/// What a file costs beside its size, without reading it as Applications; 0 for one that is not read.
pub(crate) fn extra_of(bytes: &[u8]) -> u64 {
    yaml::parse(bytes, &LIMITS).ok().and_then(|nodes| extra(bytes, &nodes)).unwrap_or_default()
}

/// What a value in memory costs, by the measure of files.
pub(crate) fn cost_of(size: Size) -> u64 {
    size.text.saturating_add(excess(size.text, size.values, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_writes_costs_more_than_its_size() {
        let application = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
spec:
  project: default
  sourceHydrator:
    drySource:
      path: apps/web
      helm:
        valuesObject:
          ports:
          - 80
          - 443
";
        assert!(extra_of(application.as_bytes()) < 100);
        let aliases = format!("a: &a [{}]\nb: [{}]", "1,".repeat(100), "*a,".repeat(3700));
        assert!((20_000_000..30_000_000).contains(&extra_of(aliases.as_bytes())), "{}", extra_of(aliases.as_bytes()));
        let dense = "1,".repeat(10_000);
        assert!(extra_of(format!("[{dense}]").as_bytes()) > 500_000);
        let text = format!("a: &a {}\nb: [{}]", "x".repeat(100_000), "*a,".repeat(100));
        assert!(extra_of(text.as_bytes()) > 30_000_000);
        let mut laughs = "l0: &l0 [x, x, x, x]\n".to_owned();
        for level in 1..60 {
            laughs += &format!("l{level}: &l{level} [*l{0}, *l{0}, *l{0}]\n", level - 1);
        }
        assert_eq!(extra_of(laughs.as_bytes()), 0, "it is refused by itself");
    }
}
