package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/token"
)

// TestDeal plays a deal and asks for everything that is kept of it.
func TestDeal(t *testing.T) {
	r := newRig(t)
	thread, quote := r.quoted()
	var accepted inbox.Done
	r.ask("POST", "/inboxes/west/actions", r.owner, map[string]any{"type": "accept", "ref": quote}).into(200, &accepted)
	r.mail("west", "east")

	var threads page[inbox.Thread]
	r.ask("GET", "/inboxes/east/threads", r.agent, nil).into(200, &threads)
	if len(threads.Items) != 1 || threads.Items[0].ID != thread || threads.Next != "" {
		t.Errorf("%+v", threads)
	}
	var whole inbox.Thread
	r.ask("GET", "/inboxes/east/threads/"+thread, r.agent, nil).into(200, &whole)
	if len(whole.Messages) != 3 || whole.Messages[2].Proof.Party != "pty_west0000000000000000" || whole.Entries[1].State != "agreed" {
		t.Errorf("%+v", whole)
	}
	var records page[inbox.Record]
	r.ask("GET", "/inboxes/east/records", r.agent, nil).into(200, &records)
	if len(records.Items) != 2 {
		t.Fatalf("%+v", records)
	}
	for _, side := range []string{"ours", "theirs"} {
		var kept, checked keptRecord
		r.ask("GET", "/inboxes/east/records/"+side+"/"+accepted.ID, r.agent, nil).into(200, &kept)
		r.ask("GET", "/inboxes/east/records/"+side+"/"+accepted.ID+"/check", r.agent, nil).into(200, &checked)
		if kept.Report != nil || checked.Report == nil || checked.Report.Result != record.TwoSigned || string(kept.File) != string(checked.File) {
			t.Errorf("%s: %+v, %+v", side, kept, checked)
		}
		var report record.Report
		r.ask("POST", "/check", r.agent, kept.File).into(200, &report)
		if report.Result != record.TwoSigned {
			t.Errorf("%s: %+v", side, report)
		}
	}
	var report record.Report
	r.ask("POST", "/check", r.agent, "{}").into(200, &report)
	if report.Result != record.DoesNotCheckOut {
		t.Errorf("%+v", report)
	}
	var h shownHealth
	r.ask("GET", "/inboxes/east/health", r.agent, nil).into(200, &h)
	if !h.Mailbox.Connected || h.Mailbox.LastLook != 3 || h.Mailbox.LastMail != 0 {
		t.Errorf("%+v", h)
	}
	var toOwner shownHealth
	r.ask("GET", "/inboxes/east/health", r.owner, nil).into(200, &toOwner)
	if h.Mailbox.LastError != "" || toOwner.Mailbox.LastError == "" {
		t.Errorf("the agent is told %q, the owner %q", h.Mailbox.LastError, toOwner.Mailbox.LastError)
	}
	var usage inbox.Usage
	r.ask("GET", "/inboxes/east/limits", r.owner, nil).into(200, &usage)
	if usage.Set {
		t.Errorf("%+v", usage)
	}
}

