//! As much of HTTP/1.1 as a scraper needs: one request with GET or HEAD, and a response that ends the connection
//! (RFC 9112).

use super::Exposition;

/// Maximum size of a request, bytes.
pub(super) const MAX_REQUEST: usize = 4096;

/// Path of the metrics.
const PATH: &str = "/metrics";

/// Maximum number of header fields of a request.
const MAX_HEADERS: usize = 64;

/// Outcome of reading a request.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// More bytes are needed.
    Incomplete,
    /// The metrics in this format; without them for HEAD.
    Metrics { exposition: Exposition, is_head: bool },
    /// A request that gets this status.
    Refused(&'static str),
}

/// Reads a request from the bytes received so far.
pub(super) fn read(bytes: &[u8]) -> Asked {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if bytes.len() < MAX_REQUEST => return Asked::Incomplete,
        Ok(httparse::Status::Partial) => return Asked::Refused("431 Request Header Fields Too Large"),
        Err(_) => return Asked::Refused("400 Bad Request"),
    }
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Asked::Refused("405 Method Not Allowed"),
    };
    let path = request.path.and_then(|target| target.split('?').next());
    if path != Some(PATH) {
        return Asked::Refused("404 Not Found");
    }
    let mut accepted = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("accept"));
    let is_open =
        accepted.any(|header| String::from_utf8_lossy(header.value).contains("application/openmetrics-text"));
    let exposition = if is_open { Exposition::OpenMetrics } else { Exposition::Prometheus };
    Asked::Metrics { exposition, is_head }
}

/// A response with `body`, whose length is stated also if it is left out for HEAD.
pub(super) fn response(status: &str, content_type: &str, body: &str, is_head: bool) -> Vec<u8> {
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let length = body.len();
    let sent = if is_head { "" } else { body };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n{sent}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMETHEUS: Asked = Asked::Metrics { exposition: Exposition::Prometheus, is_head: false };

    #[test]
    fn a_request_may_arrive_in_parts() {
        let whole = b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for len in 0..whole.len() {
            assert_eq!(read(&whole[..len]), Asked::Incomplete, "{len}");
        }
        assert_eq!(read(whole), PROMETHEUS);
    }

    #[test]
    fn the_format_is_the_one_that_the_client_accepts() {
        let accept = b"HEAD /metrics HTTP/1.1\r\naccept: application/openmetrics-text; version=1.0.0,text/plain\r\n\r\n";
        assert_eq!(read(accept), Asked::Metrics { exposition: Exposition::OpenMetrics, is_head: true });
        assert_eq!(read(b"GET /metrics HTTP/1.0\r\nAccept: text/plain\r\n\r\n"), PROMETHEUS);
    }

    #[test]
    fn any_other_request_is_refused_with_its_status() {
        for (request, status) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], "404 Not Found"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            (b"\x16\x03\x01\x02\x00", "400 Bad Request"),
            (&[b'a'; MAX_REQUEST], "431 Request Header Fields Too Large"),
        ] {
            assert_eq!(read(request), Asked::Refused(status));
        }
    }

    #[test]
    fn the_length_is_that_of_the_body_also_without_it() {
        let text =
            |is_head| String::from_utf8(response("200 OK", "text/plain", "abc", is_head)).expect("text");
        assert!(text(false).ends_with("Content-Length: 3\r\nConnection: close\r\n\r\nabc"));
        assert!(text(true).ends_with("Content-Length: 3\r\nConnection: close\r\n\r\n"));
    }
}
