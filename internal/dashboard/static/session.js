// One session: what is decided about it, its workflow, its context, what its
// compactions kept, its timeline.
import { html, useEffect, useState } from './vendor/htm-preact.js'
import { get } from './api.js'
import { Context } from './chart.js'
import { Graph } from './graph.js'
import { Badge, clock, Empty, mark, money, number, project, Section, short, span, stateClass, stateText, t, Table, tokens, useTick, when, word } from './ui.js'

export function Session({ detail, state, cost }) {
  useTick(1000)
  const d = detail, i = d.info || {}
  return html`
    <header class="head">
      <a class="up" href="#/">‹ ${t('nav.sessions')}</a>
      <h2 id="title" tabindex="-1">${i.title ? short(i.title, 240) : d.id}</h2>
      <p class="chips">
        <${Badge} kind="host">${i.host || t('oursOnly')}</>
        ${i.project && html`<span title=${i.project}>${project(i.project)}</span>`}
        ${d.context.model && html`<span>${d.context.model}</span>`}
        ${cost && html`<span class="cost" title=${t('listPrice')}>${money(cost)} <small>${t('listPrice')}</small></span>`}
        ${i.cloneOf && html`<${Badge} kind="warn">${t('cloneOf', short(i.cloneOf, 13))}</>`}
        ${i.unreadableLines > 0 && html`<${Badge} kind="warn">${t('unreadable', number(i.unreadableLines))}</>`}
      </p>
      ${d.readable && html`<p class="chips"><a class="button" href=${'#/c/' + encodeURIComponent(d.id)}>${t('conversation')}</a></p>`}
      <p class="path"><code>${d.id}</code>${d.path && html`<br /><code>${d.path}</code>`}</p>
      ${d.problems.length > 0 && html`<ul class="problems" role="alert">${d.problems.map(p => html`<li>${short(p, 300)}</li>`)}</ul>`}
    </header>
    <${Now} d=${d} tiers=${state.tiers} />
    ${d.readable && html`<${Stands} key=${'w' + d.id} d=${d} stamp=${i.size} />`}
    ${d.work && html`<${Work} d=${d} />`}
    ${d.context.times.length > 0 && html`<${Section} id="s-context" title=${t('context')}>
      <${Context} now=${i.estimated ? i.liveTokens : 0} context=${d.context} tiers=${state.tiers} compactions=${d.compactions} boundaries=${d.boundaries} />
    </>`}
    ${d.compactions.length > 0 && html`<${Compactions} key=${d.id} d=${d} />`}
    ${d.boundaries.length > 0 && html`<${Boundaries} d=${d} />`}
    ${d.hooked && html`<${Timeline} key=${'t' + d.id} d=${d} state=${state} />`}`
}

// Stands is the situation that a hand-over would be written from now. A session that no
// hook has seen has it, too. The hand-over itself is fetched when it is asked for.
function Stands({ d, stamp }) {
  const [open, setOpen] = useState(false)
  const [found, setFound] = useState(null), [error, setError] = useState('')
  useEffect(() => {
    if (!open) return
    const stop = new AbortController()
    get('packet', { id: d.id, n: 0, why: 1 }, stop.signal).then(x => { setFound(x); setError('') }, e => stop.signal.aborted || setError(e.message))
    return () => stop.abort()
  }, [d.id, stamp, open])
  const s = d.situation, by = c => c.by === 'agent' ? t('stands.agent') : c.by
  const parts = !s ? [] : [
    ['request', [s.request, s.to && t('stands.to', s.to)]],
    ['state', [d.stands]],
    ['failing', s.failing.map(f => `${f.line} → ${f.said}`)],
    ['tree', [s.tree.changed.length > 0 && t(s.tree.known ? 'stands.unsaved' : 'stands.edited', s.tree.changed.join(', ')), ...s.tree.commits.map(c => [c.hash, c.subject, by(c) && `(${by(c)})`].filter(Boolean).join(' '))]],
    ['plan', s.plan],
    ['words', [...s.words.map(w => w.text).filter(w => w !== s.request), s.more > 0 && t('stands.more', s.more)]],
  ].map(([name, lines]) => [name, lines.filter(Boolean)]).filter(([, lines]) => lines.length > 0)
  return html`<${Section} id="s-stands" title=${t('stands')} note=${t('standsNote')}>
    ${!d.hooked && html`<p class="quiet">${t('fileOnly')}</p>`}
    ${parts.length === 0 && html`<${Empty}>${t('none')}</>`}
    <div class="stands">${parts.map(([name, lines]) => html`<div key=${name}><h4>${t('stands.' + name)}</h4>
      <ul>${lines.map((l, i) => html`<li key=${i}>${short(l, 400)}</li>`)}</ul></div>`)}</div>
    <details onToggle=${e => setOpen(e.currentTarget.open)}><summary>${t('packetNow')}</summary>
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${found ? html`<${Handed} found=${found} />` : open && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
    </details>
  </>`
}

