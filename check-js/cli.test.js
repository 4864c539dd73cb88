import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, openSync, ftruncateSync, closeSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { goCommand, root, runCommand, suites, temporaryFolder } from './testing.js'

const [dir] = suites
const record = (name) => join(dir, 'records', name + '.json')
const keys = ['--keys', join(dir, 'keys')]
const good = record('two-signatures-quote'), bad = record('terms-off-by-one')

test('exit codes and the last line', () => {
  const missing = join(dir, 'missing.json')
  for (const [args, status, stderr] of [
    [[...keys, good], 0, /^$/],
    [[...keys, record('their-reply'), record('our-signature')], 0, /^$/],
    [[...keys, bad], 1, /^check: \S+terms-off-by-one\.json does not check out: the terms are not those of the offer\n$/],
    [[...keys, missing], 2, /missing\.json could not be checked: no such file or directory\n$/],
    [[...keys, good, missing, bad], 1, /^check: 1 of 3 records do not check out\n$/],
    [[...keys, good, missing], 2, /^check: 1 of 2 records could not be checked\n$/],
    [[...keys, '--trusted-host', 'keys.other.test', good], 1, /from no key page on a trusted host/],
    [['--keys', 'nowhere', good], 2, /^check: --keys: open nowhere: no such file or directory\n$/],
    [['--keys', good, good], 2, /^check: --keys: open \S+: not a directory\n$/],
    [['--keys', '', good], 2, /^check: --keys names no folder\n$/],
    [[...keys, '--trusted-host', 'https://keys.test', good], 2, /^check: --trusted-host "https:\/\/keys\.test": it is no host name/],
    [[...keys, '--trusted-host', '', good], 2, /it is no host name/],
    [['--vouch', 'buyer.test', good], 2, /^check: --vouch "buyer\.test": it is not of the form DOMAIN=PARTY/],
    [['--vouch', '_.test=pty_buyer000000000000000', good], 2, /not of the form DOMAIN=PARTY/],
    [['--colour', good], 2, /^check: Unknown option '--colour': see --help\n$/],
    [[], 2, /^check: no record is named: see --help\n$/],
  ]) {
    const ran = runCommand(...args)
    assert.equal(ran.status, status, args.join(' ') + ran.stderr)
    assert.match(ran.stderr, stderr, args.join(' '))
  }
  assert.match(runCommand('--help').stdout, /^Usage: /)
})

test('the report in words is that of agentmaild check', (t) => {
  const go = goCommand(t)
  if (!go) return t.skip('there is no Go')
  const files = ['two-signatures-quote', 'two-signatures-times', 'our-signature', 'their-reply', 'terms-off-by-one', 'duplicate-member'].map(record)
  assert.equal(runCommand(...keys, ...files).stdout, go(...keys, ...files).stdout)
})

test('a vouch in the place of a listing', (t) => {
  const pages = temporaryFolder(t)
  const buyer = '{"profile":"agent-agreement-keys/1","party":"pty_buyer000000000000000","keys":[{"kty":"OKP","crv":"Ed25519",' +
    '"x":"waKkWsA-2APlV6bWt43Nqdqb-7jlQy4yraIKxcNbTcw","kid":"pi-4k40siUzrvCvMOC4nIiXhbxXM0oF-eAoI3mv7Cok","created_at":1790812800}]}'
  writeFileSync(join(pages, 'pty_buyer000000000000000.json'), buyer)
  const args = ['--keys', pages, '--json', good]
  assert.equal(JSON.parse(runCommand(...args).stdout).reason, 'the key page of who signed the offer could not be found or used')
  const vouch = ['--vouch', 'Buyer.test=pty_buyer000000000000000']
  const steps = (ran) => Object.fromEntries(JSON.parse(ran.stdout).steps.map((s) => [s.step, s.result]))
  assert.equal(steps(runCommand(...args))['acceptance trust'], 'fail')
  assert.equal(steps(runCommand(...args, ...vouch))['acceptance trust'], 'pass')
})

test('what is no record', (t) => {
  const folder = temporaryFolder(t)
  const file = (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const huge = join(folder, 'huge.json')
  const handle = openSync(huge, 'w')
  ftruncateSync(handle, 10 * 2 ** 30) // refused by its size: reading it would take minutes
  closeSync(handle)
  mkdirSync(join(folder, 'inner'))
  for (const [name, code, reason] of [
    [file('empty.json', ''), 'json', 'the record is not strict JSON'],
    [file('text.json', 'We agreed.'), 'json', 'the record is not strict JSON'],
    [file('list.json', '[]'), 'profile', 'this is no record of agent-agreement/1'],
    [file('null.json', 'null'), 'profile', 'this is no record of agent-agreement/1'],
    [file('invoice.json', '{"profile":"invoice/1"}'), 'profile', 'this is no record of agent-agreement/1'],
    [file('form.json', '{"profile":"agent-agreement/1"}'), 'schema', 'the record does not have the form of one: /agreed_at is missing'],
    [huge, 'size', 'the record is larger than 262144 bytes'],
    [join(folder, 'inner'), '', 'it is a folder: name the records in it'],
    ['/dev/zero', 'size', 'the record is larger than 262144 bytes'],
  ]) {
    const ran = runCommand(...keys, '--json', name)
    const report = JSON.parse(ran.stdout)
    assert.deepEqual([report.code, report.reason, ran.status], [code, reason, code ? 1 : 2], name)
    assert.equal(report.steps.length, 38)
  }
})

test('a reader who goes away is no reason for a trace', () => {
  const many = Array(300).fill(good).map((name) => `'${name}'`).join(' ')
  const { stdout, stderr } = spawnSync('sh', ['-c', `'${process.execPath}' '${join(root, 'check-js/cli.js')}' --keys '${join(dir, 'keys')}' ${many} | head -n 1`], { encoding: 'utf8' })
  assert.match(stdout, /checks out: two signatures\n$/)
  assert.equal(stderr, '')
})

test('what a record says cannot move the cursor', (t) => {
  const name = join(temporaryFolder(t), 'a\u001b[2J\u202e\n.json')
  writeFileSync(name, '')
  assert.match(runCommand(...keys, name).stdout, /a\\u001b\[2J\\u202e\\n\.json does not check out/)
})