// TestProposal has the agent ask, and the owner decide. The owner's numbers are the owner's.
func TestProposal(t *testing.T) {
	r := newRig(t)
	var asked [2]inbox.Done
	for i, text := range []string{"Mug", "Cup"} {
		r.ask("POST", "/inboxes/west/actions", r.agent, map[string]any{
			"type": "ask_quote", "to": "agent@east.test", "items": []any{map[string]any{"description": text, "quantity": 1}},
		}).into(202, &asked[i])
		if asked[i].Waiting == "" || asked[i].ID != "" || len(asked[i].Rules) == 0 {
			t.Fatalf("%+v", asked[i])
		}
	}
	var seen [2]page[inbox.Waiting]
	for i, secret := range []string{r.agent, r.owner} {
		r.ask("GET", "/inboxes/west/waiting", secret, nil).into(200, &seen[i])
		if len(seen[i].Items) != 2 || seen[i].Items[0].Action == nil || seen[i].Items[0].Key != asked[0].Waiting {
			t.Fatalf("%+v", seen[i])
		}
	}
	if seen[0].Items[0].Decision != nil || seen[1].Items[0].Decision == nil {
		t.Errorf("the agent sees %+v, the owner %+v", seen[0].Items[0].Decision, seen[1].Items[0].Decision)
	}
	r.ask("POST", "/inboxes/west/waiting/"+asked[0].Waiting+"/approve", r.owner, nil).into(204, nil)
	r.ask("POST", "/inboxes/west/waiting/"+asked[1].Waiting+"/refuse", r.owner, map[string]string{"reason": "too many cups"}).into(204, nil)
	r.ask("POST", "/inboxes/west/waiting/"+asked[1].Waiting+"/refuse", r.owner, nil).refused(404, codeNotFound, "nothing waits under")
	var threads page[inbox.Thread]
	r.ask("GET", "/inboxes/west/threads", r.agent, nil).into(200, &threads)
	if len(threads.Items) != 1 {
		t.Errorf("%+v", threads)
	}
	var events page[inbox.Event]
	r.ask("GET", "/inboxes/west/events?limit=200", r.agent, nil).into(200, &events)
	if !slices.ContainsFunc(events.Items, func(e inbox.Event) bool { return strings.Contains(e.Reason, "too many cups") }) {
		t.Errorf("the agent is not told why: %+v", events)
	}
}

// TestCount takes a person's words for an acceptance.
func TestCount(t *testing.T) {
	r := newRig(t, withoutAgent)
	_, quote := r.quoted()
	check(t, r.deliver("east", fmt.Appendf(nil, "From: agent@west.test\r\nTo: agent@east.test\r\nIn-Reply-To: <%s@east.test>\r\n\r\nFine, send them.\r\n", quote)))
	var waiting page[inbox.Waiting]
	r.ask("GET", "/inboxes/east/waiting", r.owner, nil).into(200, &waiting)
	if len(waiting.Items) != 1 {
		t.Fatalf("%+v", waiting)
	}
	path := "/inboxes/east/waiting/" + url.PathEscape(waiting.Items[0].Key)
	r.ask("POST", path+"/approve", r.owner, nil).refused(422, codeAction, "waiting count")
	var made inbox.Record
	r.ask("POST", path+"/count", r.owner, nil).into(200, &made)
	if made.Offer != quote || made.Kind != record.TheirReply {
		t.Errorf("%+v", made)
	}
}

// TestExchange plays a task between agents.
func TestExchange(t *testing.T) {
	r := newRig(t)
	east, west := r.sides["east"].AgentID(), r.sides["west"].AgentID()
	var inboxes page[shownInbox]
	r.ask("GET", "/inboxes", r.agent, nil).into(200, &inboxes)
	if len(inboxes.Items) != 2 || inboxes.Items[0].Agent != east {
		t.Errorf("%+v", inboxes)
	}
	card := map[string]any{"agent_id": east, "name": "East", "addresses": []string{"agent@east.test"}}
	r.ask("PUT", "/inboxes/west/contacts/"+west, r.owner, card).refused(400, codeBadRequest, "another than in the path")
	r.ask("PUT", "/inboxes/west/contacts/"+east, r.owner, card).into(204, nil)
	r.ask("PUT", "/inboxes/west/contacts/"+east, r.owner, map[string]any{"addresses": []string{"agent@east.test"}}).into(204, nil)
	var cards page[inbox.Contact]
	r.ask("GET", "/inboxes/west/contacts", r.agent, nil).into(200, &cards)
	if len(cards.Items) != 1 || cards.Items[0].Agent != east {
		t.Errorf("%+v", cards)
	}
	r.ask("POST", "/inboxes/east/rulings", r.owner, map[string]any{"agent_id": west, "stance": "allow", "note": "a friend"}).into(204, nil)
	r.ask("POST", "/inboxes/east/rulings", r.owner, map[string]any{"agent_id": "x", "stance": "allow"}).refused(422, codeAction, "")

	var sent, working inbox.Done
	r.ask("POST", "/inboxes/west/actions", r.owner, map[string]any{"type": "request", "to": "agent@east.test", "offering": "chat", "text": "Hello."}).into(200, &sent)
	r.mail("west", "east")
	r.ask("POST", "/inboxes/east/actions", r.owner, map[string]any{"type": "respond", "request": sent.ID, "status": "working"}).into(200, &working)
	r.mail("east", "west")
	var requests page[inbox.ExchangeMessage]
	r.ask("GET", "/inboxes/east/requests", r.agent, nil).into(200, &requests)
	if len(requests.Items) != 1 || requests.Items[0].ID != sent.ID {
		t.Errorf("%+v", requests)
	}
	var one shownRequest
	r.ask("GET", "/inboxes/east/requests/"+sent.ID+"?agent="+west, r.agent, nil).into(200, &one)
	if one.Request.Text != "Hello." || len(one.Responds) != 1 {
		t.Errorf("%+v", one)
	}
	var tasks page[inbox.Task]
	r.ask("GET", "/inboxes/west/tasks", r.agent, nil).into(200, &tasks)
	if len(tasks.Items) != 1 || tasks.Items[0].State != agentmsg.StatusWorking {
		t.Fatalf("%+v", tasks)
	}
	var task inbox.Task
	r.ask("GET", "/inboxes/west/tasks/"+tasks.Items[0].ID, r.agent, nil).into(200, &task)
	if len(task.Messages) != 2 {
		t.Errorf("%+v", task)
	}
	var events page[inbox.Event]
	r.ask("GET", "/inboxes/east/events", r.agent, nil).into(200, &events)
	r.ask("DELETE", "/inboxes/west/contacts/"+east, r.owner, nil).into(204, nil)
	r.ask("DELETE", "/inboxes/west/contacts/"+east, r.owner, nil).refused(404, codeNotFound, "has no name card")
}

