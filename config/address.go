package config

import (
	"errors"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// socketPathMax is the room for a path in Linux's sockaddr_un.
const socketPathMax = 107

var (
	errListenAddr = errors.New("must be host:port with a port of 0 to 65535")
	errDialAddr   = errors.New("must be host:port with a port of 1 to 65535, or the absolute path of a unix socket")
)

// checkListen checks an address to listen on: the host may be empty, and port 0 lets the system choose.
func checkListen(addr string) error {
	if host, _, ok := splitAddr(addr); !ok || strings.ContainsAny(host, " \t/") {
		return errListenAddr
	}
	return nil
}

// checkDial checks the address of an instance.
func checkDial(addr string) error {
	if strings.HasPrefix(addr, "/") {
		return checkSocket(addr)
	}
	if host, port, ok := splitAddr(addr); !ok || host == "" || port == 0 || strings.ContainsAny(host, " \t/") {
		return errDialAddr
	}
	return nil
}

func checkSocket(path string) error {
	if !strings.HasPrefix(path, "/") || len(path) > socketPathMax || strings.ContainsRune(path, 0) {
		return errors.New("must be an absolute path of at most 107 bytes")
	}
	return nil
}

func splitAddr(addr string) (host string, port uint16, ok bool) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, false
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(n), err == nil
}

// localAddr completes a web_addr or admin_addr that is only a port: administration stays on this host unless told otherwise.
func localAddr(addr string) string {
	port := strings.TrimPrefix(addr, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return addr
	}
	return "127.0.0.1:" + port
}

// loopback tells whether an address can be reached from this host only.
func loopback(addr string) bool {
	host, _, _ := splitAddr(addr)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Servers gives, by their names, the addresses of the primaries of all nodes, those that are the same in one spelling.
func (c *Config) Servers() map[string]string {
	servers := make(map[string]string, len(c.Nodes))
	for _, n := range c.Nodes {
		servers[n.Name] = spelled(n.Master)
	}
	return servers
}

// spelled gives an address in the one of its spellings that says the same to every host.
func spelled(addr string) string {
	host, port, ok := splitAddr(addr)
	if !ok {
		return path.Clean(addr) // of a socket
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip.Unmap(), port).String()
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), strconv.Itoa(int(port)))
}
