// A session's conversation: turns in their order, tools and thoughts folded, compactions as
// bars across the page. It opens at its end or at a place in it; the pages before and after
// come while one scrolls, and those that are far away go again.
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js'
import { fetchFile, get } from './api.js'
import { Lazy } from './session.js'
import { Badge, clock, Empty, keys, number, short, t, tokens, when, word } from './ui.js'

const most = 450 // pieces that are kept
const link = (id, place) => `#/c/${encodeURIComponent(id)}${place == null ? '' : '/' + place}`

// Where a piece is: its line, and its number in that.
const keyed = pieces => pieces.map(p => ({ ...p, key: p.off + '.' + p.n }))
// Of too many pieces those at one end go, whole lines of them.
const trim = (page, end) => {
  const all = page.pieces
  if (all.length <= most) return page
  if (end) {
    const last = all[most].off, pieces = all.filter(p => p.off < last)
    return { ...page, pieces, to: last, more: true }
  }
  const first = all[all.length - most].off
  return { ...page, pieces: all.filter(p => p.off >= first), from: first }
}

// Calls, their results and thoughts that follow one another are one fold; thoughts stand by
// themselves where somebody wants to read them.
const folded = (pieces, thoughts) => {
  const rows = []
  for (const p of pieces) {
    const tool = p.kind === 'call' || p.kind === 'result' || p.kind === 'host' || p.kind === 'thought' && !thoughts
    if (tool && rows.length > 0 && rows[rows.length - 1].tools) rows[rows.length - 1].tools.push(p)
    else rows.push(tool ? { key: p.key, tools: [p] } : p)
  }
  return rows
}

