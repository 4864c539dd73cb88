// The check of agreement records (agent-agreement/1), for Node.js 20 and later and for browsers with Ed25519 in WebCrypto.
// Nothing is imported, stored or sent: key pages come from the key source that is passed in. The steps, their order and
// their words are those of docs/records.md; D-numbers are those of docs/decisions.md.

/** The most bytes of a record as it stands in its file, the seal included (D47). */
export const maxRecord = 262144

/** The most bytes of a key page (profile: "Party keys and the trust rule"). */
export const maxPage = 65536

/**
 * Checks a record. The same bytes and the same key pages give the same report, whenever and wherever.
 *
 * @param {Uint8Array} data the record as it stands in its file
 * @param {KeySource} keys where key pages and the vouches of domains come from; at most six pages are asked for
 * @returns {Promise<Report>} the report of docs/records.md. Rejected only where WebCrypto lacks Ed25519.
 *
 * @typedef {object} KeySource
 * @property {string[]} trustedHosts host names whose key pages are believed
 * @property {(url: string, party: string, fresh: boolean) => Promise<Uint8Array|null>} page the bytes of the key page at an
 *   address, null where there is none for good; rejected where there is no answer for now (D49). With fresh, not from a cache.
 * @property {(name: string) => Promise<string[]>} txt the TXT records of a name in DNS, an empty list where there are none;
 *   rejected where there is no answer for now
 *
 * @typedef {object} Report
 * @property {'two_signatures'|'one_signature'|'their_reply'|'does_not_check_out'|'not_made'} result
 * @property {string} code
 * @property {string} reason
 * @property {string[]} warnings
 * @property {{step: string, result: 'pass'|'fail'|'skipped', compared: string}[]} steps
 */
export async function check(data, keys) {
  const c = newCheck(data, data.length, keys)
  await run(c)
  return finish(c)
}

/**
 * The report on a record that cannot be read at all, or is too large to be.
 *
 * @param {number} size of its file in bytes
 * @param {string} reason why it cannot be read, where it is not too large
 * @returns {Promise<Report>}
 */
export async function unread(size, reason) {
  const c = newCheck(new Uint8Array(), size, {})
  await run(c, 'size')
  if (c.decided) return finish(c)
  c.steps[0] = { step: 'size', result: 'skipped', compared: 'the record could not be read' }
  return { result: 'not_made', code: '', reason, warnings: [], steps: c.steps }
}

/**
 * What a record says, believed or not: null for what is no record with valid messages (the steps size to messages).
 *
 * @param {Uint8Array} data
 * @returns {Promise<object|null>}
 */
export async function claims(data) {
  const c = newCheck(data, data.length, { trustedHosts: [] })
  await run(c, 'messages')
  return c.decided ? null : c.record
}

/**
 * The vouches of domains given in the place of DNS: the txt of a KeySource.
 *
 * @param {string[]} given each DOMAIN=PARTY
 * @returns {(name: string) => Promise<string[]>}
 * @throws {Error} one is not of that form
 */
export function vouches(given) {
  const records = given.map((v) => {
    const [, domain, id] = /^([^=]*)=(pty_[a-z0-9]{20})$/.exec(v) ?? []
    const plain = id && plainDomain(domain)
    if (!plain) throw new Error(`${JSON.stringify(v)}: it is not of the form DOMAIN=PARTY, as in buyer.example=pty_0123456789abcdefghij`)
    return [vouchName + plain, id]
  })
  return async (name) => records.filter(([n]) => n === name).map(([, id]) => id)
}

const vouchName = '_agent-agreements.' // where the domain of a sender vouches for a party (profile: "Party keys and the trust rule")

// --- The steps ---

const offering = 0, accepting = 1, sealing = 2
const names = ['offer', 'acceptance', 'seal']
const roles = ['offerer', 'accepter'] // in the order of their messages

// steps are [name, code of a failure, the step it cannot be made without, what it does].
const steps = [
  ['size', 'size', '', sizeWithin],
  ['json', 'json', 'size', strictJSON],
  ['profile', 'profile', 'json', rightProfile],
  ['schema', 'schema', 'profile', rightForm],
  ['tokens', 'signature', 'schema', tokensRead],
  ['canonical', 'canonical', 'tokens', bytesCanonical],
  ['messages', 'schema', 'canonical', messagesValid],
  ['hashes', 'hash', 'tokens', hashesRecomputed],
  ['chain', 'chain', 'messages', chainFormed],
  ['mails', 'chain', 'chain', () => skip('the mails of the thread were not given')],
  ['slot', 'binding', 'messages', slotOffered],
  ['terms', 'terms', 'messages', termsRecomputed],
  ['thread', 'binding', 'messages', sameThread],
  ['recipient', 'binding', 'messages', rightRecipient],
  ['reference', 'binding', 'messages', rightReference],
  ['prev', 'binding', 'messages', rightPrev],
  ['agreed_at', 'binding', 'messages', rightMoment],
  ['parties', 'binding', 'messages', rightParties],
  ['replaced', 'replaced', 'messages', offerCurrent],
  ['late', 'late', 'messages', inTime],
  ...signatureSteps(offering, 'messages'),
  ...signatureSteps(accepting, 'messages'),
  ['seal form', 'seal', 'schema', sealForm],
  ['seal signer', 'seal', 'seal form', sealSigner],
  ...signatureSteps(sealing, 'seal signer'),
  ['kind', 'kind', 'messages', kindFound],
]

function signatureSteps(which, needs) {
  const step = (rule, code, needed, make) =>
    [`${names[which]} ${rule}`, which === sealing ? 'seal' : code, needed, (c) => ofSignature(c, which, make)] // D50
  return [
    step('trust', 'trust', needs, trusted),
    step('kid', 'kid', `${names[which]} trust`, keyOnPage),
    step('revoked', 'revoked', `${names[which]} kid`, notRevoked),
    step('retired', 'retired', `${names[which]} kid`, notRetired),
    step('signature', 'signature', `${names[which]} kid`, verifies),
  ]
}

// newCheck is a record being checked. The other members are set by the steps, in their order.
function newCheck(data, size, keys) {
  return { data, size, keys, steps: [], results: {}, warnings: [], decided: null, pages: new Map(), signings: [null, null, null] }
}

const pass = (compared) => ({ result: 'pass', compared })
const skip = (why) => ({ result: 'skipped', compared: why })
const fail = (reason, compared) => ({ result: 'fail', reason, compared })
const holds = (ok, reason, compared) => (ok ? pass(compared) : fail(reason, compared))

// run makes the steps up to the one named, or all; what comes behind is skipped.
async function run(c, last) {
  let ended = false
  for (const [step, code, needs, make] of steps) {
    const o = ended ? skip('not made') : needs && c.results[needs] !== 'pass' ? skip(`${needs} did not pass`) : await make(c)
    if (o.result === 'fail' && !c.decided) c.decided = { ...o, code }
    c.results[step] = o.result
    c.steps.push({ step, result: o.result, compared: o.compared })
    ended ||= step === last
  }
}

