/** Checks whether the port is free and, if not, which server answers there. */
import { errorMessage } from '@tutti/core/internal'
import { createServer } from 'node:net'

import { askServer, type ExpectedServer } from './ask-server.ts'
import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { Environment } from '../../environment/env.ts'

/** Findings about the port, and whether a Tutti server answers there. */
export interface PortFindings {
  readonly findings: readonly Finding[]
  readonly isServed: boolean
}

/** Checks the port that the server would listen on. */
export async function checkPort(
  { host, port }: Pick<Environment, 'host' | 'port'>,
  facts: ExpectedServer,
): Promise<PortFindings> {
  const { ok, problem } = findingsFor('port')
  if (port === 0) return { findings: [ok('The server will select a free port')], isServed: false }
  const failure = await tryToListen(host, port)
  if (failure === undefined) {
    return { findings: [ok(`Port ${port} of ${host} is free`)], isServed: false }
  }
  if (failure.code !== 'EADDRINUSE') {
    const advice =
      failure.code === 'EACCES'
        ? 'Ports below 1024 require root'
        : 'Choose an address of this machine'
    const message = `Cannot listen on ${host}:${port}: ${errorMessage(failure)}`
    return { findings: [problem(message, advice)], isServed: false }
  }
  const url = toLocalUrl(host, port)
  const { isTutti, findings } = await askServer(url, facts)
  if (isTutti) return { findings, isServed: true }
  const message = `Port ${port} of ${host} is in use by another program`
  return { findings: [problem(message, 'Choose another one with --port or PORT')], isServed: false }
}

/** Tries to listen. Returns the error, or undefined on success. */
function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Returns an address at which this machine reaches a server that listens on `host`. */
function toLocalUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
