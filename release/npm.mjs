// Makes the npm packages of a release: one for each platform that holds the programs,
// and one that runs the right one of them.
//
//   node release/npm.mjs VERSION OUT linux/amd64=FOLDER …
//   node release/npm.mjs VERSION OUT DIST        (what goreleaser built)
//
// Each package is a folder in OUT, ready for `npm publish`, and packed as OUT/*.tgz.
// A package holds the programs themselves: nothing is fetched when it is installed, and no
// script of ours runs then.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [version, where, ...rest] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version || '') || !where || rest.length === 0) {
  console.error('usage: node release/npm.mjs VERSION OUT (OS/ARCH=FOLDER … | DIST)')
  process.exit(2)
}
const out = resolve(where)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const name = 'overtone-cli'
// What agents call lies beside what people run: init writes its path into their settings.
const programs = ['overtone', 'overtone-hook']
// How Go and Node name the same things.
const oses = { linux: 'linux', darwin: 'darwin', windows: 'win32' }
const archs = { amd64: 'x64', arm64: 'arm64' }

const exe = os => os === 'windows' ? '.exe' : ''
// By platform, the path of each program.
const built = {}
if (rest.length === 1 && !rest[0].includes('=')) {
  for (const a of JSON.parse(readFileSync(join(rest[0], 'artifacts.json'), 'utf8')).filter(a => a.type === 'Binary')) {
    (built[`${a.goos}/${a.goarch}`] ??= {})[a.name.replace(/\.exe$/, '')] = a.path
  }
} else {
  for (const r of rest) {
    const [, platform, folder] = r.match(/^(\w+\/\w+)=(.+)$/)
    built[platform] = Object.fromEntries(programs.map(p => [p, join(folder, p + exe(platform.split('/')[0]))]))
  }
}

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
for (const [platform, paths] of Object.entries(built)) {
  const [os, arch] = platform.split('/')
  if (!oses[os] || !archs[arch]) throw new Error(`no package for ${platform}`)
  const id = `${name}-${oses[os]}-${archs[arch]}`
  const dir = fresh(join(out, id))
  for (const program of programs) {
    const path = paths[program], file = join(dir, 'bin', program + exe(os))
    if (!path || !existsSync(path)) throw new Error(`no ${program} for ${platform}: ${path}`)
    copyFileSync(path, file)
    chmodSync(file, 0o755)
  }
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
