//! Routes that commands must not change: those of management, and those of the configuration.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::{NameTable, PrefixId};

use super::Daemon;
use super::management::request::RequestRefusal;
use crate::nfd::ORIGIN_STATIC;

/// Prefixes of management, with everything under them.
const MANAGEMENT_PREFIXES: [&str; 3] = ["/localhost/nfd", "/localhost/tidegate", "/localhop/nfd"];

impl Daemon {
    /// Checks whether a command may add, replace or remove the route to `prefix` through `face` of `origin`.
    ///
    /// # Errors
    /// 403 under a prefix of management, which an application could intercept otherwise, and for a route of the
    /// configuration.
    pub(super) fn check_changeable(
        &mut self,
        prefix: PrefixId,
        face: FaceId,
        origin: u64,
    ) -> Result<(), RequestRefusal> {
        if is_for_management(&mut self.names, prefix) {
            return Err(RequestRefusal::new(
                403,
                "the prefix is one of the forwarder's management; no route to it can be changed",
            ));
        }
        if origin == ORIGIN_STATIC && self.has_configured_route(prefix, face) {
            return Err(RequestRefusal::new(
                403,
                "the route is one of the forwarder's configuration; it can be changed there only",
            ));
        }
        Ok(())
    }

    fn has_configured_route(&mut self, prefix: PrefixId, face: FaceId) -> bool {
        let Self { config, configured, names, .. } = self;
        let through = |place: usize| configured.get(place).is_some_and(|known| known.face == Some(face));
        let mut routes = config.routes.iter().filter(|route| through(route.face));
        // Prefixes of the configuration were checked when it was read.
        routes.any(|route| names.intern_uri(&route.prefix) == Ok(prefix))
    }
}

/// Whether `prefix` is one of management or under one.
fn is_for_management(names: &mut NameTable, prefix: PrefixId) -> bool {
    MANAGEMENT_PREFIXES.iter().any(|uri| {
        let reserved = names.intern_uri(uri);
        reserved.is_ok_and(|reserved| names.is_under(reserved, prefix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_management_are_those_listed_and_all_under_them() {
        let mut names = NameTable::new();
        let mut is_reserved = |uri: &str| {
            let prefix = names.intern_uri(uri).expect("valid");
            is_for_management(&mut names, prefix)
        };
        for uri in ["/localhost/nfd", "/localhost/nfd/rib", "/localhost/tidegate/status/x", "/localhop/nfd"] {
            assert!(is_reserved(uri), "{uri}");
        }
        for uri in ["/", "/localhost", "/localhop", "/localhost/nfdx", "/localhost/app", "/a/localhost/nfd"] {
            assert!(!is_reserved(uri), "{uri}");
        }
    }
}
