# A population of flows across a dumbbell, in ns-2 2.35: what `firstflight run` does with bench/s2.toml and bench/s3.toml.
#
#   firstflight run bench/s2.toml --each-flow --csv > flows.csv
#   ns dumbbell.tcl -flows flows.csv ?-name value ...?
#
# Who begins when, between which hosts and how much it sends is read from that list, so that both simulators carry the
# same transfers. hosts --edges-- router ==bottleneck== router --edges-- hosts; Agent/TCP/Sack1, Agent/TCPSink/Sack1.
# -each FILE writes a row for each flow, and -measure 1 counts what the bottleneck drops and finds the su-times of two flows
# at most; without them nothing is recorded.

array set par {
    flows        ""
    bw_mbps      20
    oneway_ms    20
    queue        100
    hosts        204
    edge_mbps    50
    packet       1000
    iw           2
    ssthresh     1000000
    window       1000000
    minrto_s     0.2
    tick_s       0.01
    seed         1
    until_s      0
    routing      manual
    scheduler    Splay
    each         ""
    measure      0
}

proc usage {message} {
    puts stderr "dumbbell.tcl: $message"
    exit 2
}

foreach {name value} $argv {
    set name [string trimleft $name -]
    if {![info exists par($name)]} {
        usage "no parameter -$name; there are: [lsort [array names par]]"
    }
    set par($name) $value
}
if {$par(flows) eq ""} { usage "-flows wants the list that firstflight run --each-flow --csv writes" }

# ---- the list -------------------------------------------------------------------
# Hosts are named ROUTER/PLACE, both counted from nought.
set list [open $par(flows)]
set head [split [gets $list] ,]
foreach column {start_s from to size_bytes measured} {
    set at($column) [lsearch -exact $head $column]
    if {$at($column) < 0} { usage "$par(flows) has no column $column" }
}
set flows {}
while {[gets $list line] >= 0} {
    set row [split $line ,]
    foreach column {start_s from to size_bytes measured} {
        lappend flows [lindex $row $at($column)]
    }
}
close $list

# ---- the network --------------------------------------------------------------
# Only the headers that are used: every agent writes Flags and IP, the TCP agents TCP.
remove-all-packet-headers
add-packet-header Flags IP TCP

set ns [new Simulator]
$ns use-scheduler $par(scheduler)
$defaultRNG seed 12345
for {set i 0} {$i < $par(seed)} {incr i} { $defaultRNG next-substream }
# Every host's only way leads to its router. Routes set by hand spare ns-2 its search for the shortest ways of all pairs
# of nodes, which takes longer than the simulation.
if {$par(routing) eq "manual"} { $ns rtproto Manual }

set router(0) [$ns node]
set router(1) [$ns node]
$ns duplex-link $router(0) $router(1) $par(bw_mbps)Mb $par(oneway_ms)ms DropTail
$ns queue-limit $router(0) $router(1) $par(queue)
$ns queue-limit $router(1) $router(0) $par(queue)
foreach side {0 1} {
    for {set place 0} {$place < $par(hosts)} {incr place} {
        set node [$ns node]
        set host($side/$place) $node
        $ns duplex-link $node $router($side) $par(edge_mbps)Mb 0ms DropTail
        $ns queue-limit $node $router($side) 1000000
        $ns queue-limit $router($side) $node 1000000
    }
}
if {$par(routing) eq "manual"} {
    foreach side {0 1} {
        [$router($side) get-module Manual] add-route-to-adj-node -default $router([expr {1 - $side}])
        for {set place 0} {$place < $par(hosts)} {incr place} {
            set node $host($side/$place)
            [$node get-module Manual] add-route-to-adj-node -default $router($side)
            [$router($side) get-module Manual] add-route-to-adj-node $node
        }
    }
}

if {$par(measure)} {
    source [file join [file dirname [info script]] startup.tcl]
    set dir [exec mktemp -d]
    set packets [open $dir/packets.tr w]
    foreach side {0 1} {
        set other [expr {1 - $side}]
        set drops [$ns create-trace Drop $packets $router($side) $router($other)]
        set drophead [[$ns link $router($side) $router($other)] set drophead_]
        $drops target [$drophead target]
        $drophead target $drops
    }
    set nowhere [open /dev/null w]
}

# ---- the flows ------------------------------------------------------------------
Agent/TCP set tcpTick_ $par(tick_s)
Agent/TCP set minrto_ $par(minrto_s)
# 20 bytes of IP and 20 of TCP come on top (useHeaders_), so that the IP packet is `packet`.
Agent/TCP set packetSize_ [expr {$par(packet) - 40}]
Agent/TCP set windowInit_ $par(iw)

