# The built-in path of `firstflight race`, in ns-2 2.35: the independent reference.
#
#   ns race.tcl ?-name value ...?        one run; prints one CSV row
#   ns race.tcl -header                  prints the CSV header
#
# sender --access-- router ==bottleneck== receiver, a CBR source at the router,
# one Agent/TCP/Sack1 with an Agent/TCPSink/Sack1 that acknowledges every packet; with -agent Newreno (or Reno, or another of
# Agent/TCP) that one with an Agent/TCPSink.
# -edges 1 puts access links on all four hosts, as in Paced Start's Figure 7.
# README.md says what every column means.

# ---- parameters ---------------------------------------------------------------
array set par {
    bw_mbps      100
    rtt_ms       80
    queue        1000
    cbr_mbps     40
    cbr_jitter   0
    seed         1
    duration_s   50
    access_mbps  1000
    access_ms    0
    edges        0
    packet       1000
    iw           2
    ssthresh     20000
    window       1000000
    minrto_s     0.2
    tick_s       0.01
    start_s      1.0
    measure      1
    agent        Sack1
    keep         ""
}
# Settings first, then results; the same order as in reference.csv.
set settings {bw_mbps rtt_ms queue cbr_mbps cbr_jitter seed duration_s access_mbps access_ms
              packet iw ssthresh window minrto_s tick_s}
set results {throughput_mbps goodput_mbps packets_sent packets_lost loss timeouts
             cwnd_before_first_cut first_cut_s su_time_s su_sent su_lost su_loss su_timeouts
             su_throughput_mbps cbr_lost}

proc usage {message} {
    puts stderr "race.tcl: $message"
    exit 2
}

if {[lindex $argv 0] eq "-header"} {
    puts [join [concat $settings $results] ,]
    exit 0
}
foreach {name value} $argv {
    set name [string trimleft $name -]
    if {![info exists par($name)]} {
        usage "no parameter -$name; there are: [lsort [array names par]]"
    }
    if {$name ni {keep agent} && (![string is double -strict $value] || $value < 0)} {
        usage "-$name wants a number, found '$value'"
    }
    set par($name) $value
}
if {$par(seed) < 1} { usage "-seed must be at least 1 (0 would seed from the clock)" }

# ---- the network --------------------------------------------------------------
# Only the headers that are used (ns-2's whole set makes every packet kilobytes):
# every agent writes Flags and IP, the TCP agents TCP, and Agent/UDP RTP.
remove-all-packet-headers
add-packet-header Flags IP TCP RTP

set ns [new Simulator]
$ns use-scheduler Splay
# The seed picks a substream of the default generator, from which TCP draws the phase of
# its coarse clock, and one of our own for the start of the cross traffic. (Neighbouring
# numbers given to `RNG seed` make almost the same first draw, so they are no seeds.)
$defaultRNG seed 12345
set phase [new RNG]
for {set i 0} {$i < $par(seed)} {incr i} {
    $defaultRNG next-substream
    $phase next-substream
}

set router [$ns node]
set far [$ns node]
# The host at the end of an access link.
proc host_at {node} {
    global ns par
    set host [$ns node]
    $ns duplex-link $host $node $par(access_mbps)Mb 0ms DropTail
    $ns queue-limit $host $node 1000000
    $ns queue-limit $node $host 1000000
    return $host
}
if {$par(edges)} {
    if {$par(access_mbps) <= 0} { usage "-edges 1 wants -access_mbps above 0" }
    set receiver [host_at $far]
    set cross_from [host_at $router]
    set cross_to [host_at $far]
} else {
    set receiver $far
    set cross_from $router
    set cross_to $far
}
set oneway [expr {$par(rtt_ms) / 2.0}]
if {$par(access_mbps) > 0} {
    set sender [$ns node]
    $ns duplex-link $sender $router $par(access_mbps)Mb $par(access_ms)ms DropTail
    $ns queue-limit $sender $router 1000000
    $ns queue-limit $router $sender 1000000
    set oneway [expr {$oneway - $par(access_ms)}]
} else {
    set sender $router
}
$ns duplex-link $router $far $par(bw_mbps)Mb ${oneway}ms DropTail
# ns-2 counts the packet being sent apart and lets `limit - 1` wait: 1000 in all.
$ns queue-limit $router $far $par(queue)
$ns queue-limit $far $router 1000000

# ---- the cross traffic ----------------------------------------------------------
set interval [expr {$par(cbr_mbps) > 0 ? $par(packet) * 8.0 / ($par(cbr_mbps) * 1e6) : 0}]
if {$par(cbr_mbps) > 0} {
    set udp [new Agent/UDP]
    $udp set packetSize_ $par(packet)
    $udp set fid_ 2
    $ns attach-agent $cross_from $udp
    set null [new Agent/Null]
    $ns attach-agent $cross_to $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $par(packet)
    $cbr set rate_ $par(cbr_mbps)Mb
    # 1: every interval is drawn anew from .5 to 1.5 times the mean; 0: strictly periodic.
    $cbr set random_ $par(cbr_jitter)
    $cbr attach-agent $udp
    $ns at [$phase uniform 0 $interval] "$cbr start"
}

# ---- the flow -------------------------------------------------------------------
Agent/TCP set tcpTick_ $par(tick_s)
Agent/TCP set minrto_ $par(minrto_s)
set tcp [new Agent/TCP/$par(agent)]
# 20 bytes of IP and 20 of TCP come on top (useHeaders_), so that the IP packet is `packet`.
$tcp set packetSize_ [expr {$par(packet) - 40}]
$tcp set window_ $par(window)
$tcp set windowInit_ $par(iw)
$tcp set fid_ 1
$ns attach-agent $sender $tcp
set sink [new Agent/TCPSink[expr {$par(agent) eq "Sack1" ? "/Sack1" : ""}]]
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
# `$ns run` resets every agent, and a reset sets ssthresh to window_: set it afterwards.
$ns at 0.0 "$tcp set ssthresh_ $par(ssthresh)"
$ns at $par(start_s) "$ftp start"
set end [expr {$par(start_s) + $par(duration_s)}]

