package dashboard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// fleet is what `overtone-team` last heard of the machines of its team. That
// program alone asks the hub: this one, and with it every hook, links nothing
// that could. So the page shows how old the news is.
type fleet struct {
	Schema   int              `json:"schema"`
	At       string           `json:"at,omitempty"`
	Machine  string           `json:"machine"` // this one
	Machines []fleetMachine   `json:"machines"`
	Sessions []fleetSession   `json:"sessions"`
	Leases   map[string]lease `json:"leases"`
}

type fleetMachine struct {
	Machine string `json:"machine"`
	Version string `json:"version"`
	At      string `json:"at"`
	Lost    int    `json:"lost,omitempty"`
}

type fleetSession struct {
	Machine     string `json:"machine"`
	Session     string `json:"session"`
	Host        string `json:"host,omitempty"`
	Project     string `json:"project,omitempty"`
	Workflow    string `json:"workflow,omitempty"`
	Phase       string `json:"phase,omitempty"`
	Stage       string `json:"stage,omitempty"`
	Done        int    `json:"done,omitempty"`
	Total       int    `json:"total,omitempty"`
	Left        int    `json:"left"`
	Packet      string `json:"packet,omitempty"`
	PacketState string `json:"packetState,omitempty"`
	Last        string `json:"last,omitempty"`
	Ended       bool   `json:"ended,omitempty"`
}

type lease struct {
	Holder string `json:"holder"`
	Phase  string `json:"phase"`
}

func (s *Server) teamFile(name string) string { return filepath.Join(s.Store.Root(), "team", name) }

func (s *Server) hasFleet() bool {
	_, err := os.Lstat(s.teamFile("team.json"))
	return err == nil
}

func (s *Server) fleet(*http.Request) (any, error) {
	if !s.hasFleet() {
		return nil, statusError{http.StatusNotFound, errors.New("no hub")}
	}
	f := fleet{Schema: 1}
	data, err := config.ReadFile(s.teamFile("fleet.json"), 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, &f); err != nil || f.Schema > 1 {
			return nil, errors.New("fleet.json was written by another version, or by nobody")
		}
	}
	if f.Machines == nil {
		f.Machines = []fleetMachine{}
	}
	if f.Sessions == nil {
		f.Sessions = []fleetSession{}
	}
	return f, nil
}
