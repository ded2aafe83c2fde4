/** Starts real NATS servers as compose.yaml and the component for Kubernetes do, without a container engine. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

import { readCompose } from '../container/compose.ts'
import { findNatsServer, hasNatsServer } from '../nats/nats-server.ts'
import { freePort } from '../postgres/free-port.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Limits of waiting for a server, many times the usual duration. */
const POLLING = { timeout: 60_000, interval: 50 }

describe.skipIf(!hasNatsServer())('NATS', () => {
  let folder: string
  const servers: ChildProcess[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tutti-nats-deploy-'))
  })

  afterEach(async () => {
    await Promise.all(
      servers.splice(0).map(async (shell) => {
        shell.stdin?.end()
        await once(shell, 'exit')
      }),
    )
    rmSync(folder, { recursive: true, force: true })
  })

  function start(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): void {
    // When this process dies, the standard input of the shell is closed.
    const words = ['-c', '"$@" & read line; kill -9 $!', 'watchdog', findNatsServer(), ...args]
    const env = { PATH: process.env['PATH'], ...environment }
    servers.push(spawn('sh', words, { env, stdio: ['pipe', 'ignore', 'ignore'] }))
  }

  const statusOf = (port: number, path: string) => async (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    )

  it('NATS of the profile in compose.yaml becomes healthy', async () => {
    const variables = { POSTGRES_PASSWORD: 'a', TUTTI_API_KEY: 'b', TUTTI_METRICS_KEY: 'c' }
    const { nats } = readCompose(read('compose.yaml'), variables).services
    expect(nats?.profiles).toEqual(['nats'])
    expect(nats?.volumes).toEqual(['nats:/data'])
    const url = new URL(nats?.healthcheck?.test.at(-1) ?? '')
    const monitor = await freePort()
    const args = nats?.command?.map((arg) =>
      arg.replace('/data', folder).replace(url.port, String(monitor)),
    )
    start([...(args ?? []), '--addr=127.0.0.1', `--port=${await freePort()}`])
    await expect.poll(statusOf(monitor, url.pathname), POLLING).toBe(200)
  })

  it('NATS of the component for Kubernetes forms a cluster that becomes ready', async () => {
    const text = read('deploy/kubernetes/components/nats/nats.yaml')
    // The parser of kubectl rejects what this one accepts.
    expect(text).not.toMatch(/\{[^}'"]*\?/)
    const documents = parseAllDocuments(text).map((document) => document.toJS())
    const find = (kind: string) => documents.find((document) => document.kind === kind)
    const { spec } = find('StatefulSet')
    const [{ ports, readinessProbe, livenessProbe }] = spec.template.spec.containers
    expect(ports).toMatchObject([
      { name: 'client', containerPort: 4222 },
      { name: 'cluster', containerPort: 6222 },
      { name: 'monitor', containerPort: 8222 },
    ])
    const config: string = find('ConfigMap').data['nats.conf']
    const names = Array.from({ length: spec.replicas }, (_, n) => `${spec.serviceName}-${n}`)
    const routes = await Promise.all(names.map(() => freePort()))
    const monitors = await Promise.all(names.map(() => freePort()))
    for (const [n, name] of names.entries()) {
      const own = names.reduce(
        (changed, peer, index) =>
          changed.replace(`${peer}.${spec.serviceName}:6222`, `127.0.0.1:${routes[index]}`),
        config
          .replace('port: 6222', `listen: "127.0.0.1:${routes[n]}"`)
          .replace('http_port: 8222', `http: "127.0.0.1:${monitors[n]}"`)
          .replace('/data', join(folder, name)),
      )
      expect(own).not.toMatch(/: \/data|\b[68]222\b|\.nats:/)
      const path = join(folder, `${name}.conf`)
      writeFileSync(path, own)
      start(['--config', path, '--addr=127.0.0.1', `--port=${await freePort()}`], {
        POD_NAME: name,
      })
    }
    const hasLeader = async (port: number): Promise<boolean> => {
      const state = await fetch(`http://127.0.0.1:${port}/jsz`)
      const { meta_cluster: meta } = await state.json()
      return meta?.leader !== undefined && meta.cluster_size === spec.replicas
    }
    for (const port of monitors) {
      for (const { httpGet } of [livenessProbe, readinessProbe]) {
        expect(httpGet.port).toBe('monitor')
        await expect.poll(statusOf(port, httpGet.path), POLLING).toBe(200)
      }
      await expect.poll(() => hasLeader(port), POLLING).toBe(true)
    }
  })
})
