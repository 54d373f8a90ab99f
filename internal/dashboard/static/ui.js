// Small things that every view uses: words, numbers, times, states.
import { html, useEffect, useState } from './vendor/htm-preact.js'

let texts = {}
export const learn = t => { texts = t }
export const t = (key, ...args) => (texts[key] || key).replace(/\{(\d)\}/g, (_, i) => args[i])

// The word for a value, or the value itself where it is not one that we know.
export const word = (kind, value) => texts[`${kind}.${value}`] || short(String(value), 40)

const locale = () => document.documentElement.lang || 'en'
export const number = n => new Intl.NumberFormat(locale()).format(n)
// Sizes and times are written as the command line writes them: Swedish dates are ISO's.
export const tokens = n => n >= 1e9 ? (n / 1e9).toFixed(1) + 'G' : n >= 1e6 ? (n / 1e6).toFixed(1) + 'M' : n >= 1e4 ? (n / 1e3).toFixed(1) + 'k' : number(n)
export const bytes = n => n >= 1e9 ? (n / 1e9).toFixed(1) + ' GB' : n >= 1e6 ? (n / 1e6).toFixed(1) + ' MB' : n >= 1e3 ? (n / 1e3).toFixed(0) + ' kB' : n + ' B'
export const when = ts => {
  const d = new Date(ts)
  return isNaN(d) ? String(ts) : new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short' }).format(d)
}
export const clock = ts => {
  const d = new Date(ts)
  return isNaN(d) ? '' : new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }).format(d)
}
export const span = seconds => {
  const s = Math.max(0, Math.round(seconds)), two = n => String(Math.floor(n) % 60).padStart(2, '0')
  if (s < 60) return s + 's'
  if (s < 3600) return `${Math.floor(s / 60)}m ${two(s)}s`
  if (s < 172800) return `${Math.floor(s / 3600)}h ${two(s / 60)}m`
  return Math.floor(s / 86400) + 'd'
}
// How long ago something was, in its largest unit.
export const ago = ts => { const d = new Date(ts); return isNaN(d) ? '' : span((Date.now() - d) / 1000).split(' ')[0] }
export const short = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s
export const project = p => { const parts = (p || '').split(/[\\/]/).filter(Boolean); return parts.slice(-2).join(p?.includes('\\') ? '\\' : '/') || p || '' }

// A tick that makes ages and running times go on.
export function useTick(ms) {
  const [, set] = useState(0)
  useEffect(() => { const i = setInterval(() => set(n => n + 1), ms); return () => clearInterval(i) }, [ms])
}

// keys listens to single keys, while nobody writes.
export function keys(map) {
  const on = e => {
    if (!map[e.key] || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return
    e.preventDefault()
    map[e.key](e)
  }
  addEventListener('keydown', on)
  return () => removeEventListener('keydown', on)
}

export const money = s => s.usd == null ? t('unknown') : (s.unpricedTokens > 0 ? '≥ ' : '') + '$' + new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(s.usd)

export const Badge = ({ kind, children }) => html`<span class="badge ${kind || ''}">${children}</span>`

// What a stage has come to: never told by colour alone.
export const mark = s => {
  if (s.unverified) return '?'
  if (s.status === 'active') return '▶'
  if (s.status === 'skipped') return '⤼'
  if (s.status === 'failed') return '✕'
  if (s.status !== 'completed') return '○'
  return s.result === 'fail' || s.result === 'reject' ? '✕' : s.result === 'issues' ? '!' : '✓'
}
export const stateClass = s => s.unverified ? 'unverified'
  : s.status === 'completed' ? (s.result === 'fail' || s.result === 'reject' ? 'failed' : s.result === 'issues' ? 'issues' : 'passed')
    : s.status
export const stateText = s => {
  const list = [word('status', s.status)]
  if (s.result) list.push(word('result', s.result))
  if (s.unverified) list.push(t('unverified'))
  if (s.forced) list.push(t('forced'))
  if (s.skipWanted) list.push(t('skipWanted'))
  if (s.retries) list.push(t('retriesOf', s.retries, s.maxRetries))
  if (s.crashes) list.push(t('crashes', s.crashes))
  return list.join(' · ')
}

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`

export const Section = ({ id, title, note, children }) => html`
  <section class="card" aria-labelledby=${id}>
    <h3 id=${id}>${title}${note && html` <small>${note}</small>`}</h3>
    ${children}
  </section>`

const heading = s => s.charAt(0).toUpperCase() + s.slice(1)

// A table of rows [key, head, cell…]. On a narrow page each row is a card, its cells
// under their names; the roles say that it still is a table, which browsers forget then.
export const Table = ({ label, head, rows }) => html`<div class="scroll" tabindex="0" role="region" aria-labelledby=${label}><table role="table">
    <thead role="rowgroup"><tr role="row">${head.map(h => html`<th key=${h} role="columnheader" scope="col">${heading(h)}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map(([key, first, ...cells]) => html`<tr key=${key} role="row"><th role="rowheader" scope="row">${first}</th>
      ${cells.map((c, i) => html`<td key=${i} role="cell" data-name=${heading(head[i + 1])} class=${c === '' || c == null ? 'none' : ''}>${c}</td>`)}</tr>`)}</tbody></table></div>`
