import { describe, expect, it } from 'vitest'

import { describeSpecialAddress } from './special-addresses.ts'

/** First and last address of each block, by kind. */
const SPECIAL: Readonly<Record<string, readonly string[]>> = {
  'an unspecified address': ['0.0.0.0', '0.255.255.255', '::'],
  'a loopback address': ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1'],
  'a private address': [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    'fc00::',
    'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'fec0::',
    'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  'a cloud metadata address': [
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  'a link-local address': [
    '169.254.0.0',
    '169.254.255.255',
    'fe80::',
    'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'fe80::1%eth0',
  ],
  'a carrier-grade NAT address': ['100.64.0.0', '100.127.255.255'],
  'a documentation address': [
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.0',
    '198.51.100.255',
    '203.0.113.0',
    '203.0.113.255',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff::',
    '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  'a benchmarking address': [
    '198.18.0.0',
    '198.19.255.255',
    '2001:2::',
    '2001:2:0:ffff:ffff:ffff:ffff:ffff',
  ],
  'a broadcast address': ['255.255.255.255'],
  'a multicast address': [
    '224.0.0.0',
    '239.255.255.255',
    'ff00::',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  'a reserved address': [
    '192.0.0.0',
    '192.0.0.255',
    '192.88.99.0',
    '192.88.99.255',
    '240.0.0.0',
    '255.255.255.254',
    '100::1',
    '2001:1::1',
    '2001:20::1',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '4000::',
    '5f00::1',
    '64:ff9a::1',
    '64:ff9b:0:0:0:1::',
  ],
  'an address that embeds an IPv4 address': [
    '::2',
    '::8.8.8.8',
    '::ffff:0:127.0.0.1',
    '::ffff:0:8.8.8.8',
    '2001::',
    '2001:0:ffff:ffff:ffff:ffff:ffff:ffff',
    '2002::',
    '2002:7f00:1::1',
    '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  'a local NAT64 address': ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
}

/** Addresses next to the blocks, and some well-known ones. */
const PUBLIC = [
  '1.0.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '2000::',
  '2001:200::',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2001:4860:4860::8888',
  '2003::',
  '2606:4700:4700::1111',
  '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '3fff:1000::',
]

describe('describeSpecialAddress', () => {
  it.each(Object.entries(SPECIAL).flatMap(([kind, list]) => list.map((one) => [one, kind])))(
    '[NET-G2] describeSpecialAddress classifies %s as %s',
    (address, kind) => {
      expect(describeSpecialAddress(address)).toBe(kind)
    },
  )

  it.each(PUBLIC)('[NET-G2] describeSpecialAddress classifies %s as public', (address) => {
    expect(describeSpecialAddress(address)).toBeUndefined()
  })

  it.each([
    ['::ffff:127.0.0.1', 'a loopback address'],
    ['::ffff:7f00:1', 'a loopback address'],
    ['0:0:0:0:0:ffff:a9fe:a9fe', 'a cloud metadata address'],
    ['::ffff:0.0.0.0', 'an unspecified address'],
    ['::ffff:255.255.255.255', 'a broadcast address'],
    ['64:ff9b::', 'an unspecified address'],
    ['64:ff9b::10.0.0.1', 'a private address'],
    ['64:ff9b::a00:1', 'a private address'],
    ['64:ff9b::c0a8:0', 'a private address'],
    ['::ffff:8.8.8.8', undefined],
    ['64:ff9b::8.8.8.8', undefined],
    ['64:ff9b::1:0', 'an unspecified address'],
    ['64:ff9b::100:0', undefined],
  ])(
    '[NET-G2] describeSpecialAddress gives %s the kind of its embedded IPv4 address: %s',
    (address, kind) => {
      expect(describeSpecialAddress(address)).toBe(kind)
    },
  )

  it.each(['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '::g', '[::1]', '10.0.0.1/8'])(
    '[NET-G2] describeSpecialAddress does not accept %j as an address',
    (text) => {
      expect(describeSpecialAddress(text)).toBe('not an address')
    },
  )
})
