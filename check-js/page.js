// The page: takes files that are dropped or chosen, checks the records among them and shows what came of it. Nothing that is
// given leaves the page. Text from outside is put into the page as text only.

import { check, claims, maxPage, maxRecord, unread, vouches } from './check.js'
import { checksOut, grounds, printable, summary, verdicts } from './words.js'

const trustedHost = 'api.stackshift.cloud' // and the only host that the policy in the page allows it to reach

const byId = (id) => document.getElementById(id)
const given = { records: [], pages: new Map() } // pages by party, as bytes

byId('files').addEventListener('change', ({ target }) => take([...target.files]))
byId('again').addEventListener('submit', (event) => {
  event.preventDefault()
  show()
})
byId('clear').addEventListener('click', () => {
  given.records = []
  given.pages.clear()
  byId('files').value = ''
  show()
  byId('files').focus()
})
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault() // or the browser opens the file
    byId('drop').classList.toggle('over', type === 'dragenter' || type === 'dragover')
    if (type === 'drop') take([...event.dataTransfer.files])
  })
}

// take sorts files into key pages and records. New records take the place of those before; key pages are kept beside.
async function take(files) {
  const records = []
  for (const file of files) {
    const read = await readFile(file)
    const party = read.data && pageParty(read.data)
    if (party) given.pages.set(party, read.data)
    else records.push(read)
  }
  if (records.length) given.records = records
  await show()
}

// readFile reads no more of a file than a record may have.
async function readFile(file) {
  if (file.size > maxRecord) return { name: file.name, report: await unread(file.size, '') }
  try {
    return { name: file.name, data: new Uint8Array(await file.arrayBuffer()) }
  } catch {
    return { name: file.name, report: await unread(0, 'it is a folder, or it cannot be read') }
  }
}

// pageParty is whose key page a file is, '' for what is none. What is wrong with it is for the check to find.
function pageParty(data) {
  if (data.length > maxPage) return ''
  try {
    const page = JSON.parse(new TextDecoder().decode(data))
    return page?.profile === 'agent-agreement-keys/1' && typeof page.party === 'string' ? page.party : ''
  } catch {
    return ''
  }
}

// keySource: with key pages given nothing is fetched. DNS cannot be asked from a page: vouches are given.
function keySource() {
  return {
    trustedHosts: [trustedHost, ...lines('hosts')],
    page: given.pages.size ? async (_, party) => given.pages.get(party) ?? null : fetchPage,
    txt: vouches(lines('vouches')),
  }
}

const lines = (id) => byId(id).value.split('\n').map((line) => line.trim()).filter(Boolean)

// fetchPage gets a key page: no redirects, no cookies, 5 s, at most 64 KiB (profile: "Party keys and the trust rule").
async function fetchPage(url, _, fresh) {
  const signal = AbortSignal.timeout(5000)
  const response = await fetch(url, { redirect: 'manual', credentials: 'omit', cache: fresh ? 'reload' : 'default', signal })
  if (response.status === 429 || response.status >= 500) throw new Error(`status ${response.status}`)
  const type = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
  if (response.status !== 200 || type !== 'application/json') return null // a redirect has the status 0 here (D44)
  const data = new Uint8Array(maxPage)
  let length = 0
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return data.subarray(0, length)
    if (length + value.length > maxPage) return reader.cancel().then(() => null)
    data.set(value, length)
    length += value.length
  }
}

let shown = 0 // the newest of the checks under way is the one that is shown

async function show() {
  const mine = ++shown
  byId('status').textContent = given.records.length ? 'Checking …' : ''
  byId('given').replaceChildren(...[...given.pages.keys()].map((party) => element('li', `key page of ${printable(party)}`)))
  byId('more').hidden = !given.pages.size && !given.records.length
  let keys
  try {
    keys = keySource()
  } catch (err) {
    byId('results').replaceChildren()
    byId('status').textContent = `The vouch ${printable(err.message)}`
    return
  }
  const results = await Promise.all(given.records.map((record) => result(record, keys)))
  if (mine !== shown) return
  byId('results').replaceChildren(...results.map(({ section }) => section))
  byId('status').textContent = results.map(({ verdict }) => verdict).join('. ') || (given.pages.size ? 'Now choose the record.' : '')
}

// result is a section of the page about one record.
async function result({ name, data, report }, keys) {
  try {
    report ??= await check(data, keys)
  } catch {
    report = await unread(0, 'this browser cannot check Ed25519 signatures: use a newer one')
  }
  const record = data && (await claims(data))
  const verdict = `${printable(name)} ${verdicts[report.result]}`
  const section = element('section', '', element('h2', verdict), element('p', sentence(report)))
  section.className = checksOut(report) ? 'good' : 'bad'
  section.dataset.result = report.result
  section.dataset.code = report.code
  if (record) section.append(...about(record, report))
  section.append(element('details', '', element('summary', 'Every step of the check'), stepTable(report)))
  return { section, verdict }
}

function sentence(report) {
  if (!report.reason) return ''
  const reason = printable(report.reason)
  return `${reason[0].toUpperCase()}${reason.slice(1)}.`
}

function about(record, report) {
  const good = checksOut(report)
  const list = element('dl', '', ...summary(record).flatMap(([label, text]) => [element('dt', label), element('dd', printable(text))]))
  const parts = [element('h3', good ? 'What was agreed' : 'What the record claims, which is not proven'), list]
  if (!good) return parts
  const { proven, unproven, warnings } = grounds(record, report)
  parts.unshift(...warnings.map((w) => element('p', 'Warning: ' + w + '.')))
  const points = (texts) => element('ul', '', ...texts.map((text) => element('li', printable(text))))
  return [...parts, element('h3', 'Proven'), points(proven), element('h3', 'Not proven'), points(unproven)]
}

function stepTable(report) {
  const heading = (text) => Object.assign(element('th', text), { scope: 'col' })
  const row = (s) => {
    const name = Object.assign(element('th', s.step), { scope: 'row' })
    return Object.assign(element('tr', '', name, element('td', s.result), element('td', printable(s.compared))), { className: s.result })
  }
  const head = element('tr', '', heading('Step'), heading('Result'), heading('What was compared, or why not'))
  return element('table', '', element('thead', '', head), element('tbody', '', ...report.steps.map(row)))
}

// element is an element with a text, which is never read as markup, and others in it.
function element(name, text, ...inner) {
  const e = document.createElement(name)
  e.textContent = text
  e.append(...inner)
  return e
}
