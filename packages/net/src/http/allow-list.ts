/**
 * What a network guard lets through besides the public internet. Pure.
 *
 * A rule is one of
 *
 *   localhost          a host, on any port, wherever its name leads
 *   localhost:8080     a host on this port, and then on no other
 *   10.0.0.5           an address on any port, written so or found by DNS
 *   [::1]:8080         an address on this port, written so in the URL
 *   192.168.0.0/16     a block of addresses, written so or found by DNS
 */
import { isIP, isIPv4, isIPv6 } from 'node:net'

import { blockList, withoutZone } from './special-addresses.ts'

/** The rules, read. */
export interface AllowList {
  /** The ports on which a host is allowed by its name; undefined when no rule names it. */
  portsOf(host: string): 'all' | ReadonlySet<number> | undefined
  /** Whether a rule allows this address on every port. */
  hasAddress(address: string): boolean
}

/**
 * Reads rules.
 *
 * @throws {TypeError} naming every rule that is none.
 */
export function allowList(rules: readonly string[]): AllowList {
  const read = rules.map((rule) => ({ rule, read: readRule(rule) }))
  const wrong = read.flatMap(({ rule, read }) => (read === undefined ? [JSON.stringify(rule)] : []))
  if (wrong.length > 0) {
    throw new TypeError(
      `Cannot allow ${wrong.join(', ')}: a rule is a host, host:port, address, [address]:port or block such as 10.0.0.0/8`,
    )
  }
  return listOf(read.flatMap(({ read }) => read ?? []))
}

/**
 * The one way in which a host is written: in lower case, in ASCII, with no dot at its end, an IPv6
 * address without brackets. Takes a host as a URL or the resolver has it.
 */
export function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

type Rule =
  | { readonly block: string }
  | { readonly host: string; readonly port: number | undefined }

function readRule(rule: string): Rule | undefined {
  if (rule.includes('/')) return isBlock(rule) ? { block: rule } : undefined
  const [, host = '', port] =
    /^(.*?)(?::(\d{1,5}))?$/.exec(isIP(rule) === 6 ? `[${rule}]` : rule) ?? []
  const name = hostOf(host)
  if (name === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) return undefined
  return { host: name, port: port === undefined ? undefined : Number(port) }
}

function isBlock(rule: string): boolean {
  const [, address = '', bits] = /^([^/]+)\/(\d{1,3})$/.exec(rule) ?? []
  const family = isIP(address)
  return family !== 0 && !address.includes('%') && Number(bits) <= (family === 4 ? 32 : 128)
}

function hostOf(text: string): string | undefined {
  if (!/^[^\s/\\?#@*%:]+$|^\[[\da-f:.]+\]$/i.test(text)) return undefined
  const url = URL.parse(`http://${text}`)
  const host = url === null ? '' : canonicalHost(url.hostname)
  return host === '' ? undefined : host
}

function listOf(rules: readonly Rule[]): AllowList {
  const hosts = rules.flatMap((rule) => ('host' in rule ? [rule] : []))
  const ports = new Map<string, Set<number>>()
  for (const { host, port } of hosts) {
    if (port !== undefined) ports.set(host, (ports.get(host) ?? new Set()).add(port))
  }
  const everyPort = hosts.flatMap(({ host, port }) => (port === undefined ? [host] : []))
  const names = new Set(everyPort.filter((host) => isIP(host) === 0))
  const blocks = [
    ...rules.flatMap((rule) => ('block' in rule ? [rule.block] : [])),
    ...everyPort
      .filter((host) => isIP(host) !== 0)
      .map((host) => `${host}/${isIPv4(host) ? 32 : 128}`),
  ]
  // In one list, blocks of IPv6 would also match IPv4 addresses, as the mapped ones that these are.
  const ipv4 = blockList(blocks.filter((block) => !block.includes(':')))
  const ipv6 = blockList(blocks.filter((block) => block.includes(':')))
  return {
    portsOf: (host) => (names.has(host) ? 'all' : ports.get(host)),
    hasAddress(address) {
      const plain = withoutZone(address)
      if (isIPv4(plain)) return ipv4.check(plain, 'ipv4')
      return isIPv6(plain) && (ipv6.check(plain, 'ipv6') || ipv4.check(plain, 'ipv6'))
    },
  }
}
