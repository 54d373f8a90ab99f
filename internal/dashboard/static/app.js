// The page: list, route, connection, language and theme.
import { html, render, useEffect, useMemo, useRef, useState } from './vendor/htm-preact.js'
import { get, joinTabs, language, live, speak } from './api.js'
import { Audit, Days, Heat, Sessions } from './audit.js'
import { Conversation } from './conversation.js'
import { Fleet } from './fleet.js'
import { Recall } from './recall.js'
import { Gauge, Session } from './session.js'
import { ago, Badge, bytes, Empty, keys, learn, money, number, project, Section, short, t, tokens, useTick } from './ui.js'

const tabs = joinTabs()
const plain = text => { try { return decodeURIComponent(text) } catch { return text } }
const route = () => {
  const [, page, id, place] = location.hash.match(/^#\/?(\w*)\/?([^/]*)\/?(L?[\d.]+)?/) || []
  const own = { s: 'session', c: 'conversation' }[page]
  return { page: own && id ? own : page || 'sessions', id: own ? plain(id) : '', about: own ? '' : plain(id || ''), place }
}
function useRoute() {
  const [r, set] = useState(route)
  useEffect(() => { const on = () => set(route()); addEventListener('hashchange', on); return () => removeEventListener('hashchange', on) }, [])
  return r
}

const order = (a, b) => ((b.work && b.work.active ? 1 : 0) - (a.work && a.work.active ? 1 : 0)) || (stamp(b) > stamp(a) ? 1 : stamp(b) < stamp(a) ? -1 : 0)
const stamp = r => r.info ? r.info.modified : ''
// What was written to within ten minutes, or runs a workflow, is at work. A clone that nobody
// used is not: what happened in it is told by its source.
const atWork = r => !r.unused && (r.work && r.work.active || Date.now() - new Date(stamp(r)) < 6e5)
const used = rows => rows.filter(r => !r.unused)
const andClones = (text, rows) => rows.length > used(rows).length ? t('andClones', text, number(rows.length - used(rows).length)) : text

function App() {
  const here = useRoute()
  const [state, setState] = useState(null), [rows, setRows] = useState(null), [details, setDetails] = useState({})
  const [link, setLink] = useState('lost'), [error, setError] = useState(''), [spoken, setSpoken] = useState(language())
  const [report, setReport] = useState(null), [help, setHelp] = useState(false)
  const version = useRef(0)

  useEffect(() => {
    tabs.then(() => get('state')).then(s => {
      learn(s.texts)
      document.documentElement.lang = s.lang
      setState(s)
    }, e => setError(e.status === 401 ? 'token' : e.message))
  }, [spoken])

  // One list and one stream; what the stream tells is new against this list.
  useEffect(() => {
    if (!state || rows) return
    get('sessions').then(x => { version.current = x.version; setRows(x.sessions) }, e => setError(e.message))
  }, [state])
  const ready = state != null && rows != null
  // The session that is looked at, or those at work: the stream tells of each whatever happens.
  const watched = !ready ? '' : here.id || (here.page === 'sessions' ? rows.filter(atWork).slice(0, 6).map(r => r.id).sort().join(' ') : '')
  const detail = details[here.id]
  useEffect(() => {
    if (!ready) return
    setDetails({})
    return live(() => ({ session: watched, since: version.current }), (event, data) => {
      if (event === 'session') setDetails(old => ({ ...old, [data.id]: data }))
      if (event === 'sessions') {
        version.current = data.version
        setRows(old => {
          const map = new Map(old.map(r => [r.id, r]))
          for (const id of data.gone) map.delete(id)
          for (const r of data.changed) map.set(r.id, r)
          return [...map.values()].sort(order)
        })
      }
    }, setLink)
  }, [ready, watched, spoken])
  // What was spent is told beside each session, where it is known.
  const priced = ready && state.audit && (here.page === 'sessions' || here.id !== '')
  useEffect(() => {
    if (!priced) return
    const stop = new AbortController()
    get('audit', { since: '' }, stop.signal).then(setReport, () => { /* the audit's own page tells why */ })
    return () => stop.abort()
  }, [priced, here.page, spoken])
  const costs = (report || {}).costs || {}

  // Whoever follows a link with the keyboard or by ear lands on the new heading.
  const place = here.page + here.id, landed = useRef(place)
  useEffect(() => {
    if (landed.current === place || here.id && !detail) return
    landed.current = place
    if (here.page === 'session') { const h = document.getElementById('title'); h && h.focus() }
  }, [place, !detail])
  useEffect(() => { if (here.page !== 'conversation') scrollTo(0, 0) }, [here.page, here.id])
  useEffect(() => { document.title = (detail && here.id ? ((detail.info || {}).title || here.id) + ' · ' : '') + 'Overtone' }, [detail, here.id])
  // The session before or after this one in the list.
  const step = by => {
    const all = [...document.querySelectorAll('.list ul a')], next = all[all.findIndex(a => a.getAttribute('aria-current') === 'true') + by]
    if (next) location.hash = next.getAttribute('href').replace('#/s/', here.page === 'conversation' ? '#/c/' : '#/s/')
  }
  useEffect(() => keys({
    '[': () => step(-1), ']': () => step(1), '?': () => setHelp(true),
    '/': () => { const box = document.querySelector('main input[type=search]') || document.querySelector('input[type=search]'); box && box.focus() },
  }), [here.page])

  if (error) return html`<main class="lonely"><h1>Overtone</h1><p role="alert">${error === 'token'
    ? 'This page needs the link that “overtone dashboard” printed in the terminal. · 請使用 overtone dashboard 在終端機印出的連結開啟此頁。' : error}</p></main>`
  if (!ready) return html`<main class="lonely"><h1>Overtone</h1><p role="status">…</p></main>`
  const hosts = [...new Set(rows.map(r => r.info && r.info.host).filter(Boolean))].sort()
  const list = !['recall', 'audit', 'fleet'].includes(here.page), row = rows.find(r => r.id === here.id)
  return html`
    <a class="skip" href="#main" onClick=${e => { e.preventDefault(); document.getElementById('main').focus() }}>${t('skip')}</a>
    <${Top} here=${here} state=${state} link=${link} help=${() => setHelp(true)} say=${l => { speak(l); setSpoken(l) }} />
    <div class="frame ${list ? 'two' : 'one'} ${here.id ? 'looking' : ''}">
      ${list && html`<${List} rows=${rows} hosts=${hosts} id=${here.id} costs=${costs} />`}
      <main id="main" tabindex="-1">
        ${here.page === 'recall' && html`<${Recall} hosts=${hosts} words=${here.about} />`}
        ${here.page === 'audit' && state.audit && html`<${Audit} since=${here.about} />`}
        ${here.page === 'fleet' && state.fleet && html`<${Fleet} />`}
        ${here.id && (!row ? html`<p class="quiet pad" role="status">${t('noSuchSession')}</p>`
          : here.page === 'conversation' ? html`<${Conversation} key=${here.id} id=${here.id} info=${row.info || {}} place=${here.place} compactions=${detail ? detail.compactions : []} />`
            : detail ? html`<${Session} detail=${detail} state=${state} cost=${costs[here.id]} />` : html`<p class="quiet pad" role="status">${t('loading')}</p>`)}
        ${(here.page === 'sessions' || !pages.has(here.page) || here.page === 'fleet' && !state.fleet || here.page === 'audit' && !state.audit) && html`<${Welcome} rows=${rows} state=${state} details=${details} report=${report} />`}
      </main>
    </div>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`
}

function Help({ close }) {
  const box = useRef(null)
  useEffect(() => box.current.showModal(), [])
  return html`<dialog ref=${box} class="card" aria-labelledby="keys" onClose=${close} onClick=${e => e.target === box.current && close()}>
    <h3 id="keys">${t('keys')}</h3>
    <dl class="keys">${[['j k', 'turns'], ['[ ]', 'sessions'], ['/', 'search'], ['t', 'thoughts'], ['o', 'tools'], ['e', 'save'], ['↑ ↓', 'list'], ['?', 'help']].map(([k, what]) => html`<div key=${what}><dt>${k.split(' ').map(x => html`<kbd key=${x}>${x}</kbd> `)}</dt><dd>${t('keys.' + what)}</dd></div>`)}</dl>
    <button type="button" onClick=${close}>${t('close')}</button>
  </dialog>`
}

function Top({ here, state, link, help, say }) {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || 'auto')
  const turn = next => {
    setTheme(next)
    if (next === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try { next === 'auto' ? localStorage.removeItem('overtone.theme') : localStorage.setItem('overtone.theme', next) } catch { /* storage may be off */ }
    dispatchEvent(new Event('overtone-theme'))
  }
  const item = (page, href) => html`<a href=${href} aria-current=${here.page === page || page === 'sessions' && here.id ? 'page' : undefined}>${t('nav.' + page)}</a>`
  return html`<header class="top">
    <h1><img src="icon.svg" alt="" width="22" height="22" /> Overtone</h1>
    <nav aria-label=${t('nav')}>${item('sessions', '#/')}${item('recall', '#/recall')}${state.audit && item('audit', '#/audit')}${state.fleet && item('fleet', '#/fleet')}</nav>
    <p class="link ${link}" role="status"><span class="pulse" aria-hidden="true"></span>${t('link.' + link)}</p>
    <div class="choices">
      <button type="button" class="plain" aria-label=${t('keys')} onClick=${help}>?</button>
      <label><span class="hidden">${t('language')}</span><select value=${state.lang} onChange=${e => say(e.currentTarget.value)}><option value="en">English</option><option value="zh-TW">繁體中文</option></select></label>
      <label><span class="hidden">${t('theme')}</span><select value=${theme} onChange=${e => turn(e.currentTarget.value)}>${['auto', 'light', 'dark'].map(k => html`<option key=${k} value=${k}>${t('theme.' + k)}</option>`)}</select></label>
    </div>
  </header>`
}

const pages = new Set(['session', 'conversation', 'sessions', 'recall', 'audit', 'fleet'])
const page = 80

function List({ rows, hosts, id, costs }) {
  useTick(30000)
  const [q, setQ] = useState(''), [host, setHost] = useState(''), [only, setOnly] = useState(''), [shown, setShown] = useState(page)
  const text = useMemo(() => new Map(rows.map(r => [r, `${r.id} ${r.info ? r.info.title + ' ' + r.info.project : ''} ${r.work ? r.work.type : ''}`.toLowerCase()])), [rows])
  const found = useMemo(() => {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    return rows.filter(r => (!host || r.info && r.info.host === host) && (!only || (only === 'active' ? r.work && r.work.active : only === 'work' ? r.work : r.info && r.info.compactions > 0)) && words.every(w => text.get(r).includes(w)))
  }, [rows, q, host, only])
  useEffect(() => setShown(page), [q, host, only])
  const move = e => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (!step) return
    const all = [...e.currentTarget.querySelectorAll('a')], i = all.indexOf(document.activeElement)
    if (i >= 0 && all[i + step]) { e.preventDefault(); all[i + step].focus() }
  }
  return html`<aside class="list" aria-label=${t('nav.sessions')}>
    <div class="filters">
      <label class="grow"><span class="hidden">${t('filterSessions')}</span><input type="search" placeholder=${t('filterSessions')} value=${q} onInput=${e => setQ(e.currentTarget.value)} /></label>
      <label><span class="hidden">${t('host')}</span><select value=${host} onChange=${e => setHost(e.currentTarget.value)}><option value="">${t('allHosts')}</option>${hosts.map(h => html`<option key=${h} value=${h}>${h}</option>`)}</select></label>
      <label><span class="hidden">${t('which')}</span><select value=${only} onChange=${e => setOnly(e.currentTarget.value)}>${['', 'active', 'work', 'compacted'].map(k => html`<option key=${k} value=${k}>${t('which.' + (k || 'all'))}</option>`)}</select></label>
    </div>
    <p class="quiet count" role="status">${andClones(t('sessionsN', number(used(found).length), number(used(rows).length)), found)}</p>
    ${found.length === 0 && html`<${Empty}>${t(rows.length ? 'noMatch' : 'noSessions')}</>`}
    <ul onKeyDown=${move}>${found.slice(0, shown).map(r => html`<${Item} key=${r.id} r=${r} on=${r.id === id} cost=${costs[r.id]} />`)}</ul>
    ${found.length > shown && html`<button type="button" onClick=${() => setShown(n => n + page)}>${t('showMore', number(found.length - shown))}</button>`}
  </aside>`
}