// Handed is the text of a hand-over; under each line stand the records that it was
// written from, where they were asked for.
function Handed({ found }) {
  if (!found.why) return html`<pre tabindex="0">${found.text || t('none')}</pre>`
  return html`<ol class="why" tabindex="0">${found.why.map((r, i) => html`<li key=${i}>${r.line}${(r.evidence || []).map((e, k) => html`<small key=${k}>${word('why', e.kind)} ${e.tool} <time datetime=${e.time}>${e.time && when(e.time)}</time> ${short(e.said, 200)}</small>`)}</li>`)}</ol>`
}

// Gauge is how full the context is.
export function Gauge({ x, tiers }) {
  return x.window > 0 && x.percentRemaining >= 0 && html`<div class="gauge" role="meter" aria-label=${t('contextUsed')} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${100 - x.percentRemaining} aria-valuetext=${t('used', number(x.used), number(x.window), x.percentRemaining)}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="room" width="100" height="8" /><rect class="tier-${x.tier}" width=${Math.min(100, 100 - x.percentRemaining)} height="8" />
        ${tiers.map(k => html`<rect key=${k.name} class="stop" x=${100 - k.remaining} width="0.4" height="8" />`)}
      </svg></div>`
}

function Now({ d, tiers }) {
  const x = d.decision
  if (!x) return null
  const known = x.window > 0 && x.percentRemaining >= 0
  return html`<${Section} id="s-now" title=${t('now')}>
    <${Gauge} x=${x} tiers=${tiers} />
    <p><${Badge} kind=${x.verdict}>${word('verdict', x.verdict)}</> ${x.reason}</p>
    <dl class="facts">
      <div><dt>${t('contextUsed')}</dt><dd>${known ? t('used', number(x.used), number(x.window), x.percentRemaining) : x.used > 0 ? t('usedOnly', number(x.used)) : t('unknown')}</dd></div>
      <div><dt>${t('tier')}</dt><dd>${known ? word('tier', x.tier) : t('unknown')}</dd></div>
      <div><dt>${t('signals')}</dt><dd>${x.signals.join(', ') || t('none')}</dd></div>
      <div><dt>${t('allowed')}</dt><dd>${x.allowed.join(', ') || t('none')}</dd></div>
      ${x.next && html`<div><dt>${t('upcoming')}</dt><dd>${word('upcoming', x.next)}</dd></div>`}
      <div><dt>${t('mode')}</dt><dd>${x.mode}</dd></div>
      ${x.packet && html`<div><dt>${t('lastPacket')}</dt><dd>${x.packet}</dd></div>`}
    </dl>
  </>`
}

const seconds = (from, to) => (new Date(to || Date.now()) - new Date(from)) / 1000

