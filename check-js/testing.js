// What the tests share.

import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** The folders with suites of records. */
export const suites = ['conformance/vectors/records', 'conformance/records'].map((dir) => join(root, dir))

/** Bytes of a text. */
export const bytes = (text) => new TextEncoder().encode(text)

/** Bytes of a file. */
export const read = (...path) => new Uint8Array(readFileSync(join(...path)))

/** A suite of records, with the key source that it describes. */
export function readSuite(dir) {
  const suite = JSON.parse(readFileSync(join(dir, 'suite.json'), 'utf8'))
  const keys = {
    trustedHosts: suite.trusted_hosts,
    page: async (url) => {
      const { status, file } = suite.key_pages[url] ?? { status: 404 }
      if (noAnswer(status)) throw new Error(`status ${status}`)
      return status === 200 ? read(dir, file) : null
    },
    txt: async (name) => {
      if (suite.dns_errors?.[name]) throw new Error(suite.dns_errors[name])
      return suite.dns?.[name] ?? []
    },
  }
  return { suite, keys }
}

const noAnswer = (status) => status === 429 || status >= 500

/** A folder that is gone when the test is over. */
export function temporaryFolder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'check-js-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

/** The key pages of a suite as a folder for --keys. A page that does not answer is one that is there and cannot be read. */
export function pagesFolder(t, dir) {
  const { suite } = readSuite(dir)
  const pages = temporaryFolder(t)
  for (const [url, { status, file }] of Object.entries(suite.key_pages)) {
    const page = join(pages, url.split('/').at(-1))
    if (existsSync(page)) continue
    if (status === 200) copyFileSync(join(dir, file), page)
    if (noAnswer(status)) mkdirSync(page)
  }
  return pages
}

/** Runs the command of this folder. */
export const runCommand = (...args) => run(process.execPath, [join(root, 'check-js/cli.js'), ...args])

/** Builds the Go command and returns its check; null where there is no Go. */
export function goCommand(t) {
  if (!installed('go', 'version')) return null
  const program = join(temporaryFolder(t), 'agentmaild')
  execFileSync('go', ['build', '-o', program, './cmd/agentmaild'], { cwd: root })
  return (...args) => run(program, ['check', ...args])
}

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { status, stdout, stderr }
}

/** Whether a program is installed. */
export const installed = (program, question = '--version') => spawnSync(program, [question]).error === undefined

/** A certificate for servers on this machine, made for one test. */
export function certificate(t) {
  const dir = temporaryFolder(t)
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}
