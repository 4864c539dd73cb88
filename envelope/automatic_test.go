package envelope

import "testing"

func TestAutomatic(t *testing.T) {
	for header, want := range map[string]bool{
		"Subject: Opening hours":                                     false,
		"Auto-Submitted: no":                                         false,
		"AUTO-SUBMITTED: No ; x=y":                                   false,
		"Auto-Submitted: auto-replied":                               true,
		"Auto-Submitted: auto-generated; x=no":                       true,
		"Auto-Submitted: no\r\nAuto-Submitted: auto-replied":         true,
		"Auto-Submitted: (no)":                                       true,
		"Precedence: bulk":                                           true,
		"Precedence: List":                                           true,
		"precedence: junk":                                           true,
		"Precedence: first-class":                                    false,
		"List-Id: <buyers.lists.test>":                               true,
		"List-Unsubscribe: <mailto:x@lists.test>":                    true,
		"X-List-Id: <buyers.lists.test>":                             false,
		"Return-Path: <>":                                            true,
		"Return-Path: <ida@nowhere.test>":                            false,
		"Content-Type: multipart/report; boundary=b":                 true,
		"Content-Type: multipart/mixed; boundary=b; report-type=mdn": false,
	} {
		m := read(t, []byte(header+"\r\n\r\n--b\r\n\r\nHello\r\n--b--\r\n"))
		if got := m.Automatic(); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
