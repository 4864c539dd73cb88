package envelope

import (
	"strings"
	"testing"
)

const report = "From: MAILER-DAEMON@mx.test\r\nTo: agent@buyer.test\r\nAuto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n" +
	"Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n" +
	"--b\r\n\r\nSorry.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
	"Reporting-MTA: dns; mx.test\r\n\r\nFinal-Recipient: rfc822; agent@seller.test\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 no\r\n" +
	"--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: agent@buyer.test\r\nMessage-ID: <m@buyer.test>\r\n\r\nhello\r\n--b--\r\n"

func TestReport(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     Report
		is       bool
	}{
		"as Postfix writes it":        {"", "", Report{"<m@buyer.test>", true, "5.1.1"}, true},
		"delayed":                     {"Action: failed\r\nStatus: 5.1.1", "Action: delayed\r\nStatus: 4.4.1", Report{"<m@buyer.test>", false, ""}, true},
		"headers alone":               {"Content-Type: message/rfc822\r\n\r\nFrom: agent@buyer.test\r\nMessage-ID: <m@buyer.test>\r\n\r\nhello", "Content-Type: text/rfc822-headers\r\n\r\nMessage-ID: <m@buyer.test>", Report{"<m@buyer.test>", true, "5.1.1"}, true},
		"a status that is none":       {"Status: 5.1.1", "Status: 5.1.1 <script>", Report{"<m@buyer.test>", true, ""}, true},
		"another report":              {"report-type=delivery-status", "report-type=disposition-notification", Report{}, false},
		"no report":                   {"multipart/report", "multipart/mixed", Report{}, false},
		"nothing returned":            {"Content-Type: message/rfc822", "Content-Type: text/plain", Report{"", true, "5.1.1"}, false},
		"two ids in what is returned": {"Message-ID: <m@buyer.test>", "Message-ID: <m@buyer.test>\r\nMessage-ID: <n@buyer.test>", Report{"", true, "5.1.1"}, false},
		"no status part":              {"Content-Type: message/delivery-status", "Content-Type: text/plain", Report{"<m@buyer.test>", false, ""}, true},
		"a status in no encoding":     {"Content-Type: message/delivery-status", "Content-Transfer-Encoding: x\r\nContent-Type: message/delivery-status", Report{"<m@buyer.test>", false, ""}, true},
		"a returned one in none":      {"Content-Type: message/rfc822", "Content-Transfer-Encoding: x\r\nContent-Type: message/rfc822", Report{"", true, "5.1.1"}, false},
	} {
		m, err := Read([]byte(strings.Replace(report, c.from, c.to, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, is := m.Report(); got != c.want && c.is || is != c.is {
			t.Errorf("%s: %+v, %v", name, got, is)
		}
	}
}

// A report that returns nothing may still be an answer to what failed.
func TestReportInReplyTo(t *testing.T) {
	m := read(t, []byte("In-Reply-To: <m@buyer.test>\r\n"+strings.Replace(report, "Content-Type: message/rfc822", "Content-Type: text/plain", 1)))
	if got, is := m.Report(); !is || got != (Report{"<m@buyer.test>", true, "5.1.1"}) {
		t.Errorf("%+v, %v", got, is)
	}
}