function Work({ d }) {
  const w = d.work, c = d.census
  const kinds = ['started', 'finished', 'died', 'silent', 'cleared', 'retried', 'refused', 'corrected']
  const census = [...kinds.map(k => [k, c[k] || 0]), ['unverified', w.unverified]]
  return html`<${Section} id="s-work" title=${t('workflow')} note=${w.type + (w.feature ? ' · ' + w.feature : '')}>
    <p class="chips" aria-live="polite">
      <${Badge} kind=${w.active ? 'live' : ''}>${word('phase', w.phase)}</>
      <span>${t('stagesDone', w.done, w.total)}</span>
      ${w.failCount + w.rejectCount > 0 && html`<${Badge} kind="bad">${t('failedRejected', w.failCount, w.rejectCount)}</>`}
      ${w.unverified > 0 && html`<${Badge} kind="warn">${t('unverifiedN', w.unverified)}</>`}
      ${w.next && html`<span>${t('next')}: ${w.next}</span>`}
    </p>
    <${Graph} work=${w} />
    <h4>${t('running')}</h4>
    ${w.running.length === 0 ? html`<${Empty}>${t('noAgents')}</>` : html`<ul class="agents">
      ${w.running.map(a => html`<li key=${a.name}><span class="pulse" aria-hidden="true"></span><b>${a.name}</b> ${a.stage}${a.started && html` · ${span(seconds(a.started))}`}</li>`)}
    </ul>`}
    ${w.barriers.length > 0 && html`<h4>${t('barriers')}</h4><ul class="agents">
      ${w.barriers.map(b => html`<li key=${b.group}><b>${b.group}</b> ${t('votes', b.voted, b.total)}${!b.done && b.missing.length > 0 && html` · ${t('waitsFor', b.missing.join(', '))}`}</li>`)}</ul>`}
    <h4>${t('census')}</h4>
    <dl class="tiles">${census.map(([k, n]) => html`<div key=${k} class=${n > 0 && ['died', 'silent', 'unverified', 'refused'].includes(k) ? 'hot' : ''}><dt>${t('census.' + k)}</dt><dd>${number(n)}</dd></div>`)}</dl>
    <details><summary id="s-stages">${t('stageTable')}</summary>
      <${Table} label="s-stages" head=${['stage', 'status', 'agent', 'took', 'notes'].map(k => t(k))} rows=${w.stages.map(s => [s.key,
        html`<span class="dot ${stateClass(s)}" aria-hidden="true">${mark(s)}</span> ${s.key} <small>${s.label}</small>`,
        stateText(s), s.agent || '',
        s.started ? span(seconds(s.started, s.completed || (s.status === 'active' ? null : s.started))) : '',
        s.reason || (s.rounds || []).length > 0 ? html`<div>${s.reason || ''}${(s.rounds || []).map(r => html`<div key=${r.round} class="quiet">${t('round', r.round)}: ${r.verdict} ${r.severity || ''} ${short(r.hint || '', 200)}</div>`)}</div>` : ''])} />
    </details>
  </>`
}

function Compactions({ d }) {
  return html`<${Section} id="s-compactions" title=${t('compactions')} note=${number(d.compactions.length)}>
    <ul class="compactions">${d.compactions.map(c => html`<${Compaction} key=${c.n} id=${d.id} c=${c} />`)}</ul>
  </>`
}

function Compaction({ id, c }) {
  const p = c.packet
  return html`<li><${Lazy} query=${{ id, n: c.n }} given=${() => p != null} summary=${html`
    <b>#${c.n}</b> ${c.ts ? when(c.ts) : ''} ${c.trigger && html`<${Badge}>${word('trigger', c.trigger)}</>`}
    <span class="sizes">${c.before ? tokens(c.before) : '?'} → ${c.after ? tokens(c.after) : '?'}</span>
    ${p ? html`<${Badge} kind=${p.seen ? 'good' : p.state === 'delivered' ? '' : 'warn'}>${t(p.seen ? 'packetSeen' : 'packet.' + p.state)}</>` : html`<${Badge}>${t('noPacket')}</>`}`}>
    <dl class="facts">
      <div><dt>${t('cost')}</dt><dd>${c.after ? t('costWords', number(c.wrote), number(c.read)) : t('unknown')}</dd></div>
      ${p && html`<div><dt>${t('receipt')}</dt><dd><code>${p.id}</code> ${t('packet.' + p.state)}${p.via && ` · ${t('via')} ${p.via}`} · ${t(p.seen ? 'seenYes' : 'seenNo')}</dd></div>`}
    </dl>
  </></li>`
}

