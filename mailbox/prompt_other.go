//go:build !linux

package mailbox

import "net"

// prompt is for Linux alone.
func prompt(conn net.Conn) net.Conn { return conn }
