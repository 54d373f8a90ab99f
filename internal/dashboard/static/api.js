// How the page speaks to the program. The token comes in the address's fragment,
// which browsers send to nobody; it is kept for this tab only.

let kept = (() => {
  const m = location.hash.match(/token=([\w-]+)(.*)/)
  if (m) {
    keep(m[1])
    history.replaceState(null, '', location.pathname + '#' + (m[2] || '/'))
    return m[1]
  }
  try { return sessionStorage.getItem('overtone.token') || '' } catch { return '' }
})()
function keep(token) { try { sessionStorage.setItem('overtone.token', token) } catch { /* storage may be off */ } }

// A link that is opened in a new tab has no token; the tabs that are open tell it theirs.
// Only pages of this very address can hear each other.
export const joinTabs = () => new Promise(done => {
  const tabs = new BroadcastChannel('overtone')
  tabs.onmessage = e => {
    if (e.data === 'token?') return kept && tabs.postMessage({ token: kept })
    if (!kept) { keep(kept = e.data.token); done() }
  }
  if (kept) return done()
  tabs.postMessage('token?')
  setTimeout(done, 1000)
})

let lang = (() => { try { return localStorage.getItem('overtone.lang') || '' } catch { return '' } })()
export const language = () => lang
export function speak(l) {
  lang = l
  try { localStorage.setItem('overtone.lang', l) } catch { /* storage may be off */ }
}

const address = (path, query) => {
  const q = new URLSearchParams()
  if (lang) q.set('lang', lang)
  for (const [k, v] of Object.entries(query || {})) if (v !== '' && v != null) q.set(k, v)
  return `api/${path}?${q}`
}
const options = signal => ({ headers: { Authorization: 'Bearer ' + kept }, cache: 'no-store', signal })

export class Refused extends Error {
  constructor(status, text) { super(text); this.status = status }
}

export async function get(path, query, signal) {
  const r = await fetch(address(path, query), options(signal))
  const body = await r.json()
  if (!r.ok) throw new Refused(r.status, body.error)
  return body
}

// fetchFile has the browser save what the program answers.
export async function fetchFile(path, query, name) {
  const r = await fetch(address(path, query), options())
  if (!r.ok) throw new Refused(r.status, (await r.json()).error)
  const url = URL.createObjectURL(await r.blob())
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60000)
}

// live reads the stream of changes until it is stopped, and comes back when the
// connection breaks. A browser opens six connections to one address, over all tabs, so a
// page that nobody sees lets its stream go.
export function live(query, on, state) {
  const stop = new AbortController()
  let rest = new AbortController()
  document.addEventListener('visibilitychange', () => document.hidden && rest.abort(), { signal: stop.signal })
  const run = async () => {
    for (let wait = 500; !stop.signal.aborted; wait = Math.min(wait * 2, 8000)) {
      while (document.hidden) await new Promise(next => document.addEventListener('visibilitychange', next, { once: true }))
      rest = new AbortController()
      try {
        const r = await fetch(address('live', query()), options(AbortSignal.any([stop.signal, rest.signal])))
        if (!r.ok) throw new Refused(r.status, r.statusText)
        state('live')
        wait = 500
        const reader = r.body.pipeThrough(new TextDecoderStream()).getReader()
        let text = ''
        for (;;) {
          const { value, done } = await reader.read()
          if (done) break
          text += value
          for (let i; (i = text.indexOf('\n\n')) >= 0; text = text.slice(i + 2)) {
            const m = text.slice(0, i).match(/^event: (.*)\ndata: (.*)$/s)
            if (m) on(m[1], JSON.parse(m[2]))
          }
        }
      } catch (e) {
        if (stop.signal.aborted) return
        if (e.status === 401) return state('refused')
      }
      if (stop.signal.aborted) return
      if (rest.signal.aborted) continue
      state('lost')
      await new Promise(next => setTimeout(next, wait))
    }
  }
  run()
  return () => stop.abort()
}