// finish decides: the first step that failed, else the kind.
function finish(c) {
  const found = { two_signatures: 'two_signatures', our_signature: 'one_signature', their_reply: 'their_reply' }
  const decided = { result: c.record && found[c.record.kind], code: '', reason: '' }
  if (c.decided) Object.assign(decided, { result: 'does_not_check_out', code: c.decided.code, reason: c.decided.reason })
  if (c.decided?.later) Object.assign(decided, { result: 'not_made', code: '' }) // D49
  return { ...decided, warnings: c.warnings, steps: c.steps }
}

// --- Reading ---

function sizeWithin(c) {
  return holds(c.size <= maxRecord, 'the record is larger than 262144 bytes', `${c.size} bytes with the most, ${maxRecord}`)
}

// strictJSON refuses what two readers could take for two records.
function strictJSON(c) {
  c.read = parse(c.data, maxDepth)
  return holds(c.read, 'the record is not strict JSON', `the bytes with RFC 8259, at most ${maxDepth} levels, no member twice`)
}

function rightProfile(c) {
  const right = isObject(c.read.value) && c.read.value.profile === 'agent-agreement/1'
  return holds(right, 'this is no record of agent-agreement/1', 'the member profile with agent-agreement/1')
}

function rightForm(c) {
  const compared = 'the members with the record schema'
  const broken = recordForm(c.read.value) || rightKind(c.read.value)
  if (broken) return fail('the record does not have the form of one: ' + broken, compared)
  c.record = c.read.value
  c.evidence = [c.record.offer]
  if (c.record.acceptance) c.evidence.push(c.record.acceptance)
  c.tokens = []
  c.messages = []
  const { seal, ...unsealed } = c.record
  c.seal = readSeal(seal, encode(new TextEncoder().encode(write(unsealed))))
  return pass(compared)
}

// rightKind: a reply comes in the place of an acceptance for their_reply, and only there (D50).
function rightKind(r) {
  const byReply = r.kind === 'their_reply'
  if ('reply' in r !== byReply) return '/reply belongs to their_reply and to no other kind'
  if ('acceptance' in r === byReply) return '/acceptance belongs to every kind but their_reply'
  return r.parties[0].role === r.parties[1].role ? '/parties are not one of each role' : ''
}

// tokensRead takes the signed messages apart. A token of another spelling or header is no signature of the profile (D12).
function tokensRead(c) {
  for (const [i, e] of c.evidence.entries()) {
    if (!e.jws) continue
    c.tokens[i] = parseToken(e.jws, 'agent-intent+jws')
    if (!c.tokens[i]) {
      return fail(`the token of the ${names[i]} is not of the form that the profile asks for`, `the token of the ${names[i]} with the form of a message's`)
    }
  }
  return pass("the tokens of the signed messages with the form of a message's")
}

// bytesOf is what the hash of a message is taken over.
const bytesOf = (c, i) => c.tokens[i]?.payload ?? new TextEncoder().encode(c.evidence[i].canonical)

// bytesCanonical reads the messages. What is no strict JSON, or has members that the profile does not know, is the
// canonical form of nothing (D80); what is invalid in another way is left to the next step.
function bytesCanonical(c) {
  for (const i of c.evidence.keys()) {
    const data = bytesOf(c, i)
    const m = sameBytes(canonical(data), data) ? readMessage(data) : { unknown: true }
    if (m?.unknown) return fail(`the ${names[i]} is not in its canonical form`, `the bytes of the ${names[i]} with their RFC 8785 form`)
    c.messages[i] = m
  }
  return pass('the bytes of each message with their RFC 8785 form')
}

function messagesValid(c) {
  const compared = 'each message with the rules for its type'
  for (const i of c.evidence.keys()) {
    const m = c.messages[i]
    if (!m) return fail(`the ${names[i]} is not a valid message`, compared)
    if (i === offering && m.type !== 'quote' && m.type !== 'propose_times') return fail('the offer is neither a quote nor proposed times', compared)
    if (i === accepting && m.type !== 'accept') return fail('the acceptance is not an accept', compared)
    if (c.record.kind === 'their_reply' && m.type !== 'quote') return fail("a person's reply can accept a quote only", compared) // D51
  }
  for (const [i, m] of c.messages.entries()) {
    const token = c.tokens[i]
    if (token) c.signings[i] = { which: i, token, party: partyOf(c, token), claimed: m.from.party ?? '', address: m.from.address, at: m.iat }
  }
  return pass(compared)
}

async function hashesRecomputed(c) {
  for (const [i, e] of c.evidence.entries()) {
    const got = hex(await sha256(bytesOf(c, i)))
    if (got !== e.hash) return fail(`the hash of the ${names[i]} is not that of its bytes`, `${e.hash} with ${got}`)
    if (c.messages[i]) c.messages[i].hash = got
  }
  return pass('the SHA-256 of each message with its hash')
}

// --- Binding ---

const noAcceptance = 'there is no acceptance'

// chainFormed: the chain may not be cut behind the acceptance, nor put in an order in which something answers what came
// later (D50, D82).
function chainFormed(c) {
  const { chain, offer } = c.record
  const last = c.evidence.at(-1).hash
  const places = new Map()
  for (const [i, hash] of chain.entries()) {
    if (places.has(hash)) return fail('a message stands twice in the chain', `entry ${i + 1} with those before it`)
    places.set(hash, i)
  }
  if (!places.has(offer.hash)) return fail('the offer is not in the chain', `the hash of the offer with ${chain.length} entries`)
  if (chain.at(-1) !== last) return fail('the chain does not end where it was agreed', `the last of ${chain.length} entries with ${last}`)
  const { prev } = c.messages[offering]
  if (prev && !(places.get(prev) < places.get(offer.hash))) {
    const compared = `${prev} with the ${places.get(offer.hash)} entries before the offer`
    return fail('what the offer answers does not stand before it in the chain', compared)
  }
  return pass(`the offer and the end of agreement with ${chain.length} entries, each once`)
}

function slotOffered(c) {
  const [offer, acceptance] = c.messages
  if (!acceptance) return skip(noAcceptance)
  const slots = offer.slots?.length ?? 0
  if (!('slot' in acceptance)) return holds(slots === 0, 'the acceptance chooses none of the times', `no slot with the ${slots} offered`) // D6
  const slot = acceptance.slot || 0 // a negative zero is 0
  const shown = Math.max(-clamp, Math.min(slot, clamp))
  const compared = `slot ${shown} with the ${slots} offered, counted from 0`
  return holds(slot >= 0 && slot < slots, 'the acceptance chooses a time that was not offered', compared)
}

const clamp = 2 ** 31 - 1 // a slot beyond it is as far out of range as one at it