// TestPages reads lists in pages of every size, whole and in order.
func TestPages(t *testing.T) {
	r := newRig(t)
	for range 7 {
		r.ask("POST", "/inboxes/west/actions", r.owner, askQuote()).into(200, nil)
	}
	for n := range 7 {
		r.ask("POST", "/inboxes/west/actions", r.agent, map[string]any{
			"type": "ask_quote", "to": "agent@east.test", "items": []any{map[string]any{"description": "Cup", "quantity": n + 1}},
		}).into(202, nil)
	}
	for _, list := range []struct{ path, cursor, id string }{{"threads", "cursor", "id"}, {"events", "after", "seq"}, {"waiting", "cursor", "key"}} {
		var all []string
		for _, limit := range []int{200, 1, 2, 3, 7, 8} {
			var got []string
			next := ""
			for pages := 0; ; pages++ {
				path := fmt.Sprintf("/inboxes/west/%s?limit=%d", list.path, limit)
				if next != "" {
					path += "&" + list.cursor + "=" + next
				}
				var p page[map[string]any]
				r.ask("GET", path, r.agent, nil).into(200, &p)
				if len(p.Items) > limit || p.Next != "" && len(p.Items) < limit || pages > 20 {
					t.Fatalf("%s: a page of %d with next %q", path, len(p.Items), p.Next)
				}
				for _, item := range p.Items {
					got = append(got, item[list.id].(string))
				}
				if next = p.Next; next == "" {
					break
				}
			}
			if all == nil {
				all = got
			}
			if len(got) < 7 || !slices.Equal(got, all) {
				t.Errorf("%s by %d: %v, not %v", list.path, limit, got, all)
			}
		}
	}
	for _, path := range []string{"threads?limit=0", "threads?limit=201", "threads?limit=x", "threads?cursor=%25", "events?after=1", "events?after=000000000000000G", "events?limit=-1", "waiting?limit=201"} {
		r.ask("GET", "/inboxes/west/"+path, r.agent, nil).refused(400, codeBadRequest, "")
	}
	for path, want := range map[string]string{ // else whoever misspells a name would have the first page again and again
		"events?cursor=0000000000000001": `"cursor": there is no such parameter here`, "threads?after=0000000000000001": `"after"`, "threads?limt=1": `"limt"`,
		"threads?limit=1&limit=2": "limit: give it once", "threads?limit=%zz": "it cannot be read", "threads?limit=1;cursor=x": "it cannot be read",
		"health?access_token=x": `"access_token"`,
	} {
		r.ask("GET", "/inboxes/west/"+path, r.agent, nil).refused(400, codeBadRequest, want)
	}
	r.ask("POST", "/inboxes/west/actions?dry_run=1", r.owner, askQuote()).refused(400, codeBadRequest, `"dry_run"`)
}

