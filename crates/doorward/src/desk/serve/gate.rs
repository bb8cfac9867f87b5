//! The gate: which requests are for this desk at all. Whoever passes it has still shown nothing about who they are.

use super::exchange::Refusal;

/// What a request says about where it goes and where it comes from.
#[derive(Debug, Default)]
pub(super) struct Claims<'a> {
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    /// `Sec-Fetch-Site`: the browser's own word on who sent it.
    pub site: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub is_post: bool,
    /// It asks for a page in the address bar, which holds nothing; everything else must come from our own script.
    pub is_page: bool,
}

/// The origins this desk answers to, such as `http://127.0.0.1:3667`.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    origins: Vec<String>,
}

impl Gate {
    pub(super) fn new(origins: Vec<String>) -> Gate {
        Gate { origins }
    }

    /// The origin that the request was sent to, if it may come in.
    ///
    /// A name that somebody else's DNS points here is not ours, so a page that was loaded under it learns nothing.
    pub(super) fn admit(&self, claims: &Claims<'_>) -> Result<String, Refusal> {
        let is_to = |origin: &&String| origin.split_once("://").map(|(_, host)| host) == claims.host;
        let Some(own) = self.origins.iter().find(is_to) else {
            return Err(Refusal::new(421, "this desk does not answer to that host name"));
        };
        if claims.origin.is_some_and(|origin| origin != own) {
            return Err(Refusal::new(403, "another site sent this request"));
        }
        let from_outside = match claims.site {
            // Programs send neither; they have no page that could be tricked.
            None | Some("same-origin") => false,
            // Typed, or opened from a bookmark or another program.
            Some("none") => !claims.is_page,
            // A link on another page: the frame holds nothing, and what it loads is asked for by our own script.
            Some(_) => !claims.is_page || claims.is_post,
        };
        if from_outside {
            return Err(Refusal::new(403, "another site sent this request"));
        }
        if claims.is_post && (claims.origin.is_none() || !is_json(claims.content_type)) {
            return Err(Refusal::new(403, "an answer needs an `Origin` header and a JSON body"));
        }
        Ok(own.clone())
    }
}

/// Forms can't send this, so none can post here however it is submitted.
fn is_json(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|kind| {
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_and_programs_come_in() {
        let gate = Gate::new(vec!["http://127.0.0.1:3667".into(), "http://localhost:3667".into()]);
        let ours = || Claims { host: Some("127.0.0.1:3667"), site: Some("same-origin"), ..Claims::default() };
        let post = || Claims {
            is_post: true,
            origin: Some("http://127.0.0.1:3667"),
            content_type: Some("application/json"),
            ..ours()
        };
        for (claims, is_in) in [
            (ours(), true),
            (Claims { host: Some("localhost:3667"), ..ours() }, true),
            (Claims { host: Some("evil.example:3667"), ..ours() }, false),
            (Claims { host: Some("127.0.0.1"), ..ours() }, false),
            (Claims { host: Some("127.0.0.1:3667.evil.example"), ..ours() }, false),
            (Claims { host: None, ..ours() }, false),
            (Claims { origin: Some("null"), ..ours() }, false),
            (Claims { origin: Some("http://localhost:3667"), ..ours() }, false),
            (Claims { site: Some("cross-site"), ..ours() }, false),
            (Claims { site: Some("same-site"), ..ours() }, false),
            (Claims { site: Some("none"), ..ours() }, false),
            (Claims { site: Some("none"), is_page: true, ..ours() }, true),
            (Claims { site: Some("cross-site"), is_page: true, ..ours() }, true),
            (Claims { site: None, ..ours() }, true),
            (post(), true),
            (Claims { origin: None, ..post() }, false),
            (Claims { content_type: Some("text/plain"), ..post() }, false),
            (Claims { content_type: None, ..post() }, false),
            (Claims { content_type: Some("application/x-www-form-urlencoded"), ..post() }, false),
        ] {
            assert_eq!(gate.admit(&claims).is_ok(), is_in, "{claims:?}");
        }
    }
}
