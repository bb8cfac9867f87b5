//! The words by which an order in a description is told from a description.
//!
//! English only: an order in another language is caught by the places, addresses and tools that it names.

pub(super) const NEGATIONS: &str =
    "not never don't dont doesn't without no nor avoid mustn't shouldn't can't cannot neither refrain";
/// "Do not forget to send" is an order to send.
pub(super) const STILL: &str = "forget hesitate fail omit skip miss neglect";
pub(super) const TELLING: &str = "tell telling mention mentioning inform informing notify notifying reveal revealing show showing ask \
    asking alert alerting disclose disclosing warn warning let letting display displaying say report reporting explain \
    discuss expose acknowledge prompt prompting consult surface indicate";
pub(super) const AUDIENCE: &str = "user users user's human humans person people anyone anybody nobody them operator owner developer \
    customer client's admin administrator confirmation permission consent approval";
pub(super) const SECRETLY: &str =
    "secretly covertly stealthily discreetly clandestinely surreptitiously undetected unnoticed";
pub(super) const QUIETLY: &str = "silently quietly invisibly background transparently";

pub(super) const SETTING_ASIDE: &str =
    "ignore disregard forget override bypass supersede overrule discard circumvent replace";
pub(super) const RULES: &str = "instruction instructions rule rules guideline guidelines prompt prompts policy policies guardrails safety \
    restrictions constraints safeguards directives";
pub(super) const WHOSE: &str = "previous prior above earlier all other system your any existing security preceding original user's user \
    safety";

pub(super) const PASSING: &str = "pass include send provide append attach insert put add embed forward upload submit post supply copy paste \
    write encode transmit exfiltrate share leak prepend give deliver report emit store save echo bcc cc";
pub(super) const TAKING: &str = "exfiltrate harvest steal leak capture collect siphon dump extract harvesting stealing capturing \
    collecting exfiltrating extracting dumping intercept intercepting";
pub(super) const READING: &str = "read open access load cat print view retrieve fetch get inspect check list scan search find locate \
    visit browse look consult dump extract copy execute run";
pub(super) const SENDING: &str = "send post forward upload submit bcc cc transmit exfiltrate report copy mail email deliver sync \
    notify redirect route ping call request curl";

pub(super) const SECRETS: &[&str] = &[
    "api key",
    "api keys",
    "api token",
    "access token",
    "access tokens",
    "private key",
    "private keys",
    "ssh key",
    "ssh keys",
    "secret key",
    "secret keys",
    "password",
    "passwords",
    "credential",
    "credentials",
    "environment variables",
    "env vars",
    "env variables",
    "cookies",
    "session token",
    "auth token",
    "seed phrase",
    "mnemonic",
    "secrets",
    "bearer token",
    "keychain",
    "wallet",
    "id_rsa",
    "access keys",
    "aws keys",
];
/// What the model knows and the tool has no need of.
pub(super) const CONTEXT: &[&str] = &[
    "conversation",
    "chat history",
    "message history",
    "system prompt",
    "previous messages",
    "entire context",
    "full context",
    "conversation history",
    "chat log",
    "transcript",
    "everything you know",
    "your instructions",
    "prior messages",
    "all messages",
    "user's messages",
    "tool outputs",
    "previous tool",
    "results of other",
    "output of other",
];
pub(super) const ORDERING: &str = "must should always never need needs please required require mandatory ensure remember important you \
    your critical necessary essential shall";
pub(super) const MARKUP: &[&str] = &[
    "<important",
    "<system",
    "</system",
    "[system]",
    "<instruction",
    "<|",
    "[inst",
    "<<sys",
    "<secret",
    "<hidden",
    "<!--",
    "<admin",
    "<override",
    "<critical",
    "### system",
    "### instruction",
    "<prompt",
    "<assistant",
    "<user>",
];
/// Tools in general: whoever speaks of them steers more than its own.
pub(super) const OTHERS: &[&str] = &[
    "any other tool",
    "any tool",
    "other tools",
    "all tools",
    "every tool",
    "another tool",
    "all other tools",
    "each tool",
    "any other tools",
    "any other function",
    "other functions",
    "every request",
    "every conversation",
    "every message",
    "every response",
    "any other action",
    "any action",
    "any other server",
    "each response",
    "every reply",
    "every turn",
    "any file operation",
    "every session",
    "any command",
    "all subsequent",
    "all future",
    "any response",
    "every answer",
];
