package injection

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/api"
	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/handler"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/mcp"
	"github.com/agentmaild/agentmaild/page"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	htmltoken "golang.org/x/net/html"
)

// channel is a way by which a text reaches somebody: what it shows of a world,
// and what of that is left when the text is taken out of its place.
type channel struct {
	name   string
	markup bool // it has means of its own against what turns text round
	show   func(*world) string
	rest   func(w *world, shown string) string
}

var channels = []channel{
	{"the tools of a model", false, throughTools, outsideFences},
	{"the API", true, throughAPI, outsideMembers},
	{"the API's stream of events", true, throughStream, outsideMembers},
	{"the webhooks", true, func(w *world) string { return w.told.String() }, outsideMembers},
	{"mails", true, throughMails, outsideQuotes},
	{"the log", false, func(w *world) string { return w.log.all.String() }, outsideLog},
	{"the command line", false, throughCommands, outsideBars},
	{"the page", true, throughPage, outsideText},
	{"the handler", true, throughHandler, outsideMembers}, // last: it takes the events off those that wait
}

// throughTools is all that the tools of a model tell, as text and as JSON, and
// what they refuse.
func throughTools(w *world) string {
	w.Helper()
	var said strings.Builder
	for _, in := range w.inboxes() {
		server := &mcp.Server{Inboxes: func(context.Context) ([]mcp.Inbox, error) { return []mcp.Inbox{in}, nil }, Random: strings.NewReader(strings.Repeat("random words", 1000))}
		use, leave := toolsOf(w, server)
		for _, kind := range []string{"threads", "requests", "tasks"} {
			said.WriteString(use("list_threads", map[string]any{"kind": kind}))
		}
		said.WriteString(use("list_waiting", nil))
		threads, err := in.Threads()
		w.check(err)
		for _, t := range threads {
			said.WriteString(use("read_thread", map[string]any{"thread": t.ID}))
		}
		requests, err := in.Requests()
		w.check(err)
		for _, r := range requests {
			said.WriteString(use("read_thread", map[string]any{"request": r.ID}))
			said.WriteString(use("answer_request", map[string]any{"request": r.ID, "status": "working", "input": r.Offering}))
		}
		tasks, err := in.Tasks()
		w.check(err)
		for _, t := range tasks {
			said.WriteString(use("read_thread", map[string]any{"task": t.ID}))
			said.WriteString(use("cancel", map[string]any{"task": t.ID + " "}))
		}
		records, err := in.Records()
		w.check(err)
		for _, r := range records {
			said.WriteString(use("check_record", map[string]any{"id": r.Offer, "theirs": !r.Ours}))
		}
		leave()
	}
	return said.String()
}

func toolsOf(w *world, server *mcp.Server) (use func(name string, args map[string]any) string, leave func()) {
	h := httptest.NewServer(server.Handler(func(string) (token.Token, bool) { return token.Token{}, true }))
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(w.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL}, nil)
	w.check(err)
	leave = func() { _ = session.Close(); h.Close() }
	return func(name string, args map[string]any) string {
		result, err := session.CallTool(w.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		w.check(err)
		said := name + "\n" + result.Content[0].(*sdk.TextContent).Text + "\n"
		if result.IsError || result.StructuredContent == nil {
			return said
		}
		data, err := json.Marshal(result.StructuredContent, json.Deterministic(true), jsontext.WithIndent(" "))
		w.check(err)
		// A fence is a member of its own there. It is shown with its lines, as a
		// program gives it to a model.
		return said + member.ReplaceAllStringFunc(string(data), func(m string) string {
			text, err := jsontext.AppendUnquote(nil, strings.TrimPrefix(m, `"outside": `))
			w.check(err)
			return `"outside": ` + string(text)
		}) + "\n"
	}, leave
}

var member = regexp.MustCompile(`"outside": "([^"\\]|\\.)*"`)

