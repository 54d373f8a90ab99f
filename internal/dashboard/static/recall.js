// The search over everything that was said and done.
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js'
import { get } from './api.js'
import { Badge, Empty, number, project, short, t, when, word } from './ui.js'

// The words stand in the address, so a search can be kept as a link.
export function Recall({ hosts, words }) {
  const [q, setQ] = useState(''), [host, setHost] = useState(''), [where, setWhere] = useState('')
  const [asked, setAsked] = useState(null), [found, setFound] = useState(null), [error, setError] = useState('')
  const input = useRef(null)
  useEffect(() => { input.current && input.current.focus() }, [])
  useEffect(() => { if (words && words !== (asked || {}).q) { setQ(words); setAsked({ q: words, host, project: where }) } }, [words])
  useEffect(() => {
    if (!asked) return
    const stop = new AbortController()
    setFound(null)
    setError('')
    get('recall', asked, stop.signal).then(setFound, e => stop.signal.aborted || setError(e.message))
    return () => stop.abort()
  }, [asked])
  const ask = e => { e.preventDefault(); if (q.trim()) { setAsked({ q, host, project: where }); location.hash = '#/recall/' + encodeURIComponent(q) } }
  return html`<section class="card page" aria-labelledby="title">
    <h2 id="title" tabindex="-1">${t('nav.recall')}</h2>
    <p class="quiet">${t('recallAbout')}</p>
    <form class="filters" role="search" onSubmit=${ask}>
      <label class="grow">${t('query')} <input ref=${input} type="search" value=${q} onInput=${e => setQ(e.currentTarget.value)} /></label>
      <label>${t('host')} <select value=${host} onChange=${e => setHost(e.currentTarget.value)}><option value="">${t('all')}</option>${hosts.map(h => html`<option key=${h} value=${h}>${h}</option>`)}</select></label>
      <label>${t('project')} <input type="text" value=${where} onInput=${e => setWhere(e.currentTarget.value)} /></label>
      <button type="submit">${t('search')}</button>
    </form>
    <div aria-live="polite">
      ${asked && !found && !error && html`<p class="quiet" role="status">${t('searching')}</p>`}
      ${!asked && html`<p class="quiet">${t('recallHint')}</p>`}
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${found && (found.total === 0 ? html`<${Empty}>${t('noMatch')}</>` : html`<p class="quiet">${t('hits', number(found.hits.length), number(found.total))}</p>`)}
    </div>
    ${found && html`<ol class="hits">${found.hits.map(h => html`<${Hit} key=${h.ref} h=${h} />`)}</ol>`}
  </section>`
}

function Hit({ h }) {
  const [open, setOpen] = useState(false), [shown, setShown] = useState(false), [text, setText] = useState(null), [error, setError] = useState('')
  useEffect(() => {
    if (!open || text && !(shown && text.hidden)) return
    const stop = new AbortController()
    get('original', { ref: h.ref, ...shown && { secrets: 'shown' } }, stop.signal).then(setText, e => stop.signal.aborted || setError(e.message))
    return () => stop.abort()
  }, [open, shown])
  return html`<li>
    <p class="chips"><${Badge} kind="host">${h.host}</><${Badge}>${word('role', h.role)}</>
      ${h.removed && html`<${Badge} kind="warn">${t('removed')}</>`}${h.copies > 0 && html`<${Badge}>${t('copies', h.copies)}</>`}
      ${h.time && html`<time datetime=${h.time}>${when(h.time)}</time>`}<span title=${h.project}>${project(h.project)}</span>
      <a href=${'#/s/' + encodeURIComponent(h.session)}>${h.title ? short(h.title, 100) : t('openSession')}</a> ${!h.agent && html`<a href=${'#/c/' + encodeURIComponent(h.session) + '/L' + h.line}>${t('hitInTalk')}</a>`}</p>
    <p class="snippet">${h.parts.map((p, i) => i % 2 ? html`<mark>${p}</mark>` : p)}</p>
    <details onToggle=${e => setOpen(e.currentTarget.open)}><summary>${t('original')} <code>${short(h.ref, 60)}</code></summary>
      ${error && html`<p role="alert" class="problems">${error}</p>`}
      ${open && !text && !error && html`<p class="quiet" role="status">${t('loading')}</p>`}
      ${text && html`<p class="path"><code>${text.path}${text.line ? ':' + text.line : ''}</code></p>${text.hidden > 0 && html`<p class="quiet">${t('hidden', number(text.hidden))} <button onClick=${() => setShown(true)}>${t('showSecrets')}</button></p>`}<pre tabindex="0">${text.text}</pre>${text.cut && html`<p class="quiet">${t('cut', number(text.characters))}</p>`}`}
    </details>
  </li>`
}
