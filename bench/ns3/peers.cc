// The benchmark scenarios in ns-3 (3.37, Debian's libns3-dev).
//
//   g++ -O3 -o peers peers.cc $(pkg-config --cflags ns3-internet) -lns3-applications -lns3-internet \
//       -lns3-point-to-point -lns3-traffic-control -lns3-bridge -lns3-network -lns3-core -lns3-stats
//   ./peers s1
//   ./peers s2 flows.csv          the list that `firstflight run bench/s2.toml --each-flow --csv` writes
//   ./peers s3 flows.csv
//
// The same topologies, transfers, queues, packets and initial windows as Firstflight and ns-2 have: TCP with SACK and
// Linux's Reno, an ACK for every packet, no timestamps, queues of whole packets at the devices and no queue discipline
// above them. Routes are set by hand, which spares ns-3 the search for the shortest ways of all pairs of nodes.
//
// Counted are, by callbacks that take a thousandth of the time: data packets that left the senders and those of them that the
// bottleneck dropped, timeouts, and the su-time of each of a few flows (first data packet -> no recovery goes on and cwnd
// >= ssthresh).

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <fstream>
#include <iostream>
#include <list>
#include <sstream>

using namespace ns3;

// A queue that never overflows.
static const char *const ENDLESS = "1000000p";

struct Net
{
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    uint32_t subnets = 0;

    // Joins two nodes; the queue is that of both devices. Gives the two interfaces.
    std::pair<Ipv4Address, Ipv4Address> join(Ptr<Node> a, Ptr<Node> b, std::string rate, std::string delay,
                                             std::string queue, uint32_t side)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(delay));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
        // With it ns-3 puts a queue discipline above the device, and that drops what the device's queue would.
        link.DisableFlowControl();
        NetDeviceContainer devices = link.Install(a, b);
        std::ostringstream base;
        base << "10." << side << "." << (subnets / 64) << "." << 4 * (subnets % 64);
        subnets++;
        Ipv4AddressHelper addresses;
        addresses.SetBase(base.str().c_str(), "255.255.255.252");
        Ipv4InterfaceContainer both = addresses.Assign(devices);
        for (uint32_t end = 0; end < 2; end++)
        {
            queues[end] = DynamicCast<PointToPointNetDevice>(devices.Get(end))->GetQueue();
        }
        return {both.GetAddress(0), both.GetAddress(1)};
    }

    Ptr<Ipv4StaticRouting> routes(Ptr<Node> node)
    {
        return routing.GetStaticRouting(node->GetObject<Ipv4>());
    }

    // Those of the link that was joined last.
    Ptr<Queue<Packet>> queues[2];
};

struct Counts
{
    uint64_t sent = 0, lost = 0, timeouts = 0;
};

static Counts counts;

// Watches one sender.
struct Watch
{
    uint32_t cwnd = 0, ssthresh = UINT32_MAX;
    TcpSocketState::TcpCongState_t state = TcpSocketState::CA_OPEN;
    double first = -1, over = -1;
    bool judging = false;

    void window(uint32_t, uint32_t now)
    {
        cwnd = now;
        changed();
    }

    void threshold(uint32_t, uint32_t now)
    {
        ssthresh = now;
        changed();
    }

    void machine(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        counts.timeouts += now == TcpSocketState::CA_LOSS;
        state = now;
        changed();
    }

    void leaves(Ptr<const Packet> packet, const TcpHeader &, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        counts.sent++;
        if (first < 0)
        {
            first = Simulator::Now().GetSeconds();
        }
    }

    // One event changes several of them: judged is what they are after it.
    void changed()
    {
        if (over < 0 && first >= 0 && !judging)
        {
            judging = true;
            Simulator::ScheduleNow(&Watch::judge, this);
        }
    }

    void judge()
    {
        judging = false;
        bool repairs = state == TcpSocketState::CA_RECOVERY || state == TcpSocketState::CA_LOSS;
        if (!repairs && cwnd >= ssthresh)
        {
            over = Simulator::Now().GetSeconds();
        }
    }

