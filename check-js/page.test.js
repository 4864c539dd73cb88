import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import test from 'node:test'
import { openBrowser } from './browser.js'
import { build } from './build.js'
import { certificate, installed, readSuite, root, suites, temporaryFolder } from './testing.js'

const [dir] = suites
const record = (name) => join(dir, 'records', name + '.json')
const pages = ['pty_buyer000000000000000', 'pty_seller00000000000000'].map((party) => join(dir, 'keys', party + '.json'))

test('index.html is what its parts make', () => {
  assert.ok(readFileSync(join(root, 'check-js/index.html'), 'utf8') === build(), 'it is not: node check-js/build.js')
  assert.equal(build().match(/<\/script/g).length, 1)
  assert.doesNotMatch(build(), /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|\son[a-z]+=/, 'text from outside as markup')
})

// missing says why the page cannot be tested here, '' if it can.
function missing() {
  if (!installed('chromium')) return 'Chromium is not installed: apt-get install chromium && node --test check-js/page.test.js'
  return installed('openssl', 'version') ? '' : 'openssl makes the certificate: apt-get install openssl'
}

// keyHost answers for every host in the world: it has the key pages, and notes what it is asked.
async function keyHost(t, answer = {}) {
  const asked = []
  const { suite } = readSuite(dir)
  const server = createServer(certificate(t), (request, response) => {
    if (/\.(google|googleapis|gstatic|gvt1)\.com$/.test(request.headers.host)) return response.writeHead(404).end() // the browser itself asks its maker
    const url = `https://${request.headers.host}${request.url}`
    asked.push(url)
    const file = suite.key_pages[url]?.file
    const { status = file ? 200 : 404, headers = {} } = answer
    response.writeHead(status, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*', ...headers })
    response.end(status === 200 ? readFileSync(join(dir, file)) : '')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, port: server.address().port, answer }
}

// open opens the page as a file, in a browser for which every host is the key host.
async function open(t, host) {
  const browser = await openBrowser(t, `--host-resolver-rules=MAP * 127.0.0.1:${host.port}`, '--ignore-certificate-errors')
  for (const domain of ['Page', 'Network', 'DOM', 'Log']) await browser.send(`${domain}.enable`)
  const load = async () => {
    const loaded = browser.event('Page.loadEventFired')
    await browser.send('Page.navigate', { url: `file://${join(root, 'check-js/index.html')}` })
    await loaded
    browser.events.length = host.asked.length = 0
  }
  await load()
  return { ...browser, load, evaluate: (expression) => evaluate(browser, expression) }
}

async function evaluate({ send }, expression) {
  const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value
}

// drop drops files on the page as a person does, and returns what it then shows of the records.
async function drop(page, ...files) {
  const data = { items: [], files, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop']) await page.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data })
  return shown(page)
}

// shown waits for the results of a check.
const shown = (page) => page.evaluate(`new Promise((resolve) => {
  const look = () => {
    const results = [...document.querySelectorAll('section')].map((s) => ({ ...s.dataset, text: s.textContent }))
    const done = !/Checking|^$/.test(document.getElementById('status').textContent)
    if (done) resolve(results)
    return done
  }
  if (!look()) new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document.body, { subtree: true, childList: true, characterData: true })
})`)

// requests are those that the page made, as the browser tells.
const requests = (page) => page.events.filter(({ method }) => method === 'Network.requestWillBeSent').map(({ params }) => params.request.url)

test('the page in Chromium', { timeout: 300_000 }, async (t) => {
  if (missing()) return t.skip(missing())
  const host = await keyHost(t)
  const page = await open(t, host)
  const keyPage = /^https:\/\/api\.stackshift\.cloud\/\.well-known\/agent-agreements\/pty_(buyer0|seller)0+\.json$/

  await t.test('a good record: key pages are fetched, and nothing else', async () => {
    const [{ result, text }] = await drop(page, record('two-signatures-quote'))
    assert.equal(result, 'two_signatures')
    assert.match(text, /300000\.00 NGN/)
    assert.equal(host.asked.length, 2, host.asked.join())
    for (const url of [...host.asked, ...requests(page)]) assert.match(url, keyPage)
    assert.ok(!page.events.some(({ params }) => /Content Security Policy/.test(params.entry?.text)), 'nothing in the page breaks its policy')
  })

  await t.test('a tampered record', async () => {
    await page.load()
    const [{ result, code, text }] = await drop(page, record('terms-off-by-one'))
    assert.deepEqual([result, code], ['does_not_check_out', 'terms'])
    assert.match(text, /The terms are not those of the offer\./)
    for (const url of [...host.asked, ...requests(page)]) assert.match(url, keyPage)
  })

  await t.test('with key pages beside it no request is made', async () => {
    await page.load()
    const results = await drop(page, record('two-signatures-times'), record('changed-after-seal'), ...pages)
    assert.deepEqual(results.map(({ result, code }) => [result, code]), [['two_signatures', ''], ['does_not_check_out', 'seal']])
    assert.deepEqual([host.asked, requests(page)], [[], []])
  })

  await t.test('files that are chosen are taken like dropped ones', async () => {
    await page.load()
    const { root: { nodeId: document } } = await page.send('DOM.getDocument')
    const { nodeId } = await page.send('DOM.querySelector', { nodeId: document, selector: '#files' })
    await page.send('DOM.setFileInputFiles', { nodeId, files: [record('their-reply'), ...pages] })
    const [{ result }] = await shown(page)
    assert.equal(result, 'their_reply')
    assert.deepEqual(host.asked, [])
  })

  await t.test('a host that is not trusted is never asked', async () => {
    await page.load()
    const [{ code }] = await drop(page, record('jku-elsewhere'))
    assert.equal(code, 'trust')
    for (const url of [...host.asked, ...requests(page)]) assert.match(url, keyPage)
    await assert.rejects(page.evaluate("fetch('https://elsewhere.test/')"), /Failed to fetch/)
    assert.ok(host.asked.every((url) => keyPage.test(url)), 'the policy of the page lets nothing else out')
  })

  for (const [name, answer, result, code] of [
    ['a redirect is not followed', { status: 302, headers: { Location: 'https://elsewhere.test/' } }, 'does_not_check_out', 'trust'],
    ['a page that is not there', { status: 404 }, 'does_not_check_out', 'trust'],
    ['another type', { headers: { 'Content-Type': 'text/html' } }, 'does_not_check_out', 'trust'],
    ['no answer for now', { status: 503 }, 'not_made', ''],
  ]) {
    await t.test(name, async () => {
      Object.assign(host.answer, { status: undefined, headers: {} }, answer)
      await page.load()
      await page.send('Network.clearBrowserCache')
      const [shown] = await drop(page, record('two-signatures-quote'))
      assert.deepEqual([shown.result, shown.code], [result, code])
      assert.ok(host.asked.length > 0)
      for (const url of host.asked) assert.match(url, keyPage)
    })
  }

  await t.test('what is no record, and text from outside', async () => {
    await page.load()
    const folder = temporaryFolder(t)
    const files = { '<img src=x onerror=alert(1)>.json': '{"profile":"<script>"}', 'large.json': ' '.repeat(262145), 'empty.json': '' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const results = await drop(page, ...Object.keys(files).map((name) => join(folder, name)))
    assert.deepEqual(results.map(({ code }) => code), ['profile', 'size', 'json'])
    assert.match(results[0].text, /^<img src=x onerror=alert\(1\)>\.json does not check out/)
    assert.equal(await page.evaluate("document.querySelectorAll('img, main script').length"), 0)
  })

  await t.test('keyboard and screen reader', async () => {
    await page.load()
    const press = async (key, code) => {
      for (const type of ['keyDown', 'keyUp']) await page.send('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: code })
    }
    await press('Tab', 9)
    assert.equal(await page.evaluate('document.activeElement.id'), 'files')
    await drop(page, record('two-signatures-quote'), ...pages)
    const { nodes } = await page.send('Accessibility.getFullAXTree')
    const named = (role) => nodes.filter((n) => n.role?.value === role).map((n) => n.name?.value)
    assert.match(named('button').join(), /Drop the record here, with key pages beside it, or choose the files/)
    assert.deepEqual(named('heading').slice(0, 2), ['Check an agreement record', 'two-signatures-quote.json checks out: two signatures'])
    assert.equal(await page.evaluate("document.querySelector('[role=status]').textContent"), 'two-signatures-quote.json checks out: two signatures')
    assert.ok(nodes.every((n) => !['button', 'textbox', 'table'].includes(n.role?.value) || n.ignored || n.name?.value !== '' || n.role.value === 'table'))
  })
})
