import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { canonical, digits, verify } from './check.js'
import { bytes, installed, read, root } from './testing.js'

// y_ must be read, n_ must not, i_ is the reader's choice.
test('JSON test suite', () => {
  const dir = join(root, 'envelope/canon/testdata/json-test-suite/test_parsing')
  const seen = { y: 0, n: 0, i: 0 }
  for (const file of readdirSync(dir)) {
    seen[file[0]]++
    const once = canonical(read(dir, file), 1000)
    if (file.startsWith('y_')) assert.equal(once === null, file.startsWith('y_object_duplicated_key'), file) // D11: refused on purpose
    if (file.startsWith('n_')) assert.equal(once, null, file)
    if (once !== null) assert.equal(canonical(bytes(once), 1000), once, file)
  }
  for (const [kind, n] of Object.entries(seen)) assert.ok(n >= 30, `${n} files of ${kind}_`)
})

test('RFC 8785: strings, literals, and the order of names', () => {
  for (const [name, text, want] of [
    ['§3.2.2', String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`],
    ['§3.2.3', String.raw`{"\u20ac":3,"\r":0,"\ufb33":5,"1":1,"\ud83d\ude00":4,"\u0080":2,"\u00f6":2.5}`, '{"\\r":0,"1":1,"\u0080":2,"ö":2.5,"€":3,"😀":4,"\ufb33":5}'],
    ['no more escapes', String.raw`"\u003c\u003e\u0026\u2028\u2029\u007f"`, '"<>&\u2028\u2029\u007f"'],
    ['no normalization', String.raw`["\u00e9","e\u0301"]`, '["é","e\u0301"]'],
    ['white space', ' \t\r\n[ 1 , 2 ]\n', '[1,2]'],
    ['names of every object', '{"__proto__":1,"constructor":{"toString":2}}', '{"__proto__":1,"constructor":{"toString":2}}'],
    ['a negative zero', '-0', '0'],
    ['too small for a double', '1e-400', '0'],
    ['as deep as allowed', '['.repeat(16) + ']'.repeat(16), '['.repeat(16) + ']'.repeat(16)],
  ]) assert.equal(canonical(bytes(text)), want, name)
})

// The samples of RFC 8785 Appendix B that are numbers.
test('RFC 8785: numbers', () => {
  for (const [bits, want] of Object.entries({
    '0000000000000000': '0', 8000000000000000: '0', '0000000000000001': '5e-324', 8000000000000001: '-5e-324',
    '7fefffffffffffff': '1.7976931348623157e+308', ffefffffffffffff: '-1.7976931348623157e+308',
    4340000000000000: '9007199254740992', c340000000000000: '-9007199254740992', 4430000000000000: '295147905179352830000',
    '44b52d02c7e14af5': '9.999999999999997e+22', '44b52d02c7e14af6': '1e+23', '44b52d02c7e14af7': '1.0000000000000001e+23',
    '444b1ae4d6e2ef4e': '999999999999999700000', '444b1ae4d6e2ef4f': '999999999999999900000', '444b1ae4d6e2ef50': '1e+21',
    '3eb0c6f7a0b5ed8c': '9.999999999999997e-7', '3eb0c6f7a0b5ed8d': '0.000001', '41b3de4355555553': '333333333.3333332',
    '41b3de4355555554': '333333333.33333325', '41b3de4355555555': '333333333.3333333', '41b3de4355555556': '333333333.3333334',
    '41b3de4355555557': '333333333.33333343', becbf647612f3696: '-0.0000033333333333333333', '43143ff3c1cb0959': '1424953923781206.2',
  })) {
    const n = Buffer.from(bits, 'hex').readDoubleBE()
    assert.equal(canonical(bytes(n.toExponential(20))), want, bits)
  }
})

// D11. Each case is the baseline with one thing wrong.
test('what is no strict JSON', () => {
  const good = '{"a":[1,"x"],"b":true}'
  assert.equal(canonical(bytes(good)), good)
  const cases = {
    nothing: '', 'a mark in front': '\ufeff' + good, 'a lone surrogate': good.replace('x', '\\ud800'), 'surrogates the wrong way': good.replace('x', '\\udc00\\ud800'),
    'a member twice': good.replace('"b"', '"a":1,"b"'), 'a member twice, escaped': good.replace('"b"', '"\\u0061":1,"b"'),
    '__proto__ twice': '{"__proto__":1,"__proto__":1}', 'a second value': good + good, 'a NUL behind it': good + '\0', 'no-break space': good + '\u00a0',
    'a comment': good + '//', 'a trailing comma': good.replace('true', 'true,'), 'single quotes': good.replaceAll('"', "'"), NaN: good.replace('1', 'NaN'),
    'a leading zero': good.replace('1', '01'), 'a plus sign': good.replace('1', '+1'), 'a control character': good.replace('x', '\x01'), 'cut off': good.slice(0, -1),
    'beyond a double': good.replace('1', '1e400'), 'a little beyond it': good.replace('1', '-1.7976931348623159e308'),
    'too deep': good.replace('1', '['.repeat(15) + ']'.repeat(15)), 'deep enough for a crash': '['.repeat(2 ** 18), 'deep objects': '{"a":'.repeat(2 ** 15),
    'an open string': '"' + 'x'.repeat(2 ** 18), 'an open string of escapes': '"' + '\\'.repeat(2 ** 17),
  }
  for (const [name, text] of Object.entries(cases)) assert.equal(canonical(bytes(text)), null, name)
  for (const sequence of ['ff', 'c0af', 'eda080', 'f4908080']) {
    const data = new Uint8Array(Buffer.from(Buffer.from('"x"').toString('hex').replace('78', sequence), 'hex'))
    assert.equal(canonical(data), null, sequence)
  }
})

const base64url = (hex) => Buffer.from(hex, 'hex').toString('base64url')
const unhex = (hex) => new Uint8Array(Buffer.from(hex, 'hex'))

test('Wycheproof: Ed25519', async () => {
  const file = JSON.parse(readFileSync(join(root, 'envelope/jws/testdata/wycheproof/ed25519_test.json')))
  let seen = 0
  for (const { publicKey, tests } of file.testGroups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      seen++
      assert.equal(await verify(base64url(publicKey.pk), unhex(sig), unhex(msg)), result === 'valid', `${tcId} ${comment}`)
    }
  }
  assert.equal(seen, file.numberOfTests)
})

// With the identity as key, R and S = 0, every message is signed; implementations of WebCrypto differ about such points.
test('keys and signatures of small order, and encodings with a second spelling', async () => {
  const low = [
    '0100000000000000000000000000000000000000000000000000000000000000', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    '0100000000000000000000000000000000000000000000000000000000000080', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ]
  const sound = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a' // RFC 8032 §7.1, test 1
  const good = 'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'
  assert.equal(await verify(base64url(sound), unhex(good), bytes('')), true)
  for (const point of low) {
    assert.equal(await verify(base64url(point), unhex(low[0] + '00'.repeat(32)), bytes('any')), false, `key ${point}`)
    assert.equal(await verify(base64url(sound), unhex(point + '00'.repeat(32)), bytes('any')), false, `R ${point}`)
  }
  // Signed by who has the key with a nonce of 0, so that R is the identity (D130): right in all else.
  const nonceless = low[0] + '756cf9b1d6f0d7a979b9d2af3dc2bc1294ec7cb6daa20eaff534c024fc57920f'
  assert.equal(await verify(base64url(sound), unhex(nonceless), bytes('')), false, 'R of small order')
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt('0x' + Buffer.from(good.slice(64), 'hex').reverse().toString('hex')) + order
  const malleated = good.slice(0, 64) + Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex')
  assert.equal(await verify(base64url(sound), unhex(malleated), bytes('')), false, 'S + L')
  const x = base64url(sound)
  for (const spelling of [x + '=', x.slice(0, -1) + 'p', x.replace('_', '/'), ' ' + x, x.slice(1), '']) {
    assert.equal(await verify(spelling, unhex(good), bytes('')), false, spelling)
  }
})

test('the currencies are those of the Go package', () => {
  const table = readFileSync(join(root, 'envelope/intent/currency.go'), 'utf8').split('const (')[1].split('\n)')[0]
  const [none, three, four, two] = ['noDigits', 'threeDigits', 'fourDigits', 'twoDigits'].map((name) => table.indexOf(name + ' '))
  const codes = [...table.matchAll(/[A-Z]{3}(?=[ "])/g)].filter(({ index }) => index > none)
  assert.ok(codes.length > 150)
  for (const { 0: code, index } of codes) {
    assert.equal(digits(code), index > two ? 2 : index > four ? 4 : index > three ? 3 : 0, code)
  }
  for (const code of ['XXX', 'XTS', 'HRK', 'eur', '', 'EUR ', undefined, 'constructor']) assert.equal(digits(code), -1, code)
})

test('the time zones are those of the Go package', (t) => {
  if (!installed('go')) return t.skip('there is no Go')
  const zip = readFileSync(join(execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim(), 'lib/time/zoneinfo.zip'))
  const names = [...zip.toString('latin1').matchAll(/PK\x01\x02.{24}([^]{2}).{16}/gs)].map(({ 0: head, 1: length, index }) => {
    const at = index + head.length
    return zip.toString('latin1', at, at + zip.readUInt16LE(index + 28))
  })
  const wanted = names.filter((name) => /^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)).sort()
  const table = readFileSync(join(root, 'check-js/check.js'), 'utf8').split('new Set(`\n')[1].split('\n`')[0]
  const stated = table.split('\n').flatMap((line) => line.split(': ')[1].split(' ').map((place) => (line.startsWith('-') ? place : `${line.split(': ')[0]}/${place}`)))
  assert.ok(wanted.length > 500)
  assert.deepEqual(stated.sort(), wanted)
})