export function Conversation({ id, info, place, compactions }) {
  const [page, setPage] = useState(null), [error, setError] = useState(''), [busy, setBusy] = useState(false), [q, setQ] = useState(''), [found, setFound] = useState(null)
  const [tools, setTools] = useState(false), [thoughts, setThoughts] = useState(false), [saving, setSaving] = useState(false)
  const box = useRef(null), rest = useRef(null), asked = useRef(null), told = useRef(null)
  const failed = signal => e => signal && signal.aborted || setError(e.message)
  useEffect(() => {
    const stop = new AbortController()
    asked.current = null
    setPage(null); setQ(''); setError(''); setBusy(false)
    get('conversation', { id, from: place && place.split('.')[0] }, stop.signal).then(c => { rest.current = place == null ? 'end' : 'place'; setPage({ ...c, pieces: keyed(c.pieces) }) }, failed(stop.signal))
    return () => stop.abort()
  }, [id, place])
  const older = () => load({ before: page.from }, c => old => {
    rest.current = document.documentElement.scrollHeight - scrollY
    return trim({ ...old, from: c.from, pieces: [...keyed(c.pieces), ...old.pieces] }, true)
  })
  const newer = () => load({ from: page.to }, c => old => {
    const low = innerHeight + scrollY > document.documentElement.scrollHeight - 200
    const next = trim({ ...old, to: c.to, more: c.more, pieces: [...old.pieces, ...keyed(c.pieces)] }, false)
    rest.current = next.from !== old.from ? document.documentElement.scrollHeight - scrollY : low && !old.more ? 'end' : null
    return c.pieces.length > 0 ? next : { ...old, more: c.more }
  })
  const load = (where, join) => {
    if (asked.current) return
    const mine = asked.current = {} // what comes after one has gone elsewhere is nobody's
    setBusy(true)
    get('conversation', { id, ...where }).then(c => mine === asked.current && setPage(join(c)), failed()).then(() => { if (mine === asked.current) { asked.current = null; setBusy(false) } })
  }
  // Lines that are written meanwhile join at the end, if the end is shown.
  useEffect(() => { if (page && !page.more && !busy && told.current !== info.size) { told.current = info.size; newer() } }, [page, busy, info.size])
  // What was in view stays there, whatever is put before it.
  useLayoutEffect(() => {
    const to = rest.current
    if (!page || found || to == null) return
    rest.current = null
    if (to === 'end') { scrollTo(0, document.documentElement.scrollHeight); !box.current.contains(document.activeElement) && document.getElementById('title').focus({ preventScroll: true }) }
    else if (to === 'place') { const at = box.current.querySelector('.here'); at && (at.scrollIntoView({ block: 'center' }), at.focus({ preventScroll: true })) }
    else scrollTo(0, document.documentElement.scrollHeight - to)
  }, [page, found])
  // What was found begins at the top, and behind it stands what was there before.
  useEffect(() => { if (found) { rest.current = document.documentElement.scrollHeight - scrollY; scrollTo(0, 0) } }, [found != null])
  useEffect(() => {
    const words = q.trim()
    if (!words) return setFound(null)
    const stop = new AbortController()
    const wait = setTimeout(() => get('conversation', { id, q: words }, stop.signal).then(c => { setError(''); setFound({ ...c, pieces: keyed(c.pieces) }) }, failed(stop.signal)), 200)
    return () => { clearTimeout(wait); stop.abort() }
  }, [q, id])
  const save = () => { setSaving(true); fetchFile('export', { id }, `${id}.html`).catch(failed()).then(() => setSaving(false)) }
  useEffect(() => keys({
    t: () => setThoughts(x => !x), o: () => setTools(x => !x), e: save,
    j: () => turn(1), k: () => turn(-1),
  }))
  // The turn after or before the one that has the focus, or that stands at the top.
  const turn = step => {
    const all = [...box.current.querySelectorAll('.piece.user')], at = all.findIndex(x => x.contains(document.activeElement))
    const top = all.filter(x => x.getBoundingClientRect().top < 150).length
    const next = all[at >= 0 ? at + step : step > 0 ? top : top - 1]
    if (next) next.focus({ preventScroll: true }), next.scrollIntoView({ block: 'start' })
    else if (step < 0 && page.from > 0) older()
  }
  const rows = page ? folded(page.pieces, thoughts) : []
  const here = place == null || !page ? null : page.pieces.find(p => p.key === place) || page.pieces[0]
  const isHere = r => here && (r.tools ? r.tools.includes(here) : r === here)
  return html`<header class="head">
      <a class="up" href=${'#/s/' + encodeURIComponent(id)}>‹ ${t('backToSession')}</a>
      <h2 id="title" tabindex="-1">${info.title ? short(info.title, 240) : id}</h2>
    </header>
    <section class="card conversation" aria-labelledby="title">
      <div class="filters bar-top"><label class="grow"><span class="hidden">${t('searchHere')}</span><input type="search" placeholder=${t('searchHere')} value=${q} onInput=${e => setQ(e.currentTarget.value)} /></label>
        <a class="button" href=${link(id, 0)} aria-label=${t('beginning')} title=${t('beginning')}>⇤</a><a class="button" href=${link(id)} aria-label=${t('newest')} title=${t('newest')}>⇥</a>
        <button type="button" class="plain" aria-pressed=${tools} onClick=${() => setTools(x => !x)}>${t('showTools')}</button>
        <button type="button" class="plain" aria-pressed=${thoughts} onClick=${() => setThoughts(x => !x)}>${t('showThoughts')}</button>
        <button type="button" class="plain" disabled=${saving} onClick=${save}>${t(saving ? 'saving' : 'saveIt')}</button></div>
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${!page && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
      ${found ? html`<p class="quiet" role="status">${found.total > found.pieces.length ? t('foundLast', number(found.pieces.length), number(found.total)) : t('foundHere', number(found.pieces.length))}</p>
        <ol class="pieces hits">${found.pieces.map(p => html`<li key=${p.key} class="piece"><p class="chips"><${Badge}>${word('piece', p.kind)}</>${p.tool && html`<code>${short(p.tool, 40)}</code>`}<a href=${link(id, p.key)}>${p.ts ? when(p.ts) : t('openSession')}</a></p>
          <p class="snippet"><${Marked} text=${p.text} words=${q} /></p></li>`)}</ol>`
        : page && html`${page.from > 0 && html`<${More} busy=${busy} on=${older} label=${t('older')} />`}
          ${page.pieces.length === 0 && html`<${Empty}>${t('none')}</>`}
          <ol class="pieces" ref=${box}>${rows.map(p => p.tools ? html`<${Tools} key=${p.key + tools} id=${id} list=${p.tools} open=${tools || isHere(p)} here=${isHere(p)} />`
            : html`<${Piece} key=${p.key} id=${id} p=${p} here=${isHere(p)} compactions=${compactions} />`)}</ol>
          ${page.more && html`<${More} busy=${busy} on=${newer} label=${t('newer')} />`}`}
    </section>`
}

