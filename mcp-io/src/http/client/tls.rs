//! Whom to trust.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::error::Error;

/// The authorities that browsers trust, and these.
pub(super) fn config(authorities: &[Vec<u8>]) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for pem in authorities {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let fault = |error: &dyn core::fmt::Display| {
                Error::Config(format!("a certificate of the authorities: {error}"))
            };
            let certificate = certificate.map_err(|error| fault(&error))?;
            roots.add(certificate).map_err(|error| fault(&error))?;
        }
        if roots.len() == before {
            return Err(Error::Config(
                "no certificate among the authorities; PEM is expected".to_owned(),
            ));
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Config(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
