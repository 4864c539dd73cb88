package agentmsg

import "testing"

func TestIsID(t *testing.T) {
	for text, want := range map[string]bool{
		"UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP":   true,
		"UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QQ":   false, // its checksum
		"ubmbh4bk6eihqfvmhlsabfsqxb3jxufzoxvzqtiero33ad4hhai3d7qp":   false,
		"SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA": false, // a seed
		"": false,
	} {
		if IsID(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
