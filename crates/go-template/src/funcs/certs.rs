//! Keys and certificates.
//!
//! Where the effects give a seed, the same call gives the same key: RSA, as Sprig makes them. Keys of other sorts can be
//! made, but not sign.

mod curve;
mod der;
mod modulus;
mod primes;
mod rsa;
mod x509;

use std::net::IpAddr;

use num_bigint::BigUint;

use self::rsa::Key;
use self::x509::{Signer, Template};
use super::super::call::Call;
use super::super::error::{Failure, Refused};
use super::super::function::{Functions, Int, Param, Type};
use super::super::list::List;
use super::super::operand::Operand;
use super::super::structure::{Field, Struct, StructType};
use super::super::text::{Text, to_str};
use super::super::time::Time;
use super::super::value::{Methods, Value};
use super::encode::decode_64;

pub(super) fn add(table: &mut Functions) {
    table
        .add("genPrivateKey", private_key)
        .add("buildCustomCert", custom)
        .add("genCA", |call: &mut Call<'_>, name: Text, days: Int| {
            let key = new_key(call)?;
            issue(call, &Subject::ca(name, days), &key, None)
        })
        .add("genCAWithKey", |call: &mut Call<'_>, name: Text, days: Int, key: Text| {
            let key = read_key(&key.to_str()).map_err(in_key)?;
            issue(call, &Subject::ca(name, days), &key, None)
        })
        .add("genSelfSignedCert", |call: &mut Call<'_>, name: Text, ips: List, dns: List, days: Int| {
            let key = new_key(call)?;
            issue(call, &Subject::new(name, days).with_names(&ips, &dns), &key, None)
        })
        .add(
            "genSelfSignedCertWithKey",
            |call: &mut Call<'_>, name: Text, ips: List, dns: List, days: Int, key: Text| {
                let key = read_key(&key.to_str()).map_err(in_key)?;
                issue(call, &Subject::new(name, days).with_names(&ips, &dns), &key, None)
            },
        )
        .add("genSignedCert", |call: &mut Call<'_>, name: Text, ips: List, dns: List, days: Int, ca: Certificate| {
            let key = new_key(call)?;
            issue(call, &Subject::new(name, days).with_names(&ips, &dns), &key, Some(&ca))
        })
        .add(
            "genSignedCertWithKey",
            |call: &mut Call<'_>, name: Text, ips: List, dns: List, days: Int, ca: Certificate, key: Text| {
                let key = read_key(&key.to_str()).map_err(in_key)?;
                issue(call, &Subject::new(name, days).with_names(&ips, &dns), &key, Some(&ca))
            },
        );
}

/// `sprig.certificate`: both in PEM.
struct Certificate {
    cert: Text,
    key: Text,
}

static CERTIFICATE: StructType = StructType {
    name: "sprig.certificate",
    pointer: None,
    fields: &[Field::plain("Cert"), Field::plain("Key")],
    methods: Methods::NONE,
    has_pointer_methods: false,
    string: None,
    json: None,
    is_same: None,
};

impl From<Certificate> for Value {
    fn from(certificate: Certificate) -> Self {
        Struct::new(&CERTIFICATE, vec![certificate.cert.into(), certificate.key.into()]).into()
    }
}

impl Param for Certificate {
    const TYPE: Type = Type::Certificate;

    fn take(args: &mut std::vec::IntoIter<Operand>) -> Self {
        let Some(Value::Struct(fields)) = args.next().map(Operand::into_value) else {
            unreachable!("was checked against sprig.certificate")
        };
        let text = |name| fields.field(name).and_then(|(_, value)| value.as_text().cloned()).unwrap_or_default();
        Certificate { cert: text("Cert"), key: text("Key") }
    }
}

/// What a caller wants certified.
struct Subject {
    name: Text,
    days: i64,
    is_ca: bool,
    ips: Vec<Value>,
    dns: Vec<Value>,
}

impl Subject {
    fn new(name: Text, days: Int) -> Self {
        Subject { name, days: days.0, is_ca: false, ips: Vec::new(), dns: Vec::new() }
    }

