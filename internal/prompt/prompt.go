// Package prompt reads the Markdown files that people edit to steer agents: the
// auto-compact prompt (YAML front matter and a body that is sent as it is), and
// the task lists under specs/features.
//
// Reading is tolerant and bounded. A mistake in front matter costs one key; a
// task list is read line by line and never outside the project. The only edit is
// ticking a task, which changes one byte of the file. Nothing here decides
// anything: thresholds and markers are handed to the compact package, tasks to
// the hooks.
package prompt