    void begin(Ptr<Application> sender)
    {
        Ptr<Socket> socket = DynamicCast<BulkSendApplication>(sender)->GetSocket();
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Watch::leaves, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Watch::machine, this));
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Watch::window, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Watch::threshold, this));
    }
};

static std::list<Watch> watches;

// Lets a transfer begin, and watches it.
static void
start(ApplicationContainer sender, Time at)
{
    sender.Start(at);
    watches.emplace_back();
    // Its socket is there once it has begun.
    Simulator::Schedule(at + NanoSeconds(1), &Watch::begin, &watches.back(), sender.Get(0));
}

static void
dropped(Ptr<const Packet> dropped)
{
    Ptr<Packet> packet = dropped->Copy();
    PppHeader ppp;
    Ipv4Header ip;
    TcpHeader tcp;
    packet->RemoveHeader(ppp);
    packet->RemoveHeader(ip);
    if (ip.GetProtocol() == 6)
    {
        packet->RemoveHeader(tcp);
        counts.lost += packet->GetSize() > 0;
    }
}

static double lastArrival = 0;

static void
arrived(Ptr<const Packet>, const Address &)
{
    lastArrival = Simulator::Now().GetSeconds();
}

// Counts what is dropped at either end of the link that was joined last.
static void
countDrops(const Net &net)
{
    for (const Ptr<Queue<Packet>> &queue : net.queues)
    {
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&dropped));
    }
}

// Of two flows at most, by commas.
static std::string
startups()
{
    std::ostringstream all;
    for (const Watch &watch : watches)
    {
        all << (all.tellp() > 0 ? "," : "");
        if (watch.over < 0)
        {
            return "none";
        }
        all << watch.over - watch.first;
    }
    return watches.size() > 2 ? "none" : all.str();
}

static void
report(uint64_t bytes, double seconds)
{
    std::cout << "goodput_mbps " << bytes * 8.0 / 1e6 / seconds << " packets_sent " << counts.sent << " packets_lost "
              << counts.lost << " timeouts " << counts.timeouts << " su_time_s " << startups() << std::endl;
}

static void
stackDefaults(uint32_t packet, uint32_t ssthreshPackets)
{
    const uint32_t mss = packet - 40;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(ssthreshPackets * mss));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1U << 29));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1U << 29));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

