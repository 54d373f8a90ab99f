// Who runs what on the machines of the team, as `overtone-team` last heard it.
import { html, useEffect, useState } from './vendor/htm-preact.js'
import { get } from './api.js'
import { ago, Badge, Empty, number, Section, short, t, Table, useTick, when, word } from './ui.js'

export function Fleet() {
  const [r, setFleet] = useState(null), [error, setError] = useState('')
  useTick(10000)
  useEffect(() => {
    const stop = new AbortController()
    let timer
    const look = async () => {
      try { setFleet(await get('fleet', {}, stop.signal)); setError('') } catch (e) { if (!stop.signal.aborted) setError(e.message) }
      if (!stop.signal.aborted) timer = setTimeout(look, 5000)
    }
    look()
    return () => { stop.abort(); clearTimeout(timer) }
  }, [])
  const old = r && (!r.at || Date.now() - new Date(r.at) > 120000)
  return html`<section class="card page" aria-labelledby="title">
      <h2 id="title" tabindex="-1">${t('nav.fleet')}</h2>
      <p class="quiet">${t('fleetAbout')}</p>
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${!r && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
      ${old && html`<p role="status" class="problems">${r.at ? t('fleetOld', ago(r.at)) : t('fleetNever')}</p>`}
    </section>
    ${r && html`
      <${Section} id="f-machines" title=${t('machines')} note=${number(r.machines.length)}><${Machines} r=${r} /></>
      <${Section} id="f-sessions" title=${t('nav.sessions')} note=${number(r.sessions.length)}><${Sessions} r=${r} /></>`}`
}

function Machines({ r }) {
  if (r.machines.length === 0) return html`<${Empty}>${t('none')}</>`
  return html`<ul class="boundaries">${r.machines.map(m => html`<li key=${m.machine}>
    <strong>${short(m.machine, 63)}</strong>${m.machine === r.machine && html`<${Badge}>${t('thisMachine')}</>`}
    <span>${short(m.version, 40)}</span><time datetime=${m.at} title=${when(m.at)}>${t('seenAgo', ago(m.at))}</time>
    ${m.lost > 0 && html`<${Badge} kind="warn">${t('lostN', number(m.lost))}</>`}</li>`)}</ul>`
}

function Sessions({ r }) {
  if (r.sessions.length === 0) return html`<${Empty}>${t('noSessions')}</>`
  const head = ['machine', 'session', 'project', 'fleetStage', 'fleetLeft', 'fleetPacket', 'fleetLast', 'fleetHolder']
  const name = v => v.machine === r.machine ? html`<a href=${'#/s/' + encodeURIComponent(v.session)}>${short(v.session, 9)}</a>` : html`<span title=${v.session}>${short(v.session, 9)}</span>`
  const holder = l => l ? `${short(l.holder, 63)} (${word('lease', l.phase)})` : ''
  return html`<${Table} label="f-sessions" head=${head.map(k => t(k))} rows=${r.sessions.map(v => [v.machine + '/' + v.session,
    short(v.machine, 63), html`<span>${name(v)}${v.ended && html` <${Badge}>${t('ended')}</>`}</span>`, short(v.project || '', 40),
    v.workflow ? `${short(v.workflow, 30)} ${short(v.stage || '', 30)} ${v.done || 0}/${v.total || 0}` : '',
    v.left >= 0 ? v.left + '%' : '', v.packet ? `${short(v.packet, 24)} ${word('packet', v.packetState || '')}` : '',
    v.last && html`<time datetime=${v.last} title=${when(v.last)}>${ago(v.last)}</time>`, holder((r.leases || {})[v.session])])} />`
}
