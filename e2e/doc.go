// Package e2e runs the real agents against Overtone. Build tag e2e:
//
//	go test -tags e2e ./e2e/...
//
// The first run installs the agents from the npm registry into .e2e/ at the root
// of the repository (OVERTONE_E2E_DIR names another folder), each version in a
// folder of its own; later runs find them there and need no network. Which
// versions are run is said in one place, host.Host's Verified: most tests of Claude Code run
// on the newest and the oldest, those of Codex on the newest, and a few on all of them;
// OVERTONE_E2E_CLAUDE names another one instead. Everything else is loopback: the agent's
// model is package mockapi, whose handler plays the model and which keeps every
// request body. Tests assert on those bodies, on the hooks' recorded stdin, and
// on the files the agent and Overtone wrote.
//
// A test owns a World: a home, a configuration folder and a project with a git
// repository, all in t.TempDir(). The plugin of this repository is loaded with
// --plugin-dir, and its hooks find the program under test as "overtone" on PATH:
//
//   - World with Recorder: a stand-in that writes down each call and answers
//     with what the test put in a file. It proves what the host sends and what
//     it does with an answer, so a new version of the host can be judged without
//     Overtone in the picture.
//   - World with Overtone: the real binary, built once per run.
//
// A Play is a model with fixed answers. A Relay is a main agent that follows
// nothing but the routing texts of the hooks: a workflow that ends under it was
// told every step.
//
// The dashboard is looked at with a real browser (package browser): Debian's
// chromium, or the one that OVERTONE_E2E_CHROMIUM names. Without one those tests are
// skipped and say so.
//
// At most two agents run at a time. A test takes seconds; none may sleep to wait
// for the agent, it waits for an event of the stream or for a request.
package e2e
