#!/usr/bin/env node
// The command: checks agreement records as `agentmaild check` does. Results go to standard output, errors to standard error.
// Exit code 0: all check out; 1: one does not; 2: one could not be checked for now, or the command line is wrong.

import { access, constants } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { check, claims, vouches } from './check.js'
import { dns, folder, network, readRecord, reasonOf } from './sources.js'
import { checksOut, grounds, printable, summary, verdicts } from './words.js'

const usage = `Usage: node cli.js RECORD… [--keys DIR] [--trusted-host HOST]… [--vouch DOMAIN=PARTY]… [--json]

  --keys DIR             read key pages from DIR, each in a file PARTY.json, instead of fetching them
  --trusted-host HOST    believe the key pages of HOST; may be repeated (default api.stackshift.cloud)
  --vouch DOMAIN=PARTY   take it that a domain vouches for a party, instead of asking DNS; may be repeated
  --json                 print each report as one line of JSON
`

/** An error of the command line: exit code 2. */
class UsageError extends Error {}

function readArguments(args) {
  const several = { type: 'string', multiple: true }
  try {
    return parseArgs({
      args, allowPositionals: true,
      options: { keys: { type: 'string' }, 'trusted-host': several, vouch: several, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (err) {
    throw new UsageError(`${err.message.split('.')[0]}: see --help`)
  }
}

// keySource is where the options say that key pages and vouches are. With either of the two given nothing is asked in DNS.
async function keySource(options) {
  const trustedHosts = options['trusted-host'] ?? ['api.stackshift.cloud']
  const noHost = trustedHosts.find((host) => !/^[^/@ \t\r\n]+$/.test(host)) // no key page could be on it
  if (noHost !== undefined) throw new UsageError(`--trusted-host ${JSON.stringify(noHost)}: it is no host name, as in keys.example`)
  if (options.keys === '') throw new UsageError('--keys names no folder')
  const given = options.vouch ?? []
  try {
    const txt = options.keys !== undefined || given.length ? vouches(given) : dns
    if (options.keys !== undefined) await access(options.keys + '/', constants.R_OK)
    return { trustedHosts, txt, page: options.keys === undefined ? network() : folder(options.keys) }
  } catch (err) {
    throw new UsageError(err.errno ? `--keys: open ${options.keys}: ${reasonOf(err)}` : `--vouch ${err.message}`)
  }
}

async function reportText(file, data, report) {
  const lines = [`${printable(file)} ${verdicts[report.result]}`]
  if (!checksOut(report)) lines.push('', ...failures(report))
  const record = data && (await claims(data))
  if (record) {
    lines.push('', checksOut(report) ? 'What was agreed' : 'What the record claims, which is NOT proven')
    lines.push(...summary(record).map(([label, text]) => `  ${label.padEnd(12)} ${printable(text)}`))
  }
  if (record && checksOut(report)) {
    const { proven, unproven, warnings } = grounds(record, report)
    lines.push('', 'Proven', ...indented(proven), '', 'Not proven', ...indented(unproven))
    for (const w of warnings) lines.push('', 'Warning: ' + w)
  }
  return lines.join('\n')
}

const indented = (texts) => texts.map((text) => '  ' + printable(text))

// failures names the step that decided first, then the others that failed.
function failures(report) {
  const lines = [`  Why: ${printable(report.reason)}`]
  const count = (result) => report.steps.filter((s) => s.result === result).length
  for (const s of report.steps) if (s.result === 'fail') lines.push(`  Failed: ${s.step} (compared ${printable(s.compared)})`)
  if (count('pass') + count('fail')) {
    lines.push(`  Steps: ${count('pass')} passed, ${count('fail')} failed, ${count('skipped')} skipped; --json shows them`)
  }
  return lines
}

// main checks the records one after the other and returns the exit code.
async function main(args) {
  const { values, positionals: files } = readArguments(args)
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (!files.length) throw new UsageError('no record is named: see --help')
  const keys = await keySource(values)
  const wrong = { does_not_check_out: [], not_made: [] }
  for (const file of files) {
    const { data, report = await check(data, keys) } = await readRecord(file)
    process.stdout.write((values.json ? JSON.stringify(report) : await reportText(file, data, report)) + '\n')
    wrong[report.result]?.push(`${printable(file)} ${verdicts[report.result]}: ${report.reason}`)
  }
  const { does_not_check_out: failed, not_made: unmade } = wrong
  if (files.length === 1) [...failed, ...unmade].forEach(complain)
  else if (failed.length) complain(`${failed.length} of ${files.length} records do not check out`)
  else if (unmade.length) complain(`${unmade.length} of ${files.length} records could not be checked`)
  return failed.length ? 1 : unmade.length ? 2 : 0
}

const complain = (line) => process.stderr.write(`check: ${line}\n`)

process.stdout.on('error', () => process.exit(2)) // nobody reads on, as behind `| head`

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (err) {
  complain(err instanceof UsageError ? err.message : `the check broke off: ${err.message}`)
  process.exitCode = 2
}