// TestActions refuses what is no action, in words for whoever sent it.
func TestActions(t *testing.T) {
	r := newRig(t)
	thread, quote := r.quoted()
	r.ask("POST", "/inboxes/west/actions", r.owner, map[string]any{"type": "decline", "ref": quote}).into(200, nil)
	for _, c := range []struct {
		name   string
		body   any
		status int
		code   code
		detail string
	}{
		{"no JSON", "sell", 400, codeBadRequest, "the body: "},
		{"empty", "", 400, codeBadRequest, "the body: "},
		{"unknown member", `{"type":"accept","price":1}`, 400, codeBadRequest, "price"},
		{"a member twice", `{"type":"accept","type":"quote"}`, 400, codeBadRequest, "duplicate"},
		{"a number that is none", `{"type":"ask_quote","items":[{"quantity":1e999}]}`, 400, codeBadRequest, "the body at /items/0/quantity: that number does not belong here, or is too large"},
		{"a list for a text", `{"type":["accept"]}`, 400, codeBadRequest, "the body at /type: it is of the wrong kind"},
		{"a list", `[]`, 400, codeBadRequest, "the body: it is of the wrong kind"},
		{"unknown member below", `{"type":"ask_quote","items":[{"colour":"red"}]}`, 400, codeBadRequest, "the body at /items/0/colour: there is no such member"},
		{"two documents", `{"type":"accept"}{}`, 400, codeBadRequest, ""},
		{"unknown type", `{"type":"sell"}`, 422, codeAction, `type: "sell"`},
		{"a foreign member", map[string]any{"type": "decline", "ref": quote, "slot": 1}, 422, codeAction, "slot: leave it out"},
		{"unknown offer", map[string]any{"type": "accept", "ref": thread}, 422, codeAction, "is not known here"},
		{"declined already", map[string]any{"type": "accept", "ref": quote}, 409, codeState, "is declined"},
		{"a file", map[string]any{"type": "request", "to": "agent@east.test", "offering": "chat", "files": []string{"/etc/passwd"}}, 422, codeAction, "files: leave it out"},
		{"no files", map[string]any{"type": "request", "to": "agent@east.test", "offering": "chat", "files": []string{}}, 422, codeAction, "files: leave it out"},
		{"10 MB", strings.Repeat(" ", 10<<20), 413, codeTooLarge, "1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			for _, secret := range []string{r.owner, r.agent} {
				r.ask("POST", "/inboxes/west/actions", secret, c.body).refused(c.status, c.code, c.detail)
			}
		})
	}
	r.t = t
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"} { // what a form of another site can send
		q := r.request("POST", "/inboxes/west/actions", r.owner, askQuote())
		q.Header.Set("Content-Type", kind)
		r.do(q).refused(415, codeMediaType, "application/json")
	}
	r.ask("POST", "/inboxes/west/waiting/x/refuse", r.owner, map[string]string{"reason": "two\nlines"}).refused(400, codeBadRequest, "one line")
	r.ask("POST", "/inboxes/west/waiting/x/refuse", r.owner, `{"because":""}`).refused(400, codeBadRequest, "because")
	r.ask("GET", "/inboxes/west/threads/x", r.owner, nil).refused(404, codeNotFound, `thread "x" is not known here`)
	r.ask("GET", "/inboxes/west/records/mine/x", r.owner, nil).refused(404, codeNotFound, "ours or theirs")
	r.ask("GET", "/inboxes/west/records/ours/x", r.owner, nil).refused(404, codeNotFound, "no record")
}

