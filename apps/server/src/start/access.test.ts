import { hostname } from 'node:os'

import { describe, expect, it } from 'vitest'

import { allowedHosts } from './access.ts'

const EVERY_ADDRESS = { host: '0.0.0.0' }

describe('allowedHosts', () => {
  it('allowedHosts allows every name on the unspecified address with keys', () => {
    expect(allowedHosts({}, EVERY_ADDRESS, true)).toEqual(['*'])
    expect(allowedHosts({}, { host: '::' }, true)).toEqual(['*'])
  })

  it('allowedHosts allows only its own names on the unspecified address without keys', () => {
    const config = { publicUrl: 'https://runs.example.com/x' }
    expect(allowedHosts(config, EVERY_ADDRESS, false)).toEqual([hostname(), 'runs.example.com'])
    expect(allowedHosts({}, EVERY_ADDRESS, false)).toEqual([hostname()])
  })

  it('allowedHosts allows the names in the config, and the name that the server listens on', () => {
    const config = { allowedHosts: ['a.example'] }
    expect(allowedHosts(config, EVERY_ADDRESS, false)).toEqual(['a.example'])
    expect(allowedHosts(config, { host: 'box' }, false)).toEqual(['a.example', 'box'])
    expect(allowedHosts({}, { host: 'box' }, true)).toEqual(['box'])
  })
})
