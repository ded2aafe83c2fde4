/**
 * Rules for the hosts and addresses that a network guard allows in addition to the public internet. Pure.
 *
 * A rule is one of
 *
 *   localhost          a host, on any port, for every address of its name
 *   localhost:8080     a host, on this port only
 *   10.0.0.5           an address on any port, from the URL or from DNS
 *   [::1]:8080         an address on this port, from the URL
 *   192.168.0.0/16     a block of addresses, from the URL or from DNS
 */
import { isIP, isIPv4, isIPv6 } from 'node:net'

import { createBlockList, withoutZone } from './special-addresses.ts'

/** Parsed rules. */
export interface AllowList {
  /** Returns the ports on which a host is allowed by its name; undefined when no rule names it. */
  portsOf(host: string): 'all' | ReadonlySet<number> | undefined
  /** Returns whether a rule allows this address on every port. */
  hasAddress(address: string): boolean
}

/**
 * Parses rules.
 *
 * @throws {TypeError} naming every invalid rule.
 */
export function parseAllowList(rules: readonly string[]): AllowList {
  const parsed = rules.map((rule) => ({ rule, value: parseRule(rule) }))
  const invalid = parsed.flatMap(({ rule, value }) =>
    value === undefined ? [JSON.stringify(rule)] : [],
  )
  if (invalid.length > 0) {
    throw new TypeError(
      `Cannot allow ${invalid.join(', ')}: expected a host, host:port, address, [address]:port or block such as 10.0.0.0/8`,
    )
  }
  return buildAllowList(parsed.flatMap(({ value }) => value ?? []))
}

/**
 * Returns the canonical form of a host from a URL or from the resolver: lower case, no trailing dot, and an IPv6 address
 * without brackets.
 */
export function canonicalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

type Rule =
  | { readonly block: string }
  | { readonly host: string; readonly port: number | undefined }

function parseRule(rule: string): Rule | undefined {
  if (rule.includes('/')) return isBlock(rule) ? { block: rule } : undefined
  const [, host = '', port] =
    /^(.*?)(?::(\d{1,5}))?$/.exec(isIP(rule) === 6 ? `[${rule}]` : rule) ?? []
  const name = parseHost(host)
  if (name === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) return undefined
  return { host: name, port: port === undefined ? undefined : Number(port) }
}

function isBlock(rule: string): boolean {
  const [, address = '', bits] = /^([^/]+)\/(\d{1,3})$/.exec(rule) ?? []
  const family = isIP(address)
  return family !== 0 && !address.includes('%') && Number(bits) <= (family === 4 ? 32 : 128)
}

function parseHost(text: string): string | undefined {
  if (!/^[^\s/\\?#@*%:]+$|^\[[\da-f:.]+\]$/i.test(text)) return undefined
  const url = URL.parse(`http://${text}`)
  const host = url === null ? '' : canonicalizeHost(url.hostname)
  return host === '' ? undefined : host
}

function buildAllowList(rules: readonly Rule[]): AllowList {
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
  // In a single list, IPv6 blocks would also match IPv4 addresses, which count as IPv4-mapped IPv6 addresses.
  const ipv4 = createBlockList(blocks.filter((block) => !block.includes(':')))
  const ipv6 = createBlockList(blocks.filter((block) => block.includes(':')))
  return {
    portsOf: (host) => (names.has(host) ? 'all' : ports.get(host)),
    hasAddress(address) {
      const plain = withoutZone(address)
      if (isIPv4(plain)) return ipv4.check(plain, 'ipv4')
      return isIPv6(plain) && (ipv6.check(plain, 'ipv6') || ipv4.check(plain, 'ipv6'))
    },
  }
}
