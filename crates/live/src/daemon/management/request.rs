//! Decodes Interests to the forwarder itself: what they request, and whether they are signed as they should be.

use std::borrow::Cow;

use tidegate_wire::tlv::{Element, types};
use tidegate_wire::{DecodeError, InterestView, Verifier, VerifyError, signature_type};

use super::verb::Verb;
use crate::nfd::{AnnouncementError, ControlParameters, FaceQueryFilter, PrefixAnnouncement};

/// RequestRefusal of a request, as a client receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRefusal {
    /// Status code as in HTTP, 4xx or 5xx.
    pub code: u64,
    /// Explanation for human readers.
    pub text: Cow<'static, str>,
    /// Parameters that belong to the refusal; empty for most.
    pub body: Box<ControlParameters>,
    /// Whether a dataset was requested, not a command.
    pub is_dataset: bool,
}

impl RequestRefusal {
    /// A refusal without parameters.
    pub fn new(code: u64, text: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: text.into(), body: Box::default(), is_dataset: false }
    }
}

/// A dataset of the forwarder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dataset {
    /// Version, tables and counters: `status/general`.
    General,
    /// All faces, or those that a filter selects: `faces/list` and `faces/query`.
    Faces(Box<FaceQueryFilter>),
    /// Listeners for new faces: `faces/channels`.
    Channels,
    /// Next hops by prefix: `fib/list`.
    Fib,
    /// Routes by prefix: `rib/list`.
    Rib,
    /// Content store of the forwarder: `cs/info`.
    Cs,
    /// Strategies by prefix: `strategy-choice/list`.
    StrategyChoice,
    /// Status as lines of text: `/localhost/tidegate/status`.
    Lines,
}

/// A request to the management.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The current content of a dataset.
    Dataset(Dataset),
    /// A segment of a version of a dataset that was published before.
    Segment(Dataset),
    /// The notification of this number about a face; `None` for the last or next one.
    FaceEvent(Option<u64>),
    /// A name outside of the management, to which a route leads.
    Foreign,
    /// A command with its parameters.
    Command(Verb, Box<ControlParameters>),
    /// Registers an announced prefix: `rib/announce`.
    Announcement(Box<PrefixAnnouncement>),
}

/// Names under which commands arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestScope {
    /// Names under `/localhost/nfd`, from this machine.
    Host,
    /// Names under `/localhop/nfd`, also from neighbours.
    Hop,
}

impl RequestScope {
    /// The scope of an Interest by its first component; `None` outside of the management.
    pub fn of(interest: &InterestView<'_>) -> Option<Self> {
        match interest.name.iter().next()?.value {
            b"localhost" => Some(Self::Host),
            b"localhop" => Some(Self::Hop),
            _ => None,
        }
    }
}

impl Request {
    /// Reads the Interest by its name.
    ///
    /// # Errors
    /// 501 for a command or dataset that is not known, 403 for a command that is not signed as it should be, 400
    /// when its parameters or a filter are malformed. NFD leaves an unknown request without a response, so that
    /// its client waits for a timeout; the response here is that of ndnd.
    pub fn read(interest: &InterestView<'_>) -> Result<Self, RequestRefusal> {
        // Routes of other prefixes may lead here, on which commands from other machines would arrive.
        let Some(scope) = RequestScope::of(interest) else { return Ok(Self::Foreign) };
        let mut components = interest.name.iter().skip(1);
        let mut word = || {
            let word = components.next().filter(|word| word.kind == types::GENERIC_NAME_COMPONENT);
            word.map(|word| word.value).unwrap_or_default()
        };
        let (protocol, module, verb) = (word(), word(), word());
        if scope == RequestScope::Hop && (protocol != b"nfd" || module != b"rib" || verb == b"list") {
            return Ok(Self::Foreign);
        }
        let argument = components.next();
        if protocol == b"tidegate" && module == b"status" {
            return Ok(Self::of_dataset(interest, Dataset::Lines));
        }
        if protocol != b"nfd" {
            return Err(unknown());
        }
        if (module, verb) == (b"faces", b"events") {
            let is_numbered = |argument: &Element<'_>| argument.kind == types::SEQUENCE_NUM_NAME_COMPONENT;
            let number = argument.filter(is_numbered).and_then(|argument| argument.integer().ok());
            return Ok(Self::FaceEvent(number));
        }
        if let Some(dataset) = read_dataset((module, verb), argument)? {
            return Ok(Self::of_dataset(interest, dataset));
        }
        if (module, verb) == (b"rib", b"announce") {
            return read_announcement(interest);
        }
        let verb = Verb::find(module, verb).ok_or_else(unknown)?;
        let parameters = argument.ok_or_else(unknown)?;
        check_signature(interest)?;
        let parameters = ControlParameters::decode(parameters.value).map_err(|why| match why {
            DecodeError::Components(_) => RequestRefusal::new(414, "the Name in the parameters is too long"),
            _ => RequestRefusal::new(400, "the component behind the verb is no ControlParameters"),
        })?;
        Ok(Self::Command(verb, Box::new(parameters)))
    }

