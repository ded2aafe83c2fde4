/**
 * The network guard, which checks every outgoing request.
 *
 *   URL ─assertUrl─▶ host ─lookup─▶ checked addresses ─▶ the socket connects to one of them
 *
 * NET-G1 Only http and https are allowed, without a user name or password, and not on a port of another protocol.
 * NET-G2 An address outside the public internet is refused, in every spelling that a URL allows.
 * NET-G3 A name is resolved once per connection, and the connection goes to an address that was checked. Refused
 *    addresses of a name are skipped; if none remains, there is no connection. A name that resolves differently the
 *    second time gains nothing.
 * NET-G4 Hosts and addresses that a rule names are allowed. A host named with a port is allowed on that port only.
 * NET-G5 A refusalError states the refused address, its host and how to allow it. It never quotes a password
 *    or a query.
 *
 * Sockets call `lookup` for names but not for addresses, which only `assertUrl` checks. Use both.
 */
import dns from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'

import { TuttiError } from '@tutti/core'
import { parseAllowList, canonicalizeHost, type AllowList } from './allow-list.ts'
import { describeSpecialAddress } from './special-addresses.ts'

/** Limits requests to the public internet. Its functions do not use `this`. */
export interface NetworkGuard {
  /**
   * Checks and parses a URL. Call it for every URL of a request, including each redirect target.
   *
   * @throws {TuttiError} TOOL_FAILED when the URL is invalid or not allowed.
   */
  readonly assertUrl: (url: string | URL) => URL
  /**
   * Resolves names as `dns.lookup` does, but returns only allowed addresses; for the `lookup` option of node:http and
   * node:net. Its error is TOOL_FAILED for a refusalError, otherwise the error of the resolver.
   */
  readonly lookup: LookupFunction
}

export interface NetworkGuardOptions {
  /**
   * Hosts (`api.internal`, `localhost:8080`), addresses (`10.0.0.5`, `[::1]:8080`) and blocks (`192.168.0.0/16`) that
   * are allowed in addition to the public internet. @default none
   */
  readonly allow?: readonly string[]
  /** Resolves a name to addresses. @default the resolver of the system */
  readonly resolve?: ResolveHost
}

/** Returns the addresses of a name, the preferred one first; rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/**
 * Creates a guard.
 *
 * @throws {TypeError} naming every invalid rule of `allow`.
 */
export function networkGuard(options: NetworkGuardOptions = {}): NetworkGuard {
  const { allow = [], resolve = systemResolve } = options
  const list = parseAllowList(allow)
  return {
    assertUrl: (url) => assertUrl(url, list),
    lookup(hostname, { all = false, family }, callback) {
      findAddresses(hostname, { list, resolve }, (error, found) => {
        const addresses = error === null ? found.filter((one) => hasFamily(one, family)) : []
        const [first] = addresses
        if (first === undefined) callback(error ?? noAddressError(hostname), [])
        else if (all) callback(null, addresses.map(toLookupEntry))
        else callback(null, first, familyOf(first))
      })
    },
  }
}

/**
 * Creates a guard that allows the public internet and the host and port of `url`, which may be private. Use it for a
 * URL that the operator or the author of a tool wrote.
 */
export function guardAround(
  { hostname, port, protocol }: URL,
  { allow = [], ...options }: NetworkGuardOptions = {},
): NetworkGuard {
  const own = `${hostname}:${port || (/^(?:https|wss):$/.test(protocol) ? 443 : 80)}`
  return networkGuard({ ...options, allow: [own, ...allow] })
}

const findAddresses = callbackify(findAllowedAddresses)

async function systemResolve(host: string): Promise<readonly string[]> {
  const entries = await dns.lookup(host, { all: true })
  return entries.map(({ address }) => address)
}

function assertUrl(given: string | URL, list: AllowList): URL {
  const url = URL.parse(String(given))
  if (url === null) throw refusalError(`Invalid URL ${quote(String(given))}`)
  const { protocol } = url
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw refusalError(
      `Refused a URL with the scheme "${protocol}": only http: and https: are allowed`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw refusalError('Refused a URL with a user name or password')
  }
  const host = canonicalizeHost(url.hostname)
  if (host === '') throw refusalError(`Invalid URL ${quote(url.href)}: it has no host`)
  assertHost(host, { port: portOf(url), list })
  return url
}

function assertHost(
  host: string,
  { port, list }: { readonly port: number; readonly list: AllowList },
): void {
  const ports = list.hasAddress(host) ? 'all' : list.portsOf(host)
  if (ports === 'all' || ports?.has(port) === true) return
  if (ports !== undefined) {
    const named = [...ports].join(', ')
    throw refusalError(`Refused to connect to port ${port} of "${host}"; allowed ports: ${named}`)
  }
  if (BAD_PORTS.has(port)) {
    throw refusalError(
      `Refused to connect to port ${port} of "${host}": it is a port of a protocol other than HTTP${describeRemedy(withPort(host, port))}`,
    )
  }
  const special = isIP(host) === 0 ? undefined : describeSpecialAddress(host)
  if (special !== undefined) {
    throw refusalError(`Refused to connect to "${host}": it is ${special}${describeRemedy(host)}`, {
      host,
      address: host,
    })
  }
}

/**
 * Ports of services that do not speak HTTP, which a request could harm. Browsers block them too.
 *
 * @see https://fetch.spec.whatwg.org/#port-blocking
 */
export const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10_080,
])

/** Maximum number of characters of a URL that a message quotes. */
const SHOWN_LENGTH = 200

/** Quotes an invalid URL without its login and query, which may contain secrets. */
function quote(text: string): string {
  const [address = ''] = text.split(/[?#]/, 1)
  return JSON.stringify(address.replace(/^.*@/s, '').slice(0, SHOWN_LENGTH))
}

async function findAllowedAddresses(
  hostname: string,
  { list, resolve }: { readonly list: AllowList; readonly resolve: ResolveHost },
): Promise<readonly string[]> {
  const host = canonicalizeHost(hostname)
  const found = isIP(host) === 0 ? await resolve(host) : [host]
  if (list.portsOf(host) !== undefined) return found.filter((address) => isIP(address) !== 0)
  const allowed = found.filter(
    (address) => describeSpecialAddress(address) === undefined || list.hasAddress(address),
  )
  const [refused] = found
  if (allowed.length > 0 || refused === undefined) return allowed
  throw refusalError(
    `Refused to connect to "${host}": it resolves to ${refused}, ${describeSpecialAddress(refused)}${describeRemedy(host)}`,
    { host, address: refused },
  )
}

function hasFamily(address: string, family: number | 'IPv4' | 'IPv6' | undefined): boolean {
  if (family === 4 || family === 'IPv4') return isIP(address) === 4
  return family === 6 || family === 'IPv6' ? isIPv6(address) : true
}

function toLookupEntry(address: string): { readonly address: string; readonly family: number } {
  return { address, family: familyOf(address) }
}

function familyOf(address: string): number {
  return isIPv6(address) ? 6 : 4
}

/** Creates the error of the system's resolver for a name without addresses. */
function noAddressError(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`lookup ENOTFOUND ${hostname}`), {
    code: 'ENOTFOUND',
    syscall: 'lookup',
    hostname,
  })
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

function withPort(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function describeRemedy(rule: string): string {
  return `; the author of the tool can allow it with allow: ['${rule}']`
}

function refusalError(
  message: string,
  details?: { readonly host: string; readonly address: string },
): TuttiError {
  return new TuttiError('TOOL_FAILED', message, details === undefined ? {} : { details })
}
