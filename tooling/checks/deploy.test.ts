/** Tests the settings of compose.yaml. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { readEnvironment } from '../../apps/server/src/environment/env.ts'
import { readCompose } from '../container/compose.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Time that the server needs to stop, in milliseconds: its default drain timeout and the release of its runs. */
const DRAIN_MS = 10_000 + 2_000

describe('compose.yaml', () => {
  const variables = {
    POSTGRES_PASSWORD: 'a-password-of-postgres',
    TUTTI_API_KEY: 'a-key-of-an-operator',
    TUTTI_METRICS_KEY: 'a-key-for-prometheus',
  }
  const compose = readCompose(read('compose.yaml'), variables)
  const servers = ['api', 'worker'].map((name) => ({ name, ...serviceOf(name) }))

  it('compose.yaml requires every secret', () => {
    for (const name of Object.keys(variables)) {
      const others = { ...variables, [name]: '' }
      expect(() => readCompose(read('compose.yaml'), others), name).toThrow(`${name} is not set`)
    }
  })

  it('compose.yaml configures one server for requests and two for runs', () => {
    for (const { name, environment } of servers) {
      const said = readEnvironment({ ...environment })
      expect(said.role).toBe(name)
      expect(said.databaseUrl).toBe('postgres://tutti:a-password-of-postgres@db:5432/tutti')
      expect(said.apiKeys.map((key) => [key.name, key.scopes])).toEqual([
        ['operator', ['admin']],
        ['prometheus', ['runs:read']],
      ])
    }
    expect(servers.map(({ deploy }) => deploy?.replicas ?? 1)).toEqual([1, 2])
  })

  it('compose.yaml restricts writes, privileges and resources, and allows time to stop', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service.deploy?.resources?.limits?.memory, name).toMatch(/^\d+[MG]$/)
      expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
      if (name !== 'db') expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    }
    for (const { stop_grace_period: grace = '0' } of servers) {
      expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(DRAIN_MS)
    }
  })

  it('compose.yaml names files, volumes and secrets that exist', () => {
    for (const { volumes = [], secrets = [] } of Object.values(compose.services)) {
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
      for (const secret of secrets) {
        expect(Object.keys(variables)).toContain(compose.secrets[secret]?.environment)
      }
    }
    expect(read('deploy/prometheus/prometheus.yml')).toMatch(/names: \[api, worker\]/)
    expect(read('deploy/prometheus/prometheus.yml')).toContain('/run/secrets/tutti_metrics_key')
  })

  function serviceOf(name: string) {
    const service = compose.services[name]
    if (service === undefined) throw new Error(`compose.yaml has no service "${name}"`)
    return service
  }
})
