// How full the context was, with the tiers, compactions, and moments at which a
// compaction was weighed.
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js'
import { number, t, tokens, when } from './ui.js'

// A label of the axis in the page's language; the day stands where it changes.
function moment(v, byTime, incr, before) {
  if (!byTime) return Number.isInteger(v) ? number(v) : ''
  const show = o => new Intl.DateTimeFormat(document.documentElement.lang, { hour12: false, ...o }).format(v * 1000)
  const day = show({ month: 'numeric', day: 'numeric' })
  if (incr >= 86400) return day
  const clock = show({ hour: '2-digit', minute: '2-digit', ...(incr < 60 ? { second: '2-digit' } : {}) })
  return before == null || new Date(before * 1000).toDateString() !== new Date(v * 1000).toDateString() ? clock + '\n' + day : clock
}

// A single moment stands in the middle of some minutes: left to itself the chart
// spans years behind it, each labelled with its first of January.
const around = (xs, byTime) => (_, lo, hi) => {
  if (xs[0] < xs[xs.length - 1]) return [lo, hi]
  return byTime ? [xs[0] - 300, xs[0] + 300] : [0, 2]
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function Context({ context, tiers, compactions, boundaries, now }) {
  const box = useRef(null), plot = useRef(null)
  const [by, setBy] = useState('time')
  const [theme, setTheme] = useState(0)
  const n = context.times.length
  const peak = context.peak
  const last = now || context.tokens[n - 1] || 0

  useEffect(() => {
    const again = () => setTheme(x => x + 1)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', again)
    addEventListener('overtone-theme', again)
    return () => { dark.removeEventListener('change', again); removeEventListener('overtone-theme', again) }
  }, [])

  useEffect(() => {
    if (!box.current || n === 0) return
    const byTime = by === 'time'
    const xs = byTime ? context.times : context.times.map((_, i) => i + 1)
    // Where on the axis a moment lies.
    const at = ts => {
      const s = new Date(ts) / 1000
      if (byTime || isNaN(s)) return s
      const i = context.times.findIndex(x => x >= s)
      return i < 0 ? n : i + 0.5
    }
    const top = Math.max(context.window || 0, peak) * 1.04
    const width = () => Math.max(240, box.current.clientWidth)
    const ink = colour('--ink-2'), line = colour('--line'), font = '12px ' + colour('--font')
    const marks = u => {
      const c = u.ctx, r = devicePixelRatio
      c.save()
      c.beginPath()
      c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height)
      c.clip()
      c.font = `${11 * r}px ${colour('--font')}`
      c.textAlign = 'left'
      c.textBaseline = 'middle'
      // A label stands out from the curve behind it.
      const say = (text, ink, x, y) => {
        c.setLineDash([])
        c.lineWidth = 3 * r; c.lineJoin = 'round'
        c.strokeStyle = colour('--card')
        c.strokeText(text, x, y)
        c.fillStyle = colour(ink)
        c.fillText(text, x, y)
      }
      // Each line is interrupted by its name, which stands beside those of the other lines.
      let x = u.bbox.left + 6 * r
      if (context.window) for (const tier of tiers) {
        const y = u.valToPos(context.window * (1 - tier.remaining / 100), 'y', true)
        c.strokeStyle = colour('--tier-' + tier.name)
        c.setLineDash([4 * r, 4 * r])
        c.lineWidth = r
        c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke()
        say(t('tier.' + tier.name), '--tier-' + tier.name, x, y)
        x += c.measureText(t('tier.' + tier.name)).width + 8 * r
      }
      c.setLineDash([])
      for (const k of compactions) {
        if (!k.ts) continue
        const x = u.valToPos(at(k.ts), 'x', true)
        c.strokeStyle = colour('--ink'); c.lineWidth = 1.5 * r
        c.beginPath(); c.moveTo(x, u.bbox.top); c.lineTo(x, u.bbox.top + u.bbox.height); c.stroke()
        if (k.before) { c.fillStyle = colour('--accent-2'); c.beginPath(); c.arc(x, u.valToPos(k.before, 'y', true), 3 * r, 0, 7); c.fill() }
        const name = '#' + k.n, room = c.measureText(name).width + 4 * r
        say(name, '--ink', x + room > u.bbox.left + u.bbox.width ? x - room : x + 4 * r, u.bbox.top + 12 * r)
      }
      for (const b of boundaries) {
        if (b.outcome === 'seen') continue
        const x = u.valToPos(at(b.ts), 'x', true), y = u.bbox.top + u.bbox.height - 7 * r
        c.fillStyle = c.strokeStyle = colour(b.outcome === 'taken' ? '--good' : '--bad')
        c.lineWidth = 2 * r
        c.beginPath()
        if (b.outcome === 'taken') { c.moveTo(x, y - 5 * r); c.lineTo(x + 5 * r, y + 4 * r); c.lineTo(x - 5 * r, y + 4 * r); c.closePath(); c.fill() }
        else { c.moveTo(x - 4 * r, y - 4 * r); c.lineTo(x + 4 * r, y + 4 * r); c.moveTo(x + 4 * r, y - 4 * r); c.lineTo(x - 4 * r, y + 4 * r); c.stroke() }
      }
      c.restore()
    }
    const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
    const u = new uPlot({
      width: width(), height: 260, legend: { show: false }, cursor: { y: false, points: { size: 6 } },
      scales: { x: { time: byTime, range: around(xs, byTime) }, y: { range: [0, top] } },
      axes: [{ ...axis, values: (_, list, i, space, incr) => list.map((v, k) => moment(v, byTime, incr, list[k - 1])) }, { ...axis, size: 52, values: (_, list) => list.map(v => tokens(v).replace('.0', '')) }],
      series: [{}, { stroke: colour('--accent-2'), width: 2, fill: colour('--fill'), points: { show: n < 60, size: 4 }, paths: uPlot.paths.linear() }],
      hooks: {
        draw: [marks],
        setCursor: [u => {
          const i = u.cursor.idx
          plot.current && (plot.current.textContent = i == null || u.data[1][i] == null ? '' : t('chartAt', number(u.data[1][i]), when(context.times[i] * 1000)))
        }],
      },
    }, [xs, context.tokens], box.current)
    const size = new ResizeObserver(() => u.setSize({ width: width(), height: 260 }))
    size.observe(box.current)
    return () => { size.disconnect(); u.destroy() }
  }, [context, compactions, boundaries, by, theme])

  const words = t('chartWords', number(n), number(peak), number(last), context.window ? number(context.window) : t('unknown'))
  return html`
    <div class="row spread">
      <p class="quiet">${words}</p>
      <fieldset class="pick"><legend class="hidden">${t('axis')}</legend>
        ${['time', 'request'].map(k => html`<label key=${k}><input type="radio" name="axis" value=${k} checked=${by === k} onChange=${() => setBy(k)} /><span>${t('axis.' + k)}</span></label>`)}
      </fieldset>
    </div>
    <div class="chart" ref=${box} role="img" aria-label=${words}></div>
    <p class="quiet at" ref=${plot} aria-hidden="true"></p>
    <ul class="legend" aria-label=${t('legend')}>
      <li><i class="swatch"></i>${t('legend.context')}</li>
      <li><i class="swatch up-down"></i>${t('legend.compaction')}</li>
      <li><span class="good" aria-hidden="true">▲</span> ${t('legend.taken')}</li>
      <li><span class="bad" aria-hidden="true">✕</span> ${t('legend.refused')}</li>
      ${context.window ? html`<li><i class="swatch dash"></i>${t('legend.tiers')}</li>` : html`<li>${t('windowUnknown')}</li>`}
    </ul>`
}
