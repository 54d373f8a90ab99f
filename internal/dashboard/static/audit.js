// What past sessions went through, as `overtone audit` tells it.
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js'
import { get, language } from './api.js'
import { Badge, Empty, money, number, project, Section, short, span, t, Table, tokens, when } from './ui.js'

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

// In an exported page the report is given, and there is nothing to choose.
export function Audit({ report, since = '' }) {
  const [r, setReport] = useState(report || null), [error, setError] = useState('')
  useEffect(() => {
    if (report) return
    const stop = new AbortController()
    setReport(null)
    setError('')
    get('audit', { since }, stop.signal).then(setReport, e => stop.signal.aborted || setError(e.message))
    return () => stop.abort()
  }, [since, language()])
  const x = r && r.totals
  const tile = (key, value, hot) => html`<div class=${hot ? 'hot' : ''}><dt>${t(key)}</dt><dd>${value}</dd></div>`
  return html`<section class="card page" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${t('nav.audit')}</h2>
      <p class="quiet">${t('auditAbout')}</p>
      ${!report && html`<fieldset class="pick"><legend class="hidden">${t('period')}</legend>
        ${['', '90d', '30d', '7d'].map(k => html`<label key=${k}><input type="radio" name="since" value=${k} checked=${since === k} onChange=${() => { location.hash = '#/audit/' + k }} /><span>${k ? t('lastDays', parseInt(k)) : t('all')}</span></label>`)}
      </fieldset>`}
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${!r && !error && html`<p class="quiet" role="status">${t('auditing')}</p>`}
      ${r && r.unreadableFiles && html`<ul class="problems" role="alert">${r.unreadableFiles.slice(0, 10).map(f => html`<li key=${f}>${t('unreadFile', f)}</li>`)}${r.unreadableFiles.length > 10 && html`<li>${t('more', number(r.unreadableFiles.length - 10))}</li>`}</ul>`}
      ${x && html`<dl class="tiles">
        ${tile('nav.sessions', number(x.sessions))}${tile('requests', number(x.requests))}${tile('compactions', number(x.compactions))}
        ${tile('midWork', number(x.midWork), x.midWork > 0)}${tile('atBoundary', number(x.atBoundary))}
        ${tile('waited', x.waitKnown ? span(x.waitMs / 1000) : t('unknown'))}
        ${tile('toRepay', x.requestsToRepay == null ? t('unknown') : number(+x.requestsToRepay.toFixed(x.requestsToRepay < 100 ? 1 : 0)))}<div><dt>${x.unpricedTokens > 0 ? t('listPriceKnown', tokens(x.unpricedTokens)) : t('listPrice')}</dt><dd>${money(x)}</dd></div>
      </dl>`}
    </section>
    ${x && x.sessions > 0 && html`
      <${Section} id="a-lost" title=${t('needed')} note=${t('neededNote', number(x.lost.compactions), number(x.compactions))}><${Lost} lost=${x.lost} /></>
      <${Section} id="a-whatif" title=${t('whatIf')}><${WhatIf} told=${r.told} /></>
      <${Section} id="a-heat" title=${t('heat')}><${Heat} days=${r.days || []} /></>
      <${Section} id="a-days" title=${t('byDay')}><${Days} days=${r.days || []} /></>
      <${Section} id="a-sessions" title=${t('mostCompacted')}><${Sessions} list=${r.sessions || []} linked=${!report} /></>
      <p class="quiet">${t('pricesFrom', r.prices.date, r.prices.source)}</p>`}
    ${x && x.sessions === 0 && html`<${Empty}>${t(since ? 'noMatch' : 'noSessions')}</>`}`
}

// Of what was needed, what the summary stated, and what it states with our hand-over.
function Lost({ lost }) {
  const rows = [['names', lost.names], ['commands', lost.commands]].filter(([, k]) => k.needed > 0)
  if (rows.length === 0) return html`<${Empty}>${t('nothingNeeded')}</>`
  const bar = (n, of, kind, label) => html`<div class="measure"><span class="what">${label}</span>
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="room" width="100" height="6" /><rect class=${kind} width=${100 * n / of} height="6" /></svg>
    <span class="sizes">${Math.round(100 * n / of)}% (${number(n)} / ${number(of)})</span></div>`
  return html`${rows.map(([key, k]) => html`<div key=${key}><h4>${t('need.' + key)}</h4>
      ${bar(k.inSummary, k.needed, 'warned', t('inSummary'))}${bar(k.inSummaryOrHandover, k.needed, 'done', t('withHandover'))}</div>`)}
    <p class="quiet">${t('again', number(lost.filesReadAgain), number(lost.commandsRunAgain))}</p>`
}