function Item({ r, on, cost }) {
  const i = r.info || {}, w = r.work
  return html`<li><a href=${'#/s/' + encodeURIComponent(r.id)} aria-current=${on ? 'true' : undefined}>
    <span class="name">${w && w.active && html`<span class="pulse" role="img" aria-label=${t('which.active')}></span>`}${i.title ? short(i.title, 120) : short(r.id, 40)}</span>
    <span class="meta"><${Badge} kind="host">${i.host || t('oursOnly')}</>${i.project && html`<span class="project">${project(i.project)}</span>`}${i.modified && html`<span>${ago(i.modified)}</span>`}</span>
    <span class="meta">${i.liveTokens > 0 && html`<span>${i.estimated ? '~' : ''}${t('tokensN', tokens(i.liveTokens))}</span>`}${i.compactions > 0 && html`<span>${t('compactedN', i.compactions)}</span>`}${cost && cost.usd != null && html`<span>${money(cost)}</span>`}${i.cloneOf && html`<${Badge}>${t('clone')}</>`}</span>
    ${w && html`<span class="meta"><span class="bar" aria-hidden="true"><svg viewBox="0 0 100 4" preserveAspectRatio="none"><rect width="100" height="4" class="room" /><rect width=${w.total ? 100 * w.done / w.total : 0} height="4" class=${w.failed ? 'warned' : 'done'} /></svg></span><span>${w.type} ${w.done}/${w.total}${w.active && w.stage ? ' · ' + w.stage : ''}</span>${w.unverified > 0 && html`<${Badge} kind="warn">${t('unverifiedN', w.unverified)}</>`}</span>`}
  </a></li>`
}

