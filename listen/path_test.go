package listen

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A segment comes to the handler as the text that it was made from.
func TestSegment(t *testing.T) {
	mux := http.NewServeMux()
	var came string
	mux.HandleFunc("/things/{thing}", func(_ http.ResponseWriter, r *http.Request) { came = r.PathValue("thing") })
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, text := range []string{"a", ".", "..", "...", "a/..", "../..", "a b?c#d%2E", "ü", "%2e"} {
		response, err := http.Get(server.URL + "/things/" + Segment(text))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || came != text {
			t.Errorf("%q came as %q, with %s", text, came, response.Status)
		}
	}
}
