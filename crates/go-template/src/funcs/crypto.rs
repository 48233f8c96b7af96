//! Passwords and ciphers.

use aes::Aes256;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac};
use sha2::Sha256;

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Functions, Uint32};
use super::super::text::Text;
use super::encode::decode_64;

pub(super) fn add(table: &mut Functions) {
    table
        .add("bcrypt", |call: &mut Call<'_>, password: Text| bcrypt(call, &password))
        .add("htpasswd", htpasswd)
        .add("derivePassword", derive_password)
        .add("encryptAES", encrypt)
        .add("decryptAES", decrypt);
}

fn htpasswd(call: &mut Call<'_>, user: Text, password: Text) -> Result<String, Failure> {
    if user.contains(&b':') {
        return Ok(format!("invalid username: {}", user.to_str()));
    }
    Ok(format!("{}:{}", user.to_str(), bcrypt(call, &password)?))
}

/// What a hash of this sort costs, in steps: some ten milliseconds.
const SLOW_HASH_STEPS: usize = 500_000;
const BCRYPT_COST: u32 = 10;
const BCRYPT_MAX: usize = 72;

/// `$2a$10$…`, or the message when the password is too long.
fn bcrypt(call: &mut Call<'_>, password: &[u8]) -> Result<String, Failure> {
    let mut salt = [0; 16];
    call.random()?.fill(&mut salt);
    call.charge(SLOW_HASH_STEPS)?;
    if password.len() > BCRYPT_MAX {
        let message = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {message}"));
    }
    let hash = bcrypt::hash_with_salt(password, BCRYPT_COST, salt)
        .map_err(|error| Failure::message(format!("bcrypt: {error}")))?;
    Ok(hash.format_for_version(bcrypt::Version::TwoA))
}

/// The kinds of passwords: templates whose letters name sets of characters.
fn password_templates(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => return None,
    })
}

fn password_characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The Master Password algorithm: the same inputs always give the same password.
fn derive_password(
    call: &mut Call<'_>,
    counter: Uint32,
    kind: Text,
    password: Text,
    user: Text,
    site: Text,
) -> Result<String, Failure> {
    const SCOPE: &[u8] = b"com.lyndir.masterpassword";
    call.charge_bytes(kind.len())?;
    let Some(templates) = password_templates(&kind.to_str()) else {
        return Ok(format!("cannot find password template {}", kind.to_str()));
    };
    // scrypt takes 32 MiB and some hundred milliseconds.
    call.charge(10 * SLOW_HASH_STEPS)?;
    let length = |text: &Text| (text.len() as u32).to_be_bytes();
    let salt = [SCOPE, &length(&user), &user].concat();
    let wrong = |error: &dyn std::fmt::Display| Failure::message(format!("failed to derive password: {error}"));
    let params = scrypt::Params::new(15, 8, 2).map_err(|error| wrong(&error))?;
    let mut key = [0; 64];
    scrypt::scrypt(&password, &salt, &params, &mut key).map_err(|error| wrong(&error))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| wrong(&error))?;
    mac.update(&[SCOPE, &length(&site), &site, &counter.0.to_be_bytes()].concat());
    let seed = mac.finalize().into_bytes();
    let mut seed = seed.iter().map(|byte| usize::from(*byte));
    let first = seed.next().unwrap_or_default();
    let template = templates.get(first % templates.len()).copied().unwrap_or_default();
    let pick = |(class, byte): (u8, usize)| {
        let characters = password_characters(class);
        characters.get(byte % characters.len()).copied().map(char::from)
    };
    Ok(template.bytes().zip(seed).filter_map(pick).collect())
}

const BLOCK: usize = 16;

/// AES-256 by the first 32 bytes of the password, filled up with zeros.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(password) {
        *to = *from;
    }
    Aes256::new(&GenericArray::from(key))
}

/// CBC behind a random first block, in base 64.
fn encrypt(call: &mut Call<'_>, password: Text, text: Text) -> Result<String, Failure> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let mut previous = [0; BLOCK];
    call.random()?.fill(&mut previous);
    call.charge_bytes(text.len())?;
    let cipher = cipher(&password);
    let padding = BLOCK - text.len() % BLOCK;
    let mut padded = text.to_vec();
    padded.resize(text.len() + padding, padding as u8);
    let mut out = previous.to_vec();
    for block in padded.chunks_exact(BLOCK) {
        for (to, from) in previous.iter_mut().zip(block) {
            *to ^= from;
        }
        let mut block = GenericArray::from(previous);
        cipher.encrypt_block(&mut block);
        previous = block.into();
        out.extend_from_slice(&previous);
    }
    Ok(BASE64.encode(&out))
}

fn decrypt(call: &mut Call<'_>, password: Text, text: Text) -> Result<Text, Failure> {
    if text.is_empty() {
        return Ok(text);
    }
    call.charge_bytes(text.len())?;
    let bytes = decode_64(&text).map_err(Failure::message)?;
    let cipher = cipher(&password);
    let Some((mut previous, rest)) = bytes.split_first_chunk::<BLOCK>() else {
        let length = bytes.len();
        let bounds = format!("runtime error: slice bounds out of range [:{BLOCK}] with capacity {length}");
        return Err(Failure::message(bounds));
    };
    if rest.len() % BLOCK != 0 {
        return Err(Failure::message("crypto/cipher: input not full blocks"));
    }
    let mut out = Vec::with_capacity(rest.len());
    for block in rest.as_chunks::<BLOCK>().0 {
        let mut plain = GenericArray::from(*block);
        cipher.decrypt_block(&mut plain);
        out.extend(plain.iter().zip(previous).map(|(plain, previous)| plain ^ previous));
        previous = block;
    }
    let padding = out.last().copied().map_or(0, usize::from);
    match out.len().checked_sub(padding) {
        Some(length) if !out.is_empty() => {
            out.truncate(length);
            Ok(out.into())
        }
        Some(_) => Err(Failure::message("runtime error: index out of range [-1]")),
        None => {
            let end = out.len() as i64 - padding as i64;
            Err(Failure::message(format!("runtime error: slice bounds out of range [:{end}]")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cipher_is_aes_256() {
        // FIPS 197, appendix C.3
        let key: Vec<u8> = (0..32).collect();
        let mut block = GenericArray::from([
            0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
        ]);
        cipher(&key).encrypt_block(&mut block);
        assert_eq!(data_encoding::HEXLOWER.encode(&block), "8ea2b7ca516745bfeafc49904b496089");
    }
}