// TestOnce does an action once for each key, whatever comes between the tries.
func TestOnce(t *testing.T) {
	r := newRig(t)
	try := func(secret, key string, body any) answer {
		q := r.request("POST", "/inboxes/west/actions", secret, body)
		q.Header["Idempotency-Key"] = []string{key}
		return r.do(q)
	}
	var first, again, other, waits, waitsAgain inbox.Done
	try(r.owner, "a", askQuote()).into(200, &first)
	try(r.owner, "a", askQuote()).into(200, &again)
	try(r.owner, "b", askQuote()).into(200, &other)
	if first.ID == "" || again.ID != first.ID || other.ID == first.ID {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	var spaced inbox.Done // the same action in other JSON
	try(r.owner, "a", `{"items": [{"quantity": 2.0e2, "description": "\u004dug"}], "to": "agent@east.test", "type": "ask_quote"}`).into(200, &spaced)
	if spaced.ID != first.ID {
		t.Errorf("%+v, %+v", first, spaced)
	}
	try(r.owner, "a", quoteOf(first.Thread)).refused(422, codeReused, "take a new key")
	try(r.agent, "a", askQuote()).into(202, &waits) // another's key is another key
	try(r.agent, "a", askQuote()).into(202, &waitsAgain)
	if waits.Waiting == "" || waits.Waiting != waitsAgain.Waiting {
		t.Errorf("%+v, %+v", waits, waitsAgain)
	}
	r.ask("POST", "/inboxes/west/waiting/"+waits.Waiting+"/refuse", r.owner, nil).into(204, nil)
	try(r.agent, "a", askQuote()).into(202, &waitsAgain) // what was answered then, though nothing waits any more
	var waiting page[inbox.Waiting]
	r.ask("GET", "/inboxes/west/waiting", r.owner, nil).into(200, &waiting)
	if waits.Waiting != waitsAgain.Waiting || len(waiting.Items) != 0 {
		t.Errorf("%+v, %+v", waitsAgain, waiting)
	}
	try(r.owner, "c", `{"type":"ask_quote","to":"nobody","items":[{"description":"Mug","quantity":1}]}`).refused(422, codeAction, "to: ")
	try(r.owner, "c", askQuote()).into(200, nil) // what was refused used up nothing
	for _, key := range []string{"", "two words", "\x7f", "ä", strings.Repeat("k", 256)} {
		try(r.owner, key, askQuote()).refused(400, codeBadRequest, "Idempotency-Key")
	}
	q := r.request("POST", "/inboxes/west/actions", r.owner, askQuote())
	q.Header["Idempotency-Key"] = []string{"a", "b"}
	r.do(q).refused(400, codeBadRequest, "Idempotency-Key")

	// Of tries at once one acts, and all get its answer.
	answers := make([]answer, 16)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() { answers[i] = try(r.owner, "together", askQuote()) })
	}
	group.Wait()
	var one inbox.Done
	for i, a := range answers {
		var done inbox.Done
		a.into(200, &done)
		if i == 0 {
			one = done
		}
		if done.ID != one.ID || done.ID == "" {
			t.Errorf("%s and %s", done.ID, one.ID)
		}
	}
}

