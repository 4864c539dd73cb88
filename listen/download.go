package listen

import (
	"io"
	"mime"
	"net/http"
	"time"
)

// partTime is how long a reader may take for one part of a file.
const partTime = 10 * time.Second

// Download sends a file to be saved, in the parts that are asked for (RFC 9110 §14). It came from outside: nothing may take
// it for a page, a script or a picture (D194). name must be one that a file may have; tag stands for its bytes.
func Download(w http.ResponseWriter, r *http.Request, name, tag string, content io.ReadSeeker) {
	for field, value := range map[string]string{
		"Content-Type":            "application/octet-stream",
		"Content-Disposition":     mime.FormatMediaType("attachment", map[string]string{"filename": name}),
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"ETag":                    `"` + tag + `"`,
	} {
		w.Header().Set(field, value)
	}
	http.ServeContent(slowly{w, http.NewResponseController(w)}, r, "", time.Time{}, content)
}

// slowly gives each part its own time: a file takes a slow reader longer than a server gives an answer, and one who takes
// nothing is cut off all the same.
type slowly struct {
	http.ResponseWriter
	rest *http.ResponseController
}

func (s slowly) Write(part []byte) (int, error) {
	_ = s.rest.SetWriteDeadline(time.Now().Add(partTime)) // where that cannot be, the server's own holds
	return s.ResponseWriter.Write(part)
}