function Welcome({ rows, state, details, report }) {
  useTick(30000)
  const working = rows.filter(atWork)
  const compactions = used(rows).reduce((n, r) => n + (r.info ? r.info.compactions : 0), 0)
  const size = rows.reduce((n, r) => n + (r.info ? r.info.size : 0), 0)
  return html`<section class="card page welcome" aria-labelledby="title">
    <h2 id="title" tabindex="-1">${t('welcome')}</h2>
    <dl class="tiles">
      <div><dt>${andClones(t('nav.sessions'), rows)}</dt><dd>${number(used(rows).length)}</dd></div>
      <div><dt>${t('atWork')}</dt><dd>${number(working.length)}</dd></div>
      <div><dt>${t('compactions')}</dt><dd>${number(compactions)}</dd></div>
      ${report && report.totals.usd != null ? html`<div><dt>${t('listPrice')}</dt><dd>${money(report.totals)}</dd></div>` : html`<div><dt>${t('onDisk')}</dt><dd>${bytes(size)}</dd></div>`}
    </dl>
    <p>${t(rows.length ? 'pickOne' : 'noSessions')}</p>
  </section>
  ${rows.length > 0 && html`<${Section} id="w-work" title=${t('atWork')}>
    ${working.length === 0 ? html`<${Empty}>${t('nothingAtWork')}</>` : html`<ul class="working">${working.slice(0, 6).map(r => html`<${Working} key=${r.id} r=${r} d=${details[r.id]} tiers=${state.tiers} />`)}</ul>`}
    ${working.length > 6 && html`<p class="quiet">${t('more', number(working.length - 6))}</p>`}
  </>`}
  ${state.audit && rows.length > 0 && html`<${Short} r=${report} />`}`
}

