//! Tokens for OAUTHBEARER from a token endpoint (OpenID Connect, client credentials), with librdkafka's own names of
//! properties. librdkafka itself would need libcurl for it.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings.rs` | [`TokenSettings`]: the properties, checked |
//! | `token.rs` | the request for a token, and why there is none |
//! | `source.rs` | [`Source`]: the thread that renews a token and gives it to all clients that use it |
//! | `registration.rs` | a client of librdkafka that gets tokens as long as it lives |

mod registration;
mod settings;
mod source;
mod token;

pub use registration::{Native, Registration};
pub use settings::{TokenSettings, is_property};
pub use source::{Source, observe};
pub use token::TokenError;
