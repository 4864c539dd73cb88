// What a report and its record say, in words for people. Everything that comes from the record is text from outside.

import { digits } from './check.js'

/** The results in words. */
export const verdicts = {
  two_signatures: 'checks out: two signatures',
  one_signature: 'checks out: one signature',
  their_reply: 'checks out: their reply, recorded by a named party',
  does_not_check_out: 'does not check out',
  not_made: 'could not be checked',
}

/**
 * Tells whether a record is good for what its kind says.
 *
 * @param {import('./check.js').Report} report
 * @returns {boolean}
 */
export const checksOut = (report) => !['does_not_check_out', 'not_made'].includes(report.result)

/**
 * What a record says was agreed, as pairs of a label and a text.
 *
 * @param {object} record as claims returns it
 * @returns {[string, string][]}
 */
export function summary(record) {
  const { terms, reply } = record
  const lines = record.parties.toSorted((a, b) => (a.role < b.role ? 1 : -1)).map((p) => [p.role, who(p)])
  for (const item of terms.items ?? []) lines.push(['item', itemLine(item)])
  lines.push(['total', terms.total && moneyLine(terms.total)], ['delivery by', terms.delivery_by])
  lines.push(['time', terms.slot && slotLine(terms.slot)], ['purpose', terms.purpose], ['location', terms.location])
  lines.push(['agreed', utc(record.agreed_at * 1000) + ' UTC'])
  if (reply) lines.push(['reply', 'SHA-256 ' + reply.hash], ['its server', reply.auth_results])
  lines.push(['record', record.id])
  return lines.filter(([, text]) => text)
}

/**
 * What a record that checks out proves, and what it does not.
 *
 * @param {object} record as claims returns it
 * @param {import('./check.js').Report} report
 * @returns {{proven: string[], unproven: string[], warnings: string[]}}
 */
export function grounds(record, report) {
  const side = (role) => record.parties.find((p) => p.role === role)
  const signed = (step) => report.steps.some((s) => s.step === step && s.result === 'pass')
  const by = (message, p) => `the ${message} was signed by party ${p.party}, which speaks for ${p.address}`
  const proven = [], unproven = []
  if (signed('offer signature')) proven.push(by('offer', side('offerer')))
  if (signed('acceptance signature')) proven.push(by('acceptance', side('accepter')))
  proven.push('nothing in the record was changed since it was sealed')
  if (report.result === 'one_signature') {
    unproven.push('that the other side said what its message says: it is not signed, or by nobody who could be checked')
  }
  if (report.result === 'their_reply') unproven.push(`that ${side('accepter').address} agreed: the side that sealed the record says so`)
  unproven.push('that the names of the organisations are true: they are what each side published')
  const warnings = report.warnings.includes('key_revoked_later')
    ? ['a key that signed was revoked afterwards. If it was stolen before, the record may be forged'] : []
  return { proven, unproven, warnings }
}

const who = (p) => `${p.org_name} <${p.address}>` + (p.party ? `, party ${p.party}` : '')

function itemLine({ quantity, unit, description, unit_price: price }) {
  return [quantity, unit, description, price && '@ ' + moneyLine(price)].filter(Boolean).join(' ')
}

function moneyLine({ amount, currency }) {
  const n = digits(currency)
  const padded = amount.padStart(n + 1, '0')
  return (n > 0 ? `${padded.slice(0, -n)}.${padded.slice(-n)}` : amount) + ' ' + currency
}

// slotLine shows both ends in the slot's own zone, with their offset; as they stand where the runtime does not know the zone.
function slotLine({ start, end, time_zone: zone }) {
  try {
    const form = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    const local = (s) => {
      const at = Date.parse(s.toUpperCase())
      const [, offset = '+00:00'] = /([+-]\d\d:\d\d)/.exec(form.formatToParts(at).find((p) => p.type === 'timeZoneName').value) ?? []
      return utc(at + Date.parse(`1970-01-01T00:00:00${offset.replace(/[+-]/, (sign) => (sign === '+' ? '-' : '+'))}`)) + ' ' + offset
    }
    return `${local(start)} to ${local(end)}, ${zone}`
  } catch {
    return `${start} to ${end}, ${zone}`
  }
}

// utc writes milliseconds as in Fri 13 Nov 2026 15:00:00.
const utc = (ms) => new Date(ms).toUTCString().replace(',', '').replace(' GMT', '').replace(/ 0(\d) /, ' $1 ')

/**
 * Writes text from outside so that it can move no cursor, turn no line around and pass for nothing else: what does not
 * print is escaped, and what is longer than 500 characters is cut.
 *
 * @param {string} s
 * @returns {string}
 */
export function printable(s) {
  const signs = Array.from(s)
  const shown = signs.slice(0, 500).map((sign) => (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(sign) ? sign : escaped(sign)))
  return shown.join('') + (signs.length > 500 ? '…' : '')
}

function escaped(sign) {
  const code = sign.codePointAt(0).toString(16)
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[sign] ?? (code.length > 4 ? '\\U' + code.padStart(8, '0') : '\\u' + code.padStart(4, '0'))
}
