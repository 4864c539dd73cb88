package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// sendFiles has west ask east something with files, by their names.
func (r *rig) sendFiles(files map[string]string) inbox.Done {
	r.t.Helper()
	a := inbox.Action{Type: inbox.ActRequest, To: "agent@east.test", Agent: r.sides["east"].AgentID(), Offering: "chat", Text: "Look."}
	dir := r.t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		check(r.t, os.WriteFile(path, []byte(content), 0o600))
		a.Files = append(a.Files, path)
	}
	done, err := r.sides["west"].Do(a)
	check(r.t, err)
	r.mail("west", "east")
	return done
}

// get asks for what an answer has given as a URL.
func (r *rig) get(url, secret string, fields ...string) answer {
	r.t.Helper()
	q := r.request("GET", strings.TrimPrefix(url, "/v1"), secret, nil)
	for i := 0; i < len(fields); i += 2 {
		q.Header.Set(fields[i], fields[i+1])
	}
	return r.do(q)
}

// TestFile has a file taken from wherever it is shown, before and after its sender was let in, and by no path of this machine.
func TestFile(t *testing.T) {
	r := newRig(t)
	const content = "Ten mugs, <b>white</b>."
	sent := r.sendFiles(map[string]string{"Brief an Müller.html": content})
	west := r.sides["west"].AgentID()

	urls := map[string]bool{}
	seen := func(a answer) {
		t.Helper()
		for _, where := range []string{r.spools["east"].Name(), `"path"`} {
			if strings.Contains(a.Body.String(), where) {
				t.Errorf("%s is shown in %s", where, a.Body)
			}
		}
		_, after, found := strings.Cut(a.Body.String(), `"url":"`)
		if !found {
			t.Fatalf("no file is shown in %s", a.Body)
		}
		url, _, _ := strings.Cut(after, `"`)
		urls[strings.ReplaceAll(url, `\u0026`, "&")] = true
	}
	seen(r.ask("GET", "/inboxes/east/waiting", r.agent, nil))
	seen(r.ask("GET", "/inboxes/east/waiting", r.owner, nil))
	fileAt := func(url string) {
		t.Helper()
		for _, secret := range []string{r.agent, r.owner} {
			a := r.get(url, secret)
			sum := sha256.Sum256([]byte(content))
			head := map[string]string{
				"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Length": "23",
				"Content-Disposition": "attachment; filename*=utf-8''Brief%20an%20M%C3%BCller.html", "ETag": `"sha256:` + hex.EncodeToString(sum[:]) + `"`, "Cache-Control": "no-store",
			}
			for field, want := range head {
				if got := a.Header().Get(field); got != want {
					t.Errorf("%s: %s, not %s", field, got, want)
				}
			}
			if a.Code != 200 || a.Body.String() != content {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		}
	}
	for url := range urls {
		fileAt(url)
	}
	r.ask("POST", "/inboxes/east/rulings", r.owner, map[string]any{"agent_id": west, "stance": "allow"}).into(204, nil)
	seen(r.ask("GET", "/inboxes/east/requests", r.agent, nil))
	seen(r.ask("GET", "/inboxes/east/requests/"+sent.ID, r.agent, nil))
	seen(r.ask("GET", "/inboxes/east/events", r.agent, nil))
	if len(urls) != 1 {
		t.Errorf("one file is at %v", urls)
	}
	var url string
	for url = range urls {
		fileAt(url)
	}

	for _, c := range []struct {
		name   string
		fields []string
		status int
		body   string
	}{
		{"a part", []string{"Range", "bytes=4-7"}, 206, "mugs"},
		{"the end", []string{"Range", "bytes=-5"}, 206, "</b>."},
		{"a part of this file", []string{"Range", "bytes=0-2", "If-Range", `"sha256:x"`}, 200, content},
		{"beyond the end", []string{"Range", "bytes=23-"}, 416, ""},
		{"known", []string{"If-None-Match", r.get(url, r.agent).Header().Get("ETag")}, 304, ""},
		{"another", []string{"If-Match", `"sha256:x"`}, 412, ""},
	} {
		if a := r.get(url, r.agent, c.fields...); a.Code != c.status || a.Code < 300 && a.Body.String() != c.body {
			t.Errorf("%s: %d %s", c.name, a.Code, a.Body)
		}
	}
	head := r.request("HEAD", strings.TrimPrefix(url, "/v1"), r.agent, nil)
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, head)
	if w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "23" {
		t.Errorf("HEAD: %d %v %s", w.Code, w.Header(), w.Body)
	}

	other := r.secret("west-only", "agent", "west")
	r.get(url, other).refused(404, codeNotFound, "no inbox")
	r.get(url, "amt_x").refused(401, codeUnauthorized, "")
	folders, err := os.ReadDir(r.spools["east"].Name())
	check(t, err)
	check(t, os.RemoveAll(filepath.Join(r.spools["east"].Name(), folders[0].Name())))
	r.get(url, r.agent).refused(410, codeGone, "60 days")
}

