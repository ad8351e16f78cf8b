# Restart after idle in ns-2 2.35: the independent reference of scenarios/restart-after-idle.toml.
# Visweswaraiah and Heidemann, "Improving restart of idle TCP connections" (1997), section 4, at one size of reply.
#
#   ns restart.tcl -policy vegas ?-name value ...?     one run; prints one CSV row
#   ns restart.tcl -header                             prints the CSV header
#
# server --access-- router ==bottleneck== router --access-- each of the clients; one connection a client.
# README.md says what every column means.

# ---- parameters ---------------------------------------------------------------
array set par {
    policy       vegas
    seed         1
    clients      10
    rounds       10
    reply        24
    bw_mbps      0.8
    delay_ms     100
    queue        10
    access_mbps  10
    access_ms    1
    packet       1000
    iw           1
    window       32
    idle_s       120
    spread_s     1.5
    delack_s     0.1
    minrto_s     1
    tick_s       0.01
    scale        1.0
    handshake    apart
    keep         ""
}
set settings {policy seed clients rounds reply bw_mbps delay_ms queue window minrto_s tick_s}
set results {elapsed_s elapsed_acked_s drops timeouts}
array set agents {
    ssr       Agent/TCP/Reno
    nssr      Agent/TCP/Reno
    vegas     Agent/TCP/Vegas
    rbp-rate  Agent/TCP/Vegas/RBP
    rbp-cwnd  Agent/TCP/Reno/RBP
}

proc usage {message} {
    puts stderr "restart.tcl: $message"
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
    if {$name ni {keep policy handshake} && (![string is double -strict $value] || $value < 0)} {
        usage "-$name wants a number, found '$value'"
    }
    set par($name) $value
}
if {$par(seed) < 1} { usage "-seed must be at least 1 (0 would seed from the clock)" }
if {$par(handshake) ni {apart data}} { usage "-handshake is apart or data, not '$par(handshake)'" }
if {![info exists agents($par(policy))]} {
    usage "no policy '$par(policy)'; there are: [lsort [array names agents]]"
}

# ---- the network --------------------------------------------------------------
remove-all-packet-headers
add-packet-header Flags IP TCP

set ns [new Simulator]
$ns use-scheduler Splay
# A substream a seed, as in race.tcl: of the default generator and of one for the instants of the replies.
$defaultRNG seed 12345
set instants [new RNG]
for {set i 0} {$i < $par(seed)} {incr i} {
    $defaultRNG next-substream
    $instants next-substream
}

set server [$ns node]
set near [$ns node]
set far [$ns node]
$ns duplex-link $server $near $par(access_mbps)Mb $par(access_ms)ms DropTail
$ns duplex-link $near $far $par(bw_mbps)Mb $par(delay_ms)ms DropTail
foreach {from to} [list $server $near $near $server $far $near] { $ns queue-limit $from $to 1000000 }
$ns queue-limit $near $far $par(queue)

set dir $par(keep)
if {$dir eq ""} { set dir [exec mktemp -d] }
# What leaves each last link, and what the bottleneck drops.
set packets [open $dir/packets.tr w]
set drops [$ns create-trace Drop $packets $near $far]
set head [[$ns link $near $far] set drophead_]
$drops target [$head target]
$head target $drops

# ---- the connections ------------------------------------------------------------
Agent/TCP set tcpTick_ $par(tick_s)
Agent/TCP set minrto_ $par(minrto_s)
Agent/TCP set window_ $par(window)
Agent/TCP set windowInit_ $par(iw)
Agent/TCP set packetSize_ [expr {$par(packet) - 40}]
Agent/TCP set slow_start_restart_ [expr {$par(policy) eq "ssr"}]
Agent/TCPSink/DelAck set interval_ $par(delack_s)

for {set c 0} {$c < $par(clients)} {incr c} {
    set client [$ns node]
    $ns duplex-link $far $client $par(access_mbps)Mb $par(access_ms)ms DropTail
    $ns queue-limit $far $client 1000000
    $ns queue-limit $client $far 1000000
    $ns trace-queue $far $client $packets
    set tcp($c) [new $agents($par(policy))]
    if {[string match rbp-* $par(policy)]} { $tcp($c) set rbp_scale_ $par(scale) }
    $tcp($c) set fid_ $c
    $ns attach-agent $server $tcp($c)
    set sink [new Agent/TCPSink/DelAck]
    $ns attach-agent $client $sink
    $ns connect $tcp($c) $sink
    set variables($c) [open $dir/variables.$c.tr w]
    $tcp($c) attach $variables($c)
    foreach v {ack_ nrexmit_} { $tcp($c) trace $v }
    if {$par(keep) ne ""} {
        foreach v {cwnd_ ssthresh_ dupacks_ maxseq_} { $tcp($c) trace $v }
    }
}