// Lazy loads what a compaction kept when somebody wants to know.
export function Lazy({ query, given, summary, children }) {
  const [open, setOpen] = useState(false)
  const [found, setFound] = useState(null), [error, setError] = useState('')
  useEffect(() => {
    if (!open) return
    const stop = new AbortController()
    setError('')
    get('packet', { ...query, why: 1 }, stop.signal).then(setFound, e => stop.signal.aborted || setError(e.message))
    return () => stop.abort()
  }, [open, query.id, query.n, query.at])
  const list = (title, kind, names, more) => !names ? html`<div class="names"><h5>${title}</h5><p class="quiet">${t('unknown')}</p></div>` : html`<div class="names ${kind}"><h5>${title} <small>${names.length}</small></h5>
    ${names.length === 0 ? html`<p class="quiet">${t('none')}</p>` : html`<ul tabindex="0" aria-label=${title}>${names.map(x => html`<li key=${x}><code>${short(x, 120)}</code></li>`)}</ul>`}${more > 0 && html`<p class="quiet">${t('lessLikely', number(more))}</p>`}</div>`
  return html`<details onToggle=${e => setOpen(e.currentTarget.open)}><summary>${summary}</summary>
    ${open && html`${children}
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${!found && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
      ${found && !found.kept && html`<p class="quiet">${t(found.summary ? 'nothingBefore' : 'summaryUnread')}</p>`}
      ${found && html`<div class="kept">${list(t('kept'), 'good', found.kept)}${list(t(given(found.n) ? 'handed' : 'wouldHand'), 'mid', found.handed, found.handedMore)}${list(t('lost'), 'bad', found.lost, found.lostMore)}</div>
        <h5>${t(given(found.n) ? 'handover' : 'wouldHandover')}</h5><${Handed} found=${found} />
        ${found.summary && html`<h5>${t('summary')}</h5><pre tabindex="0">${found.summary}</pre>`}`}`}
  </details>`
}

// The reason was written in the language of that day; in another one the page has
// words for its kind.
const told = b => /[\u3400-\u9fff]/.test(b.reason || '') === (document.documentElement.lang !== 'en') ? b.reason : word('cause', b.cause || '') || b.reason

function Boundaries({ d }) {
  const [only, setOnly] = useState('')
  const count = k => d.boundaries.filter(b => b.outcome === k).length
  const list = d.boundaries.filter(b => !only || b.outcome === only)
  return html`<${Section} id="s-boundaries" title=${t('boundaries')} note=${number(d.boundaries.length)}>
    <fieldset class="pick"><legend class="hidden">${t('filter')}</legend>
      ${['', 'taken', 'refused', 'seen'].map(k => html`<label key=${k}><input type="radio" name="outcome" value=${k} checked=${only === k} onChange=${() => setOnly(k)} /><span>${t(k ? 'outcome.' + k : 'all')} ${k ? count(k) : d.boundaries.length}</span></label>`)}
    </fieldset>
    <ul class="boundaries">${list.slice(0, 100).map((b, i) => html`<li key=${b.ts + i}>
      <time datetime=${b.ts}>${when(b.ts)}</time>
      <${Badge} kind=${b.outcome === 'taken' ? 'good' : b.outcome === 'refused' ? 'bad' : ''}>${t('outcome.' + b.outcome)} · ${word('verdict', b.verdict)}</>
      ${b.tier && html`<${Badge} kind="tier-${b.tier}">${word('tier', b.tier)}${b.percentRemaining != null ? ' · ' + t('free', b.percentRemaining) : ''}</>`}
      ${b.signals.map(s => html`<code key=${s}>${short(s, 40)}</code>`)}
      <span class="reason" title=${b.reason}>${told(b)}</span></li>`)}</ul>
    ${list.length > 100 && html`<p class="quiet">${t('more', number(list.length - 100))}</p>`}
  </>`
}

function Timeline({ d, state }) {
  const [category, setCategory] = useState(''), [q, setQ] = useState('')
  const [found, setFound] = useState(null), [error, setError] = useState('')
  useEffect(() => {
    const stop = new AbortController()
    const wait = setTimeout(() => get('timeline', { id: d.id, category, q }, stop.signal).then(x => { setFound(x); setError('') }, e => stop.signal.aborted || setError(e.message)), q ? 200 : 0)
    return () => { clearTimeout(wait); stop.abort() }
  }, [d, category, q])
  const categories = [...new Set(state.events.map(e => e.category))]
  return html`<${Section} id="s-timeline" title=${t('timeline')} note=${found ? number(found.total) : ''}>
    <div class="filters">
      <label>${t('category')} <select value=${category} onChange=${e => setCategory(e.currentTarget.value)}><option value="">${t('all')}</option>${categories.map(c => html`<option key=${c} value=${c}>${word('category', c)}</option>`)}</select></label>
      <label>${t('contains')} <input type="search" value=${q} onInput=${e => setQ(e.currentTarget.value)} /></label>
    </div>
    ${error && html`<p role="alert" class="problems">${error}</p>`}
    ${found && found.events.length === 0 && html`<${Empty}>${t(category || q ? 'noMatch' : 'noEvents')}</>`}
    ${found && html`<ol class="events" tabindex="0" aria-label=${t('timeline')}>${found.events.map((e, i) => html`<li key=${e.ts + e.type + i}>
      <time datetime=${e.ts} title=${when(e.ts)}>${clock(e.ts)}</time><span class="label" title=${e.type}>${e.label}</span>
      <span class="data">${e.data.map(f => html`<span key=${f.key}><i>${f.key}</i> ${f.value}</span>`)}</span></li>`)}</ol>`}
    ${found && found.total > found.events.length && html`<p class="quiet">${t('more', number(found.total - found.events.length))}</p>`}
    ${found && found.bad > 0 && html`<p class="quiet">${t('badLines', found.bad)}</p>`}
  </>`
}