    fn ca(name: Text, days: Int) -> Self {
        Subject { is_ca: true, ..Self::new(name, days) }
    }

    fn with_names(mut self, ips: &List, dns: &List) -> Self {
        self.ips = ips.to_vec();
        self.dns = dns.to_vec();
        self
    }

    fn addresses(&self) -> Result<Vec<IpAddr>, Failure> {
        self.ips.iter().map(address).collect()
    }

    fn dns_names(&self) -> Result<Vec<String>, Failure> {
        self.dns.iter().map(dns_name).collect()
    }
}

/// An item of Sprig's `getNetIPs`.
fn address(value: &Value) -> Result<IpAddr, Failure> {
    let Value::String(text) = value else {
        return Err(Failure::message(format!("error parsing ip: {} is not a string", shown(value))));
    };
    let text = text.to_str();
    text.parse().map_err(|_| Failure::message(format!("error parsing ip: {text}")))
}

/// An item of Sprig's `getAlternateDNSStrs`.
fn dns_name(value: &Value) -> Result<String, Failure> {
    let Value::String(text) = value else {
        let message = format!("error processing alternate dns name: {} is not a string", shown(value));
        return Err(Failure::message(message));
    };
    Ok(text.to_str().into_owned())
}

fn shown(value: &Value) -> String {
    super::super::print::sprint_one(value, 1 << 16)
        .map_or_else(|limit| limit.to_string(), |text| to_str(&text).into_owned())
}

/// What making a key costs in steps, by its size: some tens of milliseconds, or a second for the larger one. Less than
/// templates take in that time, because public charts make a dozen keys and throw most away; time has its own limit.
const KEY_STEPS: usize = 2_000_000;
const LARGE_KEY_STEPS: usize = 15_000_000;
const BITS: u32 = 2048;
const LARGE_BITS: u32 = 4096;

fn new_key(call: &mut Call<'_>) -> Result<Key, Failure> {
    let mut random = call.random()?;
    call.charge(random.key_steps(KEY_STEPS))?;
    Ok(Key::generate(&mut random, BITS))
}

fn in_key(failure: Failure) -> Failure {
    failure.within("parsing private key: ")
}

/// An RSA key in PEM.
fn read_key(text: &str) -> Result<Key, Failure> {
    let message = |text: &str| Failure::message(text);
    let Some((kind, bytes)) = der::from_pem(text) else { return Err(message("no PEM data in input")) };
    let wrong = "structure error";
    match kind {
        "PRIVATE KEY" => Key::from_pkcs8(&bytes).ok_or_else(|| message("only RSA keys are supported in PKCS#8")),
        "RSA PRIVATE KEY" => {
            Key::from_pkcs1(&bytes).ok_or_else(|| message(&format!("parsing RSA private key from PEM: asn1: {wrong}")))
        }
        "EC PRIVATE KEY" | "DSA PRIVATE KEY" => {
            Err(message(&format!("{kind}: only RSA keys are supported; make the certificate elsewhere")))
        }
        kind => match kind.strip_suffix(" PRIVATE KEY") {
            Some(name) => Err(message(&format!("invalid private key type {name}"))),
            None => Err(message(&format!("no private key data in PEM block of type {kind}"))),
        },
    }
}

/// When a certificate ends that has no end (RFC 5280, 4.1.2.5): the last second of the year 9999.
const NO_END: i64 = 253_402_300_799;

