package party

import (
	"fmt"
	"net/netip"
	"syscall"
)

// publicOnly is a net.Dialer.Control: it looks at the address that is about to be dialled, so a name that resolves to
// another address than it did before (DNS rebinding) does not get around it.
func publicOnly(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: address to dial: %w", ErrNoPage, err)
	}
	if !public(ap.Addr()) {
		return fmt.Errorf("%w: the host is not at a public address", ErrNoPage)
	}
	return nil
}

// public reports whether an address is a unicast address of the public Internet. IPv6 forms that carry an IPv4 address
// (mapped, NAT64, 6to4, Teredo) are not, whatever they carry: they would be a way around the IPv4 table.
func public(addr netip.Addr) bool {
	if addr.Is4() {
		return !within(addr, notPublic4())
	}
	return netip.MustParsePrefix("2000::/3").Contains(addr) && !within(addr, notPublic6())
}

func within(addr netip.Addr, prefixes []string) bool {
	for _, p := range prefixes {
		if netip.MustParsePrefix(p).Contains(addr) {
			return true
		}
	}
	return false
}

// notPublic4 is taken from the IANA IPv4 Special-Purpose Address Registry (RFC 6890).
func notPublic4() []string {
	return []string{
		"0.0.0.0/8",       // this network
		"10.0.0.0/8",      // private
		"100.64.0.0/10",   // carrier-grade NAT, RFC 6598
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link-local, where clouds keep their metadata
		"172.16.0.0/12",   // private
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // 6to4 relays
		"192.168.0.0/16",  // private
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, and broadcast
	}
}

// notPublic6 is what the IANA IPv6 Special-Purpose Address Registry takes out of 2000::/3.
func notPublic6() []string {
	return []string{
		"2001::/23",     // protocol assignments, among them Teredo, benchmarks and ORCHID
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4
		"3fff::/20",     // documentation, RFC 9637
	}
}
