//! Texts of the forwarder's configuration file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_live::daemon::config::ForwarderConfig;
use tidegate_schemes::SCHEMES;

fuzz_target!(|data: &[u8]| match ForwarderConfig::parse("input.toml", data, SCHEMES) {
    Ok(config) => {
        assert!(config.faces.len() <= usize::from(config.max_faces));
        assert!(config.routes.iter().all(|route| route.face < config.faces.len()));
    }
    Err(errors) => {
        assert!(errors.iter().count() > 0);
        assert!(!errors.to_string().is_empty());
    }
});