// More asks for a page as soon as it comes near.
function More({ busy, on, label }) {
  const me = useRef(null), ask = useRef(on)
  ask.current = on
  useEffect(() => {
    if (busy) return
    const seen = new IntersectionObserver(list => list.some(x => x.isIntersecting) && ask.current(), { rootMargin: '300px' })
    seen.observe(me.current)
    return () => seen.disconnect()
  }, [busy])
  return html`<p ref=${me}><button type="button" class="plain" disabled=${busy} onClick=${on}>${busy ? t('loading') : label}</button></p>`
}

function Piece({ id, p, here, compactions }) {
  const clocked = p.ts && html`<time datetime=${p.ts} title=${when(p.ts)}>${p.kind === 'user' ? when(p.ts) : clock(p.ts)}</time>`, time = p.ts && html`<a class="time" href=${link(id, p.key)}>${clocked}</a>`
  if (p.kind === 'compacted') return html`<li class="piece compacted ${here ? 'here' : ''}" tabindex="-1"><${Lazy} query=${{ id, at: p.off }} given=${n => compactions.some(c => c.n === n && c.packet != null)} summary=${html`<b>${t('piece.compacted')}</b>
    ${p.trigger && html`<${Badge}>${word('trigger', p.trigger)}</>`} ${p.before > 0 && html`<span class="sizes">${t('tokensN', tokens(p.before) + (p.after > 0 ? ' → ' + tokens(p.after) : ''))}</span>`} ${clocked}`}>${p.ts && html`<p><a class="time" href=${link(id, p.key)}>${when(p.ts)}</a></p>`}</></li>`
  if (p.kind === 'summary') return html`<li class="piece summary ${here ? 'here' : ''}" tabindex="-1"><details open=${here}><summary>${word('piece', p.kind)} ${clocked}</summary><${Text} id=${id} p=${p} /></details></li>`
  return html`<li class="piece ${p.kind} ${here ? 'here' : ''}" tabindex=${p.kind === 'user' ? '0' : '-1'}>
    <p class="chips"><b>${word('piece', p.kind)}</b>${p.how && html`<${Badge}>${word('said', p.how)}</>`}${time}</p>
    <${Text} id=${id} p=${p} /></li>`
}

function Tools({ id, list, open, here }) {
  const names = new Map(), bad = list.filter(p => p.bad).length
  for (const p of list) if (p.kind === 'call') names.set(p.tool, (names.get(p.tool) || 0) + 1)
  const other = word('piece', list.some(p => p.kind === 'thought') ? 'thought' : 'host')
  return html`<li class="piece tools ${here ? 'here' : ''}" tabindex="-1"><details open=${open}><summary>${names.size === 0 && other}${[...names].map(([n, k]) => html`<code key=${n}>${short(n, 40)}</code>${k > 1 && ' ×' + k} `)}${bad > 0 && html`<${Badge} kind="bad">${t('badN', number(bad))}</>`}</summary>
    ${list.map(p => html`<div key=${p.key} class="tool ${p.kind} ${p.bad ? 'bad' : ''}"><small>${word('piece', p.kind)} ${p.tool || ''} <a class="time" href=${link(id, p.key)}>${p.ts && clock(p.ts)}</a></small><${Text} id=${id} p=${p} /></div>`)}
  </details></li>`
}

// Text is a piece's own words; of a long one the rest is fetched when it is asked for.
function Text({ id, p }) {
  const [whole, setWhole] = useState(null), [error, setError] = useState('')
  const ask = () => get('conversation', { id, at: p.off }).then(c => setWhole((keyed(c.pieces).find(x => x.key === p.key) || p).text), e => setError(e.message))
  return html`<div class="said">${whole || p.text}</div>
    ${p.cut > 0 && whole == null && html`<p class="quiet"><button type="button" class="plain" onClick=${ask}>${t('wholeN', number(p.cut))}</button> ${error}</p>`}`
}

// The words that were looked for stand out.
function Marked({ text, words }) {
  const list = words.split(/\s+/).filter(Boolean).map(w => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.split(new RegExp(`(${list.join('|')})`, 'i')).map((s, i) => i % 2 ? html`<mark>${s}</mark>` : s)
}