// termsRecomputed compares everything that stands in the terms: a member beside those of the offer is a term that nobody
// agreed to (D81).
function termsRecomputed(c) {
  if (c.results.slot === 'fail') return skip('no slot of the offer was chosen')
  const [offer, acceptance] = c.messages
  const terms = offer.type === 'quote' ? {} : { slot: offer.slots[acceptance.slot] }
  for (const name of ['type', 'items', 'total', 'delivery_by', 'purpose', 'location']) if (name in offer) terms[name] = offer[name] // D30
  return holds(write(terms) === write(c.record.terms), 'the terms are not those of the offer', 'every member of the terms with the offer')
}

function sameThread(c) {
  const { thread } = c.record
  return holds(c.messages.every((m) => m.thread === thread), 'a message is of another thread', `the thread of each message with ${thread}`)
}

function rightRecipient(c) {
  const [offer, acceptance] = c.messages
  if (!acceptance) return skip(noAcceptance)
  const [from, to, buyer, seller] = [acceptance.from.address, acceptance.to.address, offer.to.address, offer.from.address]
  const reason = 'the acceptance is not between the sender and the recipient of the offer'
  return holds(to === seller && from === buyer, reason, `from ${from} to ${to} with from ${buyer} to ${seller}`)
}

function rightReference(c) {
  const [offer, acceptance] = c.messages
  if (!acceptance) return skip(noAcceptance)
  const right = acceptance.ref === offer.id && acceptance.in_reply_to === offer.id // D39
  return holds(right, 'the acceptance is of another offer', `ref ${acceptance.ref} and in_reply_to with ${offer.id}`)
}

async function rightPrev(c) {
  if (!c.messages[accepting]) return skip(noAcceptance)
  const prev = c.messages[accepting].prev ?? ''
  const hash = hex(await sha256(bytesOf(c, offering)))
  return holds(prev === hash, 'the acceptance is of an offer with other content', `prev "${prev}" with ${hash}`)
}

// moment is when it was agreed, by the record's evidence.
const moment = (c) => c.messages[accepting]?.iat ?? c.record.reply.received_at

function rightMoment(c) {
  const agreed = c.record.agreed_at
  return holds(agreed === moment(c), 'the time of agreement is not that of the acceptance', `${agreed} with ${moment(c)}`)
}

function inTime(c) {
  const { exp } = c.messages[offering]
  return holds(moment(c) <= exp, 'the offer had expired when it was accepted', `${moment(c)} with the offer's exp, ${exp}`)
}

function offerCurrent(c) {
  return holds(c.record.offer_current, 'the offer had been replaced when it was accepted', 'offer_current with true')
}

// rightParties: what the record says of its sides is what their messages say.
function rightParties(c) {
  for (const [i, role] of roles.entries()) {
    const wrong = wrongParty(c, i, sideOf(c, i))
    if (wrong) return fail(wrong, `the ${role} with the messages`)
  }
  return pass('address, party and kid of each side with its message')
}

// sideOf is the party of a role; the two stand in either order (D52).
const sideOf = (c, i) => c.record.parties.find((p) => p.role === roles[i])

// wrongParty says what is wrong with a side, '' for nothing. A side without a signature can have no key, nor a party that
// nobody named (D83).
function wrongParty(c, i, p) {
  const m = c.messages[i], s = c.signings[i]
  const address = plainAddress(p.address)
  if (!m) {
    if (address !== c.messages[offering].to.address) return 'the accepter is not whom the offer went to'
    return p.party || p.kid ? 'a person who replied has no party and no key' : ''
  }
  if (address !== m.from.address) return `the ${p.role}'s address is not that of the message`
  const missing = s && !lenient(c, s) && !(p.party && p.kid) // D50
  if (missing || (p.kid && p.kid !== s?.token.kid)) return `the ${p.role}'s key is not that of the message`
  if (p.party && p.party !== (m.from.party || s?.party)) return `the ${p.role}'s party is not that of the message`
  return ''
}

// --- Signatures ---

function ofSignature(c, which, make) {
  if (c.signings[which]) return make(c, c.signings[which], names[which])
  return skip(which === accepting && !c.record.acceptance ? noAcceptance : `the ${names[which]} is not signed`)
}

// trusted is the trust rule (profile: "Party keys and the trust rule").
async function trusted(c, s, name) {
  if (!s.party) return unless(c, s, fail(`the ${name} is signed with a key from no key page on a trusted host`, 'jku with the key pages on trusted hosts'))
  if (s.claimed && s.claimed !== s.party) {
    return unless(c, s, fail(`the ${name} is signed with the key page of another party`, `${s.party} with ${s.claimed}`))
  }
  const { page, wrong } = await speaking(c, s, false)
  if (wrong) return unless(c, s, wrong)
  s.page = page
  return pass(`the key page of ${s.party} with ${s.address}`)
}

// unless takes a failure back where it is what the kind of the record says: that the message of the side that did not seal
// could not be checked (D51, D85). What may be otherwise at another time is never taken back.
function unless(c, s, o) {
  return o.later || !lenient(c, s) ? o : skip('could not be checked, as the kind of the record says: ' + o.reason)
}

// lenient tells whether a signature need not be one that can be checked. Where the seal is nobody's, it is neither.
function lenient(c, s) {
  return c.record.kind === 'our_signature' && s.which !== sealing && sidesOf(c, sealParty(c))[0] !== s.which
}

// speaking is the page that a token names, if it speaks for who signed; otherwise wrong is the failure.
async function speaking(c, s, fresh) {
  const compared = `the key page with the address ${s.address}`, name = names[s.which]
  const later = { ...fail(`the key page of who signed the ${name} could not be reached: try again later`, compared), later: true }
  const key = `${fresh} ${s.token.jku}`
  if (!c.pages.has(key)) c.pages.set(key, await pageOf(c.keys, s, fresh))
  const { page, lost } = c.pages.get(key)
  if (lost) return { wrong: later }
  if (!page) return { wrong: fail(`the key page of who signed the ${name} could not be found or used`, compared) } // D49
  if (lists(page, s.address)) return { page }
  try {
    const records = await c.keys.txt(vouchName + domainOf(plainAddress(s.address)))
    if (records.includes(s.party)) return { page } // D44: any of several
  } catch {
    return { wrong: later }
  }
  return { wrong: fail(`the party that signed the ${name} does not list its sender`, compared) } // one customer of a host signing for another
}

async function pageOf(keys, s, fresh) {
  try {
    const data = await keys.page(s.token.jku, s.party, fresh)
    return { page: data && (await parsePage(data, s.party)) }
  } catch {
    return { lost: true }
  }
}

// keyOnPage finds the key, on a fresh page if need be. One that was created later was not on the page then (D84).
async function keyOnPage(c, s, name) {
  const compared = 'kid with the keys of the page that were created by then'
  const find = (page) => page.keys.find((k) => k.kid === s.token.kid)
  s.key = find(s.page)
  if (!s.key) {
    const { page, wrong } = await speaking(c, s, true)
    if (wrong) return unless(c, s, wrong)
    s.key = find(page)
  }
  if (!s.key) return unless(c, s, fail(`the key of the ${name} is not on the key page`, compared))
  if (s.key.created_at > s.at) {
    return unless(c, s, fail(`the key of the ${name} was created after it was signed`, `${s.at} with created_at, ${s.key.created_at}`))
  }
  return pass(compared)
}

