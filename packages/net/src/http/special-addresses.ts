/**
 * Which addresses of the internet are not on the internet: those of this machine, of its network, of
 * the cloud it runs in, and those that only hide such a one. Pure.
 *
 * Of IPv6 only 2000::/3 is given out for the public; of IPv4 everything is, but for the blocks below.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What a special IPv4 address is → its blocks. */
const IPV4 = kindsOf({
  'an unspecified address': ['0.0.0.0/8'],
  'a loopback address': ['127.0.0.0/8'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  // 169.254.169.254 is the metadata service of nearly every cloud, 168.63.129.16 that of Azure's hosts,
  // which lies among public addresses.
  'a cloud metadata address': ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32'],
  'a link-local address': ['169.254.0.0/16'],
  'a shared address of a carrier': ['100.64.0.0/10'],
  'a documentation address': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  'a benchmarking address': ['198.18.0.0/15'],
  'a broadcast address': ['255.255.255.255/32'],
  'a multicast address': ['224.0.0.0/4'],
  'a reserved address': ['192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4'],
})

/** What a special IPv6 address is → its blocks. */
const IPV6 = kindsOf({
  'an unspecified address': ['::/128'],
  'a loopback address': ['::1/128'],
  'a cloud metadata address': ['fd00:ec2::/32', 'fd20:ce::254/128'],
  'a private address': ['fc00::/7', 'fec0::/10'],
  'a link-local address': ['fe80::/10'],
  'a multicast address': ['ff00::/8'],
  'a documentation address': ['2001:db8::/32', '3fff::/20'],
  'a benchmarking address': ['2001:2::/48'],
  'an address that hides an IPv4 address': ['::/96', '::ffff:0:0:0/96', '2001::/32', '2002::/16'],
  'an address of a local translator': ['64:ff9b:1::/48'],
  'a reserved address': ['2001::/23'],
})

/** Where IPv6 addresses that anybody can have come from; all else is reserved. */
const GIVEN_OUT = blockList(['2000::/3'])

/** Their last 32 bits are the IPv4 address that is meant: mapped ones, and those of NAT64. */
const EMBEDDING = blockList(['::ffff:0:0/96', '64:ff9b::/96'])

/**
 * Why an address is not one of the public internet, such as `a private address`; undefined when it is
 * one. An IPv6 address that stands for an IPv4 address is what that one is. What is no address is not
 * public.
 */
export function specialAddress(address: string): string | undefined {
  const plain = withoutZone(address)
  if (isIPv4(plain)) return find(IPV4, plain, 'ipv4')
  if (!isIPv6(plain)) return 'not an address'
  if (EMBEDDING.check(plain, 'ipv6')) return find(IPV4, embeddedIpv4(plain), 'ipv4')
  const special = find(IPV6, plain, 'ipv6')
  return special ?? (GIVEN_OUT.check(plain, 'ipv6') ? undefined : 'a reserved address')
}

/** The address without its zone, as `fe80::1` of `fe80::1%eth0`. */
export function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? ''
}

/** A list of blocks such as `10.0.0.0/8`. */
export function blockList(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [address = '', bits] = block.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

type Kinds = ReadonlyMap<string, BlockList>

function kindsOf(kinds: Readonly<Record<string, readonly string[]>>): Kinds {
  return new Map(Object.entries(kinds).map(([kind, blocks]) => [kind, blockList(blocks)]))
}

function find(kinds: Kinds, address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return [...kinds].find(([, list]) => list.check(address, family))?.[0]
}

/** The last 32 bits; a URL writes an IPv6 address in one way, as groups of hexadecimal digits. */
function embeddedIpv4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
