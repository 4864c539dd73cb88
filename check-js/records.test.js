import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { check, unread } from './check.js'
import { folder } from './sources.js'
import { goCommand, pagesFolder, read, readSuite, suites, temporaryFolder } from './testing.js'

for (const dir of suites) {
  test(`suite ${dir.split('/').slice(-2).join('/')}`, async (t) => {
    const { suite, keys } = readSuite(dir)
    assert.ok(suite.cases.length > 0)
    for (const { name, why, record, expect } of suite.cases) {
      await t.test(`${name}: ${why}`, async () => {
        const { result, code, warnings } = await check(read(dir, record), keys)
        const wanted = { code, warnings, ...expect }
        assert.deepEqual({ result, code, warnings: warnings.toSorted() }, { ...wanted, warnings: wanted.warnings.toSorted() })
      })
    }
  })
}

test('every member of every report is that of agentmaild check', async (t) => {
  const go = goCommand(t)
  if (!go) return t.skip('there is no Go')
  for (const dir of suites) {
    const { suite } = readSuite(dir)
    await compare(go, pagesFolder(t, dir), suite.trusted_hosts, suite.cases.map((c) => join(dir, c.record)))
  }
})

// compare holds the reports on files against those of the Go command.
async function compare(go, pages, trustedHosts, files) {
  const { stdout } = go('--json', '--keys', pages, ...trustedHosts.flatMap((host) => ['--trusted-host', host]), ...files)
  const lines = stdout.trim().split('\n')
  assert.equal(lines.length, files.length)
  const keys = { trustedHosts, page: folder(pages), txt: async () => [] }
  for (const [i, file] of files.entries()) {
    const data = read(file)
    const report = data.length > 262144 ? await unread(data.length) : await check(data, keys)
    assert.deepEqual(report, JSON.parse(lines[i]), file)
  }
}

// Everything in a record is sealed, the form of the file apart, which is canonical here: no bit of it is free.
test('a record with one bit changed does not check out, and the report is that of agentmaild check', async (t) => {
  const [dir] = suites
  const { keys } = readSuite(dir)
  const good = read(dir, 'records/two-signatures-times.json')
  assert.equal((await check(good, keys)).result, 'two_signatures')
  const files = []
  const flips = temporaryFolder(t)
  for (let bit = 0; bit < good.length * 8; bit += 127) {
    const changed = good.slice()
    changed[bit >> 3] ^= 1 << (bit & 7)
    assert.equal((await check(changed, keys)).result, 'does_not_check_out', `bit ${bit}`)
    files.push(join(flips, `${bit}.json`))
    writeFileSync(files.at(-1), changed)
  }
  assert.ok(files.length > 150)
  const go = goCommand(t)
  if (!go) return t.skip('there is no Go to compare with')
  await compare(go, pagesFolder(t, dir), keys.trustedHosts, files)
})

// A record that nobody signed rightly asks for pages all the same: they are bounded, whatever the record says.
test('the key source is asked for trusted pages only, and for each once', async () => {
  const [dir] = suites
  const { suite, keys } = readSuite(dir)
  const asked = []
  const page = (url, party, fresh) => {
    asked.push(`${url} ${fresh}`)
    return keys.page(url, party, fresh)
  }
  for (const { record } of suite.cases) {
    asked.length = 0
    await check(read(dir, record), { ...keys, page })
    assert.ok(asked.length <= 6 && new Set(asked).size === asked.length, `${record}: ${asked}`)
    for (const a of asked) assert.match(a, /^https:\/\/api\.stackshift\.cloud\/\.well-known\/agent-agreements\/pty_[a-z0-9]{20}\.json /)
  }
})
