//! Reads one request of HTTP/1.1 strictly: what two readers could read in two ways is refused.

use std::io::{BufRead, Read};

use crate::hook::LIMIT;

/// Clients of tool servers send a dozen short headers.
const HEAD: u64 = 64 << 10;

/// One request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// Path and query, as they came.
    pub target: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The connection ends with the answer.
    pub(super) fn closes(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Reads the next request; `None` if the client leaves between two.
pub(super) fn next(stream: &mut impl BufRead) -> Result<Option<Request>, String> {
    let mut left = HEAD;
    let first = line(stream, &mut left)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1"), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("this is no request of HTTP/1.1".to_owned());
    };
    if !target.starts_with('/') || target.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err("the target is no path".to_owned());
    }
    let mut request = Request { method: method.to_owned(), target: target.to_owned(), ..Request::default() };
    loop {
        let text = line(stream, &mut left)?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or("a header without a colon")?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err("the name of a header has other characters than letters, digits and hyphens".to_owned());
        }
        request.headers.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
    }
    request.body = body(stream, &request)?;
    Ok(Some(request))
}

fn line(stream: &mut impl BufRead, left: &mut u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = stream.by_ref().take(*left).read_until(b'\n', &mut bytes).map_err(|error| error.to_string())?;
    *left = left.saturating_sub(read as u64);
    if read == 0 {
        return Ok(String::new());
    }
    if bytes.pop() != Some(b'\n') || bytes.pop() != Some(b'\r') {
        return Err("a line of the head is too long, or does not end as it should".to_owned());
    }
    if bytes.iter().any(|byte| *byte < b' ' && *byte != b'\t' || *byte >= 0x7f) {
        return Err("the head has control or foreign characters".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn body(stream: &mut impl BufRead, request: &Request) -> Result<Vec<u8>, String> {
    if request.header("transfer-encoding").is_some() {
        return Err("send the body with its length, not in chunks".to_owned());
    }
    let lengths: Vec<&str> =
        request.headers.iter().filter(|(name, _)| name == "content-length").map(|(_, value)| value.as_str()).collect();
    let length = match lengths.as_slice() {
        [] => return Ok(Vec::new()),
        [one] if one.bytes().all(|byte| byte.is_ascii_digit()) => {
            one.parse::<u64>().map_err(|error| error.to_string())?
        }
        _ => return Err("the length of the body is not clear".to_owned()),
    };
    if length > LIMIT {
        return Err(format!("the body is longer than {LIMIT} bytes"));
    }
    let mut body = Vec::new();
    let read = stream.by_ref().take(length).read_to_end(&mut body).map_err(|error| error.to_string())?;
    if read as u64 == length { Ok(body) } else { Err("the body ends early".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_in_one_way_or_refused() {
        let read = |text: &str| next(&mut text.as_bytes());
        let request =
            read("POST /mcp?x=1 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 2\r\n\r\n{}").unwrap().unwrap();
        assert_eq!(
            (request.method.as_str(), request.target.as_str(), request.body.as_slice()),
            ("POST", "/mcp?x=1", b"{}".as_slice())
        );
        assert_eq!(request.header("host"), Some("localhost:1"));
        assert_eq!(read("").unwrap(), None);
        for text in [
            "POST /mcp HTTP/1.0\r\n\r\n",
            "POST http://x/ HTTP/1.1\r\n\r\n",
            "POST /a b HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\nHost: x\n\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "POST / HTTP/1.1\r\nContent-Length: +2\r\n\r\n{}",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}",
            "POST / HTTP/1.1\r\nContent-Length : 2\r\n\r\n{}",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
