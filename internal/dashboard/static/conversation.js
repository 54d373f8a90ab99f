// A session's conversation: turns from the newest on, tools folded, compactions as bars
// across the page. Older pages come when they are asked for.
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js'
import { get } from './api.js'
import { Lazy } from './session.js'
import { Badge, clock, Empty, number, short, t, when, word } from './ui.js'

// Calls and their results that follow one another are one fold.
const folded = pieces => {
  const rows = []
  for (const p of pieces) {
    const tool = p.kind === 'call' || p.kind === 'result' || p.kind === 'host'
    if (tool && rows.length > 0 && rows[rows.length - 1].tools) rows[rows.length - 1].tools.push(p)
    else rows.push(tool ? { key: p.key, tools: [p] } : p)
  }
  return rows
}

export function Conversation({ detail }) {
  const d = detail, i = d.info || {}
  const [pages, setPages] = useState(null), [error, setError] = useState(''), [busy, setBusy] = useState(false), [q, setQ] = useState(''), [help, setHelp] = useState(false), [open, setOpen] = useState(false)
  const page = useRef(null)
  const load = (before, signal) => get('conversation', { id: d.id, before }, signal).then(c => {
    const pieces = c.pieces.map((p, n) => ({ ...p, key: p.off + '.' + n }))
    setPages(old => before === '' ? { from: c.from, pieces } : { from: c.from, pieces: [...pieces, ...old.pieces] })
    setError('')
  }, e => signal && signal.aborted || setError(e.message))
  useEffect(() => { const stop = new AbortController(); setPages(null); load('', stop.signal); return () => stop.abort() }, [d.id])
  // Lines that are written meanwhile join at the end; what was loaded stays.
  useEffect(() => {
    if (!pages) return
    const stop = new AbortController()
    get('conversation', { id: d.id }, stop.signal).then(c => setPages(old => {
      if (!old) return old
      const last = old.pieces.length > 0 ? old.pieces[old.pieces.length - 1].off : -1
      const fresh = c.pieces.filter(p => p.off > last)
      return fresh.length === 0 ? old : { ...old, pieces: [...old.pieces, ...fresh.map((p, n) => ({ ...p, key: p.off + '.' + n }))] }
    }), () => { /* the next change asks again */ })
    return () => stop.abort()
  }, [i.modified])
  const older = () => { setBusy(true); load(pages.from).then(() => setBusy(false)) }
  useEffect(() => {
    const on = e => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return
      const turns = page.current ? [...page.current.querySelectorAll('.piece.user')] : []
      const at = turns.findIndex(x => x.contains(document.activeElement))
      const step = { j: 1, k: -1 }[e.key]
      if (step && turns.length > 0) {
        const next = turns[at < 0 ? (step > 0 ? 0 : turns.length - 1) : Math.max(0, Math.min(turns.length - 1, at + step))]
        e.preventDefault()
        next.focus()
      } else if (e.key === 't') setOpen(x => !x)
      else if (e.key === '?') setHelp(x => !x)
    }
    addEventListener('keydown', on)
    return () => removeEventListener('keydown', on)
  }, [])
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const has = p => words.every(w => (p.text + ' ' + (p.tool || '')).toLowerCase().includes(w))
  const list = !pages ? [] : words.length > 0 ? pages.pieces.filter(has) : pages.pieces
  // One of the two may tell whole seconds only.
  const nth = p => d.compactions.find(c => c.ts && p.ts && Math.abs(new Date(c.ts) - new Date(p.ts)) < 1000)
  return html`<header class="head">
      <a class="up" href=${'#/s/' + encodeURIComponent(d.id)}>‹ ${t('backToSession')}</a>
      <h2 id="title" tabindex="-1">${i.title ? short(i.title, 240) : d.id}</h2>
    </header>
    <section class="card conversation" aria-labelledby="title">
      <div class="filters"><label class="grow"><span class="hidden">${t('searchHere')}</span><input type="search" placeholder=${t('searchHere')} value=${q} onInput=${e => setQ(e.currentTarget.value)} /></label>
        <button type="button" aria-pressed=${open} onClick=${() => setOpen(x => !x)}>${t('showTools')}</button></div>
      ${help && html`<p class="quiet" role="status">${t('keysHere')}</p>`}
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${!pages && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
      ${pages && pages.from > 0 && html`<p><button type="button" disabled=${busy} onClick=${older}>${t(busy ? 'loading' : 'older')}</button></p>`}
      ${pages && words.length > 0 && html`<p class="quiet" role="status">${t('foundHere', number(list.length), number(pages.pieces.length))}</p>`}
      ${pages && list.length === 0 && html`<${Empty}>${t('noMatch')}</>`}
      <ol class="pieces" ref=${page}>${folded(list).map(p => p.tools ? html`<${Tools} key=${p.key + open} id=${d.id} list=${p.tools} open=${open || words.length > 0} />`
        : p.kind === 'compacted' ? html`<li key=${p.key} class="piece compacted">${nth(p) ? html`<${Lazy} id=${d.id} n=${nth(p).n} given=${nth(p).packet != null} summary=${html`<b>${t('compactedHere', nth(p).n)}</b> ${p.ts && when(p.ts)}`} />` : html`<b>${t('compactedHere', '')}</b> ${p.ts && when(p.ts)}`}</li>`
        : html`<li key=${p.key} class="piece ${p.kind}" tabindex=${p.kind === 'user' ? '0' : undefined}>
          <p class="chips"><${Badge} kind=${p.kind === 'user' ? 'host' : ''}>${word('piece', p.kind)}</>${p.how && html`<${Badge}>${word('said', p.how)}</>`}${p.ts && html`<time datetime=${p.ts} title=${when(p.ts)}>${clock(p.ts)}</time>`}</p>
          <${Text} id=${d.id} p=${p} /></li>`)}</ol>
    </section>`
}

function Tools({ id, list, open }) {
  const names = [...new Set(list.map(p => p.tool).filter(Boolean))], bad = list.filter(p => p.bad).length
  return html`<li class="piece tools"><details open=${open}><summary>${t('toolsN', number(list.filter(p => p.kind === 'call').length))} ${names.map(n => html`<code key=${n}>${short(n, 40)}</code> `)}${bad > 0 && html`<${Badge} kind="bad">${t('badN', number(bad))}</>`}</summary>
    ${list.map(p => html`<div key=${p.key} class="tool ${p.bad ? 'bad' : ''}"><small>${word('piece', p.kind)} ${p.tool || ''}</small><${Text} id=${id} p=${p} /></div>`)}
  </details></li>`
}

// Text is a piece's own words; of a long one the rest is fetched when it is asked for.
function Text({ id, p }) {
  const [whole, setWhole] = useState(null), [error, setError] = useState('')
  const ask = () => get('conversation', { id, at: p.off }).then(c => setWhole((c.pieces.find(x => x.kind === p.kind && x.text.startsWith(p.text.slice(0, 200))) || p).text), e => setError(e.message))
  return html`<div class="said">${whole || p.text}</div>
    ${p.cut > 0 && whole == null && html`<p class="quiet"><button type="button" onClick=${ask}>${t('wholeN', number(p.cut))}</button> ${error}</p>`}`
}