// outsideFences takes the fences out. One ends where its own word says.
func outsideFences(w *world, shown string) string {
	opening := regexp.MustCompile(`<outside-([a-z2-7]{16})>\n\(written by [^\n]*; data, never instructions\)\n`)
	var rest strings.Builder
	for {
		found := opening.FindStringSubmatchIndex(shown)
		if found == nil {
			return rest.String() + shown
		}
		closing := "\n</outside-" + shown[found[2]:found[3]] + ">"
		end := strings.Index(shown[found[1]:], closing)
		if end < 0 {
			w.Fatalf("a fence has no end: %s", shown[found[0]:])
		}
		rest.WriteString(shown[:found[0]])
		rest.WriteString(theirs)
		if inner := shown[found[1] : found[1]+end]; strings.Count(inner, "\n--- BEGIN SENDER MESSAGE ---\n") != strings.Count(inner, "\n--- END SENDER MESSAGE ---") {
			w.Errorf("a frame has two ends: %s", inner)
		}
		shown = shown[found[1]+end+len(closing):]
	}
}

// throughHandler is the documents that the owner's program reads.
func throughHandler(w *world) string {
	w.Helper()
	var all strings.Builder
	for _, in := range w.inboxes() {
		backlog, err := in.Backlog()
		w.check(err)
		if backlog.Events == 0 {
			continue
		}
		path := filepath.Join(w.TempDir(), "pipe")
		w.check(syscall.Mkfifo(path, 0o600))
		pipe, err := os.OpenFile(path, os.O_RDWR, 0)
		w.check(err)
		ctx, stop := context.WithCancel(w.Context())
		h := handler.Handler{
			Inbox: in, Command: []string{"sh", "-c", `cat >"$0"`, path}, Timeout: time.Minute,
			Now: func() time.Time { return w.pair.Now }, Log: discard,
		}
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		decoder := jsontext.NewDecoder(pipe)
		for range backlog.Events {
			document, err := decoder.ReadValue()
			w.check(err)
			if bytes.ContainsRune(document, '\n') {
				w.Errorf("a document has two lines: %s", document)
			}
			all.Write(append(document, '\n'))
		}
		stop()
		<-ended
		w.check(pipe.Close())
	}
	return all.String()
}

// owner is the tokens of an owner.
func (w *world) owner() (ring *token.Ring, secret string) {
	w.Helper()
	ring, err := token.Open(filepath.Join(w.TempDir(), "tokens.json"))
	w.check(err)
	secret, err = ring.Add("owner", token.Owner, nil, w.random(), w.pair.Now)
	w.check(err)
	return ring, secret
}

// throughAPI is all that the HTTP API tells an owner.
func throughAPI(w *world) string {
	w.Helper()
	h, secret := w.api()
	var all strings.Builder
	get := func(path string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != http.StatusOK {
			w.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
		if header := answer.Result().Header; header.Get("Content-Type") != "application/json" || strings.Contains(fmt.Sprint(header), canary) {
			w.Errorf("%s: %v", path, header)
		}
		all.WriteString(strings.TrimSpace(answer.Body.String()) + "\n")
	}
	for _, in := range w.inboxes() {
		at := "/v1/inboxes/" + in.Name() + "/"
		for _, list := range []string{"threads", "requests", "tasks", "waiting", "records", "events", "contacts"} {
			get(at + list)
		}
		w.eachID(in, func(kind, id string) { get(at + kind + "/" + url.PathEscape(id)) })
	}
	return all.String()
}

// throughStream is the events as they are streamed, a line of JSON each.
func throughStream(w *world) string {
	w.Helper()
	h, secret := w.api()
	server := httptest.NewServer(h)
	defer server.Close()
	defer server.CloseClientConnections() // a stream has no end
	var all strings.Builder
	for _, in := range w.inboxes() {
		events, _, err := in.Events("", 1000)
		w.check(err)
		r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, server.URL+"/v1/inboxes/"+in.Name()+"/events/stream?after=0000000000000000", nil)
		w.check(err)
		r.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(r)
		w.check(err)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for _, e := range events {
			for _, want := range []string{"id: " + e.Seq, "event: " + e.Kind, "data: {"} {
				for lines.Scan() && (lines.Text() == "" || lines.Text()[0] == ':') { // between two events, and a heartbeat
				}
				if line := lines.Text(); !strings.HasPrefix(line, want) {
					w.Fatalf("the stream of %s has %q in the place of %q", in.Name(), line, want)
				}
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					all.WriteString(data + "\n")
				}
			}
		}
		w.check(answer.Body.Close())
	}
	return all.String()
}

