// A headless Chromium for the tests of the page, driven over its debugging pipe (--remote-debugging-pipe): messages of JSON, each
// ended by a NUL, on the file descriptors 3 and 4.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Starts Chromium and opens a page in it; send is a command of the DevTools protocol, events what it reported so far. */
export async function openBrowser(t, ...flags) {
  const profile = mkdtempSync(join(tmpdir(), 'check-js-'))
  const chromium = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', `--user-data-dir=${profile}`, '--remote-debugging-pipe', ...flags],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => chromium.on('exit', resolve))
  const waiting = new Map()
  const events = []
  const watchers = new Set()
  let last = 0
  readMessages(chromium.stdio[4], (message) => {
    if (message.id) return waiting.get(message.id)(message)
    events.push(message)
    for (const look of watchers) look(message)
  })
  ended.then(() => waiting.forEach((answer) => answer({ error: { message: 'Chromium has ended' } })))

  const command = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    waiting.set(++last, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)))
    chromium.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + '\0')
  })
  t.after(async () => {
    command('Browser.close').catch(() => {})
    await ended
    rmSync(profile, { recursive: true, maxRetries: 5 })
  })
  const { targetId } = await command('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await command('Target.attachToTarget', { targetId, flatten: true })
  const send = (method, params) => command(method, params, sessionId)
  const event = (method) => new Promise((resolve) => {
    const look = (message) => message.method === method && watchers.delete(look) && resolve(message.params)
    watchers.add(look)
  })
  return { send, event, events }
}

function readMessages(stream, take) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const messages = (rest + chunk).split('\0')
    rest = messages.pop()
    for (const message of messages) take(JSON.parse(message))
  })
}
