//! The address of the page, for links to it.

/// An address that a link may have.
///
/// # Errors
/// What it must be, as it continues its name.
pub fn page_address(text: &str) -> Result<String, String> {
    let is_web =
        ["http://", "https://"].iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'?');
    if is_web && is_plain {
        Ok(text.trim_end_matches('/').to_string())
    } else {
        Err("must begin with http:// or https:// and contain no spaces, ? or #".to_string())
    }
}