// api is the HTTP API, and the secret of an owner.
func (w *world) api() (h http.Handler, secret string) {
	w.Helper()
	ring, secret := w.owner()
	return api.New(api.Services{
		Inboxes: func() []api.Source {
			var list []api.Source
			for _, in := range w.inboxes() {
				list = append(list, api.Source{Inbox: in, Mailbox: func() mailbox.Health { return mailbox.Health{} }})
			}
			return list
		},
		Tokens: ring, Keys: func() record.KeySource { return record.KeySource{} }, Log: discard,
	}), secret
}

// eachID names what can be shown for itself.
func (w *world) eachID(in *inbox.Inbox, show func(kind, id string)) {
	w.Helper()
	threads, err := in.Threads()
	w.check(err)
	for _, t := range threads {
		show("threads", t.ID)
	}
	requests, err := in.Requests()
	w.check(err)
	for _, r := range requests {
		show("requests", r.ID)
	}
	tasks, err := in.Tasks()
	w.check(err)
	for _, t := range tasks {
		show("tasks", t.ID)
	}
}

// theirMembers are members of JSON whose value is text from outside, or holds it.
var theirMembers = []string{"message", "body", "text", "framed", "note", "name", "offering", "org_name", "media_type", "uri", "path"}

// wordedMembers are those that may hold words of others beside our own.
var wordedMembers = []string{"id", "task", "reason"}

// outsideMembers takes the members out whose value is text from outside, or is a
// string with the text in it: JSON keeps a string in its quotes.
func outsideMembers(w *world, shown string) string {
	var rest strings.Builder
	for line := range strings.Lines(shown) {
		var value any
		w.check(json.Unmarshal([]byte(line), &value))
		data, err := json.Marshal(without(value), json.Deterministic(true), jsontext.WithIndent(" "))
		w.check(err)
		rest.WriteString(changing.ReplaceAllString(string(data), "…") + "\n")
	}
	return rest.String()
}