set left 0
set sent 0
set again 0
set timeouts 0
set number 0
proc launch {id from to bytes measured} {
    global ns par host tcp sink began ours number
    set tcp($id) [new Agent/TCP/Sack1]
    $tcp($id) set window_ $par(window)
    $tcp($id) set ssthresh_ $par(ssthresh)
    set ours($tcp($id)) $id
    set sink($id) [new Agent/TCPSink/Sack1]
    $ns attach-agent $host($from) $tcp($id)
    $ns attach-agent $host($to) $sink($id)
    $ns connect $tcp($id) $sink($id)
    set began($id) [$ns now]
    if {$par(measure) && $number <= 2} { watch $id }
    if {$bytes eq ""} {
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp($id)
        $ftp start
    } else {
        # The SYN is ns-2's packet 0.
        set payload [expr {$par(packet) - 40}]
        $tcp($id) advance [expr {1 + ($bytes + $payload - 1) / $payload}]
    }
}

# Keeps the variables of a sender's first ten seconds.
proc watch {id} {
    global ns tcp dir nowhere variables
    set variables($id) [open $dir/variables$id.tr w]
    $tcp($id) attach $variables($id)
    foreach v {cwnd_ ssthresh_ ack_ maxseq_ nrexmit_ dupacks_} { $tcp($id) trace $v }
    $ns at [expr {[$ns now] + 10}] "$tcp($id) attach $nowhere"
}

# Data packets that the bottleneck dropped.
proc dropped {} {
    global dir packets
    close $packets
    set lost 0
    set f [open $dir/packets.tr]
    while {[gets $f line] >= 0} {
        if {[lindex $line 4] eq "tcp" && [lindex $line 10] > 0} { incr lost }
    }
    close $f
    return $lost
}

# When the first data of a sender left: the SYN is packet 0.
proc first_data_of {file} {
    set f [open $file]
    set t ""
    while {[gets $f line] >= 0} {
        lassign $line at _ _ _ _ name value
        if {$name eq "maxseq_" && $value > 0} { set t $at; break }
    }
    close $f
    return $t
}

# The su-times of the senders watched, by commas; `none` where there is none.
proc startups {} {
    global dir variables su_end
    set all {}
    foreach id [lsort -integer [array names variables]] {
        close $variables($id)
        set file $dir/variables$id.tr
        set first [first_data_of $file]
        if {$first ne ""} { read_variables $file $first }
        if {$first eq "" || $su_end eq ""} { return none }
        lappend all [format %.5f [expr {$su_end - $first}]]
    }
    return [expr {$all eq {} ? "none" : [join $all ,]}]
}

# The last packet is acknowledged.
Agent/TCP instproc done {} {
    global ns par each ours is_measured left
    set id $ours($self)
    tally $id
    if {$is_measured($id)} {
        if {[incr left -1] == 0 && $par(until_s) == 0} finish
    }
}

proc tally {id} {
    global ns tcp began is_measured size each sent again timeouts tallied
    if {[info exists tallied($id)]} return
    set tallied($id) 1
    incr sent [$tcp($id) set ndatapack_]
    incr again [$tcp($id) set nrexmitpack_]
    incr timeouts [$tcp($id) set nrexmit_]
    if {[info exists each]} {
        puts $each [join [list $id $began($id) $is_measured($id) $size($id) [expr {[$ns now] - $began($id)}] \
            [$tcp($id) set ndatapack_] [$tcp($id) set nrexmitpack_] [$tcp($id) set nrexmit_]] ,]
    }
}

if {$par(each) ne ""} {
    set each [open $par(each) w]
    puts $each "flow,start_s,measured,size_bytes,acked_s,packets_sent,packets_again,timeouts"
}
foreach {start from to bytes measured} $flows {
    set size($number) $bytes
    set is_measured($number) $measured
    if {$is_measured($number)} { incr left }
    $ns at $start "launch $number $from $to {$bytes} $measured"
    incr number
}

proc finish {} {
    global ns par tcp sink left sent again timeouts number each dir
    set bytes 0
    foreach id [array names tcp] {
        tally $id
        # The SYN's 40 are no data.
        incr bytes [expr {[$sink($id) set bytes_] - 40}]
    }
    if {[info exists each]} { close $each }
    # Of IP bytes; payload is 40 bytes less a packet.
    set goodput [expr {$bytes * 8.0 / [$ns now] / 1e6 * ($par(packet) - 40) / $par(packet)}]
    set line "flows $number unfinished $left packets_sent $sent again $again timeouts $timeouts"
    append line " goodput_mbps [format %.3f $goodput] now [format %.3f [$ns now]]"
    if {$par(measure)} {
        append line " packets_lost [dropped] su_time_s [startups]"
        file delete -force $dir
    }
    puts $line
    exit 0
}

if {$par(until_s) > 0} { $ns at $par(until_s) finish }
$ns run