function notRevoked(c, s, name) {
  const revoked = s.key.revoked_at
  if (!revoked) return pass('the key is not revoked')
  if (revoked <= s.at) return fail(`key revoked: the ${name} was signed after that`, `${s.at} with revoked_at, ${revoked}`)
  if (!c.warnings.length) c.warnings.push('key_revoked_later') // D25, D42
  return pass(`${s.at} with revoked_at, ${revoked}`)
}

function notRetired(c, s, name) {
  const retired = s.key.retired_at
  if (!retired) return pass('the key is not retired')
  return holds(s.at < retired, `key retired: the ${name} was signed after that`, `${s.at} with retired_at, ${retired}`)
}

async function verifies(c, s, name) {
  s.verified = await verify(s.key.x, s.token.signature, s.token.signed)
  return holds(s.verified, `the signature of the ${name} is wrong`, `the signature with key ${s.key.kid}`)
}

// kindFound: the kind says what was found, no more and no less (D31).
function kindFound(c) {
  const failed = steps.map(([step]) => step).find((step) => /^(offer|acceptance) /.test(step) && c.results[step] === 'fail')
  if (failed) return skip(`${failed} did not pass`)
  const found = [offering, accepting].filter((i) => c.signings[i]?.verified).length
  const needed = c.record.kind === 'two_signatures' ? 2 : 1
  return holds(found === needed, 'the kind of the record is not what its signatures are', `${found} signatures with the ${needed} of ${c.record.kind}`)
}

// --- The seal ---

// readSeal takes the seal apart, over the record as it stands, so that an attached payload and a detached one (D32) are
// checked alike. own is the base64url of the record without its seal.
function readSeal(seal, own) {
  const [header, payload = '', ...rest] = seal.split('.')
  if (payload && payload !== own) return { changed: true }
  return { token: parseToken([header, own, rest.join('.')].join('.'), 'agent-agreement+jws') }
}

function sealForm(c) {
  const compared = 'the payload of the seal with the record without it'
  if (c.seal.changed) return fail('the record was changed after it was sealed', compared)
  const { token } = c.seal
  if (!token) return fail('the seal is not of the form that the profile asks for', 'the seal with the form of a record\'s token')
  c.signings[sealing] = { which: sealing, token, party: sealParty(c), at: c.record.agreed_at } // D48
  return pass(compared)
}

const sealParty = (c) => (c.seal.token ? partyOf(c, c.seal.token) : '')

// sealSigner: a record is sealed by one of its sides, and where only one signed, by that one (D51). A stranger's seal would
// vouch for what he was not there to see.
function sealSigner(c) {
  const compared = "the party of the seal's key page with those of the record"
  const s = c.signings[sealing], verified = (i) => c.signings[i]?.verified
  if (!s.party) return fail('the seal is made with a key from no key page on a trusted host', compared)
  let sides = sidesOf(c, s.party)
  if (c.record.kind !== 'two_signatures' && (verified(offering) || verified(accepting))) sides = sides.filter(verified)
  if (!sides.length) return fail('the record is sealed by neither of the sides that could seal it', compared)
  s.address = sideOf(c, sides[0]).address
  return pass(`${s.party} with the parties of the record`)
}

// sidesOf lists those of a party, by the place of their message.
const sidesOf = (c, party) => [offering, accepting].filter((i) => party && sideOf(c, i).party === party)

// --- Tokens and keys ---

// partyOf is the party whose key page the jku of a token is, '' where it is none on a trusted host. The address is compared
// as text and never parsed: what two URL parsers read differently does not arise.
function partyOf(c, { jku }) {
  for (const host of c.keys.trustedHosts) {
    const start = `https://${host}/.well-known/agent-agreements/`
    if (jku.startsWith(start) && /^pty_[a-z0-9]{20}\.json$/.test(jku.slice(start.length))) return jku.slice(start.length, -5)
  }
  return ''
}

// parseToken takes a compact JWS (RFC 7515 §7.1) apart; undefined where it is not exactly of the profile's form (D12):
// whatever has a second spelling would be a second token with the same meaning.
function parseToken(compact, typ) {
  if (compact.length > (typ === 'agent-agreement+jws' ? 524288 : 65536)) return
  const parts = compact.split('.')
  if (parts.length !== 3 || parts[0].length > 4096) return
  const [header, payload, signature] = parts.map(decode)
  const h = header && parse(header, maxDepth)?.value
  const text = (name) => typeof h[name] === 'string'
  if (!isObject(h) || Object.keys(h).length !== 4 || !text('kid') || !text('jku')) return
  if (h.alg !== 'EdDSA' || h.typ !== typ || !h.kid || !payload?.length || signature?.length !== 64) return
  return { kid: h.kid, jku: h.jku, payload, signature, signed: new TextEncoder().encode(`${parts[0]}.${parts[1]}`) }
}

// parsePage reads the key page of a party (D24); null where it is not usable. Unknown members are ignored. A key that
// cannot be used is passed over and the others count (D44, D55).
async function parsePage(data, party) {
  const p = data.length <= maxPage && parse(data, maxDepth, wholeNumber)?.value // D131
  if (!isObject(p) || p.profile !== 'agent-agreement-keys/1' || p.party !== party || !optional(p.org_name, 'string')) return null
  const [addresses, domains, keys] = [p.addresses ?? [], p.domains ?? [], p.keys ?? []]
  const texts = (list) => Array.isArray(list) && list.every((s) => optional(s, 'string'))
  if (!texts(addresses) || !texts(domains) || !Array.isArray(keys) || keys.length > 100) return null
  const usable = await Promise.all(keys.map(usableKey))
  // D55: with a kid on two keys, two readers could take two different times of revocation.
  const once = (kid) => keys.filter((k) => k?.kid === kid).length === 1
  return { addresses, domains, keys: keys.filter((k, i) => usable[i] && once(k.kid)) }
}

// wholeNumber reads the numbers of a key page: its times, which stand without fraction and exponent.
function wholeNumber(text) {
  const n = finite(text)
  return /[.eE]/.test(text) ? NaN : n
}

const optional = (value, type) => value == null || typeof value === type