    /// A request for `dataset` or for a segment of it. As in ndn-cxx, further components may follow its name: python-ndn
    /// signs requests for datasets.
    fn of_dataset(interest: &InterestView<'_>, dataset: Dataset) -> Self {
        let parts = [types::SEGMENT_NAME_COMPONENT, types::VERSION_NAME_COMPONENT];
        match interest.name.last().is_some_and(|last| parts.contains(&last.kind)) {
            true => Self::Segment(dataset),
            false => Self::Dataset(dataset),
        }
    }
}

fn unknown() -> RequestRefusal {
    RequestRefusal::new(501, "this forwarder does not support the command")
}

/// The dataset of these components; `None` if they are those of a command.
fn read_dataset(
    (module, verb): (&[u8], &[u8]),
    argument: Option<Element<'_>>,
) -> Result<Option<Dataset>, RequestRefusal> {
    Ok(Some(match (module, verb) {
        (b"status", b"general") => Dataset::General,
        (b"faces", b"list") => Dataset::Faces(Box::default()),
        (b"faces", b"query") => Dataset::Faces(Box::new(read_filter(argument)?)),
        (b"faces", b"channels") => Dataset::Channels,
        (b"fib", b"list") => Dataset::Fib,
        (b"rib", b"list") => Dataset::Rib,
        (b"cs", b"info") => Dataset::Cs,
        (b"strategy-choice", b"list") => Dataset::StrategyChoice,
        _ => return Ok(None),
    }))
}

fn read_announcement(interest: &InterestView<'_>) -> Result<Request, RequestRefusal> {
    check_signature(interest)?;
    let read = PrefixAnnouncement::decode(interest.parameters.unwrap_or_default());
    let announcement = read.map_err(|why| {
        let code = if matches!(why, AnnouncementError::Digest) { 403 } else { 400 };
        RequestRefusal::new(code, why.to_string())
    })?;
    Ok(Request::Announcement(Box::new(announcement)))
}

fn read_filter(argument: Option<Element<'_>>) -> Result<FaceQueryFilter, RequestRefusal> {
    let filter = argument.and_then(|argument| FaceQueryFilter::decode(argument.value).ok());
    filter.ok_or(RequestRefusal {
        is_dataset: true,
        ..RequestRefusal::new(400, "the component behind faces/query is no FaceQueryFilter")
    })
}

/// Components of a command in the older format: four for the verb, the parameters, then time, nonce,
/// SignatureInfo and SignatureValue.
const OLD_COMMAND: usize = 9;

