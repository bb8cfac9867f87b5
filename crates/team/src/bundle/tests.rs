//! Bundles that are not what they should be, and how each is refused.

use std::collections::BTreeMap;

use doorward_ledger::{Hash, SigningKey};

use super::{Bundle, Known, LONGEST_BUNDLE, Manifest, Refused, Root, Standing, tar};

const DAY: u64 = 24 * 60 * 60 * 1000;
const NOW: u64 = 100 * DAY;

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&format!("{number:02x}").repeat(32)).unwrap()
}

fn root(threshold: usize, keys: &[u8]) -> Root {
    Root { threshold, signers: keys.iter().map(|number| key(*number).public_key()).collect() }
}

fn files(text: &str) -> BTreeMap<String, Vec<u8>> {
    [("config.toml".to_owned(), text.as_bytes().to_vec()), ("rules/own.toml".to_owned(), b"x".to_vec())].into()
}

fn bundle(version: u64, previous: Option<&Bundle>, keys: &[u8]) -> Bundle {
    let about = (version, previous.map(Bundle::digest));
    let manifest = Manifest::new("ada", about, (NOW - DAY, NOW + 30 * DAY), root(2, &[1, 2, 3]));
    signed(Bundle::build(manifest, files(&format!("# {version}"))).unwrap(), keys)
}

fn signed(mut bundle: Bundle, keys: &[u8]) -> Bundle {
    keys.iter().for_each(|number| bundle.sign(&key(*number)));
    bundle
}

fn known() -> Known {
    Known::new(root(2, &[1, 2, 3]))
}

#[test]
fn a_chain_is_walked_and_keys_change_hands_in_it() {
    let first = bundle(1, None, &[1, 2]);
    let read = Bundle::read(&first.bytes()).unwrap();
    assert_eq!(read, first);
    let after = known().accept(&read, NOW).unwrap();
    assert_eq!(after.accept(&read, NOW).unwrap(), after, "the same again changes nothing");
    let next = Manifest::new("ada", (2, Some(first.digest())), (NOW, NOW + DAY), root(1, &[7]));
    let second = signed(Bundle::build(next, files("")).unwrap(), &[2, 3]);
    let after = after.accept(&second, NOW).unwrap();
    // The old keys are worth nothing now.
    let third = |keys: &[u8]| {
        let manifest = Manifest::new("ada", (3, Some(second.digest())), (NOW, NOW + DAY), root(1, &[7]));
        signed(Bundle::build(manifest, files("")).unwrap(), keys)
    };
    assert_eq!(after.accept(&third(&[1, 2, 3]), NOW), Err(Refused::Signatures { signed: 0, needed: 1 }));
    assert!(after.accept(&third(&[7]), NOW).is_ok());
}

#[test]
fn a_quorum_is_counted_in_keys_that_are_trusted_and_once_each() {
    let unsigned = bundle(1, None, &[]);
    for (keys, count) in [(&[][..], 0), (&[1], 1), (&[1, 1, 1], 1), (&[8, 9], 0), (&[3, 8, 9], 1)] {
        let refused = Err(Refused::Signatures { signed: count, needed: 2 });
        assert_eq!(known().accept(&signed(unsigned.clone(), keys), NOW), refused, "{keys:?}");
    }
    // The same key twice in the file, and a signature of another bundle.
    let mut twice = signed(unsigned.clone(), &[1]);
    twice.signatures.push(twice.signatures[0].clone());
    assert!(known().accept(&twice, NOW).is_err());
    let mut borrowed = signed(unsigned.clone(), &[1]);
    borrowed.signatures.extend(bundle(2, Some(&unsigned), &[2]).signatures);
    assert!(known().accept(&borrowed, NOW).is_err());
    let mut claimed = signed(unsigned, &[1, 8]);
    claimed.signatures[1].key = key(2).public_key();
    assert!(known().accept(&claimed, NOW).is_err());
}

#[test]
fn older_other_and_unconnected_bundles_are_refused() {
    let first = bundle(1, None, &[1, 2]);
    let second = bundle(2, Some(&first), &[1, 2]);
    let third = bundle(3, Some(&second), &[1, 2]);
    let other = signed(
        Bundle::build(
            Manifest::new("ada", (2, Some(first.digest())), (NOW, NOW + DAY), root(2, &[1, 2, 3])),
            files("other"),
        )
        .unwrap(),
        &[1, 2],
    );
    let at_one = known().accept(&first, NOW).unwrap();
    let at_two = at_one.accept(&second, NOW).unwrap();
    assert_eq!(at_two.accept(&first, NOW), Err(Refused::Older { known: 2, found: 1 }));
    assert_eq!(at_two.accept(&other, NOW), Err(Refused::Older { known: 2, found: 2 }));
    assert_eq!(at_one.accept(&third, NOW), Err(Refused::Previous { found: 3 }));
    let astray = signed(
        Bundle::build(
            Manifest::new("ada", (3, Some(Hash::of(b"?"))), (NOW, NOW + DAY), root(2, &[1, 2, 3])),
            files(""),
        )
        .unwrap(),
        &[1, 2],
    );
    assert_eq!(at_two.accept(&astray, NOW), Err(Refused::Previous { found: 3 }));
    let foreign = signed(
        Bundle::build(
            Manifest::new("eve", (3, Some(second.digest())), (NOW, NOW + DAY), root(2, &[1, 2, 3])),
            files(""),
        )
        .unwrap(),
        &[1, 2],
    );
    assert_eq!(at_two.accept(&foreign, NOW), Err(Refused::Team("eve".to_owned())));
}

