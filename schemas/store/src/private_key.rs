//! Private keys in the form that TLS takes.

use openssl::pkey::PKey;

/// A private key (PEM: PKCS#8, PKCS#1 or SEC1, without a password) as PKCS#8. `None` where it is none of these.
pub fn pkcs8(pem: &[u8]) -> Option<Vec<u8>> {
    // Without a callback OpenSSL would ask at the terminal for the password.
    let key = PKey::private_key_from_pem_callback(pem, |_| Ok(0)).ok()?;
    key.private_key_to_pem_pkcs8().ok()
}
