//! Base 64 and base 32, digests of text. What can't be decoded gives the message as the result.

use data_encoding::{BASE32, BASE64, HEXLOWER};
use sha2::Digest;

use super::super::function::Functions;
use super::super::text::Text;

pub(super) fn add(table: &mut Functions) {
    table
        .add("b64enc", |text: Text| BASE64.encode(&text))
        .add("b64dec", |text: Text| decode_64(&text).map_or_else(Text::from, Text::from))
        .add("b32enc", |text: Text| BASE32.encode(&text))
        .add("b32dec", |text: Text| decode_32(&text).map_or_else(Text::from, Text::from))
        .add("sha1sum", |text: Text| HEXLOWER.encode(&sha1::Sha1::digest(&*text)))
        .add("sha256sum", |text: Text| HEXLOWER.encode(&sha2::Sha256::digest(&*text)))
        .add("sha512sum", |text: Text| HEXLOWER.encode(&sha2::Sha512::digest(&*text)))
        .add("adler32sum", |text: Text| adler2::adler32_slice(&text).to_string());
}

fn digit_64(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(digit.into())
}

fn digit_32(byte: u8) -> Option<u32> {
    match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'2'..=b'7' => Some(u32::from(byte - b'2') + 26),
        _ => None,
    }
}

fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Line breaks are skipped; the error names the byte at which Go gives up.
pub(super) fn decode_64(text: &[u8]) -> Result<Vec<u8>, String> {
    let corrupt = |at: usize| format!("illegal base64 data at input byte {at}");
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut bytes = text.iter().copied().enumerate().filter(|(_, byte)| !is_line_break(*byte));
    let (mut bits, mut count) = (0u32, 0u32);
    while let Some((at, byte)) = bytes.next() {
        if let Some(digit) = digit_64(byte) {
            bits = bits << 6 | digit;
            count += 1;
            if count == 4 {
                out.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
            continue;
        }
        if byte != b'=' || count < 2 {
            return Err(corrupt(at));
        }
        if count == 2 {
            match bytes.next() {
                None => return Err(corrupt(text.len())),
                Some((at, byte)) if byte != b'=' => return Err(corrupt(at - 1)),
                Some(_) => {}
            }
        }
        let whole = bits << (6 * (4 - count));
        out.extend(whole.to_be_bytes()[1..].iter().take(count as usize - 1));
        return match bytes.next() {
            Some((at, _)) => Err(corrupt(at)),
            None => Ok(out),
        };
    }
    // Go counts back from the end, over line breaks too.
    if count > 0 { Err(corrupt(text.len() - count as usize)) } else { Ok(out) }
}

/// As [`decode_64`]; positions don't count line breaks.
fn decode_32(text: &[u8]) -> Result<Vec<u8>, String> {
    let corrupt = |at: usize| format!("illegal base32 data at input byte {at}");
    let text: Vec<u8> = text.iter().copied().filter(|byte| !is_line_break(*byte)).collect();
    let mut out = Vec::with_capacity(text.len() / 8 * 5);
    let (mut bits, mut count) = (0u64, 0usize);
    for (at, byte) in text.iter().enumerate() {
        let left = text.len() - at - 1;
        if *byte == b'=' && count >= 2 && left < 8 {
            if left + count < 7 {
                return Err(corrupt(text.len()));
            }
            for (index, pad) in text.iter().skip(at + 1).take(7 - count).enumerate() {
                if *pad != b'=' {
                    return Err(corrupt(at + index));
                }
            }
            if matches!(count, 3 | 6) {
                return Err(corrupt(at));
            }
            let whole = bits << (5 * (8 - count));
            out.extend(whole.to_be_bytes()[3..].iter().take(count * 5 / 8));
            return Ok(out);
        }
        bits = bits << 5 | u64::from(digit_32(*byte).ok_or_else(|| corrupt(at))?);
        count += 1;
        if count == 8 {
            out.extend_from_slice(&bits.to_be_bytes()[3..]);
            (bits, count) = (0, 0);
        }
    }
    if count > 0 { Err(corrupt(text.len() - count)) } else { Ok(out) }
}
