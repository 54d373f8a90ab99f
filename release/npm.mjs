// Makes the npm packages of a release: one for each platform that holds the binary,
// and one that runs the right one of them.
//
//   node release/npm.mjs VERSION OUT linux/amd64=PATH …
//   node release/npm.mjs VERSION OUT DIST        (what goreleaser built)
//
// Each package is a folder in OUT, ready for `npm publish`, and packed as OUT/*.tgz.
// A package holds the binary itself: nothing is fetched when it is installed, and no
// script of ours runs then.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [version, where, ...rest] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version || '') || !where || rest.length === 0) {
  console.error('usage: node release/npm.mjs VERSION OUT (OS/ARCH=BINARY … | DIST)')
  process.exit(2)
}
const out = resolve(where)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const name = 'overtone-cli'
// How Go and Node name the same things.
const oses = { linux: 'linux', darwin: 'darwin', windows: 'win32' }
const archs = { amd64: 'x64', arm64: 'arm64' }

const binaries = rest.length === 1 && !rest[0].includes('=')
  ? JSON.parse(readFileSync(join(rest[0], 'artifacts.json'), 'utf8'))
    .filter(a => a.type === 'Binary' && a.name.replace(/\.exe$/, '') === 'overtone').map(a => ({ os: a.goos, arch: a.goarch, path: a.path }))
  : rest.map(r => { const [, os, arch, path] = r.match(/^(\w+)\/(\w+)=(.+)$/); return { os, arch, path } })

mkdirSync(out, { recursive: true })

const common = {
  version,
  description: 'Keep long coding-agent work coherent: routing, compaction at boundaries, hand-overs, recall for Claude Code and Codex',
  homepage: 'https://github.com/seed-6d03985f/overtone',
  repository: { type: 'git', url: 'git+https://github.com/seed-6d03985f/overtone.git' },
  license: 'MIT',
}
const write = (dir, manifest) => {
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest, null, 2) + '\n')
  copyFileSync(join(root, 'LICENSE'), join(dir, 'LICENSE'))
}
const fresh = dir => { rmSync(dir, { recursive: true, force: true }); mkdirSync(join(dir, 'bin'), { recursive: true }); return dir }

const platforms = {}
const folders = []
for (const { os, arch, path } of binaries) {
  if (!oses[os] || !archs[arch] || !existsSync(path)) throw new Error(`no binary for ${os}/${arch}: ${path}`)
  const id = `${name}-${oses[os]}-${archs[arch]}`
  const dir = fresh(join(out, id))
  const file = os === 'windows' ? 'overtone.exe' : 'overtone'
  copyFileSync(path, join(dir, 'bin', file))
  chmodSync(join(dir, 'bin', file), 0o755)
  write(dir, { name: id, ...common, os: [oses[os]], cpu: [archs[arch]], files: ['bin'], preferUnplugged: true })
  platforms[id] = version
  folders.push(dir)
}
const dir = fresh(join(out, name))
copyFileSync(join(root, 'release', 'overtone.js'), join(dir, 'bin', 'overtone.js'))
chmodSync(join(dir, 'bin', 'overtone.js'), 0o755)
copyFileSync(join(root, 'README.md'), join(dir, 'README.md'))
write(dir, {
  name, ...common, bin: { overtone: 'bin/overtone.js', [name]: 'bin/overtone.js' }, files: ['bin'],
  engines: { node: '>=18' }, optionalDependencies: platforms,
  keywords: ['claude-code', 'codex', 'context', 'compaction', 'agents', 'hooks'],
})
for (const d of [...folders, dir]) {
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', out, d], { encoding: 'utf8' }).trim()
  console.log(join(out, packed.split('\n').pop()))
}
