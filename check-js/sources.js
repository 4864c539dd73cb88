// Where the command gets records, key pages and the vouches of domains from.

import { constants, open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { Resolver, lookup as dnsLookup } from 'node:dns'
import https from 'node:https'
import net from 'node:net'
import { getSystemErrorMap } from 'node:util'
import { maxPage, maxRecord, unread } from './check.js'

const timeout = 5000 // milliseconds for a key page, and for a question to DNS

/**
 * An error of the file system in the words of the system, without the name of the file.
 *
 * @param {Error} err
 * @returns {string}
 */
export const reasonOf = (err) => getSystemErrorMap().get(err.errno)?.[1] ?? err.message

/**
 * Reads a file, never more of it than a record may have and the byte that is too much.
 *
 * @param {string} name
 * @returns {Promise<{data?: Uint8Array, report?: import('./check.js').Report}>} the report where there is nothing to check
 */
export async function readRecord(name) {
  let file
  try {
    file = await open(name)
    const info = await file.stat()
    if (info.isDirectory()) return { report: await unread(0, 'it is a folder: name the records in it') }
    if (info.size > maxRecord) return { report: await unread(info.size, '') }
    return { data: await readAtMost(file, maxRecord + 1) }
  } catch (err) {
    return { report: await unread(0, reasonOf(err)) }
  } finally {
    await file?.close()
  }
}

async function readAtMost(file, most) {
  const buffer = new Uint8Array(most)
  let length = 0
  while (length < most) {
    const { bytesRead } = await file.read(buffer, length, most - length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

/**
 * Key pages in a folder, each in a file {party}.json. A file that is not there is a page that is not there (D49). One that is
 * no regular file in the folder is not read (D132).
 *
 * @param {string} dir
 * @returns {(url: string, party: string) => Promise<Uint8Array|null>}
 */
export function folder(dir) {
  return async (_, party) => {
    let file
    try {
      const path = await realpath(`${dir}/${party}.json`)
      if (!path.startsWith(join(await realpath(dir), sep))) throw new Error('a link out of the folder')
      file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe would wait for who writes
      if (!(await file.stat()).isFile()) throw new Error('no regular file')
      return await readAtMost(file, maxPage + 1)
    } catch (err) {
      if (err.code === 'ENOENT') return null
      throw err
    } finally {
      await file?.close()
    }
  }
}

/**
 * The TXT records of a name in DNS.
 *
 * @param {string} name
 * @returns {Promise<string[]>} rejected where DNS gives no answer
 */
export function dns(name) {
  return new Promise((resolve, reject) => {
    new Resolver({ timeout, tries: 2 }).resolveTxt(name, (err, records) => {
      if (err && err.code !== 'ENOTFOUND' && err.code !== 'ENODATA') reject(err)
      else resolve((records ?? []).map((strings) => strings.join('')))
    })
  })
}

/**
 * Key pages over HTTPS: no redirects, no cookies, no proxy, 5 s, at most 64 KiB of application/json, and connections to public
 * addresses only (profile: "Party keys and the trust rule").
 *
 * @param {{allowPrivate?: boolean, ca?: string}} [options] connect to any address; certificate authorities, PEM
 * @returns {(url: string) => Promise<Uint8Array|null>}
 */
export function network({ allowPrivate = false, ca } = {}) {
  const lookup = allowPrivate ? dnsLookup : publicLookup
  return (url) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && net.isIP(host) && !isPublic(host)) return Promise.resolve(null) // an address is not looked up
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeout)
      const headers = { Accept: 'application/json', 'User-Agent': 'agentmaild' }
      const request = https.get(url, { lookup, ca, signal, headers, agent: false, maxHeaderSize: 16384, minVersion: 'TLSv1.2' })
      request.on('error', (err) => (err.code === 'ENOTPUBLIC' ? resolve(null) : reject(err)))
      request.on('response', (response) => readPage(response).then(resolve, reject).finally(() => request.destroy()))
    })
  }
}

// readPage reads an answer. A redirect counts as no page (D44): with it whoever can change one path of a trusted host could
// put the page anywhere.
async function readPage(response) {
  const { statusCode: status, headers } = response
  if (status === 429 || status >= 500) throw new Error(`status ${status}`)
  const type = (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase()
  const encoded = (headers['content-encoding'] ?? 'identity') !== 'identity' // 64 KiB of gzip are 64 MiB of JSON
  if (status !== 200 || encoded || type !== 'application/json') return null
  const chunks = []
  let length = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    if ((length += chunk.length) > maxPage) return null
  }
  return new Uint8Array(Buffer.concat(chunks))
}

// publicLookup looks at the addresses that are about to be dialled, so that a name that resolves to another address than it
// did before (DNS rebinding) does not get around it.
function publicLookup(host, options, callback) {
  dnsLookup(host, { ...options, all: true }, (err, addresses) => {
    if (err) return callback(err)
    const found = addresses.filter(({ address }) => isPublic(address))
    if (!found.length) return callback(Object.assign(new Error('the host is not at a public address'), { code: 'ENOTPUBLIC' }))
    return options.all ? callback(null, found) : callback(null, found[0].address, found[0].family)
  })
}

// Addresses that are not of the public Internet: the IANA special-purpose registries (RFC 6890). IPv6 forms that carry an
// IPv4 address lie outside 2000::/3 or are listed, whatever they carry.
const special = blockList([
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
  '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20',
])
const unicast6 = blockList(['2000::/3'])

function blockList(prefixes) {
  const list = new net.BlockList()
  for (const prefix of prefixes) {
    const [address, bits] = prefix.split('/')
    list.addSubnet(address, Number(bits), `ipv${net.isIP(address)}`)
  }
  return list
}

/**
 * Reports whether an address is a unicast address of the public Internet.
 *
 * @param {string} address
 * @returns {boolean}
 */
export function isPublic(address) {
  const family = `ipv${net.isIP(address)}`
  return (family === 'ipv4' || unicast6.check(address, 'ipv6')) && !special.check(address, family)
}
