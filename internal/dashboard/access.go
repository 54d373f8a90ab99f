package dashboard

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// policy lets the page load and run what lies in the binary, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses whoever does not call us by our own name, before anything else.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		origin := r.Header.Get("Origin")
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case !slices.Contains(s.hosts, r.Host):
			// A page elsewhere whose name was made to point here.
			refuse(w, http.StatusMisdirectedRequest, "not this host")
		case origin != "" && !slices.Contains(s.hosts, strings.TrimPrefix(origin, "http://")):
			refuse(w, http.StatusForbidden, "not this origin")
		case strings.HasPrefix(r.URL.Path, "/api/") && site != "" && site != "same-origin":
			refuse(w, http.StatusForbidden, "not this origin")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) secret(next http.Handler) http.Handler {
	want := []byte("Bearer " + s.token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			refuse(w, http.StatusUnauthorized, "wrong token")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A browser that has gone away needs no answer.
	_ = json.NewEncoder(w).Encode(object{"schema": 1, "error": text})
}

type object = map[string]any

type statusError struct {
	status int
	error
}

var errNotFound = statusError{http.StatusNotFound, errors.New("no such session")}

func (s *Server) json(answer func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := safely(answer, r)
		if errors.Is(err, context.Canceled) {
			return
		}
		var body bytes.Buffer
		if err == nil {
			err = json.NewEncoder(&body).Encode(v)
		}
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body.Bytes())
			return
		}
		status := http.StatusInternalServerError
		if e := (statusError{}); errors.As(err, &e) {
			status = e.status
		} else if errors.As(err, new(message.Misuse)) {
			status = http.StatusBadRequest
		}
		refuse(w, status, s.words(err, r))
	})
}

// safely answers; a fault of ours is the answer to one request only.
func safely(answer func(*http.Request) (any, error), r *http.Request) (v any, err error) {
	defer transcript.Catch("", &err)
	return answer(r)
}

// words is an error in the reader's language, with its advice.
func (s *Server) words(err error, r *http.Request) string {
	text := message.ErrorText(err, s.lang(r))
	if hint := message.HintOf(err, s.lang(r)); hint != "" {
		text += "\n" + message.HintLabel.In(s.lang(r)) + hint
	}
	return text
}
