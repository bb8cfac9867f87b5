//! Secrets that show what they are by how they begin.

use Letters::{Hex, Name, Plain, Upper, Url};

/// Which characters may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Name,
    /// Capital letters and digits.
    Upper,
    Hex,
    /// What a token inside a URL or a dotted token is made of.
    Url,
}

impl Letters {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Plain => byte.is_ascii_alphanumeric(),
            Name => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => byte.is_ascii_hexdigit(),
            Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=' | b'~'),
        }
    }
}

/// A beginning, what follows it, and how much of that at least and at most.
pub(super) type Shape = (&'static str, Letters, usize, usize, &'static str);

// Issuers lengthen their tokens over time; only few promise an exact length.
const ANY: usize = usize::MAX;

/// The shapes that begin with this byte.
pub(super) fn beginning_with(first: u8) -> &'static [Shape] {
    match first {
        b'A' => &[
            ("AKIA", Upper, 16, 16, "aws-key"),
            ("ASIA", Upper, 16, 16, "aws-key"),
            ("ABIA", Upper, 16, 16, "aws-key"),
            ("ACCA", Upper, 16, 16, "aws-key"),
            ("AIza", Name, 35, 39, "google-key"),
            ("ATATT3", Url, 60, ANY, "atlassian-token"),
            ("ATCTT3", Url, 60, ANY, "atlassian-token"),
            ("AKID", Plain, 32, 32, "tencent-key"),
            ("AC", Hex, 32, 32, "twilio-id"),
            ("AGE-SECRET-KEY-1", Upper, 58, 58, "age-key"),
        ],
        b'C' => &[("CCIPAT_", Name, 30, ANY, "circleci-token"), ("CFPAT-", Name, 40, ANY, "contentful-token")],
        b'E' => &[("EAACEdEose0cBA", Plain, 20, ANY, "facebook-token")],
        b'F' => &[("FlyV1 fm2_", Url, 40, ANY, "fly-token")],
        b'G' => &[("GOCSPX-", Name, 20, ANY, "google-secret")],
        b'L' => &[("LTAI", Plain, 12, 24, "alibaba-key")],
        b'N' => &[("NRAK-", Upper, 27, 27, "newrelic-key")],
        b'P' => &[("PMAK-", Name, 50, 64, "postman-key")],
        b'S' => &[("SG.", Url, 40, ANY, "sendgrid-key"), ("SK", Hex, 32, 32, "twilio-key")],
        _ => beginning_small(first),
    }
}

/// Those that begin with a small letter.
fn beginning_small(first: u8) -> &'static [Shape] {
    match first {
        b'b' => &[("bkua_", Hex, 40, 40, "buildkite-token")],
        b'd' => D,
        b'f' => &[("fo1_", Name, 30, ANY, "fly-token"), ("figd_", Name, 30, ANY, "figma-token")],
        b'g' => G,
        b'h' => H,
        b'k' => &[("key-", Hex, 32, 32, "mailgun-key")],
        b'l' => &[("lin_api_", Plain, 32, ANY, "linear-key"), ("lin_oauth_", Plain, 32, ANY, "linear-key")],
        b'n' => N,
        b'o' => &[("ops_eyJ", Url, 40, ANY, "onepassword-token")],
        b'p' => P,
        b'r' => R,
        b's' => S,
        b't' => &[("tfp_", Plain, 40, ANY, "typeform-token"), ("tvly-", Name, 28, ANY, "tavily-key")],
        b'w' => &[("whsec_", Url, 24, ANY, "webhook-secret")],
        b'x' => X,
        b'y' => &[("ya29.", Name, 20, ANY, "google-token")],
        _ => &[],
    }
}

// Prefixes and shortest lengths as the issuers publish them for secret scanning, grouped by first letter for one
// quick look. The lower bound leaves room for shorter test tokens.
const D: &[Shape] = &[
    ("dckr_pat_", Name, 20, ANY, "docker-token"),
    ("dckr_oat_", Name, 20, ANY, "docker-token"),
    ("dop_v1_", Hex, 40, ANY, "digitalocean-token"),
    ("doo_v1_", Hex, 40, ANY, "digitalocean-token"),
    ("dor_v1_", Hex, 40, ANY, "digitalocean-token"),
    ("dapi", Hex, 32, 34, "databricks-token"),
    ("dp.pt.", Plain, 40, ANY, "doppler-token"),
    ("dp.st.", Url, 40, ANY, "doppler-token"),
    ("discord.com/api/webhooks/", Url, 30, ANY, "discord-hook"),
];