// usableKey reports whether a key may be used to check signatures: meant for them, its private part not given away, its
// kid the RFC 7638 thumbprint, its times ones that cannot be read as "not revoked" (D55).
async function usableKey(k) {
  if (!isObject(k) || k.kty !== 'OKP' || k.crv !== 'Ed25519' || 'd' in k) return false
  const meant = (k.use ?? 'sig') === 'sig' && ['EdDSA', 'Ed25519'].includes(k.alg ?? 'EdDSA')
  const ops = k.key_ops ?? ['verify']
  const verifying = Array.isArray(ops) && ops.includes('verify') && ops.every((op) => optional(op, 'string'))
  const time = (t) => typeof t === 'number' && t > 0 && t <= maxTime
  const times = time(k.created_at) && [k.retired_at ?? 1, k.revoked_at ?? 1].every(time)
  if (!meant || !verifying || !times || !publicKey(k.x)) return false
  return k.kid === encode(await sha256(new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${k.x}"}`)))
}

const lists = (page, address) => {
  const sender = plainAddress(address)
  return page.addresses.some((a) => plainAddress(a ?? '') === sender) || page.domains.some((d) => plainDomain(d ?? '') === domainOf(sender))
}

const fieldPrime = 2n ** 255n - 19n
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n

// smallOrder has the y of the eight points whose order divides 8. For such a key anybody can make signatures.
const smallOrder = new Set([
  0n, 1n, fieldPrime - 1n,
  0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
])

const littleEndian = (bytes) => BigInt('0x' + hex(Uint8Array.from(bytes).reverse()))

// coordinate is the y of an encoded point (RFC 8032 §5.1.2), without the bit that holds the sign of x.
const coordinate = (bytes) => littleEndian(bytes) & (2n ** 255n - 1n)

const soundPoint = (y) => y < fieldPrime && !smallOrder.has(y)

// publicKey reads the member x of an Ed25519 JWK (RFC 8037 §2): canonical base64url of the canonical encoding of a point on
// the curve that is not of small order (D44); undefined for anything else.
function publicKey(x) {
  const key = typeof x === 'string' && x.length === 43 && decode(x)
  if (key && soundPoint(coordinate(key)) && onCurve(coordinate(key))) return key
}

// onCurve reports whether some x fits y in -x² + y² = 1 + d·x²·y², d = -121665/121666 (RFC 8032 §5.1): (y²-1)/(d·y²+1) must
// be a square, and is one when the product of the two is, which Euler's criterion tells.
function onCurve(y) {
  let base = ((((y * y - 1n) * 121666n * (121666n - 121665n * y * y)) % fieldPrime) + fieldPrime) % fieldPrime
  let power = 1n
  for (let e = (fieldPrime - 1n) / 2n; e > 0n; e >>= 1n) {
    if (e & 1n) power = (power * base) % fieldPrime
    base = (base * base) % fieldPrime
  }
  return power === 1n
}

/**
 * Reports whether an Ed25519 signature is right. What implementations of WebCrypto decide differently is decided first: the
 * key as in publicKey, S below the group order (RFC 8032 §5.1.7: anyone could make a second signature out of the first),
 * and R in its canonical encoding and not of small order.
 *
 * @param {string} x the member x of the key's JWK
 * @param {Uint8Array} signature
 * @param {Uint8Array} signed
 * @returns {Promise<boolean>} rejected where WebCrypto lacks Ed25519
 */
export async function verify(x, signature, signed) {
  const key = publicKey(x)
  if (!key || signature.length !== 64 || !soundPoint(coordinate(signature.subarray(0, 32)))) return false
  if (littleEndian(signature.subarray(32)) >= groupOrder) return false
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', imported, signature, signed)
}

const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')

function encode(bytes) {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

// decode takes the canonical unpadded base64url of some bytes and no other spelling; undefined for anything else.
function decode(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (ch) => ch.charCodeAt(0))
  return encode(bytes) === text ? bytes : undefined
}

const sameBytes = (text, data) => text !== null && text === new TextDecoder('utf-8', { ignoreBOM: true }).decode(data)

// --- Strict JSON and its canonical form ---

const maxDepth = 16 // D11

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The RFC 8785 form of one strict JSON text; null for any other (D11): invalid UTF-8, a byte-order mark, a member twice in
 * one object, data behind the value, deeper nesting, unpaired surrogates, a number that is no finite double.
 *
 * @param {Uint8Array} data
 * @param {number} depth the most levels
 * @returns {string|null}
 */
export function canonical(data, depth = maxDepth) {
  const read = parse(data, depth)
  return read && write(read.value)
}

// parse reads one strict JSON text; null for any other. Objects have no prototype, so that no name is a special one.
function parse(data, depth, number = finite) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
    const p = { text, at: 0, number }
    const value = parseValue(p, depth)
    space(p)
    return p.at === text.length ? { value } : null
  } catch (err) {
    if (err instanceof SyntaxError || err instanceof TypeError) return null // TypeError: invalid UTF-8
    throw err
  }
}

const refuse = (why) => { throw new SyntaxError(why) }

function finite(text) {
  return Number.isFinite(Number(text)) ? Number(text) : refuse('a number beyond a double')
}

function matched(p, form) {
  form.lastIndex = p.at
  const [found] = form.exec(p.text) ?? refuse('not JSON')
  p.at += found.length
  return found
}

const space = (p) => matched(p, /[ \t\n\r]*/y)

// next passes over white space and tells whether a sign follows, which it takes.
function next(p, sign) {
  space(p)
  if (p.text[p.at] !== sign) return false
  p.at++
  return true
}

const literals = { true: true, false: false, null: null }

function parseValue(p, depth) {
  space(p)
  const first = p.text[p.at]
  if (first === '{') return parseObject(p, depth - 1)
  if (first === '[') return parseArray(p, depth - 1)
  if (first === '"') return parseString(p)
  if (/[-0-9]/.test(first)) return p.number(matched(p, /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y))
  return literals[matched(p, /true|false|null/y)]
}

function parseObject(p, depth) {
  if (depth < 0) refuse('nested too deep')
  const object = Object.create(null)
  next(p, '{')
  if (next(p, '}')) return object
  do {
    space(p)
    const name = parseString(p)
    if (name in object || !next(p, ':')) refuse('a member twice, or without a value')
    object[name] = parseValue(p, depth)
  } while (next(p, ','))
  return next(p, '}') ? object : refuse('not JSON')
}

function parseArray(p, depth) {
  if (depth < 0) refuse('nested too deep')
  const array = []
  next(p, '[')
  if (next(p, ']')) return array
  do array.push(parseValue(p, depth))
  while (next(p, ','))
  return next(p, ']') ? array : refuse('not JSON')
}

function parseString(p) {
  const from = p.at
  if (p.text[p.at] !== '"') refuse('not JSON')
  for (p.at++; p.at < p.text.length && p.text[p.at] !== '"'; p.at++) if (p.text[p.at] === '\\') p.at++
  p.at++
  const value = JSON.parse(p.text.slice(from, p.at)) // checks escapes and control characters
  return /\p{Surrogate}/u.test(value) ? refuse('an unpaired surrogate') : value
}

// write is RFC 8785: names in the order of UTF-16 units, strings and numbers as ECMAScript writes them.
function write(value) {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (isObject(value)) return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${write(value[name])}`).join(',')}}`
  return JSON.stringify(value)
}

// --- Addresses ---

