//! Random texts and numbers: only where the effects allow it.

use data_encoding::{BASE64, HEXLOWER};

use super::super::call::Call;
use super::super::effects::Random;
use super::super::error::Failure;
use super::super::function::{Functions, Int};
use super::super::text::{Text, runes};

pub(super) fn add(table: &mut Functions) {
    table
        .add("randAlphaNum", |call: &mut Call<'_>, count: Int| text(call, count, |byte| byte.is_ascii_alphanumeric()))
        .add("randAlpha", |call: &mut Call<'_>, count: Int| text(call, count, |byte| byte.is_ascii_alphabetic()))
        .add("randNumeric", |call: &mut Call<'_>, count: Int| text(call, count, |byte| byte.is_ascii_digit()))
        .add("randAscii", |call: &mut Call<'_>, count: Int| text(call, count, |byte| (b' '..=b'~').contains(byte)))
        .add("randBytes", rand_bytes)
        .add("randInt", rand_int)
        .add("shuffle", shuffle)
        .add("uuidv4", |call: &mut Call<'_>| call.random().map(|mut random| uuid(&mut random)))
        .add("getHostByName", |_: Text| "");
}

/// So many characters of an alphabet; none for a negative count.
fn text(call: &mut Call<'_>, count: Int, is_wanted: impl Fn(&u8) -> bool) -> Result<String, Failure> {
    let mut random = call.random()?;
    let alphabet: Vec<char> = (0..128).filter(is_wanted).map(char::from).collect();
    let count = usize::try_from(count.0).unwrap_or(0);
    call.charge_bytes(count)?;
    call.charge(count.saturating_mul(2))?;
    Ok((0..count).filter_map(|_| alphabet.get(random.below(alphabet.len() as u64) as usize)).collect())
}

/// In base64.
fn rand_bytes(call: &mut Call<'_>, count: Int) -> Result<String, Failure> {
    let mut random = call.random()?;
    let message = "runtime error: makeslice: len out of range";
    let count = usize::try_from(count.0).map_err(|_| Failure::message(message))?;
    call.charge_bytes(count)?;
    let mut bytes = vec![0; count];
    random.fill(&mut bytes);
    Ok(BASE64.encode(&bytes))
}

/// From `min` to just below `max`. The difference wraps around as Go's does, which panics when it is not positive.
fn rand_int(call: &mut Call<'_>, min: Int, max: Int) -> Result<Int, Failure> {
    let mut random = call.random()?;
    match u64::try_from(max.0.wrapping_sub(min.0)) {
        Ok(width) if width > 0 => Ok(Int(min.0.wrapping_add(random.below(width) as i64))),
        _ => Err(Failure::message("invalid argument to Intn")),
    }
}

/// The characters in a random order.
fn shuffle(call: &mut Call<'_>, text: Text) -> Result<String, Failure> {
    let mut random = call.random()?;
    call.charge(text.len())?;
    let mut characters: Vec<char> = runes(&text).map(|(_, rune)| rune.char).collect();
    for last in (1..characters.len()).rev() {
        characters.swap(last, random.below(last as u64 + 1) as usize);
    }
    Ok(characters.into_iter().collect())
}

fn uuid(random: &mut Random) -> String {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let [first, second, third, fourth, fifth] =
        [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]].map(|part| HEXLOWER.encode(part));
    format!("{first}-{second}-{third}-{fourth}-{fifth}")
}
