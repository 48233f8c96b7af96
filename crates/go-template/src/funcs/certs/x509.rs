//! Certificates as Go's `x509.CreateCertificate` makes them of Sprig's templates.

use std::net::IpAddr;

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use super::super::super::time::Time;
use super::der::{self, BIT_STRING, OBJECT_ID, OCTET_STRING, PRINTABLE_STRING, Reader, SEQUENCE, SET, UTF8_STRING};
use super::rsa::{Key, signature_algorithm};

/// What a certificate says.
pub(super) struct Template {
    pub serial: BigUint,
    pub common_name: String,
    pub not_before: Time,
    pub not_after: Time,
    pub is_ca: bool,
    pub dns_names: Vec<String>,
    pub addresses: Vec<IpAddr>,
}

/// What of a signer's certificate goes into those that it signs.
pub(super) struct Signer {
    /// Its name, as it is there.
    pub subject: Vec<u8>,
    pub key_id: Option<Vec<u8>>,
    /// Its public key with the algorithm.
    pub public: Vec<u8>,
}

const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const KEY_USAGE: [u8; 3] = [0x55, 0x1d, 0x0f];
const EXTENDED_KEY_USAGE: [u8; 3] = [0x55, 0x1d, 0x25];
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];
const SUBJECT_KEY_ID: [u8; 3] = [0x55, 0x1d, 0x0e];
const AUTHORITY_KEY_ID: [u8; 3] = [0x55, 0x1d, 0x23];
const SUBJECT_ALT_NAME: [u8; 3] = [0x55, 0x1d, 0x11];
const SERVER_AUTH: [u8; 8] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT_AUTH: [u8; 8] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

/// A name of nothing but a common name; without one, empty.
fn name(common_name: &str) -> Vec<u8> {
    if common_name.is_empty() {
        return der::group(SEQUENCE, &[]);
    }
    let is_printable = |c: char| c.is_ascii_alphanumeric() || " '()+,-./:=?*&".contains(c);
    let tag = if common_name.chars().all(is_printable) { PRINTABLE_STRING } else { UTF8_STRING };
    let attribute =
        der::group(SEQUENCE, &[der::element(OBJECT_ID, &COMMON_NAME), der::element(tag, common_name.as_bytes())]);
    der::group(SEQUENCE, &[der::group(SET, &[attribute])])
}

fn time(time: &Time) -> Vec<u8> {
    if (1950..2050).contains(&time.civil().year) {
        der::element(0x17, time.format("060102150405Z").as_bytes())
    } else {
        der::element(0x18, time.format("20060102150405Z").as_bytes())
    }
}

fn extension(id: &[u8], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let mut parts = vec![der::element(OBJECT_ID, id)];
    if is_critical {
        parts.push(der::element(0x01, &[0xff]));
    }
    parts.push(der::element(OCTET_STRING, value));
    der::group(SEQUENCE, &parts)
}

/// The identifier that a CA's key gets: the first bytes of its hash.
fn key_id(key: &Key) -> Vec<u8> {
    Sha256::digest(key.public().1).iter().take(20).copied().collect()
}

fn extensions(template: &Template, key: &Key, authority: Option<&[u8]>) -> Vec<Vec<u8>> {
    let usage: &[u8] = if template.is_ca { &[2, 0xa4] } else { &[5, 0xa0] };
    let purposes = [der::element(OBJECT_ID, &SERVER_AUTH), der::element(OBJECT_ID, &CLIENT_AUTH)];
    let ca: &[Vec<u8>] = if template.is_ca { &[der::element(0x01, &[0xff])] } else { &[] };
    let mut all = vec![
        extension(&KEY_USAGE, true, &der::element(BIT_STRING, usage)),
        extension(&EXTENDED_KEY_USAGE, false, &der::group(SEQUENCE, &purposes)),
        extension(&BASIC_CONSTRAINTS, true, &der::group(SEQUENCE, ca)),
    ];
    if template.is_ca {
        all.push(extension(&SUBJECT_KEY_ID, false, &der::element(OCTET_STRING, &key_id(key))));
    }
    if let Some(authority) = authority {
        all.push(extension(&AUTHORITY_KEY_ID, false, &der::group(SEQUENCE, &[der::element(0x80, authority)])));
    }
    let names = template.dns_names.iter().map(|name| der::element(0x82, name.as_bytes()));
    let addresses = template.addresses.iter().map(address_name);
    let alternatives: Vec<Vec<u8>> = names.chain(addresses).collect();
    if !alternatives.is_empty() {
        let is_critical = template.common_name.is_empty();
        all.push(extension(&SUBJECT_ALT_NAME, is_critical, &der::group(SEQUENCE, &alternatives)));
    }
    all
}

fn address_name(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => der::element(0x87, &address.octets()),
        IpAddr::V6(address) => der::element(0x87, &address.octets()),
    }
}

/// Makes a certificate; without a signer it is signed by its own key. `None` when the signing key is too short.
pub(super) fn create(template: &Template, key: &Key, signer: Option<(&Signer, &Key)>) -> Option<Vec<u8>> {
    let subject = name(&template.common_name);
    let issuer = signer.map_or(&subject, |(signer, _)| &signer.subject);
    let authority =
        signer.filter(|(signer, _)| signer.subject != subject).and_then(|(signer, _)| signer.key_id.as_deref());
    let body = der::group(
        SEQUENCE,
        &[
            der::group(0xa0, &[der::integer(&BigUint::from(2u32))]),
            der::integer(&template.serial),
            signature_algorithm(),
            issuer.clone(),
            der::group(SEQUENCE, &[time(&template.not_before), time(&template.not_after)]),
            subject.clone(),
            key.public().0,
            der::group(0xa3, &[der::group(SEQUENCE, &extensions(template, key, authority))]),
        ],
    );
    let signature = signer.map_or(key, |(_, key)| key).sign(&body)?;
    Some(der::group(SEQUENCE, &[body, signature_algorithm(), der::bits(&signature)]))
}

/// What a certificate says of its owner; `None` for bytes that are not a certificate.
pub(super) fn parse(bytes: &[u8]) -> Option<Signer> {
    let mut certificate = Reader(Reader(bytes).expect(SEQUENCE)?.content);
    let mut body = Reader(certificate.expect(SEQUENCE)?.content);
    certificate.expect(SEQUENCE)?;
    certificate.expect(BIT_STRING)?;
    let mut first = body.next()?;
    if first.tag == 0xa0 {
        first = body.next()?;
    }
    (first.tag == der::INTEGER).then_some(())?;
    body.expect(SEQUENCE)?;
    body.expect(SEQUENCE)?;
    body.expect(SEQUENCE)?;
    let subject = body.expect(SEQUENCE)?.whole.to_vec();
    let public = body.expect(SEQUENCE)?.whole.to_vec();
    let mut key_id = None;
    while let Some(element) = body.next() {
        if element.tag == 0xa3 {
            key_id = subject_key_id(element.content);
        }
    }
    Some(Signer { subject, key_id, public })
}

fn subject_key_id(extensions: &[u8]) -> Option<Vec<u8>> {
    let mut extensions = Reader(Reader(extensions).expect(SEQUENCE)?.content);
    while let Some(extension) = extensions.next() {
        let mut parts = Reader(extension.content);
        if parts.expect(OBJECT_ID)?.content != SUBJECT_KEY_ID {
            continue;
        }
        let mut value = parts.next()?;
        if value.tag == 0x01 {
            value = parts.next()?;
        }
        return Some(Reader(value.content).expect(OCTET_STRING)?.content.to_vec());
    }
    None
}
