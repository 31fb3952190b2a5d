//! How the program takes memory from the system and keeps it.

/// Milliseconds for which the allocator keeps unused pages, at most. Its own second is less than lies between some
/// transactions, and clearing the pages of the next ones takes a tenth of the processor.
const KEPT_MS: std::ffi::c_long = 20_000;
/// The allocator's `mi_option_purge_delay`, for which its crate has no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Has the allocator keep pages; `MIMALLOC_PURGE_DELAY` in the environment goes before.
#[expect(unsafe_code, reason = "the allocator's crate has no safe call for it")]
pub fn keep_pages() {
    // SAFETY: called before there is another thread.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, KEPT_MS) }
}

/// Keeps the system from giving memory two megabytes at a time: a machine that appears makes all its series new at once, and
/// clearing huge pages, of which much stays unused, took half of the detector's time then, and a twentieth to a tenth of
/// a drain's (measured with tests/load/run). `MIMALLOC_ALLOW_THP` in the environment goes before. A system that cannot is as it was.
#[cfg(target_os = "linux")]
pub fn take_small_pages() {
    if std::env::var_os("MIMALLOC_ALLOW_THP").is_none() {
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
}

/// Other systems have no such setting.
#[cfg(not(target_os = "linux"))]
pub fn take_small_pages() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "the allocator's crate has no safe call for it")]
    fn the_number_of_the_allocators_option_is_that_of_the_delay() {
        // SAFETY: an option is read, which no other thread of this test writes.
        let delay_ms = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(delay_ms(), 1_000, "the allocator's default");
        keep_pages();
        assert_eq!(delay_ms(), KEPT_MS);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_taken_in_small_pages() {
        take_small_pages();
        assert!(rustix::thread::transparent_huge_pages_are_disabled().expect("Linux has the setting"));
    }
}