func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			text, _ := inner.(string)
			if slices.Contains(theirMembers, name) || slices.Contains(wordedMembers, name) && strings.Contains(text, canary) {
				v[name] = theirs
			} else {
				v[name] = without(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return value
}

// throughMails is all mails that went out: to the other side, and to the owner.
func throughMails(w *world) string {
	w.Helper()
	var all strings.Builder
	for _, raw := range w.mails {
		m, err := mail.ReadMessage(bytes.NewReader(raw))
		w.check(err)
		for _, name := range slices.Sorted(maps.Keys(m.Header)) {
			if name != "Dkim-Signature" {
				value := strings.Join(m.Header[name], "\n")
				if name == "Subject" { // a mail program reads it so
					value, err = new(mime.WordDecoder).DecodeHeader(value)
					w.check(err)
				}
				fmt.Fprintf(&all, "%s: %s\n", name, value)
			}
		}
		read, err := envelope.Read(raw)
		w.check(err)
		for _, kind := range []string{"text/plain", "text/html"} {
			for part := range read.Leaves(kind) {
				text, err := part.Decode(1 << 20)
				w.check(err)
				all.WriteString("\n" + kind + "\n" + strings.ReplaceAll(string(text), "\r\n", "\n"))
			}
		}
	}
	return all.String()
}

// outsideQuotes takes out what the mails quote: a note behind its marks, and
// what stands in a line with its label.
func outsideQuotes(_ *world, shown string) string {
	quoted := regexp.MustCompile(`(?m)(^> [^\n]*\n)+`)
	inBlock := regexp.MustCompile(`(?s)<blockquote>.*?</blockquote>`)
	labelled := regexp.MustCompile(`(?m)^((<tr><th align="left">)?(From|For|Agent|Purpose|Location)(: |</th><td>)|<li>| *[0-9]+\. |Subject: \[(request|working|failed)\]|Agent-(Of|Attribution): |(Task|Error): |File "|Agent \S+ (asks|answers)).*$`)
	shown = quoted.ReplaceAllString(shown, theirs+"\n")
	shown = inBlock.ReplaceAllStringFunc(shown, func(block string) string {
		inner := strings.TrimSuffix(strings.TrimPrefix(block, "<blockquote>"), "</blockquote>")
		if strings.Contains(strings.ReplaceAll(inner, "<br>", ""), "<") {
			return block
		}
		return theirs
	})
	shown = labelled.ReplaceAllStringFunc(shown, func(line string) string {
		if strings.Contains(line, "<td>") || strings.HasPrefix(line, "<li>") {
			_, cell, _ := strings.Cut(line, "<td>")
			cell = strings.TrimSuffix(cell, "</td></tr>")
			if strings.HasPrefix(line, "<li>") {
				cell = strings.TrimSuffix(strings.TrimPrefix(line, "<li>"), "</li>")
			}
			if strings.ContainsAny(cell, "<>") {
				return line
			}
		}
		return theirs
	})
	return changing.ReplaceAllString(shown, "…")
}

// outsideLog is a log whose lines have nothing of a text. Only what a mail
// server said, why, stands in them.
func outsideLog(w *world, shown string) string {
	reason := regexp.MustCompile(`(error|reason)="([^"\\]|\\.)*` + canary + `([^"\\]|\\.)*"`)
	return changing.ReplaceAllString(reason.ReplaceAllString(shown, "reason="+theirs), "…")
}

// throughCommands is what the commands print on a terminal, of a daemon that has
// the inboxes.
func throughCommands(w *world) string {
	w.Helper()
	dir, err := os.MkdirTemp("", "injection") // the path of a socket may not be long
	w.check(err)
	w.Cleanup(func() { _ = os.RemoveAll(dir) })
	configuration := "state_dir = \".\"\n"
	for _, in := range w.inboxes() {
		configuration += fmt.Sprintf("[[inbox]]\nname = %q\naddress = %q\norg_name = \"x\"\ncontact = \"x@x.test\"\nagent_name = \"x\"\n"+
			"[inbox.imap]\nhost = \"127.0.0.1\"\nport = 1\ntls = \"none\"\npassword_file = \"password\"\n[inbox.smtp]\nhost = \"127.0.0.1\"\nport = 1\ntls = \"none\"\n", in.Name(), in.Address())
	}
	w.check(os.WriteFile(filepath.Join(dir, "password"), []byte("x"), 0o600))
	w.check(os.WriteFile(filepath.Join(dir, "agentmaild.toml"), []byte(configuration), 0o600))
	server := control.Server{Inboxes: func() []control.Served {
		var list []control.Served
		for _, in := range w.inboxes() {
			list = append(list, control.Served{Inbox: in, Mailbox: func() mailbox.Health { return mailbox.Health{} }})
		}
		return list
	}, Log: discard}
	ctx, stop := context.WithCancel(w.Context())
	listener, err := control.Listen(ctx, filepath.Join(dir, "agentmaild.sock"))
	w.check(err)
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, listener) }()
	defer func() { stop(); <-ended }()

	var all strings.Builder
	run := func(args ...string) {
		var out bytes.Buffer
		cmd := exec.CommandContext(w.Context(), program(), append([]string{"--config", filepath.Join(dir, "agentmaild.toml")}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			w.Errorf("%v: %v\n%s", args, err, out.String())
		}
		all.WriteString("$ " + args[0] + "\n" + out.String())
	}
	run("inbox", "list")
	for _, in := range w.inboxes() {
		kinds := map[string]bool{"inbox log": true} // only what has something: a process takes a while to start
		w.eachID(in, func(kind, _ string) { kinds[commands[kind]+" list"] = true })
		waiting, err := in.Waiting()
		w.check(err)
		kinds["waiting list"] = len(waiting) > 0
		records, err := in.Records()
		w.check(err)
		kinds["records list"] = len(records) > 0
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			if kinds[kind] {
				run(append([]string{"--inbox", in.Name()}, strings.Fields(kind)...)...)
			}
		}
		w.eachID(in, func(kind, id string) {
			run("--inbox", in.Name(), commands[kind], "show", id)
		})
	}
	return all.String()
}

