package mailbox

import (
	"net"
	"syscall"
)

// promptConn acknowledges at once what was read. A server that sends an answer
// in two segments holds the second back until the first is acknowledged (RFC
// 9293 §3.7.4), for which the kernel here waits 40 ms in case there is
// something to send with it. Cyrus and Postfix do so with every mail.
type promptConn struct {
	*net.TCPConn
	raw syscall.RawConn
}

// prompt makes a TCP connection prompt, and leaves any other as it is.
func prompt(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	return promptConn{tcp, raw}
}

// Read reads as the connection does. The kernel forgets the option, so that it
// is set each time; without it all works, only slower.
func (c promptConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	_ = c.raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	})
	return n, err
}
