//! Every scheme, restart policy and avoidance law by name: one line each.