// WhatIf draws the first rows of the table that the command prints: where compactions came.
function WhatIf({ told }) {
  const [head, ...rows] = told.whatIf
  const count = k => rows.slice(0, 3).map(r => +r[k]), all = Math.max(1, ...[1, 2, 3].map(k => count(k).reduce((x, y) => x + y)))
  const parts = [[1, 'done', 'good'], [0, 'tier-emergency', 'bad'], [2, 'between', 'between']]
  return html`${[1, 2, 3].map(k => {
      let x = 0
      return html`<div class="measure" key=${k}><span class="what">${head[k]}</span>
        <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="room" width="100" height="6" />${parts.map(([i, kind]) => { const n = 100 * count(k)[i] / all; return html`<rect class=${kind} x=${(x += n) - n} width=${n} height="6" />` })}</svg>
        <span class="sizes">${parts.map(([i]) => count(k)[i]).join(' · ')}</span></div>` })}
    <ul class="legend">${parts.map(([i, , colour]) => html`<li key=${i}><i class="block ${colour}"></i>${rows[i][0]}</li>`)}</ul>
    ${told.words.map(x => html`<p key=${x} class="gap">${x}</p>`)}
    <${Table} label="a-whatif" head=${head} rows=${rows.map(r => [r[0], ...r])} />`
}

// A year of days, a column for each week: the darker, the more was spent. The table of days
// has the numbers.
export function Heat({ days }) {
  const total = d => d.tokens.cacheRead + d.tokens.cacheWrite + d.tokens.input + d.tokens.output
  const known = new Map(days.filter(d => total(d) > 0).map(d => [d.name, d]))
  const sorted = [...known.values()].map(total).sort((a, b) => a - b)
  const level = d => !d ? 0 : 1 + Math.min(3, Math.floor(4 * sorted.findIndex(n => n >= total(d)) / sorted.length))
  const now = new Date(), weeks = innerWidth < 600 ? 26 : 53
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / 864e5
  const first = today - (today + 4) % 7 - 7 * (weeks - 1) // a Sunday; day 0 was a Thursday
  const show = (d, o) => new Intl.DateTimeFormat(document.documentElement.lang, { timeZone: 'UTC', ...o }).format(d * 864e5)
  const cells = [], months = []
  for (let day = first; day <= today; day++) {
    const name = new Date(day * 864e5).toISOString().slice(0, 10), x = Math.floor((day - first) / 7) * 13, d = known.get(name)
    if (name.endsWith('-01')) months.push(html`<text key=${name} x=${x} y="9">${show(day, { month: 'short' })}</text>`)
    cells.push(html`<rect key=${name} class="heat${level(d)}" x=${x} y=${15 + (day - first) % 7 * 13} width="11" height="11" rx="2"><title>${d ? t('heatDay', name, number(d.sessions), number(d.compactions), tokens(total(d)), money(d)) : name}</title></rect>`)
  }
  return html`<svg class="heat" viewBox="0 0 ${weeks * 13 + 12} 106" role="img" aria-label=${t('heatWords', number([...known.keys()].filter(n => n >= new Date(first * 864e5).toISOString().slice(0, 10)).length), number(weeks))}>${months}${cells}</svg>
    <p class="legend">${t('heatLess')} <svg class="heat scale" viewBox="0 0 65 11" aria-hidden="true">${[0, 1, 2, 3, 4].map(k => html`<rect key=${k} class="heat${k}" x=${k * 13} width="11" height="11" rx="2" />`)}</svg> ${t('heatMore')}</p>`
}

