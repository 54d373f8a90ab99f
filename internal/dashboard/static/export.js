// One view as a file by itself: what it shows stands in the page.
import { html, render } from './vendor/htm-preact.js'
import { Audit } from './audit.js'
import { learn } from './ui.js'

const { report, texts } = JSON.parse(document.getElementById('data').textContent)
learn(texts)
render(html`<${Audit} report=${report} />`, document.getElementById('app'))