/// Makes the certificate of a key: of a CA's, or else of its own.
fn issue(call: &mut Call<'_>, subject: &Subject, key: &Key, ca: Option<&Certificate>) -> Result<Certificate, Failure> {
    // It is encoded, hashed, and printed; what is not UTF-8 becomes three times as long.
    let is_text = std::str::from_utf8(&subject.name).is_ok();
    call.charge_bytes(subject.name.len().saturating_mul(if is_text { 2 } else { 6 }))?;
    let signer = ca.map(read_signer).transpose()?;
    let now = Time::unix(call.now()?.as_second(), 0);
    let mut serial = [0; 16];
    let mut random = call.random()?;
    random.fill(&mut serial);
    let not_after = match random.repeats_always() {
        true => Time::unix(NO_END, 0),
        false => now.plus(subject.days.wrapping_mul(24 * 3600 * 1_000_000_000)),
    };
    let template = Template {
        serial: BigUint::from_bytes_be(&serial),
        common_name: subject.name.to_str().into_owned(),
        not_after,
        not_before: now,
        is_ca: subject.is_ca,
        addresses: subject.addresses()?,
        dns_names: subject.dns_names()?,
    };
    let signed = x509::create(&template, key, signer.as_ref().map(|(signer, key)| (signer, key)));
    let too_short = "error creating certificate: crypto/rsa: message too long for RSA key size";
    let cert = signed.ok_or_else(|| Failure::message(too_short))?;
    Ok(Certificate {
        cert: der::pem("CERTIFICATE", &cert).into(),
        key: der::pem("RSA PRIVATE KEY", &key.to_pkcs1()).into(),
    })
}

fn read_signer(ca: &Certificate) -> Result<(Signer, Key), Failure> {
    let cert = ca.cert.to_str();
    let (_, bytes) = der::from_pem(&cert).ok_or_else(|| Failure::message("unable to decode certificate"))?;
    let signer = x509::parse(&bytes).ok_or_else(malformed)?;
    let key = read_key(&ca.key.to_str()).map_err(|failure| failure.within("error parsing private key: "))?;
    if signer.public != key.public().0 {
        let message = "error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey";
        return Err(Failure::message(message));
    }
    Ok((signer, key))
}

fn malformed() -> Failure {
    Failure::message("error parsing certificate: decodedCert.Bytes: x509: malformed certificate")
}

/// A certificate that was made elsewhere, after a look whether it is one.
fn custom(cert: Text, key: Text) -> Result<Certificate, Failure> {
    let cert = decode_64(&cert).map_err(|_| Failure::message("unable to decode base64 certificate"))?;
    let key = decode_64(&key).map_err(|_| Failure::message("unable to decode base64 private key"))?;
    let text = to_str(&cert);
    let (_, bytes) = der::from_pem(&text).ok_or_else(|| Failure::message("unable to decode certificate"))?;
    x509::parse(&bytes).ok_or_else(malformed)?;
    let is_key = der::from_pem(&to_str(&key)).is_some_and(|(kind, _)| kind.ends_with("PRIVATE KEY"));
    if !is_key {
        read_key(&to_str(&key)).map_err(|failure| failure.within("error parsing private key: "))?;
    }
    Ok(Certificate { cert: cert.into(), key: key.into() })
}

fn private_key(call: &mut Call<'_>, kind: Text) -> Result<String, Failure> {
    let kind = kind.to_str();
    if !matches!(&*kind, "" | "rsa" | "ecdsa" | "ed25519" | "dsa") {
        return Ok(format!("Unknown type {kind}"));
    }
    let mut random = call.random()?;
    Ok(match &*kind {
        "ecdsa" => {
            call.charge(KEY_STEPS)?;
            der::pem("EC PRIVATE KEY", &curve::generate(&mut random))
        }
        "ed25519" => {
            let mut seed = [0; 32];
            random.fill(&mut seed);
            let id = der::group(der::SEQUENCE, &[der::element(der::OBJECT_ID, &[0x2b, 0x65, 0x70])]);
            let inner = der::element(der::OCTET_STRING, &der::element(der::OCTET_STRING, &seed));
            der::pem("PRIVATE KEY", &der::group(der::SEQUENCE, &[der::integer(&BigUint::default()), id, inner]))
        }
        "dsa" => {
            let why = "DSA keys are not supported; use `rsa`, `ecdsa` or `ed25519`";
            return Err(call.refuse(Refused::Unrepeatable(call.name().to_owned(), why)));
        }
        _ => {
            call.charge(random.key_steps(LARGE_KEY_STEPS))?;
            der::pem("RSA PRIVATE KEY", &Key::generate(&mut random, LARGE_BITS).to_pkcs1())
        }
    })
}
