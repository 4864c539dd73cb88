package api

import (
	"strconv"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
)

// filed is what is shown to whoever asks over HTTP of something that may have files.
type filed[T any] interface{ Elsewhere(inbox string) T }

// shown is a list as it is shown over HTTP.
func shown[T filed[T]](c *call, list []T) []T {
	for i := range list {
		list[i] = list[i].Elsewhere(c.in.Name())
	}
	return list
}

// file sends a file that came with a message. A download counts as a stream: it may take as long.
func file(h *Handler, c *call) (any, error) {
	n, err := strconv.Atoi(c.PathValue("file"))
	if err != nil {
		return nil, bad("the file: it is a number from 0, as in the url of a file")
	}
	agent := c.URL.Query().Get("agent")
	if agent == "" {
		return nil, bad("agent: say whose message it is, as the url of a file does")
	}
	leave, err := h.streams.enter(c.token.Name)
	if err != nil {
		return nil, err
	}
	defer leave()
	f, err := c.in.File(agent, c.PathValue("message"), n)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	listen.Download(c.w, c.Request, f.Name, f.Digest, f)
	return sent{}, nil
}

// listRequests lists requests, with where their files are to be had.
func listRequests(_ *Handler, c *call) (any, error) {
	return list(c, func(after string, limit int) ([]inbox.ExchangeMessage, string, error) {
		items, next, err := c.in.RequestsPage(after, limit)
		return shown(c, items), next, err
	})
}
