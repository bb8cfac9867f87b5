//! TLS for a desk that other machines reach: a certificate that the user gives, or one of a local authority made for this address.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::machine::atomic_file;
use crate::machine::paths::Dirs;

/// Files of the local authority. Its key is not among them: it signs once, and is gone.
// Whoever installs the authority on a phone trusts whatever its key signs. A key that nobody has signs nothing else.
struct Files {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn of(dirs: &Dirs, host: &str) -> Files {
        let name: String = host.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
        let file = |end: &str| dirs.state().join("desk").join(format!("{name}-{end}.pem"));
        Files { authority: file("authority"), certificate: file("certificate"), key: file("key") }
    }
}

/// Makes an authority and a certificate for one host; returns the authority's certificate, to be installed on the phone.
pub(super) fn make_authority(dirs: &Dirs, host: &str) -> Result<PathBuf> {
    let files = Files::of(dirs, host);
    let key = KeyPair::generate()?;
    let params = authority(host)?;
    let certificate = params.self_signed(&key)?;
    let issuer = Issuer::new(params, key);
    let own_key = KeyPair::generate()?;
    let mut own = CertificateParams::new(vec![host.to_owned()])?;
    own.distinguished_name.push(DnType::CommonName, "doorward desk");
    own.use_authority_key_identifier_extension = true;
    let signed = own.signed_by(&own_key, &issuer)?;
    atomic_file::replace(&files.key, &own_key.serialize_pem())?;
    atomic_file::replace(&files.certificate, &signed.pem())?;
    atomic_file::replace(&files.authority, &certificate.pem())?;
    Ok(files.authority)
}

/// An authority that can speak for this one host and no other.
fn authority(host: &str) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, format!("doorward desk at {host}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let only = match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix(address.octets(), 32)),
        Ok(IpAddr::V6(address)) => GeneralSubtree::IpAddress(CidrSubnet::from_v6_prefix(address.octets(), 128)),
        Err(_) => GeneralSubtree::DnsName(host.to_owned()),
    };
    params.name_constraints = Some(NameConstraints { permitted_subtrees: vec![only], excluded_subtrees: Vec::new() });
    Ok(params)
}

/// What to encrypt with: the files that the user names, or those of the local authority.
pub(super) fn acceptor(dirs: &Dirs, host: &str, given: (Option<&Path>, Option<&Path>)) -> Result<TlsAcceptor> {
    let own = Files::of(dirs, host);
    let (certificate, key) = match given {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) if own.certificate.exists() => (own.certificate.as_path(), own.key.as_path()),
        (None, None) => bail!(
            "a desk that other machines reach needs a certificate: give one with --cert and --key, or make one with \
             `doorward serve --ca {host}`"
        ),
        (Some(_), None) | (None, Some(_)) => bail!("--cert and --key go together"),
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .with_context(|| format!("can't read the certificate `{}`", certificate.display()))?;
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| format!("can't read the key `{}`", key.display()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the certificate and its key don't fit")?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    #[test]
    fn an_authority_speaks_for_one_host_and_leaves_no_key() {
        let home = TestHome::begun();
        let dirs = home.dirs();
        for host in ["192.168.1.7", "desk.example", "fd00::1"] {
            assert!(acceptor(&dirs, host, (None, None)).is_err());
            let path = make_authority(&dirs, host).unwrap();
            assert!(std::fs::read_to_string(path).unwrap().contains("BEGIN CERTIFICATE"));
            assert!(acceptor(&dirs, host, (None, None)).is_ok(), "{host}");
        }
        let keys = std::fs::read_dir(dirs.state().join("desk"))
            .unwrap()
            .flatten()
            .filter(|entry| std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("PRIVATE KEY")));
        assert_eq!(keys.count(), 3, "the servers' own");
        assert!(acceptor(&dirs, "other", (Some(Path::new("/nowhere")), None)).is_err());
    }
}