# ---- what is written down --------------------------------------------------------
# packets: '+' as each data packet leaves the sender, 'd' as the bottleneck drops one.
# variables: every change of the sender's own variables.
if {$par(measure)} {
    set dir $par(keep)
    if {$dir eq ""} { set dir [exec mktemp -d] }
    set packets [open $dir/packets.tr w]
    set variables [open $dir/variables.tr w]
    set first [expr {$par(access_mbps) > 0 ? $router : $far}]
    set link [$ns link $sender $first]
    $link add-to-head [$ns create-trace Enque $packets $sender $first]
    set drops [$ns create-trace Drop $packets $router $far]
    set head [[$ns link $router $far] set drophead_]
    $drops target [$head target]
    $head target $drops
    $tcp attach $variables
    foreach v {cwnd_ ssthresh_ ack_ maxseq_ nrexmit_ dupacks_} { $tcp trace $v }
    if {$par(keep) ne ""} {
        # The ACKs as they reach the sender, for looking at single packets.
        set acks [open $dir/acks.tr w]
        $ns trace-queue $far $router $acks
        if {$par(access_mbps) > 0} { $ns trace-queue $router $sender $acks }
    }
}

# ---- the measures ------------------------------------------------------------------
source [file join [file dirname [info script]] startup.tcl]

# Counts what was sent and dropped, in all and among data sent before `until`.
proc read_packets {file until} {
    global sent lost su_sent su_lost cbr_lost
    set sent 0; set lost 0; set su_sent 0; set su_lost 0; set cbr_lost 0
    array set early {}
    set f [open $file]
    while {[gets $f line] >= 0} {
        set event [lindex $line 0]
        set type [lindex $line 4]
        if {$event eq "d" && $type eq "cbr"} { incr cbr_lost; continue }
        if {$type ne "tcp" || [lindex $line 10] == 0} continue
        set id [lindex $line 11]
        if {$event eq "+"} {
            incr sent
            # A packet sent by the very ACK that ends start-up belongs to avoidance;
            # the variables' times are rounded to 10 microseconds.
            if {$until eq "" || [lindex $line 1] < $until - 5.1e-6} { incr su_sent; set early($id) 1 }
        } elseif {$event eq "d"} {
            incr lost
            if {[info exists early($id)]} { incr su_lost }
        }
    }
    close $f
}

proc first_data_time {file} {
    set f [open $file]
    set t ""
    while {[gets $f line] >= 0} {
        if {[lindex $line 0] eq "+" && [lindex $line 4] eq "tcp" && [lindex $line 10] > 0} {
            set t [lindex $line 1]
            break
        }
    }
    close $f
    return $t
}

proc rounded {x digits} { return [format %.${digits}f $x] }
proc ratio {a b} {
    if {$b == 0} { return "" }
    return [rounded [expr {double($a) / $b}] 5]
}

# In-order IP bytes at the sink up to now; the SYN's 40 are no data.
proc delivered {} { global sink; return [expr {[$sink set bytes_] - 40}] }

proc finish {} {
    global par tcp packets variables acks dir settings results
    global su_end first_cut cwnd_cut su_timeouts sent lost su_sent su_lost cbr_lost
    set bits [expr {[delivered] * 8.0}]
    set out(throughput_mbps) [rounded [expr {$bits / $par(duration_s) / 1e6}] 3]
    set out(goodput_mbps) \
        [rounded [expr {$bits / $par(duration_s) / 1e6 * ($par(packet) - 40) / $par(packet)}] 3]
    set out(timeouts) [$tcp set nrexmit_]
    if {!$par(measure)} {
        puts "throughput_mbps $out(throughput_mbps) packets_sent [$tcp set ndatapack_]\
              timeouts $out(timeouts)"
        exit 0
    }
    close $packets
    close $variables
    if {[info exists acks]} { close $acks }
    set first_data [first_data_time $dir/packets.tr]
    read_variables $dir/variables.tr $first_data
    read_packets $dir/packets.tr $su_end
    set out(packets_sent) $sent
    set out(packets_lost) $lost
    set out(loss) [ratio $lost $sent]
    set out(cbr_lost) $cbr_lost
    set out(cwnd_before_first_cut) $cwnd_cut
    set out(first_cut_s) ""
    if {$first_cut ne ""} { set out(first_cut_s) [rounded [expr {$first_cut - $first_data}] 5] }
    set out(su_timeouts) $su_timeouts
    set out(su_sent) $su_sent
    set out(su_lost) $su_lost
    set out(su_loss) [ratio $su_lost $su_sent]
    if {$su_end eq ""} {
        set out(su_time_s) ""
        set out(su_throughput_mbps) ""
    } else {
        set time [expr {$su_end - $first_data}]
        set out(su_time_s) [rounded $time 5]
        set out(su_throughput_mbps) [rounded \
            [expr {($su_sent - $su_lost) * $par(packet) * 8.0 / $time / 1e6}] 3]
    }
    if {$par(keep) eq ""} { file delete -force $dir }
    set row {}
    foreach name $settings { lappend row $par($name) }
    foreach name $results { lappend row $out($name) }
    puts [join $row ,]
    exit 0
}

$ns at $end finish
$ns run
