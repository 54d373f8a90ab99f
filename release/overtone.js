#!/usr/bin/env node
// Runs the program of this platform's package. Hooks do not come this way: `overtone
// init` writes the path of the overtone-hook beside it.
const { spawnSync } = require('node:child_process')

const id = `overtone-cli-${process.platform}-${process.arch}`
let bin
try {
  bin = require.resolve(`${id}/bin/overtone${process.platform === 'win32' ? '.exe' : ''}`)
} catch {
  console.error(`overtone: there is no binary for ${process.platform} ${process.arch}`)
  console.error(`hint: install without --omit=optional, or build it: go install github.com/seed-6d03985f/overtone/cmd/overtone@latest`)
  process.exit(1)
}
// Signals of the terminal reach the child by themselves; we only wait for it.
for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(s, () => {})
const r = spawnSync(bin, process.argv.slice(2), { stdio: 'inherit' })
if (r.error) {
  console.error(`overtone: ${r.error.message}`)
  process.exit(1)
}
process.exit(r.status === null ? 1 : r.status)
