//! Every input of `inputs.rs`: the first byte says which.
#![no_main]

#[path = "../inputs.rs"]
mod inputs;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((first, rest)) = bytes.split_first()
        && let Some(target) = inputs::TARGETS.get(usize::from(*first) % inputs::TARGETS.len())
    {
        (target.run)(rest);
    }
});
