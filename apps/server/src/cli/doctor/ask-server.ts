/** Checks a running server: whether it is a Tutti server, is ready, has our API version, and agrees with our clock. */
import { createClient, TuttiClientError, type TuttiClient } from '@tutti/client'
import type { Fetch } from '@tutti/client/internal'
import { errorMessage } from '@tutti/core/internal'

import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { Readiness } from '@tutti/protocol/internal'

const { ok, warning, problem } = findingsFor('server')

/** Time limit of each request, in milliseconds. */
const TIMEOUT_MS = 5_000

/** Local facts that the server is compared with. */
export interface ExpectedServer {
  /** API version of this program; undefined when it could not be determined. */
  readonly apiVersion: string | undefined
  /** Key for the server, if any. */
  readonly apiKey: string | undefined
}

/** Result of checking a server. */
export interface ServerAnswers {
  readonly isTutti: boolean
  readonly findings: readonly Finding[]
}

/** Checks the server at an address. */
export async function askServer(
  url: string,
  { apiKey, apiVersion }: ExpectedServer,
): Promise<ServerAnswers> {
  const times = new Map<string, number>()
  const client = createClient({
    baseUrl: url,
    apiKey,
    fetch: withClockOffset(times),
    timeoutMs: TIMEOUT_MS,
    maxRepeats: 0,
  })
  try {
    await client.health.live()
  } catch (error) {
    return { isTutti: false, findings: [unreachable(url, error)] }
  }
  const offMs = times.get('offMs')
  const findings = [
    await checkReady(client, url),
    ...(await checkVersion(client, apiVersion)),
    ...(offMs === undefined ? [] : checkClock(offMs)),
    ...(await checkKey(client)),
  ]
  return { isTutti: true, findings }
}

function unreachable(url: string, error: unknown): Finding {
  const isOther = TuttiClientError.isInstance(error) && error.code === 'BAD_RESPONSE'
  if (isOther)
    return problem(`${url} responds, but is not a Tutti server`, 'Correct --url or TUTTI_URL')
  return problem(
    `Cannot reach ${url}: ${errorMessage(error)}`,
    'Start the server, or correct --url or TUTTI_URL',
  )
}

async function checkReady(client: TuttiClient, url: string): Promise<Finding> {
  try {
    const { status, lifecycleState, reason, dispatcher } = await client.health.ready()
    if (status === 'READY') {
      return ok(`The Tutti server at ${url} accepts runs${describeDispatcher(dispatcher)}`)
    }
    const why = reason ?? (lifecycleState === 'DRAINING' ? 'it is draining' : lifecycleState)
    return problem(`The server at ${url} does not accept runs: ${why}`, 'See its log')
  } catch (error) {
    return problem(`Cannot check whether the server at ${url} accepts runs: ${errorMessage(error)}`)
  }
}

function describeDispatcher(dispatcher: Readiness['dispatcher']): string {
  if (dispatcher === undefined) return ''
  const { engine, connected } = dispatcher
  return connected
    ? `; ${engine} dispatches them`
    : `; the database dispatches them, because ${engine} cannot be reached`
}

async function checkVersion(
  client: TuttiClient,
  own: string | undefined,
): Promise<readonly Finding[]> {
  const theirs = await readApiVersion(client)
  if (own === undefined || theirs === undefined || theirs === own) return []
  return [
    warning(
      `The server has API version ${theirs}, this program has ${own}`,
      'Use the same version of @tutti/server on both sides',
    ),
  ]
}

/** Returns the API version of a server; undefined for a worker, which does not serve its OpenAPI document. */
export async function readApiVersion(client: TuttiClient): Promise<string | undefined> {
  try {
    const { info } = await client.openApi()
    const version =
      typeof info === 'object' && info !== null && 'version' in info ? info.version : undefined
    return typeof version === 'string' ? version : undefined
  } catch (error) {
    if (TuttiClientError.isInstance(error)) return undefined
    throw error
  }
}

/** Clock difference above which timestamps are hard to compare, in milliseconds. */
const CLOCK_LIMIT_MS = 5_000

function checkClock(offMs: number): readonly Finding[] {
  if (Math.abs(offMs) < CLOCK_LIMIT_MS) return []
  const seconds = Math.round(Math.abs(offMs) / 1_000)
  const way = offMs > 0 ? 'ahead of' : 'behind'
  return [
    warning(
      `The clock of the server is ${seconds} s ${way} the local clock`,
      'Synchronize both with NTP',
    ),
  ]
}

/** Wraps `fetch` to record how far the server's clock is ahead, from the `Date` header, which has whole seconds. */
function withClockOffset(times: Map<string, number>): Fetch {
  return async (url, init) => {
    const sentAt = Date.now()
    const response = await fetch(url, init)
    const date = Date.parse(response.headers.get('date') ?? '')
    const here = (sentAt + Date.now()) / 2
    if (!Number.isNaN(date) && !times.has('offMs')) times.set('offMs', date - here)
    return response
  }
}

async function checkKey(client: TuttiClient): Promise<readonly Finding[]> {
  try {
    await client.capabilities()
    return []
  } catch (error) {
    if (!TuttiClientError.isInstance(error)) throw error
    // A worker has no such route.
    if (error.code !== 'UNAUTHORIZED' && error.code !== 'FORBIDDEN') return []
    const message = `The server rejects this key: ${error.code}`
    return [warning(message, 'Set TUTTI_API_KEY to a key of this server')]
  }
}
