//! Values of measures, stored beside each run, so that neither the run nor its events are needed again.

use std::collections::BTreeMap;
use std::fs;

use tidegate_papers::value::MeasureValue;

use crate::code::code;
use crate::exit::Failure;
use crate::results::cannot;
use crate::store::Store;

/// Values of one run by quantity; `None` for one that the run does not have.
pub(super) type Values = BTreeMap<String, Option<MeasureValue>>;

/// Length of the checksum at the start of a file, bytes.
const CHECKSUM: usize = 32;

/// Checksum of content and of the code of measures, so that values of other measures are not used.
fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tidegate_identity::EXPERIMENTS.as_bytes());
    hasher.update(content);
    *hasher.finalize().as_bytes()
}

/// Runs with values that other code has computed.
pub(super) fn of_other_code(store: &Store) -> Result<Vec<String>, Failure> {
    let is_other = |key: &String| store.values(key).exists() && store.code_of(key).as_deref() != Some(code());
    Ok(store.keys()?.into_iter().filter(is_other).collect())
}

/// Stored values of the run called `key`; empty if the file is missing or damaged.
pub(super) fn read(store: &Store, key: &str) -> Values {
    let read = || {
        let bytes = fs::read(store.values(key)).ok()?;
        let (checksum, content) = bytes.split_at_checked(CHECKSUM)?;
        // The values of a file that was truncated by a crash are computed again.
        (self::checksum(content) == checksum).then(|| postcard::from_bytes(content).ok())?
    };
    read().unwrap_or_default()
}

/// Stores the values of the run called `key`.
pub(super) fn write(store: &Store, key: &str, values: &Values) -> Result<(), Failure> {
    let (new, target) = (store.temporary(), store.values(key));
    let content = postcard::to_stdvec(values)
        .map_err(|why| Failure::error(format!("cannot write {}: {why}", target.display())))?;
    let bytes = [&checksum(&content)[..], content.as_slice()].concat();
    for folder in [new.parent(), target.parent()].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    }
    // Renaming is atomic, so that two processes can share the store.
    fs::write(&new, bytes)
        .and_then(|()| fs::rename(&new, &target))
        .map_err(|why| cannot("write", &target, &why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_again_bit_by_bit_and_only_whole() {
        let root = std::env::temp_dir().join(format!("tidegate-values-{}", std::process::id()));
        let store = Store::make(&root).expect("a store");
        let key = "ab".repeat(32);
        assert!(read(&store, &key).is_empty());
        let values: Values = [
            ("a".to_owned(), Some(MeasureValue::List(vec![0.1, f64::INFINITY, -0.0]))),
            ("b".to_owned(), None),
            ("c".to_owned(), Some(MeasureValue::Series(vec![(1.0, 2.0)]))),
        ]
        .into();
        write(&store, &key, &values).expect("written");
        assert_eq!(read(&store, &key), values);
        let path = store.values(&key);
        let mut bytes = fs::read(&path).expect("there");
        *bytes.last_mut().expect("not empty") ^= 1;
        fs::write(&path, bytes).expect("writable");
        assert!(read(&store, &key).is_empty());
        fs::remove_dir_all(root).expect("ours");
    }
}
