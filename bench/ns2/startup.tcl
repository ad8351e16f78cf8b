# When a start-up ends, by the trace of a sender's variables cwnd_ ssthresh_ ack_ maxseq_ nrexmit_ dupacks_ (Agent/TCP), for race.tcl
# and dumbbell.tcl.

# Start-up ends as in Firstflight: the first new data packet leaves while no recovery goes on and cwnd >= ssthresh. Between a
# timeout and that packet what was sent before is sent again, with cwnd >= ssthresh at the end of it. A cut without duplicate ACKs, as
# of Vegas by its delay, begins no recovery.
# Sets su_end (empty if it never ends), first_cut, cwnd_cut, su_timeouts.
proc read_variables {file first_data} {
    global su_end first_cut cwnd_cut su_timeouts
    set su_end ""; set first_cut ""; set cwnd_cut ""; set su_timeouts 0
    set cwnd 0; set ssthresh 1e9; set ack -1; set maxseq -1
    set recover -1; set recovering 0; set after_rto 0; set dupacks 0
    set f [open $file]
    while {[gets $f line] >= 0} {
        lassign $line t _ _ _ _ name value
        if {$t < $first_data} {
            # Before the first data packet only the start values matter.
            if {$name eq "ssthresh_"} { set ssthresh $value }
            if {$name eq "cwnd_"} { set cwnd $value }
            continue
        }
        switch -- $name {
            maxseq_ {
                set maxseq $value
                if {!$recovering && !$after_rto && $cwnd >= $ssthresh} {
                    set su_end $t
                    break
                }
            }
            nrexmit_ {
                incr su_timeouts
                set recovering 0
                set after_rto 1
            }
            ssthresh_ {
                if {$first_cut eq ""} { set first_cut $t; set cwnd_cut $cwnd }
                if {!$after_rto && $dupacks > 0} { set recovering 1; set recover $maxseq }
                set ssthresh $value
            }
            dupacks_ { set dupacks $value }
            cwnd_ { set cwnd $value; if {$value <= 1} { set after_rto 0 } }
            ack_ {
                set ack $value
                set after_rto 0
                if {$recovering && $ack >= $recover} { set recovering 0 }
            }
        }
    }
    close $f
}