// A bar for each day, or for so many days as keep it wide enough to be seen, counted from
// the newest.
const bars = 120
const grouped = (days, step) => {
  const out = []
  for (let end = days.length; end > 0; end -= step) {
    const part = days.slice(Math.max(0, end - step), end), sum = k => part.reduce((n, d) => n + d.tokens[k], 0)
    out.unshift({ name: part[0].name, tokens: { cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite'), input: sum('input'), output: sum('output') } })
  }
  return out
}

// Tokens by day; the number of compactions stands in the table below, which leaves out the
// empty days of a long time.
export function Days({ days, label }) {
  const box = useRef(null)
  const each = Math.ceil(days.length / bars)
  useEffect(() => {
    if (!box.current || days.length === 0) return
    const list = grouped(days, each)
    // Days on which nothing happened keep their place, and the outer ones their whole width.
    const day = d => Math.round(Date.parse(d.name + 'T00:00:00Z') / 864e5)
    const xs = list.map(day)
    const name = n => new Intl.DateTimeFormat(document.documentElement.lang, { ...days.length > 300 && { year: '2-digit' }, month: 'numeric', day: 'numeric', timeZone: 'UTC' }).format(n * 864e5)
    const width = () => Math.max(240, box.current.clientWidth)
    // A label at every so many days, counted from the newest: there is room for one in 56
    // pixels, and with the year in 72.
    const whole = u => {
      const first = xs[0], last = xs[xs.length - 1], step = Math.max(1, Math.ceil((last - first + 1) * (days.length > 300 ? 72 : 56) / u.width))
      return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => last - i * step).reverse()
    }
    const axis = { stroke: colour('--ink-2'), font: '12px ' + colour('--font'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 } }
    const parts = [['cacheRead', '--accent-2'], ['cacheWrite', '--tier-ready'], ['input', '--good'], ['output', '--bad']]
    // Stacked: each series is drawn over the sum of those before it.
    let under = list.map(() => 0)
    const sums = parts.map(([k]) => (under = list.map((d, i) => under[i] + d.tokens[k])))
    const u = new uPlot({
      width: width(), height: 220, legend: { show: false }, cursor: { show: false }, scales: { x: { time: false, range: (_, lo, hi) => [lo - 0.6 * each, hi + 0.6 * each] }, y: { range: (_, lo, hi) => [0, hi * 1.05 || 1] } },
      axes: [{ ...axis, grid: { show: false }, splits: whole, values: (_, v) => v.map(name) }, { ...axis, size: 56, values: (_, v) => v.map(n => tokens(n).replace('.0', '')) }],
      series: [{}, ...parts.map(([, c]) => ({ width: 0, stroke: colour(c), fill: colour(c), paths: uPlot.paths.bars({ size: [0.7, 40] }), points: { show: false } })).reverse()],
    }, [xs, ...sums.reverse()], box.current)
    const size = new ResizeObserver(() => u.setSize({ width: width(), height: 220 }))
    size.observe(box.current)
    return () => { size.disconnect(); u.destroy() }
  }, [days])
  if (days.length === 0) return html`<${Empty}>${t('none')}</>`
  return html`${each > 1 && html`<p class="quiet">${t('barDays', number(each))}</p>`}<div class="chart low" ref=${box} role="img" aria-label=${t('byDay')}></div>
    <ul class="legend"><li><i class="block c1"></i>${t('tok.cacheRead')}</li><li><i class="block c2"></i>${t('tok.cacheWrite')}</li><li><i class="block c3"></i>${t('tok.input')}</li><li><i class="block c4"></i>${t('tok.output')}</li></ul>
    <details><summary>${t('asTable')}</summary><${Table} label=${label || 'a-days'} head=${[t('day'), t('nav.sessions'), t('compactions'), t('tok.cacheRead'), t('tok.cacheWrite'), t('tok.input'), t('tok.output'), t('listPrice')]}
      rows=${days.filter(d => each === 1 || d.sessions + d.compactions > 0).reverse().map(d => [d.name, d.name, number(d.sessions), number(d.compactions), tokens(d.tokens.cacheRead), tokens(d.tokens.cacheWrite), tokens(d.tokens.input), tokens(d.tokens.output), money(d)])} /></details>`
}

export function Sessions({ list, linked, label }) {
  if (list.length === 0) return html`<${Empty}>${t('noCompactions')}</>`
  const mid = s => s.compactions.filter(c => c.midWork).length
  return html`<${Table} label=${label || 'a-sessions'} head=${[t('session'), t('compactions'), t('midWork'), t('peakTokens'), t('listPrice'), t('began')]} rows=${list.map(s => [s.id,
    html`${linked ? html`<a href=${'#/s/' + encodeURIComponent(s.id)}>${short(s.title || s.id, 100)}</a>` : short(s.title || s.id, 100)} <small>${[s.host, project(s.project)].filter(Boolean).join(' · ')}</small>`,
    number(s.compactions.length), mid(s) > 0 ? html`<${Badge} kind="warn">${number(mid(s))}</>` : '0', tokens(s.peak), money(s),
    s.start ? html`<time datetime=${s.start}>${when(s.start)}</time>` : ''])} />`
}