#[test]
fn time_only_tightens_and_a_clock_set_back_makes_nothing_valid_again() {
    let first = bundle(1, None, &[1, 2]);
    let about = |bundle: &Bundle| (bundle.manifest.revokes, bundle.manifest.expires_ms);
    assert_eq!(known().accept(&first, NOW - 2 * DAY), Err(Refused::Early));
    assert_eq!(known().accept(&first, NOW + 30 * DAY), Err(Refused::Expired));
    let fresh = known().accept(&first, NOW).unwrap();
    assert_eq!(fresh.standing(about(&first), NOW), Standing::Holds);
    // A server that stands still: the bundle runs out.
    assert_eq!(fresh.standing(about(&first), NOW + 30 * DAY), Standing::Expired);
    let late = fresh.accept(&first, NOW + 31 * DAY).unwrap();
    assert_eq!(late.standing(about(&first), NOW), Standing::Expired);
    // A link that has expired leads on to one that holds.
    let next = Manifest::new("ada", (2, Some(first.digest())), (NOW + 20 * DAY, NOW + 60 * DAY), root(2, &[1, 2, 3]));
    let second = signed(Bundle::build(next, files("")).unwrap(), &[1, 2]);
    assert_eq!(fresh.accept(&second, NOW), Err(Refused::Early));
    let after = late.accept(&second, NOW + 31 * DAY).unwrap();
    assert_eq!(after.standing(about(&second), NOW + 31 * DAY), Standing::Holds);
    let mut revocation = Manifest::new("ada", (2, Some(first.digest())), (NOW, NOW + DAY), root(2, &[1, 2, 3]));
    revocation.revokes = true;
    let revocation = signed(Bundle::build(revocation, BTreeMap::new()).unwrap(), &[1, 3]);
    let after = fresh.accept(&revocation, NOW).unwrap();
    assert_eq!(after.standing(about(&revocation), NOW), Standing::Revoked);
}

#[test]
fn what_is_not_a_bundle_in_every_byte_is_refused() {
    let good = bundle(1, None, &[1, 2]).bytes();
    for at in 0..good.len() {
        assert!(Bundle::read(&good[..at]).is_err(), "cut at {at}");
        let mut bad = good.clone();
        bad[at] ^= 0x11;
        // A changed signature or key is still a bundle, but one that nobody signed; everything else is no bundle at all.
        if let Ok(read) = Bundle::read(&bad) {
            assert!(known().accept(&read, NOW).is_err(), "byte {at}");
        }
    }
    let longer = [good.as_slice(), &[0; 512]].concat();
    assert!(Bundle::read(&longer).is_err());
    assert!(Bundle::read(&[good.as_slice(), good.as_slice()].concat()).is_err());
}

#[test]
fn names_that_lead_elsewhere_links_and_floods_are_refused() {
    let manifest = |text: &str| serde_json::from_str::<Manifest>(text);
    for name in [
        "../x.toml",
        "/etc/passwd",
        "rules/../../x",
        "a//b",
        "./x",
        "rules/.hidden",
        "X.toml",
        "a/b/c",
        "",
        "caf\u{e9}",
    ] {
        let manifest = Manifest::new("ada", (1, None), (1, 2), root(1, &[1]));
        let one: BTreeMap<String, Vec<u8>> = [(name.to_owned(), b"x".to_vec())].into();
        assert!(matches!(Bundle::build(manifest, one), Err(Refused::Malformed(_))), "{name}");
    }
    let good = bundle(1, None, &[1, 2]).bytes();
    // The kind of the first entry: a link, a directory, a device, an extended header.
    for kind in *b"1234567xgL\0" {
        let mut bad = good.clone();
        bad[156] = kind;
        let sum: u32 = bad[..148].iter().chain(b"        ").chain(&bad[156..512]).map(|byte| u32::from(*byte)).sum();
        bad[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(Bundle::read(&bad).is_err(), "kind {kind}");
    }
    let big: BTreeMap<String, Vec<u8>> = [("config.toml".to_owned(), vec![b' '; LONGEST_BUNDLE])].into();
    let built = Bundle::build(Manifest::new("ada", (1, None), (1, 2), root(1, &[1])), big);
    assert_eq!(built, Err(Refused::Malformed("it is longer than a bundle may be".to_owned())));
    let twice = tar::write([("a", b"1".as_slice()), ("a", b"2")].into_iter());
    assert!(tar::read(&twice).is_err());
    assert!(manifest(r#"{"format":1,"later":true}"#).is_err());
}

#[test]
fn a_manifest_that_makes_no_sense_is_not_built() {
    let fair = || Manifest::new("ada", (1, None), (NOW, NOW + DAY), root(2, &[1, 2]));
    assert!(Bundle::build(fair(), BTreeMap::new()).is_ok());
    for bad in [
        Manifest { version: 0, ..fair() },
        Manifest { version: 2, ..fair() },
        Manifest { previous: Some(Hash::of(b"x")), ..fair() },
        Manifest { expires_ms: NOW, ..fair() },
        Manifest { expires_ms: NOW + 500 * DAY, ..fair() },
        Manifest { share: 0, ..fair() },
        Manifest { share: 101, ..fair() },
        Manifest { format: 2, ..fair() },
        Manifest { root: root(3, &[1, 2]), ..fair() },
        Manifest { root: root(0, &[1, 2]), ..fair() },
        Manifest { root: root(1, &[1, 1]), ..fair() },
        Manifest { root: root(1, &[]), ..fair() },
    ] {
        assert!(Bundle::build(bad.clone(), BTreeMap::new()).is_err(), "{bad:?}");
    }
    assert!(Bundle::build(Manifest { revokes: true, ..fair() }, files("")).is_err());
}
