import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { folder, isPublic, network } from './sources.js'
import { bytes, certificate, installed, temporaryFolder } from './testing.js'

// serve answers every request with handler and returns the address of the server.
async function serve(t, { key, cert }, handler) {
  const server = createServer({ key, cert }, handler)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${server.address().port}/page.json`
}

const json = { 'Content-Type': 'application/json; charset=utf-8' }

test('key pages over https', async (t) => {
  if (!installed('openssl', 'version')) return t.skip('openssl makes the certificate: apt-get install openssl')
  const made = certificate(t)
  let answer
  const asked = []
  const url = await serve(t, made, (request, response) => {
    asked.push(request)
    answer(response)
  })
  const page = network({ allowPrivate: true, ca: made.cert })
  const sends = (status, headers, body = '') => (response) => response.writeHead(status, headers).end(body)
  answer = sends(200, json, '{}')
  assert.deepEqual(await page(url), bytes('{}'))
  assert.equal(asked[0].headers.cookie, undefined)

  for (const [name, a] of Object.entries({
    'a redirect': sends(302, { Location: url }), 'not there': sends(404, json, '{}'), gone: sends(410, json, '{}'), 'not modified': sends(304, json),
    'another type': sends(200, { 'Content-Type': 'text/html' }, '{}'), 'no type': sends(200, {}, '{}'),
    packed: sends(200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync('{}')), 'a byte too much': sends(200, json, ' '.repeat(65537)),
    endless: (response) => {
      response.writeHead(200, json)
      const more = () => response.destroyed || response.write(' '.repeat(16384), more)
      more()
    },
  })) {
    asked.length = 0
    answer = a
    assert.equal(await page(url), null, name)
    assert.equal(asked.length, 1, `${name}: nothing is followed`)
  }
  answer = sends(200, json, ' '.repeat(65536))
  assert.equal((await page(url)).length, 65536)
  for (const [name, a] of Object.entries({
    503: sends(503, json), 429: sends(429, json), 'a connection that breaks': (response) => response.socket.destroy(),
    'a body that breaks': (response) => response.writeHead(200, { ...json, 'Content-Length': 10 }).write('{', () => response.socket.destroy()),
    'endless headers': sends(200, { ...json, More: 'x'.repeat(20000) }),
  })) {
    answer = a
    await assert.rejects(page(url), undefined, name)
  }

  answer = sends(200, json, '{}')
  await assert.rejects(network({ allowPrivate: true })(url), /certificate/, 'a certificate that nobody knows')
  asked.length = 0
  assert.equal(await network({ ca: made.cert })(url), null, 'an address of this machine')
  assert.equal(await network({ ca: made.cert })(url.replace('127.0.0.1', 'localhost')), null, 'a name for it')
  assert.equal(await network({ ca: made.cert })(url.replace('127.0.0.1', '[::ffff:127.0.0.1]')), null, 'its IPv6 form')
  assert.equal(asked.length, 0)
})

test('addresses that are not public', () => {
  for (const address of ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '255.255.255.255', '224.0.0.1',
    '::', '::1', 'fe80::1', 'fc00::1', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1', '2001:0:1::1', '2001:db8::1', 'ff02::1', '3fff::1', 'name.test', '']) {
    assert.equal(isPublic(address), false, address)
  }
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1', '2001:4860:4860::8888']) assert.equal(isPublic(address), true, address)
})

// D132. Each stands where the page of a party should be.
test('key pages in a folder are regular files in it', async (t) => {
  const [dir, elsewhere] = [temporaryFolder(t), temporaryFolder(t)]
  const page = folder(dir)
  const at = (name) => join(dir, `${name}.json`)
  writeFileSync(at('page'), '{}')
  writeFileSync(join(elsewhere, 'page.json'), '{}')
  symlinkSync('page.json', at('inside'))
  symlinkSync(join(elsewhere, 'page.json'), at('outside'))
  symlinkSync('/dev/zero', at('device'))
  symlinkSync('loop.json', at('loop'))
  symlinkSync('nothing.json', at('dangling'))
  mkdirSync(at('folder'))
  execFileSync('mkfifo', [at('pipe')])
  for (const name of ['page', 'inside']) assert.deepEqual(await page('', name), new TextEncoder().encode('{}'), name)
  for (const name of ['nothing', 'dangling']) assert.equal(await page('', name), null, name)
  for (const name of ['outside', 'device', 'loop', 'folder', 'pipe']) await assert.rejects(page('', name), name)
})
