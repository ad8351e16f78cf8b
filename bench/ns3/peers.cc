// The benchmark scenarios in ns-3 (3.37, Debian's libns3-dev), with nothing traced.
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

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <fstream>
#include <iostream>
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
        bottleneck = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
        return {both.GetAddress(0), both.GetAddress(1)};
    }

    Ptr<Ipv4StaticRouting> routes(Ptr<Node> node)
    {
        return routing.GetStaticRouting(node->GetObject<Ipv4>());
    }

    Ptr<Queue<Packet>> bottleneck;
};

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
    Ptr<Queue<Packet>> bottleneck = net.bottleneck;
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
    bulk.Install(nodes.Get(2)).Start(Seconds(1));

    Simulator::Stop(Seconds(51));
    Simulator::Run();
    uint64_t bytes = DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx();
    std::cout << "mbps " << bytes * 8.0 / 50e6 << " dropped " << bottleneck->GetTotalDroppedPackets() << std::endl;
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
    Ptr<Queue<Packet>> bottleneck = net.bottleneck;
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
    net.routes(routers.Get(0))->AddNetworkRouteTo("10.2.0.0", "255.255.0.0", middle.second, 1);
    net.routes(routers.Get(1))->AddNetworkRouteTo("10.1.0.0", "255.255.0.0", middle.first, 1);

    std::vector<Transfer> all = transfers(list);
    for (const Transfer &t : all)
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address[t.to[0]].at(t.to[1]), 9));
        bulk.SetAttribute("SendSize", UintegerValue(packet - 40));
        bulk.SetAttribute("MaxBytes", UintegerValue(t.bytes));
        bulk.Install(host[t.from[0]].Get(t.from[1])).Start(Seconds(t.start));
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
    std::cout << "flows " << all.size() << " bytes " << bytes << " now " << Simulator::Now().GetSeconds() << " mbps "
              << bytes * 8.0 / 1e6 / Simulator::Now().GetSeconds() << " dropped "
              << bottleneck->GetTotalDroppedPackets() << std::endl;
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