fn check_signature(interest: &InterestView<'_>) -> Result<(), RequestRefusal> {
    let Some(signature) = &interest.signature else {
        // Packet format 0.2 (NFD's Signed Interest v0.2) puts time, nonce, SignatureInfo and SignatureValue
        // behind the parameters as components of the name; only their presence is checked, since such a
        // digest covers no key.
        let last_two: Vec<Element<'_>> = interest.name.iter().skip(OLD_COMMAND - 2).collect();
        let is_signed = last_two.len() == 2
            && last_two[0].value.first() == Some(&(types::SIGNATURE_INFO as u8))
            && last_two[1].value.first() == Some(&(types::SIGNATURE_VALUE as u8));
        return if is_signed { Ok(()) } else { Err(RequestRefusal::new(403, "the command is not signed")) };
    };
    if !tidegate_wire::parameters_digest_holds(interest) {
        return Err(RequestRefusal::new(403, "the ParametersSha256Digest is wrong"));
    }
    // No trust schema exists here, so a key cannot be checked. Whoever may use /localhost is trusted; the
    // digest is verified because it finds damaged commands.
    if signature.kind != signature_type::DIGEST_SHA256 {
        return Ok(());
    }
    let checked: Result<(), VerifyError> = Verifier::Digest.verify_interest(interest);
    checked.map_err(|_| RequestRefusal::new(403, "the digest in the signature is wrong"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::{InterestBuilder, InterestStamp, Signer, name};

    fn name_of(words: &[&[u8]]) -> Vec<u8> {
        let mut name = Vec::new();
        words.iter().for_each(|word| name::push_component(&mut name, 8, word));
        name
    }

    fn read(name: &[u8]) -> Result<Request, RequestRefusal> {
        let interest = InterestBuilder { name, can_be_prefix: true, ..InterestBuilder::default() };
        let interest = interest.build().expect("valid");
        Request::read(&InterestView::parse(&interest).expect("ours"))
    }

    #[test]
    fn a_dataset_is_requested_by_its_name_alone_and_a_segment_by_all_of_it() {
        let words: [&[u8]; 4] = [b"localhost", b"nfd", b"rib", b"list"];
        let mut name = name_of(&words);
        assert_eq!(read(&name), Ok(Request::Dataset(Dataset::Rib)));
        let signed = InterestBuilder { name: &name, ..InterestBuilder::default() };
        let signed = signed.sign(&Signer::Digest, &InterestStamp::default()).expect("valid");
        let signed = InterestView::parse(&signed).expect("ours");
        assert_eq!(Request::read(&signed), Ok(Request::Dataset(Dataset::Rib)));
        tidegate_wire::rdr::push_version(&mut name, 7);
        assert_eq!(read(&name), Ok(Request::Segment(Dataset::Rib)));
        name::push_segment(&mut name, 0);
        assert_eq!(read(&name), Ok(Request::Segment(Dataset::Rib)));
    }

    #[test]
    fn a_notification_is_requested_by_its_number_or_as_the_last_one() {
        let words: [&[u8]; 4] = [b"localhost", b"nfd", b"faces", b"events"];
        let mut name = name_of(&words);
        assert_eq!(read(&name), Ok(Request::FaceEvent(None)));
        name::push_component(&mut name, 58, &[1, 0]);
        assert_eq!(read(&name), Ok(Request::FaceEvent(Some(256))));
    }

    #[test]
    fn a_query_needs_a_filter() {
        let words: [&[u8]; 4] = [b"localhost", b"nfd", b"faces", b"query"];
        let filter = FaceQueryFilter { face_id: Some(7), ..FaceQueryFilter::default() };
        let with = |filter: &[u8]| read(&name_of(&[&words[..], &[filter]].concat()));
        let expected = Dataset::Faces(Box::new(filter));
        assert_eq!(with(&[150, 3, 105, 1, 7]), Ok(Request::Dataset(expected)));
        for bad in [&[][..], &[150, 1], &[104, 0]] {
            let refusal = with(bad).expect_err("no filter");
            assert_eq!((refusal.code, refusal.is_dataset), (400, true), "{bad:?}");
        }
        assert_eq!(read(&name_of(&words)).map_err(|refusal| refusal.code), Err(400));
    }

    #[test]
    fn a_command_under_another_prefix_is_none() {
        let words: [&[u8]; 5] = [b"elsewhere", b"nfd", b"rib", b"register", &[104, 0]];
        assert_eq!(read(&name_of(&words)), Ok(Request::Foreign));
    }

    #[test]
    fn neighbours_request_only_changes_of_routes() {
        let name = |words: &[&[u8]]| read(&name_of(&[&[b"localhop", &b"nfd"[..]], words].concat()));
        for words in [[&b"rib"[..], b"list"], [b"faces", b"list"], [b"cs", b"erase"], [b"status", b"general"]]
        {
            assert_eq!(name(&words), Ok(Request::Foreign), "{words:?}");
        }
        assert_eq!(name(&[b"rib", b"register", &[104, 0]]).map_err(|refusal| refusal.code), Err(403));
        assert_eq!(read(&name_of(&[b"localhop", b"tidegate", b"status"])), Ok(Request::Foreign));
    }

    #[test]
    fn an_unknown_request_is_refused_as_not_implemented() {
        for words in [
            &[b"localhost", &b"nfd"[..], b"rib", b"grow"][..],
            &[b"localhost", b"nfd", b"rib", b"register"],
            &[b"localhost", b"nlsr", b"status"],
            &[b"localhost", b"nfd"],
        ] {
            assert_eq!(read(&name_of(words)).map_err(|refusal| refusal.code), Err(501), "{words:?}");
        }
    }

    #[test]
    fn a_command_without_a_signature_is_forbidden() {
        let words: [&[u8]; 5] = [b"localhost", b"nfd", b"rib", b"register", &[104, 0]];
        assert_eq!(read(&name_of(&words)).map_err(|refusal| refusal.code), Err(403));
        let name = name_of(&words);
        let interest = InterestBuilder { name: &name, ..InterestBuilder::default() };
        let interest = interest.sign(&Signer::Digest, &InterestStamp::default()).expect("valid");
        let read = Request::read(&InterestView::parse(&interest).expect("ours"));
        assert!(matches!(read, Ok(Request::Command(Verb::RibRegister, _))), "{read:?}");
    }
}
