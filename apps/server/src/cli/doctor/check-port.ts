/** Whether the port is free, and if not, who answers there. */
import { errorMessage } from '@tutti/core'
import { createServer } from 'node:net'

import { askServer, type ExpectedServer } from './ask-server.ts'
import { findingsOf, type Finding } from './finding.ts'

import type { Environment } from '../../environment/env.ts'

/** What there is at an address, and whether it is a Tutti server. */
export interface PortFindings {
  readonly findings: readonly Finding[]
  readonly isServed: boolean
}

/** Checks the port that the server would listen on. */
export async function checkPort(
  { host, port }: Pick<Environment, 'host' | 'port'>,
  facts: ExpectedServer,
): Promise<PortFindings> {
  const { ok, problem } = findingsOf('port')
  if (port === 0) return { findings: [ok('Any free port')], isServed: false }
  const failure = await tryToListen(host, port)
  if (failure === undefined) {
    return { findings: [ok(`Port ${port} of ${host} is free`)], isServed: false }
  }
  if (failure.code !== 'EADDRINUSE') {
    const advice =
      failure.code === 'EACCES'
        ? 'Ports below 1024 are for root'
        : 'Choose an address of this machine'
    const message = `Cannot listen on ${host}:${port}: ${errorMessage(failure)}`
    return { findings: [problem(message, advice)], isServed: false }
  }
  const url = urlOf(host, port)
  const { isTutti, findings } = await askServer(url, facts)
  if (isTutti) return { findings, isServed: true }
  const message = `Port ${port} of ${host} is taken by another program`
  return { findings: [problem(message, 'Choose another one with --port or PORT')], isServed: false }
}

/** Why it cannot be listened on; undefined when it can. */
function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** An address at which a server that listens on `host` answers this machine. */
function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