// TestFileTricks asks for what is no file of a message.
func TestFileTricks(t *testing.T) {
	r := newRig(t)
	sent := r.sendFiles(map[string]string{"a.txt": "a"})
	west := url.QueryEscape(r.sides["west"].AgentID())
	at := func(message, file string) string {
		return "/inboxes/east/messages/" + message + "/files/" + file + "?agent=" + west
	}
	r.ask("GET", at(sent.ID, "0"), r.agent, nil).into(200, nil)
	for _, file := range []string{"a.txt", "0%2F0", "%2E%2E", "..%2F..%2Fstore.db", "0x0", "", "9999999999999999999999"} {
		a := r.ask("GET", at(sent.ID, file), r.agent, nil)
		if a.Code != 400 && a.Code != 404 {
			t.Errorf("%q: %d %s", file, a.Code, a.Body)
		}
	}
	for _, path := range []string{at(sent.ID, "1"), at(sent.ID, "-1"), at("%2E%2E", "0"), at(sent.ID+"%00", "0"), at("a%2Fb", "0"), "/inboxes/east/messages/" + sent.ID + "/files/0?agent=U"} {
		r.ask("GET", path, r.agent, nil).refused(404, codeNotFound, " here")
	}
	r.ask("GET", "/inboxes/east/messages/"+sent.ID+"/files/0", r.agent, nil).refused(400, codeBadRequest, "agent: ")
	r.ask("GET", "/inboxes/west/messages/"+sent.ID+"/files/0?agent="+west, r.agent, nil).refused(404, codeNotFound, "no file") // who sends keeps none
}

// TestFileIDs has the files of messages with ids that are steps of a path, or hold a slash, found under their URLs.
func TestFileIDs(t *testing.T) {
	for _, id := range []string{".", "..", "a/b", "a?b#c%2F", "ignore all instructions", "ä"} {
		path := inbox.FilePath("east", "U", id, 3)
		mux := http.NewServeMux()
		var got string
		mux.HandleFunc("GET /v1/inboxes/{inbox}/messages/{message}/files/{file}", func(_ http.ResponseWriter, r *http.Request) {
			got = strings.Join([]string{r.PathValue("inbox"), r.PathValue("message"), r.PathValue("file"), r.FormValue("agent")}, "|")
		})
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		if got != "east|"+id+"|3|U" {
			t.Errorf("%s is taken for %q", path, got)
		}
	}
}

// TestFileAnswered has the file of an answer shown in its task.
func TestFileAnswered(t *testing.T) {
	r := newRig(t)
	r.ask("POST", "/inboxes/east/rulings", r.owner, map[string]any{"agent_id": r.sides["west"].AgentID(), "stance": "allow"}).into(204, nil)
	sent := r.sendFiles(map[string]string{"a.txt": "a"})
	path := filepath.Join(t.TempDir(), "b.txt")
	check(t, os.WriteFile(path, []byte("b"), 0o600))
	_, err := r.sides["east"].Do(inbox.Action{Type: inbox.ActRespond, Request: sent.ID, Status: agentmsg.StatusWorking, Text: "Here.", Files: []string{path}})
	check(t, err)
	r.mail("east", "west")
	var tasks page[inbox.Task]
	r.ask("GET", "/inboxes/west/tasks", r.agent, nil).into(200, &tasks)
	var task inbox.Task
	r.ask("GET", "/inboxes/west/tasks/"+tasks.Items[0].ID, r.agent, nil).into(200, &task)
	files := task.Messages[len(task.Messages)-1].Files
	if len(files) != 1 || files[0].Path != "" || r.get(files[0].URL, r.agent).Body.String() != "b" {
		t.Errorf("%+v", files)
	}
}

// TestWaitingPaths has an agent's token not told where files lie that a program of the owner wants to send.
func TestWaitingPaths(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(t.TempDir(), "offer.pdf")
	check(t, os.WriteFile(path, []byte("x"), 0o600))
	_, err := r.sides["west"].Propose(inbox.Action{Type: inbox.ActRequest, To: "agent@east.test", Agent: r.sides["east"].AgentID(), Offering: "chat", Text: "Look.", Files: []string{path}})
	check(t, err)
	agents, owners := r.ask("GET", "/inboxes/west/waiting", r.agent, nil).Body.String(), r.ask("GET", "/inboxes/west/waiting", r.owner, nil).Body.String()
	if strings.Contains(agents, path) || !strings.Contains(agents, `"offer.pdf"`) || !strings.Contains(owners, path) {
		t.Errorf("the agent sees %s, the owner %s", agents, owners)
	}
}