# ---- the replies ------------------------------------------------------------------
# ns-2 counts a connection's first packet, which is its handshake and carries 40 bytes, as a segment of the data. With "-handshake apart"
# the first reply gets one segment more for it, so that each reply has as many segments of data; with "data" it does not.
set first [expr {$par(handshake) eq "apart"}]
# Rounds are centred on instants one idle time and one stretch apart, as in Firstflight.
for {set r 0} {$r < $par(rounds)} {incr r} {
    set centre [expr {$par(spread_s) + $r * ($par(idle_s) + 2 * $par(spread_s))}]
    for {set c 0} {$c < $par(clients)} {incr c} {
        set written($c,$r) [expr {$centre + [$instants uniform -$par(spread_s) $par(spread_s)]}]
        $ns at $written($c,$r) "$tcp($c) advanceby [expr {$par(reply) + ($r == 0 ? $first : 0)}]"
    }
}

# ---- the measures ------------------------------------------------------------------
# Segment 0 is the handshake's.
proc reply_of {seq} { global par first; return [expr {max(0, $seq - $first) / int($par(reply))}] }

# When the last packet of each reply first came to its client; and how many were dropped.
proc read_packets {file} {
    global delivered dropped
    set dropped 0
    array set seen {}
    set f [open $file]
    while {[gets $f line] >= 0} {
        lassign $line event t _ _ type _ _ c _ _ seq
        if {$type ne "tcp"} continue
        if {$event eq "d"} { incr dropped }
        if {$event eq "r" && ![info exists seen($c,$seq)]} {
            set seen($c,$seq) 1
            set delivered($c,[reply_of $seq]) $t
        }
    }
    close $f
}

# When the server heard of each reply's end; and how many timeouts it waited out.
proc read_variables {file c} {
    global acked timeouts
    set f [open $file]
    while {[gets $f line] >= 0} {
        lassign $line t _ _ _ _ name value
        if {$name eq "ack_" && $value >= 0} {
            for {set r [reply_of [expr {$value + 1}]]} {$r > 0} {incr r -1} {
                if {[info exists acked($c,[expr {$r - 1}])]} break
                set acked($c,[expr {$r - 1}]) $t
            }
        }
        if {$name eq "nrexmit_" && $value > 0} { incr timeouts }
    }
    close $f
}

proc finish {} {
    global par packets variables dir settings results written delivered acked dropped timeouts
    close $packets
    foreach c [array names variables] { close $variables($c) }
    set timeouts 0
    read_packets $dir/packets.tr
    foreach c [array names variables] { read_variables $dir/variables.$c.tr $c }
    # Restart rounds only: the first is a start.
    set n 0; set elapsed 0.0; set heard 0.0; set stalled 0
    for {set r 1} {$r < $par(rounds)} {incr r} {
        for {set c 0} {$c < $par(clients)} {incr c} {
            # ns-2's Vegas can stall for good (README.md): such a run has no means.
            if {![info exists acked($c,$r)]} { set stalled 1; continue }
            incr n
            set elapsed [expr {$elapsed + $delivered($c,$r) - $written($c,$r)}]
            set heard [expr {$heard + $acked($c,$r) - $written($c,$r)}]
        }
    }
    set out(elapsed_s) [format %.4f [expr {$elapsed / $n}]]
    set out(elapsed_acked_s) [format %.4f [expr {$heard / $n}]]
    set out(drops) [format %.4f [expr {$dropped / ($par(clients) * double($par(rounds)))}]]
    set out(timeouts) [format %.2f [expr {$timeouts / double($par(clients))}]]
    if {$stalled} { foreach name $results { set out($name) "" } }
    if {$par(keep) eq ""} { file delete -force $dir }
    set row {}
    foreach name $settings { lappend row $par($name) }
    foreach name $results { lappend row $out($name) }
    puts [join $row ,]
    exit 0
}

$ns at [expr {$par(rounds) * ($par(idle_s) + 2 * $par(spread_s))}] finish
$ns run
