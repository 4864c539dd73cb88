// Writes index.html: the page with its style and modules in it, so that it can be opened as a file, where no module can be
// loaded beside it. The policy in it names the two by their hash, so nothing else can run there.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')

/**
 * The text of index.html.
 *
 * @returns {string}
 */
export function build() {
  const script = ['check.js', 'words.js', 'page.js'].map((name) => source(name).replace(/^import .*\n/gm, '')).join('\n')
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const parts = { script, style: source('page.css') }
  Object.assign(parts, { 'script-hash': hash(parts.script), 'style-hash': hash(parts.style) })
  return source('page.html').replace(/\{\{([a-z-]+)\}\}/g, (_, name) => parts[name])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL('index.html', import.meta.url), build())
