//! How the program keeps its memory.
//!
//! A run makes and drops vectors of many megabytes. The allocator of the GNU C library gives each of them
//! back to the system at once and asks for it again, and the system fills every page with zeros: on wide
//! data that was a quarter of the time. The program ends soon, so it keeps what it has.

/// Keeps dropped memory for later. Without the GNU C library there is nothing to set.
pub(crate) fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Vectors up to this size come from memory that is kept.
        const LARGEST: libc::c_int = 1 << 30;
        for setting in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
            // SAFETY: mallopt takes two whole numbers, touches no memory of ours, and no other thread
            // runs yet. A setting that it does not take is left as it was.
            #[allow(unsafe_code)]
            let _ = unsafe { libc::mallopt(setting, LARGEST) };
        }
    }
}
