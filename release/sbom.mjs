// Writes what each program is made of, as CycloneDX: the modules that are linked into
// it, as the program itself tells them. The same program gives the same bytes.
//
//   node release/sbom.mjs VERSION OUT PROGRAM …        writes OUT/PROGRAM.cdx.json
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const [version, out, ...programs] = process.argv.slice(2)
if (!version || !out || programs.length === 0) {
  console.error('usage: node release/sbom.mjs VERSION OUT PROGRAM …')
  process.exit(2)
}
mkdirSync(out, { recursive: true })
for (const program of programs) {
  const info = JSON.parse(execFileSync('go', ['version', '-m', '-json', program], { encoding: 'utf8' }))
  const setting = Object.fromEntries(info.Settings.map(s => [s.Key, s.Value]))
  const library = (name, version, sum) => ({
    type: 'library', 'bom-ref': `pkg:golang/${name}@${version}`, name, version, purl: `pkg:golang/${name}@${version}`,
    ...sum && { properties: [{ name: 'go:sum', value: sum }] },
  })
  const components = [library('stdlib', info.GoVersion.replace(/^go/, '')), ...(info.Deps || []).map(d => d.Replace?.Version ? d.Replace : d).map(d => library(d.Path, d.Version, d.Sum))]
  const name = basename(program).replace(/\.exe$/, '')
  const self = `pkg:golang/${info.Path}@v${version}`
  const bom = {
    bomFormat: 'CycloneDX', specVersion: '1.5', version: 1,
    metadata: {
      component: {
        type: 'application', 'bom-ref': self, name, version, purl: self, licenses: [{ license: { id: 'MIT' } }],
        properties: ['GOOS', 'GOARCH', 'vcs.revision'].filter(k => setting[k]).map(k => ({ name: `go:${k}`, value: setting[k] })),
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map(c => c['bom-ref']) }],
  }
  writeFileSync(join(out, name + '.cdx.json'), JSON.stringify(bom, null, 2) + '\n')
}
