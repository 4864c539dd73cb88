package api

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// reader is a client that knows an address, a token and the document, and nothing else.
type reader struct {
	t        *testing.T
	base     string
	secret   string
	document openAPI
}

// with says what the parameters of an operation are, by their names.
type with map[string]string

// call makes the operation of an id and returns its answer, whose status the document has.
func (c *reader) call(id string, values with, body any) *http.Response {
	c.t.Helper()
	for path, methods := range c.document.Paths {
		for method, o := range methods {
			if o.ID == id {
				return c.make(method, path, o, values, body)
			}
		}
	}
	c.t.Fatalf("the document has no %s", id)
	return nil
}

func (c *reader) make(method, path string, o operation, values with, body any) *http.Response {
	c.t.Helper()
	query, header := url.Values{}, http.Header{}
	used := 0
	for _, p := range o.Parameters {
		value, given := values[p.Name]
		switch {
		case !given && p.Required:
			c.t.Fatalf("%s needs %s", o.ID, p.Name)
		case !given:
			continue
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query":
			query.Set(p.Name, value)
		case p.In == "header":
			header.Set(p.Name, value)
		}
		used++
	}
	if used != len(values) || (body != nil) && o.RequestBody == nil {
		c.t.Fatalf("%s takes no such thing: %v", o.ID, values)
	}
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		check(c.t, err)
	}
	q, err := http.NewRequestWithContext(c.t.Context(), strings.ToUpper(method), c.base+path+"?"+query.Encode(), bytes.NewReader(text))
	check(c.t, err)
	q.Header = header
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+c.secret)
	response, err := http.DefaultClient.Do(q)
	check(c.t, err)
	if response.StatusCode >= 300 {
		c.t.Fatalf("%s: %s", o.ID, readAll(c.t, response.Body))
	}
	return response
}

// read is call for what is answered in JSON.
func (c *reader) read(id string, values with, body any) map[string]any {
	c.t.Helper()
	response := c.call(id, values, body)
	defer response.Body.Close()
	var answer map[string]any
	check(c.t, json.UnmarshalRead(response.Body, &answer))
	return answer
}

// await reads the stream of an inbox until a message of a type has come, and returns its event.
func (c *reader) await(inbox, after, kind string) map[string]any {
	c.t.Helper()
	response := c.call("streamEvents", with{"inbox": inbox, "Last-Event-ID": after}, nil)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event map[string]any
		check(c.t, json.Unmarshal([]byte(data), &event))
		validate(c.t, []string{"components", "schemas", "Event"}, []byte(data))
		if event["kind"] == "received" && event["verdict"] == "accepted" && event["type"] == kind {
			return event
		}
	}
	c.t.Fatalf("the stream ended before a %s came: %v", kind, lines.Err())
	return nil
}

// TestClient has a client that was written against the document alone complete a deal between two inboxes.
func TestClient(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	r.carry(t)
	c := &reader{t: t, base: server.URL, secret: r.owner}
	q, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/v1/openapi.json", nil)
	check(t, err)
	q.Header.Set("Authorization", "Bearer "+r.owner)
	response, err := http.DefaultClient.Do(q)
	check(t, err)
	c.document = readDocument(t, []byte(readAll(t, response.Body)))
	check(t, response.Body.Close())

	const first = "0000000000000000"
	c.read("act", with{"inbox": "west", "Idempotency-Key": "ask-1"}, askQuote())
	asked := c.await("east", first, "ask_quote")
	c.read("act", with{"inbox": "east"}, quoteOf(asked["thread"].(string)))
	quoted := c.await("west", first, "quote")
	c.read("act", with{"inbox": "west"}, map[string]any{"type": "accept", "ref": quoted["id"]})
	c.await("east", first, "accept")

	thread := c.read("getThread", with{"inbox": "east", "thread": asked["thread"].(string)}, nil)
	entries := thread["entries"].([]any)
	if state := entries[1].(map[string]any)["state"]; len(entries) != 2 || state != "agreed" || thread["record"] != "two_signatures" {
		t.Errorf("the seller has %+v", thread)
	}
	checked := c.read("checkKeptRecord", with{"inbox": "west", "side": "ours", "record": quoted["id"].(string)}, nil)
	if result := checked["report"].(map[string]any)["result"]; result != "two_signatures" {
		t.Errorf("the buyer's record: %v", result)
	}
}

// carry carries mail between the two sides until the test ends.
func (r *rig) carry(t *testing.T) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var group sync.WaitGroup
	for from, to := range map[string]string{"east": "west", "west": "east"} {
		group.Go(func() {
			_ = r.sides[from].SendLetters(ctx, carrier(func(raw []byte) error { return r.deliver(to, raw) }))
		})
	}
	t.Cleanup(func() {
		stop()
		group.Wait()
	})
}

// TestCovered is behind the others: every operation was answered with a success, and its answer held against the document.
func TestCovered(t *testing.T) {
	t.Run("deal", TestDeal)
	t.Run("proposal", TestProposal)
	t.Run("count", TestCount)
	t.Run("exchange", TestExchange)
	t.Run("file", TestFile)
	t.Run("broken", TestBroken)
	var missing []string
	for _, methods := range readDocument(t, document).Paths {
		for _, o := range methods {
			if _, ok := answered.Load(o.ID); !ok && o.ID != "streamEvents" { // see TestClient
				missing = append(missing, o.ID)
			}
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("no test has an answer of %v", missing)
	}
}
