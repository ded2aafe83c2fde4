/**
 * Special addresses, which do not belong to the public internet: those of this machine, its network and its cloud, and
 * those that embed such an address. Pure.
 *
 * Public IPv6 addresses are those of 2000::/3; public IPv4 addresses are all except the blocks below.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Blocks of special IPv4 addresses by kind. */
const IPV4 = buildKinds({
  'an unspecified address': ['0.0.0.0/8'],
  'a loopback address': ['127.0.0.0/8'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  // 169.254.169.254 is the metadata service of nearly every cloud. 168.63.129.16 is that of Azure's hosts, in the middle
  // of public addresses.
  'a cloud metadata address': ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32'],
  'a link-local address': ['169.254.0.0/16'],
  'a carrier-grade NAT address': ['100.64.0.0/10'],
  'a documentation address': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  'a benchmarking address': ['198.18.0.0/15'],
  'a broadcast address': ['255.255.255.255/32'],
  'a multicast address': ['224.0.0.0/4'],
  'a reserved address': ['192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4'],
})

/** Blocks of special IPv6 addresses by kind. */
const IPV6 = buildKinds({
  'an unspecified address': ['::/128'],
  'a loopback address': ['::1/128'],
  'a cloud metadata address': ['fd00:ec2::/32', 'fd20:ce::254/128'],
  'a private address': ['fc00::/7', 'fec0::/10'],
  'a link-local address': ['fe80::/10'],
  'a multicast address': ['ff00::/8'],
  'a documentation address': ['2001:db8::/32', '3fff::/20'],
  'a benchmarking address': ['2001:2::/48'],
  'an address that embeds an IPv4 address': ['::/96', '::ffff:0:0:0/96', '2001::/32', '2002::/16'],
  'a local NAT64 address': ['64:ff9b:1::/48'],
  'a reserved address': ['2001::/23'],
})

/** Block of public IPv6 addresses; everything else is reserved. */
const PUBLIC_IPV6 = createBlockList(['2000::/3'])

/** Blocks whose last 32 bits are the IPv4 address in use: mapped addresses and NAT64. */
const EMBEDDING = createBlockList(['::ffff:0:0/96', '64:ff9b::/96'])

/**
 * Returns the kind of a special address, such as `a private address`; undefined for a public one. An IPv6 address that
 * embeds an IPv4 address has the kind of the latter. For other text the result is `not an address`.
 */
export function describeSpecialAddress(address: string): string | undefined {
  const plain = withoutZone(address)
  if (isIPv4(plain)) return findKind(IPV4, plain, 'ipv4')
  if (!isIPv6(plain)) return 'not an address'
  if (EMBEDDING.check(plain, 'ipv6')) return findKind(IPV4, readEmbeddedIpv4(plain), 'ipv4')
  const special = findKind(IPV6, plain, 'ipv6')
  return special ?? (PUBLIC_IPV6.check(plain, 'ipv6') ? undefined : 'a reserved address')
}

/** Returns an address without its zone: `fe80::1` for `fe80::1%eth0`. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? ''
}

/** Creates a list of blocks such as `10.0.0.0/8`. */
export function createBlockList(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [address = '', bits] = block.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

type Kinds = ReadonlyMap<string, BlockList>

function buildKinds(kinds: Readonly<Record<string, readonly string[]>>): Kinds {
  return new Map(Object.entries(kinds).map(([kind, blocks]) => [kind, createBlockList(blocks)]))
}

function findKind(kinds: Kinds, address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return [...kinds].find(([, list]) => list.check(address, family))?.[0]
}

/** Returns the last 32 bits as an IPv4 address. `URL` gives an IPv6 address its canonical groups of hexadecimal digits. */
function readEmbeddedIpv4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