// TestScopes lets nobody in without a token, at no route, and an agent nowhere that is the owner's.
func TestScopes(t *testing.T) {
	r := newRig(t)
	east := r.secret("east", token.Owner, "east")
	fill := strings.NewReplacer("{inbox}", "west", "{side}", "ours", "{thread}", "x", "{request}", "x", "{task}", "x", "{key}", "x", "{record}", "x", "{agent}", "x")
	owners := 0
	for _, route := range routes {
		method, path, _ := strings.Cut(route.pattern, " /v1")
		path = fill.Replace(path)
		for _, secret := range []string{"", "amt_", r.owner + "x", "Basic " + r.owner} {
			a := r.ask(method, path, secret, nil)
			a.refused(401, codeUnauthorized, "token")
			if !strings.HasPrefix(a.Header().Get("WWW-Authenticate"), `Bearer realm="agentmaild"`) || a.Header().Get("Connection") != "close" {
				t.Errorf("%s: %v", route.pattern, a.Header())
			}
		}
		q := r.request(method, path+"?access_token="+r.owner+"&token="+r.owner, "", nil)
		r.do(q).refused(401, codeUnauthorized, "")
		q.Header["Authorization"] = []string{"Bearer " + r.owner, "Bearer " + r.owner}
		r.do(q).refused(401, codeUnauthorized, "")
		if route.scope == token.Owner {
			owners++
			r.ask(method, path, r.agent, nil).refused(403, codeForbidden, "for the owner")
		}
		if strings.Contains(path, "/west") {
			r.ask(method, path, east, nil).refused(404, codeNotFound, `no inbox "west" for this token`)
		}
	}
	if owners < 6 {
		t.Errorf("%d routes are the owner's", owners)
	}
	var inboxes page[shownInbox]
	r.ask("GET", "/inboxes", east, nil).into(200, &inboxes)
	if len(inboxes.Items) != 1 || inboxes.Items[0].Name != "east" {
		t.Errorf("%+v", inboxes)
	}
	for _, path := range []string{"/", "/inboxes/", "/../v1", "/inboxes/west/nothing", "/inboxes/no/threads"} {
		r.ask("GET", path, "", nil).refused(401, codeUnauthorized, "") // not even whether it is there
	}
	r.ask("GET", "/inboxes/west/nothing", r.owner, nil).refused(404, codeNotFound, "nothing at this path")
	r.ask("GET", "/inboxes/no/threads", r.owner, nil).refused(404, codeNotFound, "no inbox")
	a := r.ask("DELETE", "/inboxes/west/threads", r.owner, nil)
	a.refused(405, codeMethod, "GET")
	if a.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%v", a.Header())
	}
	r.ask("OPTIONS", "/inboxes", r.owner, nil).refused(405, codeMethod, "")

	// Case of the scheme; a token that was revoked; a file that others can read.
	q := r.request("GET", "/inboxes", "", nil)
	q.Header.Set("Authorization", "bearer  "+r.agent)
	r.do(q).into(200, nil)
	check(t, r.ring.Remove("agent"))
	r.ask("GET", "/inboxes", r.agent, nil).refused(401, codeUnauthorized, "revoked")
	check(t, os.Chmod(r.path, 0o644))
	r.ask("GET", "/inboxes", r.owner, nil).refused(401, codeUnauthorized, "")
	if !strings.Contains(r.log.String(), "nobody is let in by a token") || strings.Contains(r.log.String(), "amt_") {
		t.Error(r.log.String())
	}
}

// TestChecks makes a few checks at once, and no more.
func TestChecks(t *testing.T) {
	r := newRig(t)
	for range maxChecks {
		r.handler.checks <- struct{}{}
	}
	a := r.ask("POST", "/check", r.agent, "{}")
	a.refused(503, codeBusy, "try again soon")
	if a.Header().Get("Retry-After") == "" {
		t.Error(a.Header())
	}
	<-r.handler.checks
	r.ask("POST", "/check", r.agent, "{}").into(200, nil)
}

// TestBroken tells the log what went wrong, and not the caller.
func TestBroken(t *testing.T) {
	r := newRig(t)
	check(t, r.store.Close())
	for _, route := range routes {
		method, path, _ := strings.Cut(route.pattern, " /v1")
		if method != http.MethodGet || !strings.HasSuffix(path, "s") {
			continue
		}
		if path = strings.ReplaceAll(path, "{inbox}", "west"); path != "/inboxes" {
			r.ask(method, path, r.owner, nil).refused(500, codeInternal, "its log says why")
		}
	}
	if !strings.Contains(r.log.String(), "store") {
		t.Error(r.log.String())
	}
	a := r.ask("GET", "/openapi.json", r.agent, nil)
	a.into(200, nil)
	if readDocument(t, a.Body.Bytes()).Paths["/v1/inboxes"] == nil {
		t.Error(a.Body)
	}
	if err := errors.New("x"); problemOf(err).Code != codeInternal {
		t.Error(problemOf(err))
	}
}

// A body that breaks off is its sender's fault, and no line of the log's.
func TestBrokenOff(t *testing.T) {
	r := newRig(t)
	for method, path := range map[string]string{"POST": "/inboxes/west/actions", "PUT": "/inboxes/west/contacts/x"} {
		q := r.request(method, path, r.owner, nil)
		q.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF)))
		r.do(q).refused(400, codeBadRequest, "it broke off")
	}
	if strings.Contains(r.log.String(), "ERROR") {
		t.Error(r.log.String())
	}
}
