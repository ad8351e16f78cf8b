//! Help for the verifier of BPF programs.

/// Separates the steps of a computation for BPF's verifier. The compiler stores `state` and loads it again, so that the verifier knows
/// no values in it. Without this, the verifier follows each combination of the branches before and after. Has no effect on other
/// targets.
#[inline]
pub(crate) fn barrier<T>(state: &mut T) {
    #[cfg(target_arch = "bpf")]
    core::hint::black_box(state);
    #[cfg(not(target_arch = "bpf"))]
    let _ = state;
}