// Working is a session at work, live: how full it is, where it stands, the newest words.
function Working({ r, d, tiers }) {
  const i = r.info || {}, s = d && d.situation, id = encodeURIComponent(r.id)
  return html`<li>
    <p><span class="pulse" aria-hidden="true"></span><a href=${'#/s/' + id}>${short(i.title || r.id, 100)}</a></p>
    <p class="meta"><${Badge} kind="host">${i.host || t('oursOnly')}</>${i.project && html`<span class="project">${project(i.project)}</span>`}${i.modified && html`<span>${ago(i.modified)}</span>`}${i.host && html`<a href=${'#/c/' + id}>${t('conversation')}</a>`}</p>
    ${d && d.decision && html`<${Gauge} x=${d.decision} tiers=${tiers} />`}
    ${s && s.request && html`<p class="said">${short(s.request, 160)}</p>`}${d && d.stands && html`<p class="quiet">${d.stands}</p>`}
    ${r.work && html`<p class="chips"><span>${r.work.type} ${r.work.done}/${r.work.total}</span>${r.work.stage && html`<${Badge} kind="live">${r.work.stage}</>`}${r.work.unverified > 0 && html`<${Badge} kind="warn">${t('unverifiedN', r.work.unverified)}</>`}</p>`}
  </li>`
}

// Short is the audit in two sentences, for those who have not asked for it yet.
function Short({ r }) {
  const x = r && r.totals
  return html`<${Section} id="w-short" title=${t('inShort')}>
    ${!x ? html`<p class="quiet" role="status">${t('auditing')}</p>` : html`
      ${x.compactions === 0 ? html`<p>${t('short.none')}</p>` : r.told.short.map(line => html`<p key=${line} class="gap">${line}</p>`)}
      <p class="gap"><a href="#/audit">${t('short.more')}</a></p>`}
  </>
  ${x && x.sessions > 0 && html`<div class="roomy">
    <${Section} id="w-heat" title=${t('heat')}><${Heat} days=${r.days || []} /></>
    <${Section} id="w-days" title=${t('byDay')}><${Days} days=${r.days || []} label="w-days" /></>
    ${x.compactions > 0 && html`<${Section} id="w-most" title=${t('mostCompacted')}><${Sessions} list=${(r.sessions || []).slice(0, 8)} linked=${true} label="w-most" /></>`}
  </div>`}`
}

render(html`<${App} />`, document.getElementById('app'))
