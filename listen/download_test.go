package listen

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// patient notes until when it may write.
type patient struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (p *patient) SetWriteDeadline(until time.Time) error {
	p.until = append(p.until, until)
	return nil
}

// A file is sent to be saved whatever it is called, and each part of it has its own time.
func TestDownload(t *testing.T) {
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	content := "<script>" + strings.Repeat("x", 100_000)
	Download(w, httptest.NewRequest(http.MethodGet, "/", nil), `a".html`, "sha256:00", strings.NewReader(content))
	for field, want := range map[string]string{
		"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="a\".html"`, "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Etag": `"sha256:00"`, "Content-Length": "100008", "Accept-Ranges": "bytes",
	} {
		if got := w.Header().Get(field); got != want {
			t.Errorf("%s: %s, not %s", field, got, want)
		}
	}
	if w.Body.String() != content || len(w.until) < 2 {
		t.Errorf("%d bytes, %d times set", w.Body.Len(), len(w.until))
	}
}
