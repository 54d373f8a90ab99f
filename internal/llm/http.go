package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxReply      = 8 << 20
	maxErrorReply = 64 << 10
	maxWait       = 24 * time.Hour
)

var errTooLong = errors.New("the answer is longer than " + strconv.Itoa(maxReply) + " bytes")

// post sends body as JSON and decodes the answer into reply.
func (s Service) post(ctx context.Context, endpoint string, header map[string]string, body, reply any) error {
	if err := ctx.Err(); err != nil {
		return transportError(ctx, err)
	}
	address, err := join(s.URL, endpoint)
	if err != nil {
		return &Error{Kind: BadRequest, Err: err}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return &Error{Kind: BadRequest, Err: fmt.Errorf("encode request: %w", err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &buf)
	if err != nil {
		return &Error{Kind: BadRequest, Err: errors.New("make request: bad address")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "overtone")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := client().Do(req)
	if err != nil {
		return transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return s.refusal(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil && (ctx.Err() != nil || !errors.Is(err, io.ErrUnexpectedEOF)):
		return transportError(ctx, err)
	case err != nil:
		return &Error{Kind: BadReply, Message: "the answer broke off", Err: err}
	case len(data) > maxReply:
		return &Error{Kind: BadReply, Err: errTooLong}
	}
	if err := json.Unmarshal(data, reply); err != nil {
		return &Error{Kind: BadReply, Message: s.describe(data), Err: errors.New("not the expected JSON")}
	}
	return nil
}

// refusal makes an error of an answer with another status than 200.
func (s Service) refusal(resp *http.Response) *Error {
	// A body that breaks off still tells the status.
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorReply))
	return &Error{
		Kind:       statusKind(resp.StatusCode),
		Status:     resp.StatusCode,
		RetryAfter: retryAfter(resp.Header, s.Now),
		Message:    s.describe(data),
	}
}

// describe finds the words in an error body: the message of the usual JSON
// forms, or the text itself. A page for browsers is only named.
func (s Service) describe(data []byte) string {
	var body struct {
		Error   json.RawMessage
		Message string
		Detail  string
	}
	text := string(data)
	if json.Unmarshal(data, &body) == nil {
		var inner struct{ Message string }
		var plain string
		switch {
		case json.Unmarshal(body.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(body.Error, &plain) == nil && plain != "":
			text = plain
		case body.Message != "":
			text = body.Message
		case body.Detail != "":
			text = body.Detail
		}
	} else if t := bytes.ToLower(bytes.TrimSpace(data)); bytes.HasPrefix(t, []byte("<!doctype")) || bytes.HasPrefix(t, []byte("<html")) {
		return "the server sent an HTML page: is the address right?"
	}
	return oneLine(text, s.key())
}

func (s Service) key() string { return strings.TrimSpace(s.Key) }

// retryAfter reads how long to wait: milliseconds, seconds or a date.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if d, ok := amount(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := amount(v, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(v); err == nil && now != nil {
		return min(max(at.Sub(now()), 0), maxWait)
	}
	return 0
}

func amount(v string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return time.Duration(min(max(f, 0), maxWait.Seconds()*float64(time.Second/unit)) * float64(unit)), true
}

// join puts an endpoint behind a base address that people write in many ways:
// https://host, https://host/v1, https://host/v1/, the whole endpoint. A query
// is kept.
func join(base, endpoint string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the base URL must begin with https:// or http:// and name a host")
	}
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, endpoint) {
		if !versioned(path) {
			path += "/v1"
		}
		path += endpoint
	}
	u.Path, u.RawPath, u.Fragment = path, "", ""
	return u.String(), nil
}

// versioned reports whether a part of the path names a version of an API.
func versioned(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if len(part) >= 2 && part[0] == 'v' && part[1] >= '1' && part[1] <= '9' {
			return true
		}
	}
	return false
}
