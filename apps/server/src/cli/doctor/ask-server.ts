/** Asks a server how it is: whether it is one of ours, healthy, of our version, and whether our clocks agree. */
import { createClient, TuttiClientError, type Fetch, type TuttiClient } from '@tutti/client'
import { errorMessage } from '@tutti/core'

import { findingsOf, type Finding } from './finding.ts'

const { ok, warning, problem } = findingsOf('server')

/** How long a server may take to answer, in milliseconds. */
const TIMEOUT_MS = 5_000

/** What this program knows. */
export interface ExpectedServer {
  /** The version of the API that it has itself; undefined when that could not be found out. */
  readonly apiVersion: string | undefined
  /** The key for the server, if any. */
  readonly apiKey: string | undefined
}

/** What a server said. */
export interface ServerAnswers {
  readonly isTutti: boolean
  readonly findings: readonly Finding[]
}

/** Asks the server at an address. */
export async function askServer(
  url: string,
  { apiKey, apiVersion }: ExpectedServer,
): Promise<ServerAnswers> {
  const times = new Map<string, number>()
  const client = createClient({
    baseUrl: url,
    apiKey,
    fetch: timed(times),
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
    return problem(`${url} answers, and is no Tutti server`, 'Correct --url or TUTTI_URL')
  return problem(
    `${url} cannot be reached: ${errorMessage(error)}`,
    'Start it, or correct --url or TUTTI_URL',
  )
}

async function checkReady(client: TuttiClient, url: string): Promise<Finding> {
  try {
    const { status, lifecycleState, reason } = await client.health.ready()
    if (status === 'READY') return ok(`A Tutti server answers at ${url}, and takes runs`)
    const why = reason ?? (lifecycleState === 'DRAINING' ? 'it is about to stop' : lifecycleState)
    return problem(`The server at ${url} takes no runs: ${why}`, 'Its log says more')
  } catch (error) {
    return problem(
      `The server at ${url} does not say whether it takes runs: ${errorMessage(error)}`,
    )
  }
}

async function checkVersion(
  client: TuttiClient,
  own: string | undefined,
): Promise<readonly Finding[]> {
  const theirs = await versionOf(client)
  if (own === undefined || theirs === undefined || theirs === own) return []
  return [
    warning(
      `Its API has version ${theirs}, that of this program ${own}`,
      'Use the same version of @tutti/server on both sides',
    ),
  ]
}

/** The version of a server's API; undefined for a worker, which shows none. */
export async function versionOf(client: TuttiClient): Promise<string | undefined> {
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

/** Clocks that are further apart than this make times hard to compare; in milliseconds. */
const CLOCK_LIMIT_MS = 5_000

function checkClock(offMs: number): readonly Finding[] {
  if (Math.abs(offMs) < CLOCK_LIMIT_MS) return []
  const seconds = Math.round(Math.abs(offMs) / 1_000)
  const way = offMs > 0 ? 'ahead of' : 'behind'
  return [warning(`Its clock is ${seconds} s ${way} the one here`, 'Set the clocks by NTP')]
}

/** Notes how far the clock of the server is ahead, by the date of an answer, which is of whole seconds. */
function timed(times: Map<string, number>): Fetch {
  return async (url, init) => {
    const sentAt = Date.now()
    const answer = await fetch(url, init)
    const date = Date.parse(answer.headers.get('date') ?? '')
    const here = (sentAt + Date.now()) / 2
    if (!Number.isNaN(date) && !times.has('offMs')) times.set('offMs', date - here)
    return answer
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
    const message = `It refuses what is asked with this key: ${error.code}`
    return [warning(message, 'Set a key of this server in the variable TUTTI_API_KEY')]
  }
}
