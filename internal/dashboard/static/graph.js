// The workflow's graph. Places and paths come from the program; here they are drawn.
import { html, useEffect, useState } from './vendor/htm-preact.js'
import { mark, short, span, stateClass, stateText, t } from './ui.js'

const query = matchMedia('(max-width: 640px)')
function useNarrow() {
  const [narrow, set] = useState(query.matches)
  useEffect(() => {
    const on = e => set(e.matches)
    query.addEventListener('change', on)
    return () => query.removeEventListener('change', on)
  }, [])
  return narrow
}

export function Graph({ work }) {
  const narrow = useNarrow()
  const g = narrow ? work.narrow : work.wide
  const stages = Object.fromEntries(work.stages.map(s => [s.key, s]))
  const agents = {}
  for (const a of work.running) agents[a.stage] = a
  const told = work.stages.map(s => `${s.key}: ${stateText(s)}`).join('; ')
  return html`<div class="graph" tabindex="0" role="group" aria-label=${t('graph')}>
    <svg role="img" aria-label=${told} viewBox="0 0 ${g.width} ${g.height}" width=${g.width} height=${g.height}>
      <defs>
        <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="tip" /></marker>
        <marker id="tip-back" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="tip back" /></marker>
      </defs>
      ${g.groups.map(b => html`<rect key=${b.key} class="barrier" x=${b.x} y=${b.y} width=${b.w} height=${b.h} rx="10" />`)}
      ${g.edges.map(e => {
        const used = e.back ? [e.from, ...(e.also || [])].some(k => (stages[k] || {}).retries > 0) : stages[e.from] && ['completed', 'skipped'].includes(stages[e.from].status)
        return html`<path key=${e.from + e.to} class="edge ${e.back ? 'back' : ''} ${used ? 'used' : ''}" d=${e.path} marker-end="url(#${e.back ? 'tip-back' : 'tip'})" />`
      })}
      ${g.nodes.map(n => {
        const s = stages[n.key] || { key: n.key, status: 'pending' }
        const a = agents[n.key]
        const under = a ? (a.started ? span((Date.now() - new Date(a.started)) / 1000) : short(a.name, 14))
          : s.retries ? t('retriesOf', s.retries, s.maxRetries) : s.label
        return html`<g key=${n.key} class="node ${stateClass(s)}" transform="translate(${n.x} ${n.y})">
          <title>${n.key} · ${s.label} · ${stateText(s)}${s.reason ? ' · ' + s.reason : ''}</title>
          <rect width=${n.w} height=${n.h} rx="8" />
          <text x="10" y="19" class="key">${mark(s)} ${short(n.key, 11)}</text>
          <text x="10" y="36" class="under">${short(under || '', 16)}</text>
        </g>`
      })}
    </svg>
  </div>`
}