const G: &[Shape] = &[
    ("ghp_", Plain, 30, ANY, "github-token"),
    ("gho_", Plain, 30, ANY, "github-token"),
    ("ghu_", Plain, 30, ANY, "github-token"),
    ("ghs_", Plain, 30, ANY, "github-token"),
    ("ghr_", Plain, 30, ANY, "github-token"),
    ("github_pat_", Name, 22, ANY, "github-token"),
    ("glpat-", Name, 20, ANY, "gitlab-token"),
    ("gldt-", Name, 20, ANY, "gitlab-token"),
    ("glrt-", Name, 20, ANY, "gitlab-token"),
    ("glptt-", Name, 20, ANY, "gitlab-token"),
    ("glsoat-", Name, 20, ANY, "gitlab-token"),
    ("glcbt-", Name, 20, ANY, "gitlab-token"),
    ("glagent-", Name, 20, ANY, "gitlab-token"),
    ("glft-", Name, 20, ANY, "gitlab-token"),
    ("glimt-", Name, 20, ANY, "gitlab-token"),
    ("glffct-", Name, 20, ANY, "gitlab-token"),
    ("gloas-", Name, 40, ANY, "gitlab-token"),
    ("glsa_", Name, 30, ANY, "grafana-token"),
    ("glc_", Url, 30, ANY, "grafana-token"),
    ("gsk_", Plain, 40, ANY, "groq-key"),
];

const H: &[Shape] = &[
    ("hf_", Plain, 30, ANY, "huggingface-token"),
    ("hvs.", Name, 24, ANY, "vault-token"),
    ("hvb.", Name, 24, ANY, "vault-token"),
    ("hvr.", Name, 24, ANY, "vault-token"),
    ("hooks.slack.com/services/", Url, 20, ANY, "slack-hook"),
];

const N: &[Shape] = &[
    ("npm_", Plain, 30, ANY, "npm-token"),
    ("ntn_", Plain, 40, ANY, "notion-token"),
    ("nvapi-", Name, 40, ANY, "nvidia-key"),
];

const P: &[Shape] = &[
    ("pypi-", Name, 50, ANY, "pypi-token"),
    ("pplx-", Plain, 32, ANY, "perplexity-key"),
    ("phx_", Plain, 32, ANY, "posthog-key"),
    ("pul-", Hex, 40, 40, "pulumi-token"),
    ("pscale_tkn_", Name, 32, ANY, "planetscale-token"),
    ("pscale_oauth_", Name, 32, ANY, "planetscale-token"),
    ("pscale_pw_", Name, 32, ANY, "planetscale-password"),
];

const R: &[Shape] = &[
    ("rk_live_", Plain, 16, ANY, "stripe-key"),
    ("rk_test_", Plain, 16, ANY, "stripe-key"),
    ("r8_", Plain, 32, ANY, "replicate-token"),
    ("rubygems_", Hex, 40, ANY, "rubygems-key"),
    ("rdme_", Plain, 60, ANY, "readme-key"),
];

const S: &[Shape] = &[
    ("sk-ant-", Name, 20, ANY, "anthropic-key"),
    ("sk-proj-", Name, 20, ANY, "openai-key"),
    ("sk-svcacct-", Name, 20, ANY, "openai-key"),
    ("sk-admin-", Name, 20, ANY, "openai-key"),
    ("sk-or-v1-", Hex, 40, ANY, "openrouter-key"),
    ("sk-", Plain, 20, ANY, "openai-key"),
    ("sk_live_", Plain, 16, ANY, "stripe-key"),
    ("sk_test_", Plain, 16, ANY, "stripe-key"),
    ("secret_", Plain, 43, 43, "notion-token"),
    ("shpat_", Hex, 32, 32, "shopify-token"),
    ("shpss_", Hex, 32, 32, "shopify-token"),
    ("shpca_", Hex, 32, 32, "shopify-token"),
    ("shppa_", Hex, 32, 32, "shopify-token"),
    ("sbp_", Hex, 40, 40, "supabase-token"),
    ("sb_secret_", Name, 20, ANY, "supabase-key"),
    ("sgp_", Name, 40, ANY, "sourcegraph-token"),
    ("sntrys_", Url, 40, ANY, "sentry-token"),
    ("sntryu_", Hex, 40, ANY, "sentry-token"),
    ("sq0atp-", Name, 22, 22, "square-token"),
    ("sq0csp-", Name, 43, 43, "square-token"),
];

const X: &[Shape] = &[
    ("xoxb-", Name, 10, ANY, "slack-token"),
    ("xoxa-", Name, 10, ANY, "slack-token"),
    ("xoxp-", Name, 10, ANY, "slack-token"),
    ("xoxr-", Name, 10, ANY, "slack-token"),
    ("xoxs-", Name, 10, ANY, "slack-token"),
    ("xoxe-", Name, 10, ANY, "slack-token"),
    ("xoxc-", Name, 10, ANY, "slack-token"),
    ("xoxd-", Url, 10, ANY, "slack-token"),
    ("xapp-", Name, 20, ANY, "slack-token"),
    ("xai-", Plain, 40, ANY, "xai-key"),
];
