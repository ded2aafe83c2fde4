/**
 * The network guard: what every tool that reaches the network asks before it does.
 *
 *   URL ─assertUrl─▶ host ─lookup─▶ addresses, checked ─▶ the socket connects to one of these
 *
 * G1 Only http and https, without a user name or password, and not to a port of another protocol.
 * G2 An address that is not of the public internet is refused, however the URL spells it.
 * G3 A name is looked up once a connection, and the connection goes to an address that was checked:
 *    of several addresses those that are refused are left out, and with none left there is no
 *    connection. A name that leads elsewhere the second time gains nothing.
 * G4 What a rule names is allowed. A host that is named with a port is allowed on that port only.
 * G5 A refusal says which address of which host was refused and how to allow it, and never quotes a
 *    password or a query.
 *
 * Sockets look up names, but never addresses: `assertUrl` is what refuses those. Use both.
 */
import dns from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'

import { TuttiError } from '@tutti/core'
import { allowList, canonicalHost, type AllowList } from './allow-list.ts'
import { specialAddress } from './special-addresses.ts'

/** Keeps requests on the public internet. Its members may be taken out of it: none needs `this`. */
export interface NetworkGuard {
  /**
   * The URL, read, when a request may go there. To be asked of every URL, also of each one that a
   * redirect leads to.
   *
   * @throws {TuttiError} TOOL_FAILED when it may not.
   */
  readonly assertUrl: (url: string | URL) => URL
  /**
   * Looks names up as `dns.lookup` does, and gives allowed addresses only; for the `lookup` of
   * node:http and node:net. Its error is the TOOL_FAILED of a refusal, or that of
   * the resolver.
   */
  readonly lookup: LookupFunction
}

/** What a guard lets through, and how it finds addresses. */
export interface NetworkGuardOptions {
  /**
   * What is allowed besides the public internet: hosts (`api.internal`, `localhost:8080`), addresses
   * (`10.0.0.5`, `[::1]:8080`) and blocks (`192.168.0.0/16`). @default nothing
   */
  readonly allow?: readonly string[]
  /** Finds the addresses of a name. @default the resolver of the system */
  readonly resolve?: ResolveHost
}

/** Finds the addresses of a name, the preferred one first; rejects when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/**
 * Makes a guard.
 *
 * @throws {TypeError} naming every rule of `allow` that is none.
 */
export function networkGuard(options: NetworkGuardOptions = {}): NetworkGuard {
  const { allow = [], resolve = systemResolve } = options
  const list = allowList(allow)
  return {
    assertUrl: (url) => assertUrl(url, list),
    lookup(hostname, { all = false, family }, callback) {
      findAddresses(hostname, { list, resolve }, (error, found) => {
        const addresses = error === null ? found.filter((one) => fits(one, family)) : []
        const [first] = addresses
        if (first === undefined) callback(error ?? noAddress(hostname), [])
        else if (all) callback(null, addresses.map(entryOf))
        else callback(null, first, familyOf(first))
      })
    },
  }
}

/**
 * Makes a guard that allows the public internet, and the host and port of `url` wherever they are: those of an
 * address that the operator or the author of a tool wrote.
 */
export function guardAround(
  { hostname, port, protocol }: URL,
  { allow = [], ...options }: NetworkGuardOptions = {},
): NetworkGuard {
  const own = `${hostname}:${port || (/^(?:https|wss):$/.test(protocol) ? 443 : 80)}`
  return networkGuard({ ...options, allow: [own, ...allow] })
}

const findAddresses = callbackify(allowedAddresses)

async function systemResolve(host: string): Promise<readonly string[]> {
  const entries = await dns.lookup(host, { all: true })
  return entries.map(({ address }) => address)
}

function assertUrl(given: string | URL, list: AllowList): URL {
  const url = URL.parse(String(given))
  if (url === null) throw refusal(`Invalid URL ${quote(String(given))}`)
  const { protocol } = url
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw refusal(`Refused a URL of "${protocol}": only http: and https: are allowed`)
  }
  if (url.username !== '' || url.password !== '') {
    throw refusal('Refused a URL with a user name or password')
  }
  const host = canonicalHost(url.hostname)
  if (host === '') throw refusal(`Invalid URL ${quote(url.href)}: it has no host`)
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
    throw refusal(`Refused to connect to port ${port} of "${host}": it is allowed on ${named} only`)
  }
  if (BAD_PORTS.has(port)) {
    throw refusal(
      `Refused to connect to port ${port} of "${host}": it is a port of another protocol than HTTP${remedy(withPort(host, port))}`,
    )
  }
  const special = isIP(host) === 0 ? undefined : specialAddress(host)
  if (special !== undefined) {
    throw refusal(`Refused to connect to "${host}": it is ${special}${remedy(host)}`, {
      host,
      address: host,
    })
  }
}

/**
 * Ports of services that speak no HTTP, which a request may do harm to: browsers reach none of them.
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

/** Characters of a URL that are quoted. */
const SHOWN_LENGTH = 200

/** A text that should be a URL, without what may be secret in it. */
function quote(text: string): string {
  const [place = ''] = text.split(/[?#]/, 1)
  return JSON.stringify(place.replace(/^.*@/s, '').slice(0, SHOWN_LENGTH))
}

async function allowedAddresses(
  hostname: string,
  { list, resolve }: { readonly list: AllowList; readonly resolve: ResolveHost },
): Promise<readonly string[]> {
  const host = canonicalHost(hostname)
  const found = isIP(host) === 0 ? await resolve(host) : [host]
  if (list.portsOf(host) !== undefined) return found.filter((address) => isIP(address) !== 0)
  const allowed = found.filter(
    (address) => specialAddress(address) === undefined || list.hasAddress(address),
  )
  const [refused] = found
  if (allowed.length > 0 || refused === undefined) return allowed
  throw refusal(
    `Refused to connect to "${host}": it leads to ${refused}, ${specialAddress(refused)}${remedy(host)}`,
    { host, address: refused },
  )
}

function fits(address: string, family: number | 'IPv4' | 'IPv6' | undefined): boolean {
  if (family === 4 || family === 'IPv4') return isIP(address) === 4
  return family === 6 || family === 'IPv6' ? isIPv6(address) : true
}

function entryOf(address: string): { readonly address: string; readonly family: number } {
  return { address, family: familyOf(address) }
}

function familyOf(address: string): number {
  return isIPv6(address) ? 6 : 4
}

/** An error as the resolver of the system has it. */
function noAddress(hostname: string): NodeJS.ErrnoException {
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

function remedy(rule: string): string {
  return `; whoever set up the tool can allow it with allow: ['${rule}']`
}

function refusal(
  message: string,
  details?: { readonly host: string; readonly address: string },
): TuttiError {
  return new TuttiError('TOOL_FAILED', message, details === undefined ? {} : { details })
}