const domainOf = (address) => address.slice(address.lastIndexOf('@') + 1)

// plainAddress is the comparable form of an address (D9); undefined for what is no plain address.
function plainAddress(s) {
  const at = s.lastIndexOf('@'), local = s.slice(0, Math.max(at, 0))
  if (new TextEncoder().encode(s).length > 254 || local.length > 64) return // RFC 5321 §4.5.3.1
  if (!/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/.test(local)) return // RFC 5322 §3.2.3
  const domain = plainDomain(s.slice(at + 1))
  if (domain && local.length + 1 + domain.length <= 254) return `${local}@${domain}`
}

// plainDomain is a host name in lower-case A-labels; undefined for what is none.
function plainDomain(s) {
  if (s.length > 1024) return // before it costs anything
  const labels = s.split('.').map((l) => (/^[\0-\x7f]*$/.test(l) ? l.toLowerCase() : aLabel(l)))
  const domain = labels.join('.')
  return domain.length <= 253 && labels.every((l) => /^(?!-)[a-z0-9-]{1,63}$/.test(l) && !l.endsWith('-')) ? domain : undefined
}

// aLabel maps a label to its A-label as the URL standard does (UTS 46); '' for what is no international label. One that
// maps to plain ASCII is a disguise (full-width letters, an ideographic dot, a zero-width space). Two hyphens are not allowed
// behind two bytes, where they would mark another encoding, nor are the signs that are "<", "=" or ">" with a stroke.
function aLabel(label) {
  const plain = label.normalize('NFKC')
  const bytes = String.fromCharCode(...new TextEncoder().encode(plain))
  if (/^-|-$|^..--/s.test(bytes) || /[^A-Za-z0-9\-\x80-\u{10ffff}]|[\u2260\u226e\u226f]/u.test(plain) || !URL.canParse(`https://${label}/`)) return ''
  if (!rightDirection(plain)) return ''
  const mapped = new URL(`https://${label}/`).hostname
  return mapped.startsWith('xn--') ? mapped : ''
}

// rightDirection is the Bidi rule (RFC 5893 §2), which Node.js does not hold URLs to: a label with letters or digits that are
// written from right to left begins with such a letter, has none that is written from left to right, ends with a letter or
// digit, and has digits of one kind.
function rightDirection(label) {
  const toLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
  const arabicDigit = (c) => /[\u0660-\u0669\u{10d30}-\u{10d39}\u{10e60}-\u{10e7e}]/u.test(c)
  const digit = (c) => /[0-9\u06f0-\u06f9]/.test(c)
  const all = Array.from(label), based = all.filter((c) => !/\p{Mn}/u.test(c))
  if (!based.some((c) => toLeft.test(c) && /[\p{L}\p{N}]/u.test(c) && !digit(c))) return true
  if (!toLeft.test(all[0]) || arabicDigit(all[0]) || digit(all[0])) return false
  if (based.some((c) => /\p{L}/u.test(c) && !toLeft.test(c))) return false
  const last = based.at(-1)
  return (toLeft.test(last) || digit(last)) && !(all.some(arabicDigit) && all.some(digit))
}

// --- Forms ---

const maxTime = 253402300799 // the last second of the year 9999

// A form says '' for a value that has it, otherwise where it does not and how. It ends at the first thing that is wrong.

// members is the form of an object; a name that ends in '?' may be missing. Unknown members are ignored (D47).
function members(forms) {
  const of = new Map(Object.entries(forms).map(([name, member]) => [name.replace('?', ''), member]))
  const form = (value) => {
    if (!isObject(value)) return ' is no object'
    for (const [name, member] of of) {
      if (!(name in value) && name + '?' in forms) continue
      const broken = name in value ? member(value[name]) : ' is missing'
      if (broken) return `/${name}${broken}`
    }
    return ''
  }
  return Object.assign(form, { of }) // a Map: an object has more names than it was given (constructor, __proto__)
}

function list(least, most, element) {
  const form = (value) => {
    if (!Array.isArray(value) || value.length < least || value.length > most) return ` is no list of ${least} to ${most}`
    for (const [i, e] of value.entries()) if (element(e)) return `/${i}${element(e)}`
    return ''
  }
  return Object.assign(form, { element })
}

// text is a string, its length in code points (D5).
const text = (least, most) => (value) => {
  const length = typeof value === 'string' ? Array.from(value).length : -1
  return length < least || length > most ? ' is no text of the right length' : ''
}

// line is a text without the control characters given (D10).
const line = (least, most, controls = /[\0-\x1f\x7f-\x9f]/) => (value) =>
  text(least, most)(value) || (controls.test(value) ? ' has control characters' : '')

const oneOf = (...words) => (value) => (words.includes(value) ? '' : ' is none of ' + words.join(', '))

const either = (...forms) => (value) => (forms.some((form) => !form(value)) ? '' : ' is of no form that it can have')

// without is an object that does not have a member.
const without = (name, form) => (value) => (isObject(value) && name in value ? `/${name} stands beside its alternative` : form(value))

const pattern = (form, words) => (value) => (typeof value !== 'string' ? ': must be of type string' : form.test(value) ? '' : ': ' + words)

