//! A packet host for QUIC stacks: turns the congestion hooks of a stack into the events of a [`firstflight::Controller`].
