package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// ParseNets reads a comma list of IP addresses and CIDR networks; blanks around entries are cut. An IPv4 address in IPv6
// form is taken as IPv4. A blank list gives nil; a bad or empty entry of any other list is an error, so that a typing
// mistake cannot open a list to everybody.
func ParseNets(list string) ([]netip.Prefix, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var nets []netip.Prefix
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		net, ok := parseNet(entry)
		if !ok {
			return nil, fmt.Errorf("%q is neither an IP address nor a network such as 10.0.0.0/8", entry)
		}
		nets = append(nets, net)
	}
	return nets, nil
}

func parseNet(entry string) (netip.Prefix, bool) {
	if !strings.Contains(entry, "/") {
		addr, err := netip.ParseAddr(entry)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	net, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, false
	}
	if net.Addr().Is4In6() {
		net = netip.PrefixFrom(net.Addr().Unmap(), net.Bits()-96)
	}
	return net.Masked(), net.IsValid()
}