const boolean = (value) => (typeof value === 'boolean' ? '' : ' is neither true nor false')
const integer = (value) => (Number.isInteger(value) ? '' : ': must be of type integer')
const count = (value) => integer(value) || (value < 0 ? ' is no whole number' : '')
const address = (value) => (typeof value === 'string' && plainAddress(value) ? '' : ' is no plain email address')
const time = (value) => integer(value) || (value < 1 || value > maxTime ? `: must be 1 to ${maxTime}` : '')
const uuid = pattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a UUID in lower case')
const hash = pattern(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
const party = pattern(/^pty_[a-z0-9]{20}$/, 'must be pty_ and 20 lower-case letters and digits')

const date = (value) => (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && isDay(value) ? '' : ' is no day')

function isDay(day) {
  const t = Date.parse(day + 'T00:00:00Z')
  return !Number.isNaN(t) && new Date(t).toISOString().startsWith(day) // or 30 February would be 2 March
}

const money = members({ amount: pattern(/^(0|[1-9][0-9]{0,17})$/), currency: (value) => (digits(value) < 0 ? ' is no currency' : '') }) // D7, D38

const quantityForm = (value) => (typeof value === 'number' && value > 0 && value <= 1e9 ? '' : ' is no quantity')

// quantity has at most 6 decimal places (D8); ECMAScript writes an exponent only for numbers that have more.
const quantity = (value) => quantityForm(value) || (/^\d+(\.\d{1,6})?$/.test(JSON.stringify(value)) ? '' : ' is no quantity')

const slotMembers = members({ end: line(0, 64), start: line(0, 64), time_zone: (value) => (isZone(value) ? '' : ' is no time zone') })

function slot(value) {
  const broken = slotMembers(value)
  if (broken) return broken
  const start = instant(value.start), end = instant(value.end)
  return start && end && start < end ? '' : ' does not end after it starts'
}
slot.of = slotMembers.of

// instant is the moment of an RFC 3339 time (D38) in nanoseconds, 0n for what is none; moments of the year 0 are not 0n.
function instant(s) {
  const m = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i.exec(s)
  if (!m || !isDay(m[1])) return 0n
  const offset = m[6] ? Number(m[6] + '1') * (Number(m[7]) * 60 + Number(m[8])) : 0
  const seconds = Date.parse(m[1] + 'T00:00:00Z') / 1000 + (Number(m[2]) * 60 + Number(m[3]) - offset) * 60 + Number(m[4])
  return BigInt(seconds) * 10n ** 9n + BigInt((m[5] ?? '').padEnd(9, '0').slice(0, 9)) + 2n ** 80n
}

// A card is an https address with a host (RFC 3986): no broken escape, no sign that a host cannot have.
function card(value) {
  const right = /^https:\/\/([\w.~!$&'()*+,;=:%@-]*@)?([^\s/?#@:[\]\\^`{|}%\0-\x1f\x7f-\x9f]+|\[[0-9a-f:.]+\])(:\d*)?([/?#]|$)/iu
  const path = typeof value === 'string' && value.replace(/\?[^#]*/, '') // a query may hold anything
  return path && !line(1, 2048)(value) && right.test(value) && !/[\t\n\f\r ]/.test(value) && !/%(?![0-9a-f]{2})/i.test(path) ? '' : ' is no https address'
}

const authority = members({ decided_by: oneOf('limits', 'owner', 'person'), 'level?': line(0, 64), 'limits_version?': either(line(0, 64), count) })
const evidence = either(
  without('canonical', members({ hash, jws: text(1, maxRecord) })),
  without('jws', members({ canonical: text(2, maxRecord), hash })),
)
const item = { description: line(1, 500), quantity, 'unit?': line(0, 32) }
const quoteItem = members({ ...item, 'unit_price?': money })

// The form of a record looks at the terms and the evidence only as far as the record schema does.
const moneyForm = members({ amount: money.of.get('amount'), currency: pattern(/^[A-Z]{3}$/) })
const dateForm = pattern(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/)
const instantForm = (value) =>
  line(0, 64)(value) || (/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.test(value) ? '' : ' is no time')
const zoneForm = (value) => text(0, 64)(value) || pattern(/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/)(value)

const recordForm = members({
  'acceptance?': evidence, agreed_at: time, chain: list(1, maxRecord, hash), id: uuid,
  kind: oneOf('two_signatures', 'our_signature', 'their_reply'), offer: evidence, offer_current: boolean,
  parties: list(2, 2, members({ address, 'authority?': authority, 'kid?': text(1, 64), org_name: line(1, 200), 'party?': party, role: oneOf('offerer', 'accepter') })),
  profile: oneOf('agent-agreement/1'), 'reply?': members({ auth_results: text(0, 16384), hash, received_at: time }), seal: text(1, maxRecord),
  terms: either(
    members({ 'delivery_by?': dateForm, items: list(1, 100, members({ ...item, quantity: quantityForm, 'unit_price?': moneyForm })), total: moneyForm, type: oneOf('quote') }),
    members({ 'location?': line(0, 500), 'purpose?': line(0, 500), slot: members({ end: instantForm, start: instantForm, time_zone: zoneForm }), type: oneOf('propose_times') }),
  ),
  thread: uuid,
})

// --- Messages ---

const context = '["https://schema.org","https://docs.stackshift.cloud/agent-intents/v1"]'

const messageForm = (type, more) => members({
  '@context': (value) => (write(value) === context ? '' : ' is another context'), profile: oneOf('agent-intents/1'), type: oneOf(type),
  id: uuid, thread: uuid, 'in_reply_to?': uuid, 'prev?': hash, nonce: pattern(/^[A-Za-z0-9_-]{21}[AQgw]$/), iat: time, exp: time,
  from: members({ address, 'card?': card, 'name?': line(0, 200), 'party?': party }), to: members({ address }),
  acting_for: members({ contact: address, org_name: line(1, 200) }),
  agent: members({ kind: oneOf('stackie', 'connected', 'api', 'person'), name: line(1, 200) }),
  'authority?': authority, 'note?': line(0, 2000, /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/), ...more,
})

// messageForms are those of the types (profile: "The six types").
const messageForms = new Map(Object.entries({
  ask_quote: { items: list(1, 100, members(item)), 'wanted_by?': date },
  quote: { items: list(1, 100, quoteItem), total: money, 'delivery_by?': date, 'replaces?': uuid },
  propose_times: { slots: list(1, 5, slot), 'purpose?': line(0, 500), 'location?': line(0, 500), 'replaces?': uuid },
  accept: { ref: uuid, 'slot?': integer }, // D39: whether it fits is no matter of form
  decline: { ref: uuid, 'reason?': oneOf('price', 'timing', 'not_available', 'other') },
  cancel: { ref: uuid },
}).map(([type, more]) => [type, messageForm(type, more)]))

// readMessage reads a message from its canonical bytes; null for one that breaks a rule of the profile. unknown tells
// whether it has members that the profile does not know (D35).
function readMessage(data) {
  const tree = data.length <= 32768 && parse(data, maxDepth).value
  const form = isObject(tree) && messageForms.get(tree.type)
  if (!form || form(tree) || tree.exp <= tree.iat || 'in_reply_to' in tree !== 'prev' in tree) return null // D2
  const currency = tree.total?.currency // D38
  if (tree.type === 'quote' && tree.items.some((i) => i.unit_price && i.unit_price.currency !== currency)) return null
  const comparable = (side) => ({ ...side, address: plainAddress(side.address) }) // D9
  return { ...tree, from: comparable(tree.from), to: comparable(tree.to), unknown: hasUnknown(tree, form) }
}

function hasUnknown(value, form) {
  if (form.element) return value.some((e) => hasUnknown(e, form.element))
  if (!form.of) return false
  return Object.keys(value).some((name) => !form.of.has(name) || hasUnknown(value[name], form.of.get(name)))
}

// --- Tables ---

// The active codes of ISO 4217 as of 2026 by the digits of their minor unit, XXX and XTS left out (D38).
const currencies = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA',
  2: 'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK ' +
    'DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL ' +
    'MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG ' +
    'SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/**
 * The number of decimal digits of a currency's minor unit; -1 for what is no active ISO 4217 code.
 *
 * @param {string} code
 * @returns {number}
 */
export function digits(code) {
  const found = Object.entries(currencies).find(([, codes]) => codes.split(' ').includes(code))
  return found ? Number(found[0]) : -1
}

const isZone = (name) => typeof name === 'string' && zones.has(name)

// The names of the tz database, by region. They stand here since the runtimes know different ones, and take any letter case.
const zones = new Set(`
-: CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan
-: Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu
Africa: Abidjan Accra Addis_Ababa Algiers Asmara Asmera Bamako Bangui Banjul Bissau Blantyre Brazzaville Bujumbura Cairo Casablanca Ceuta Conakry
Africa: Dakar Dar_es_Salaam Djibouti Douala El_Aaiun Freetown Gaborone Harare Johannesburg Juba Kampala Khartoum Kigali Kinshasa Lagos Libreville Lome
Africa: Luanda Lubumbashi Lusaka Malabo Maputo Maseru Mbabane Mogadishu Monrovia Nairobi Ndjamena Niamey Nouakchott Ouagadougou Porto-Novo Sao_Tome
Africa: Timbuktu Tripoli Tunis Windhoek
America: Adak Anchorage Anguilla Antigua Araguaina Aruba Asuncion Atikokan Atka Bahia Bahia_Banderas Barbados Belem Belize Blanc-Sablon Boa_Vista
America: Bogota Boise Buenos_Aires Cambridge_Bay Campo_Grande Cancun Caracas Catamarca Cayenne Cayman Chicago Chihuahua Ciudad_Juarez Coral_Harbour
America: Cordoba Costa_Rica Coyhaique Creston Cuiaba Curacao Danmarkshavn Dawson Dawson_Creek Denver Detroit Dominica Edmonton Eirunepe El_Salvador
America: Ensenada Fort_Nelson Fort_Wayne Fortaleza Glace_Bay Godthab Goose_Bay Grand_Turk Grenada Guadeloupe Guatemala Guayaquil Guyana Halifax Havana
America: Hermosillo Indianapolis Inuvik Iqaluit Jamaica Jujuy Juneau Knox_IN Kralendijk La_Paz Lima Los_Angeles Louisville Lower_Princes Maceio
America: Managua Manaus Marigot Martinique Matamoros Mazatlan Mendoza Menominee Merida Metlakatla Mexico_City Miquelon Moncton Monterrey Montevideo
America: Montreal Montserrat Nassau New_York Nipigon Nome Noronha Nuuk Ojinaga Panama Pangnirtung Paramaribo Phoenix Port-au-Prince Port_of_Spain
America: Porto_Acre Porto_Velho Puerto_Rico Punta_Arenas Rainy_River Rankin_Inlet Recife Regina Resolute Rio_Branco Rosario Santa_Isabel Santarem
America: Santiago Santo_Domingo Sao_Paulo Scoresbysund Shiprock Sitka St_Barthelemy St_Johns St_Kitts St_Lucia St_Thomas St_Vincent Swift_Current
America: Tegucigalpa Thule Thunder_Bay Tijuana Toronto Tortola Vancouver Virgin Whitehorse Winnipeg Yakutat Yellowknife
America/Argentina: Buenos_Aires Catamarca ComodRivadavia Cordoba Jujuy La_Rioja Mendoza Rio_Gallegos Salta San_Juan San_Luis Tucuman Ushuaia
America/Indiana: Indianapolis Knox Marengo Petersburg Tell_City Vevay Vincennes Winamac
America/Kentucky: Louisville Monticello
America/North_Dakota: Beulah Center New_Salem
Antarctica: Casey Davis DumontDUrville Macquarie Mawson McMurdo Palmer Rothera South_Pole Syowa Troll Vostok
Arctic: Longyearbyen
Asia: Aden Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Ashkhabad Atyrau Baghdad Bahrain Baku Bangkok Barnaul Beirut Bishkek Brunei Calcutta Chita
Asia: Choibalsan Chongqing Chungking Colombo Dacca Damascus Dhaka Dili Dubai Dushanbe Famagusta Gaza Harbin Hebron Ho_Chi_Minh Hong_Kong Hovd Irkutsk
Asia: Istanbul Jakarta Jayapura Jerusalem Kabul Kamchatka Karachi Kashgar Kathmandu Katmandu Khandyga Kolkata Krasnoyarsk Kuala_Lumpur Kuching Kuwait
Asia: Macao Macau Magadan Makassar Manila Muscat Nicosia Novokuznetsk Novosibirsk Omsk Oral Phnom_Penh Pontianak Pyongyang Qatar Qostanay Qyzylorda
Asia: Rangoon Riyadh Saigon Sakhalin Samarkand Seoul Shanghai Singapore Srednekolymsk Taipei Tashkent Tbilisi Tehran Tel_Aviv Thimbu Thimphu Tokyo
Asia: Tomsk Ujung_Pandang Ulaanbaatar Ulan_Bator Urumqi Ust-Nera Vientiane Vladivostok Yakutsk Yangon Yekaterinburg Yerevan
Atlantic: Azores Bermuda Canary Cape_Verde Faeroe Faroe Jan_Mayen Madeira Reykjavik South_Georgia St_Helena Stanley
Australia: ACT Adelaide Brisbane Broken_Hill Canberra Currie Darwin Eucla Hobart LHI Lindeman Lord_Howe Melbourne NSW North Perth Queensland South
Australia: Sydney Tasmania Victoria West Yancowinna
Brazil: Acre DeNoronha East West
Canada: Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon
Chile: Continental EasterIsland
Etc: GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0 GMT-1 GMT-10 GMT-11 GMT-12 GMT-13 GMT-14 GMT-2 GMT-3
Etc: GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal Zulu
Europe: Amsterdam Andorra Astrakhan Athens Belfast Belgrade Berlin Bratislava Brussels Bucharest Budapest Busingen Chisinau Copenhagen Dublin
Europe: Gibraltar Guernsey Helsinki Isle_of_Man Istanbul Jersey Kaliningrad Kiev Kirov Kyiv Lisbon Ljubljana London Luxembourg Madrid Malta Mariehamn
Europe: Minsk Monaco Moscow Nicosia Oslo Paris Podgorica Prague Riga Rome Samara San_Marino Sarajevo Saratov Simferopol Skopje Sofia Stockholm Tallinn
Europe: Tirane Tiraspol Ulyanovsk Uzhgorod Vaduz Vatican Vienna Vilnius Volgograd Warsaw Zagreb Zaporozhye Zurich
Indian: Antananarivo Chagos Christmas Cocos Comoro Kerguelen Mahe Maldives Mauritius Mayotte Reunion
Mexico: BajaNorte BajaSur General
Pacific: Apia Auckland Bougainville Chatham Chuuk Easter Efate Enderbury Fakaofo Fiji Funafuti Galapagos Gambier Guadalcanal Guam Honolulu Johnston
Pacific: Kanton Kiritimati Kosrae Kwajalein Majuro Marquesas Midway Nauru Niue Norfolk Noumea Pago_Pago Palau Pitcairn Pohnpei Ponape Port_Moresby
Pacific: Rarotonga Saipan Samoa Tahiti Tarawa Tongatapu Truk Wake Wallis Yap
US: Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa
`.trim().split('\n').flatMap((region) => {
  const [name, places] = region.split(': ')
  return places.split(' ').map((place) => (name === '-' ? place : `${name}/${place}`))
}))