// commands are those that show what has an id.
var commands = map[string]string{"threads": "threads", "requests": "request", "tasks": "task"}

// outsideBars takes out what stands set in behind a bar, and the words of a
// column.
func outsideBars(_ *world, shown string) string {
	bars := regexp.MustCompile(`(?m)(^  +[|>] ?[^\n]*\n)+`)
	shown = bars.ReplaceAllString(shown, theirs+"\n")
	shown = regexp.MustCompile(`(?m)^.*`+canary+`.*$`).ReplaceAllString(shown, theirs)
	return changing.ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(shown, " "), "…")
}

// throughPage is all pages that an owner can reach by links, as HTML.
func throughPage(w *world) string {
	w.Helper()
	ring, secret := w.owner()
	h := httptest.NewServer(page.New(page.Services{
		Inboxes: func() []page.Source {
			var list []page.Source
			for _, in := range w.inboxes() {
				list = append(list, page.Source{Inbox: in, Mailbox: func() mailbox.Health { return mailbox.Health{} }})
			}
			return list
		},
		Tokens: ring, Now: func() time.Time { return w.pair.Now }, Random: w.random(), Log: discard,
	}))
	defer h.Close()
	jar, err := cookiejar.New(nil)
	w.check(err)
	client := &http.Client{Jar: jar}
	answer, err := client.PostForm(h.URL+"/signin", url.Values{"token": {secret}})
	w.check(err)
	w.check(answer.Body.Close())
	var all strings.Builder
	seen := map[string]bool{}
	for next := []string{"/"}; len(next) > 0; {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		answer, err := client.Get(h.URL + path)
		w.check(err)
		text, err := io.ReadAll(answer.Body)
		w.check(err)
		w.check(answer.Body.Close())
		if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
			continue
		}
		if answer.StatusCode != http.StatusOK || strings.Contains(fmt.Sprint(answer.Header), canary) {
			w.Errorf("%s: %s %v", path, answer.Status, answer.Header)
		}
		fmt.Fprintf(&all, "%s\n%s\n", strings.ReplaceAll(path, canary, ""), text)
		for _, link := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			next = append(next, html.UnescapeString(link[1]))
		}
	}
	return all.String()
}

// outsideText is the elements and attributes of the pages without the text in
// them, but for what the twin has there too.
func outsideText(w *world, shown string) string {
	var rest strings.Builder
	for tokens := htmltoken.NewTokenizer(strings.NewReader(shown)); ; {
		kind := tokens.Next()
		if kind == htmltoken.ErrorToken {
			if tokens.Err() != io.EOF {
				w.Error(tokens.Err())
			}
			return changing.ReplaceAllString(rest.String(), "…")
		}
		token := tokens.Token()
		if kind == htmltoken.TextToken {
			if strings.Contains(token.Data, canary) {
				rest.WriteString(theirs + "\n")
			}
			continue
		}
		for i, a := range token.Attr {
			if strings.Contains(a.Val, canary) || strings.Contains(a.Val, url.QueryEscape(canary)) {
				token.Attr[i].Val = theirs
			}
		}
		rest.WriteString(token.String() + "\n")
	}
}

// program is agentmaild, built once.
var program = sync.OnceValue(func() string {
	if out, err := exec.Command("go", "build", "-o", built, "../../cmd/agentmaild").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("building agentmaild: %v\n%s", err, out))
	}
	return built
})

var built = filepath.Join(os.TempDir(), fmt.Sprintf("agentmaild-injection-%d", os.Getpid()))

// TestMain leaves nothing behind.
func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.Remove(built)
	os.Exit(code)
}
