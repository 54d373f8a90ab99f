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

	"github.com/tidwall/gjson"
)

const (
	maxReply = 8 << 20
	maxWait  = 24 * time.Hour
)

var errTooLong = errors.New("the answer is longer than " + strconv.Itoa(maxReply) + " bytes")

// post sends body as JSON and gives the object that is the answer.
func (s Service) post(ctx context.Context, endpoint string, header http.Header, body any) (reply gjson.Result, err error) {
	if err := ctx.Err(); err != nil {
		return reply, transportError(ctx, err)
	}
	address, err := join(s.URL, endpoint)
	if err != nil {
		return reply, &Error{Kind: BadRequest, Err: err}
	}
	question, err := json.Marshal(body)
	if err != nil {
		return reply, &Error{Kind: BadRequest, Err: fmt.Errorf("encode request: %w", err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(question))
	if err != nil {
		return reply, &Error{Kind: BadRequest, Err: errors.New("make request: bad address")}
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "overtone")
	resp, err := client().Do(req)
	if err != nil {
		return reply, transportError(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch status := resp.StatusCode; {
	case status != http.StatusOK: // a body that breaks off still tells it
		wait := retryAfter(resp.Header, s.Now)
		return reply, &Error{Kind: statusKind(status), Status: status, RetryAfter: wait, Message: s.describe(data)}
	case err != nil && (ctx.Err() != nil || !errors.Is(err, io.ErrUnexpectedEOF)):
		return reply, transportError(ctx, err)
	case err != nil:
		return reply, &Error{Kind: BadReply, Message: "the answer broke off", Err: err}
	case len(data) > maxReply:
		return reply, &Error{Kind: BadReply, Err: errTooLong}
	}
	if reply = gjson.ParseBytes(data); !json.Valid(data) || !reply.IsObject() {
		return reply, &Error{Kind: BadReply, Message: s.describe(data), Err: errors.New("not the expected JSON")}
	}
	return reply, nil
}

// describe finds the words in an error body: the message of the usual JSON
// forms, or the text itself. A page for browsers is only named.
func (s Service) describe(data []byte) string {
	text := string(data)
	if json.Valid(data) {
		for _, path := range [...]string{"error.message", "error", "message", "detail"} {
			if v := gjson.Get(text, path); v.Type == gjson.String && v.Str != "" {
				text = v.Str
				break
			}
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
