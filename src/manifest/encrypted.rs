//! What SOPS encrypted, which nothing here decrypts.

use go_yaml::Value;

use super::Manifest;

pub(crate) use kustomize_build::INSTEAD_OF_DECRYPTING as INSTEAD;

/// How each value begins that SOPS encrypted.
const CIPHERTEXT: &str = "ENC[AES256_GCM,";

/// Whether a YAML or JSON file is one that SOPS wrote.
///
/// Reference: sops 3 cmd/sops/formats; its metadata are under the key `sops` at the top.
pub(crate) fn is_sops_file(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let is_metadata = |line: &str| line.starts_with("sops:") || line.trim_start().starts_with("\"sops\":");
    text.contains(CIPHERTEXT) && text.lines().any(is_metadata)
}

/// Whether SOPS encrypted values of an object.
pub(crate) fn is_sops_object(manifest: &Manifest) -> bool {
    let mac = manifest.object().get("sops").and_then(|sops| sops.get("mac")).and_then(Value::as_str);
    mac.is_some_and(|mac| mac.starts_with(CIPHERTEXT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sops_wrote() {
        let rows = [
            ("a: ENC[AES256_GCM,data:x,type:str]\nsops:\n    mac: ENC[AES256_GCM,data:y,type:str]\n", true),
            ("{\n\t\"a\": \"ENC[AES256_GCM,data:x]\",\n\t\"sops\": {\"mac\": \"ENC[AES256_GCM,data:y]\"}\n}\n", true),
            ("a: ENC[AES256_GCM,data:x,type:str]\n", false),
            ("sops: {enabled: true}\na: b\n", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_sops_file(text.as_bytes()), expected, "{text}");
        }
    }
}
