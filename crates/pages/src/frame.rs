//! The frame of a page: head, navigation, an empty middle. It says nothing about any call, so anyone may read it.

use crate::escape::escaped;

/// The script of the desk, served as a file of its own.
pub const SCRIPT: &str = include_str!("desk.js");

/// The stylesheet of the desk, behind the report's.
pub const DESK_STYLE: &str = include_str!("desk.css");

/// What a browser may load and run: our own files, and nothing else whatever a page contains.
pub const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types desk";

/// A page of a site: its address and its name.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The path.
    pub path: &'static str,
    /// Its name in the navigation.
    pub name: &'static str,
}

/// The whole page, without content; the script asks for that.
#[must_use]
pub fn frame(title: &str, places: &[Place], current: &str) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n\
         <link rel=\"stylesheet\" href=\"/assets/desk.css\">\n<script src=\"/assets/desk.js\" defer></script>\n\
         </head>\n<body class=\"desk\">\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n\
         <nav aria-label=\"pages\">\n<ol>\n",
        escaped(title)
    );
    for place in places {
        let mark = if place.path == current { " aria-current=\"page\"" } else { "" };
        page.push_str(&format!("<li><a href=\"{}\"{mark}>{}</a></li>\n", escaped(place.path), escaped(place.name)));
    }
    page.push_str(
        "</ol>\n</nav>\n<main id=\"main\" tabindex=\"-1\"><p class=\"empty\">Loading …</p></main>\n\
         <p id=\"note\" role=\"status\" aria-live=\"polite\"></p>\n\
         <noscript><p>This page needs JavaScript: it signs your answers with a key that never leaves this browser.</p></noscript>\n\
         </body>\n</html>\n",
    );
    page
}