// Paced Start's Figure 7: two hosts on either side of the bottleneck, one pair for TCP and one for the constant bit rate.
static int
s1()
{
    stackDefaults(1000, 20000);
    NodeContainer nodes;
    nodes.Create(6);
    Net net;
    net.stack.Install(nodes);
    Ptr<Node> near = nodes.Get(0), far = nodes.Get(1);
    auto middle = net.join(near, far, "100Mbps", "40ms", "1000p", 9);
    countDrops(net);
    Ipv4Address address[6];
    for (uint32_t i = 2; i < 6; i++)
    {
        bool left = i < 4;
        auto ends = net.join(nodes.Get(i), left ? near : far, "1Gbps", "0ms", ENDLESS, left ? 1 : 2);
        address[i] = ends.first;
        net.routes(nodes.Get(i))->SetDefaultRoute(ends.second, 1);
    }
    net.routes(near)->AddNetworkRouteTo("10.2.0.0", "255.255.0.0", middle.second, 1);
    net.routes(far)->AddNetworkRouteTo("10.1.0.0", "255.255.0.0", middle.first, 1);

    PacketSinkHelper udp("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    udp.Install(nodes.Get(5));
    OnOffHelper cbr("ns3::UdpSocketFactory", InetSocketAddress(address[5], 9));
    cbr.SetConstantRate(DataRate(40000000 / 1000 * 972), 972);
    cbr.Install(nodes.Get(3)).Start(MicroSeconds(37));

    PacketSinkHelper tcp("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer sink = tcp.Install(nodes.Get(4));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address[4], 9));
    bulk.SetAttribute("SendSize", UintegerValue(960));
    start(bulk.Install(nodes.Get(2)), Seconds(1));

    Simulator::Stop(Seconds(51));
    Simulator::Run();
    report(DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx(), 50);
    return 0;
}

struct Transfer
{
    double start;
    uint32_t from[2], to[2];
    uint64_t bytes;
};

static std::vector<Transfer>
transfers(const char *file)
{
    std::vector<Transfer> all;
    std::ifstream in(file);
    std::string line, cell;
    std::map<std::string, size_t> at;
    std::getline(in, line);
    std::istringstream head(line);
    for (size_t i = 0; std::getline(head, cell, ','); i++)
    {
        at[cell] = i;
    }
    for (const char *column : {"start_s", "from", "to", "size_bytes"})
    {
        if (!at.count(column))
        {
            std::cerr << file << " has no column " << column << std::endl;
            exit(2);
        }
    }
    while (std::getline(in, line))
    {
        std::vector<std::string> row;
        std::istringstream cells(line);
        while (std::getline(cells, cell, ','))
        {
            row.push_back(cell);
        }
        Transfer t;
        t.start = std::stod(row.at(at["start_s"]));
        sscanf(row.at(at["from"]).c_str(), "%u/%u", &t.from[0], &t.from[1]);
        sscanf(row.at(at["to"]).c_str(), "%u/%u", &t.to[0], &t.to[1]);
        const std::string &size = row.at(at["size_bytes"]);
        t.bytes = size.empty() ? 0 : std::stoull(size);
        all.push_back(t);
    }
    return all;
}

// A dumbbell, and the transfers of the list across it; without a time to stop, until all are over.
static int
dumbbell(const char *list, uint32_t hosts, std::string rate, std::string oneWay, std::string queue, std::string edge,
         uint32_t packet, double until)
{
    stackDefaults(packet, 1000000);
    NodeContainer routers, host[2];
    routers.Create(2);
    Net net;
    net.stack.Install(routers);
    auto middle = net.join(routers.Get(0), routers.Get(1), rate, oneWay, queue, 9);
    countDrops(net);
    std::vector<Ipv4Address> address[2];
    ApplicationContainer sinks;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    for (uint32_t side = 0; side < 2; side++)
    {
        host[side].Create(hosts);
        net.stack.Install(host[side]);
        for (uint32_t i = 0; i < hosts; i++)
        {
            auto ends = net.join(host[side].Get(i), routers.Get(side), edge, "0ms", ENDLESS, 1 + side);
            address[side].push_back(ends.first);
            net.routes(host[side].Get(i))->SetDefaultRoute(ends.second, 1);
        }
        sinks.Add(sink.Install(host[side]));
    }
    for (uint32_t i = 0; i < sinks.GetN(); i++)
    {
        sinks.Get(i)->TraceConnectWithoutContext("Rx", MakeCallback(&arrived));
    }
    net.routes(routers.Get(0))->AddNetworkRouteTo("10.2.0.0", "255.255.0.0", middle.second, 1);
    net.routes(routers.Get(1))->AddNetworkRouteTo("10.1.0.0", "255.255.0.0", middle.first, 1);

    std::vector<Transfer> all = transfers(list);
    for (const Transfer &t : all)
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address[t.to[0]].at(t.to[1]), 9));
        bulk.SetAttribute("SendSize", UintegerValue(packet - 40));
        bulk.SetAttribute("MaxBytes", UintegerValue(t.bytes));
        start(bulk.Install(host[t.from[0]].Get(t.from[1])), Seconds(t.start));
    }
    if (until > 0)
    {
        Simulator::Stop(Seconds(until));
    }
    Simulator::Run();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); i++)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    // Timers of closed connections run for minutes after the last byte.
    report(bytes, until > 0 ? until : lastArrival);
    return 0;
}

int
main(int argc, char **argv)
{
    std::string what = argc > 1 ? argv[1] : "";
    if (what == "s1" && argc == 2)
    {
        return s1();
    }
    if (what == "s2" && argc == 3)
    {
        return dumbbell(argv[2], 204, "20Mbps", "20ms", "100p", "50Mbps", 1000, 0);
    }
    if (what == "s3" && argc == 3)
    {
        return dumbbell(argv[2], 1, "400Mbps", "120ms", "8000p", "4Gbps", 1500, 60);
    }
    std::cerr << "usage: peers s1 | s2 FLOWS.csv | s3 FLOWS.csv" << std::endl;
    return 2;
}
