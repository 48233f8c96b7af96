//! What random functions draw from, where an admin allows them: the same for the same call of the same render.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How many bytes a seed has.
pub const SEED_BYTES: usize = 32;

/// Random bytes, as secret as what is drawn from them: `Debug` does not show them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretSeed([u8; SEED_BYTES]);

impl SecretSeed {
    /// The seed that consists of these bytes.
    pub fn new(bytes: [u8; SEED_BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes, for the file that keeps it.
    pub fn bytes(&self) -> &[u8; SEED_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SecretSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSeed(…)")
    }
}

/// What the calls of a render draw from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seed {
    /// A digest of what identifies the render: with it, what is drawn can be computed.
    Public([u8; SEED_BYTES]),
    /// What identifies the render, under a key: only who has the key can compute what is drawn.
    Secret {
        /// The key.
        key: SecretSeed,
        /// What identifies the render.
        identity: String,
    },
    /// One seed for every render, with keys that are quick to make and weak: to find out what depends on the draws, and
    /// never to be used.
    Sketch,
}

impl Seed {
    /// What was drawn from before there were secret seeds: engine revisions 1 to 3.
    pub fn public(identity: &str) -> Self {
        Self::Public(Sha256::digest(identity).into())
    }

    /// The key of the stream for a call that ran `passed` times, this time included; `call` tells it from the other
    /// calls of the render, the function included.
    ///
    /// Each part of what a secret seed authenticates has a fixed length or its length before it, so that no two calls
    /// of any two renders are one message.
    pub(super) fn key(&self, passed: u64, call: &str) -> [u8; SEED_BYTES] {
        let seed = match self {
            Self::Public(seed) => seed,
            Self::Sketch => &[0xff; SEED_BYTES],
            Self::Secret { key, identity } => {
                let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).expect("HMAC takes keys of any length");
                mac.update(&(identity.len() as u64).to_be_bytes());
                mac.update(identity.as_bytes());
                mac.update(&passed.to_be_bytes());
                mac.update(call.as_bytes());
                return mac.finalize().into_bytes().into();
            }
        };
        let mut hash = Sha256::new();
        hash.update(seed);
        hash.update(passed.to_be_bytes());
        hash.update(call.as_bytes());
        hash.finalize().into()
    }
}

/// Whether a call of a render drew from its seed; clones share the answer.
#[derive(Debug, Clone, Default)]
pub struct Drew(Arc<AtomicBool>);

impl Drew {
    /// Whether one did.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl PartialEq for Drew {
    fn eq(&self, other: &Self) -> bool {
        self.is_set() == other.is_set()
    }
}

impl Eq for Drew {}
