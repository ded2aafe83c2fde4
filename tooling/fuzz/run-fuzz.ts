/**
 * Attacks one server over all targets concurrently until the time is over, or a target has found a fault.
 *
 *   schema ─▶ attempt ─▶ server ─▶ response ─▶ faults ─▶ shrunk by fast-check
 *                          └─ stalls of its event loop, and its end
 */
import { setTimeout } from 'node:timers/promises'

import * as fc from 'fast-check'

import { restTarget } from './targets/rest.ts'
import { agentsTarget } from './targets/agents.ts'
import { aguiTarget } from './targets/ag-ui.ts'
import { chatsTarget } from './targets/chats.ts'
import { mcpTarget } from './targets/mcp.ts'
import { modelsTarget } from './targets/models.ts'
import { mcpServersTarget } from './targets/mcp-servers.ts'
import { openAiTarget } from './targets/openai.ts'
import { socketsTarget } from './targets/sockets.ts'
import { tasksTarget } from './targets/tasks.ts'
import { exchange } from './lib/exchange.ts'
import { FuzzServer } from './lib/fuzz-server.ts'

import type { Attempt, Target } from './targets/target.ts'

/** Every target, by name. */
export const TARGETS: readonly Target[] = [
  restTarget(),
  socketsTarget(),
  openAiTarget(),
  chatsTarget(),
  aguiTarget(),
  agentsTarget(),
  tasksTarget(),
  mcpTarget(),
  modelsTarget(),
  mcpServersTarget(),
]

/** Maximum stall of the event loop, in milliseconds of its processor time. */
export const MAX_STALL_MS = 250

export interface FuzzOptions {
  readonly seconds: number
  readonly seed: number
  readonly targets: readonly Target[]
}

/** Result of a fuzz run. */
export interface FuzzReport {
  /** Target → number of attempts. */
  readonly attempts: Readonly<Record<string, number>>
  readonly violations: readonly string[]
  /** Longest stall of the event loop, in milliseconds; 0 when there was none. */
  readonly longestStallMs: number
}

/** Maximum length of an attempt in a report, in characters. */
const MAX_LABEL = 600

/** A stall is attributed to attempts in this time before it, in milliseconds. */
const RECENT_MS = 1_500

/** An attempt with its start and end. */
export interface Made {
  readonly label: string
  readonly from: number
  to: number
}

/** Runs all targets. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  await using server = await FuzzServer.start()
  await prepare(server)
  const begun = Date.now()
  const made: Made[] = []
  const attempts: Record<string, number> = {}
  const found = await Promise.all(
    options.targets.map(async (target) => {
      attempts[target.name] = 0
      const count = (): void => {
        attempts[target.name] = (attempts[target.name] ?? 0) + 1
      }
      return attack(server, target, { ...options, made, count })
    }),
  )
  // A stall of the preparation can be reported after it.
  const during = server.stalls.filter(({ at }) => at >= begun)
  const stalls = during.filter(({ stalledMs }) => stalledMs > MAX_STALL_MS)
  const violations = [
    ...found.flat(),
    ...stalls.map(({ stalledMs, at }) => stallText(stalledMs, madeBefore(made, at))),
    ...(server.hasEnded ? [`The server ended:\n${server.output}`] : []),
  ]
  const longestStallMs = Math.max(0, ...during.map(({ stalledMs }) => stalledMs))
  return { attempts, violations, longestStallMs }
}

/**
 * Creates the runs that the attempts name: one has an open review, one waits for an event. Also triggers the late
 * loading of libraries, because its stall happens only once in the life of a server.
 */
async function prepare({ url }: FuzzServer): Promise<void> {
  const bodies = [
    { runId: 'first', inputs: { topic: 'x' } },
    { runId: 'second', inputs: { topic: '{topic}' }, tags: { team: 'a' } },
    { runId: 'third', ensemble: 'reviewed', inputs: { topic: 'y' } },
    { runId: 'fourth', ensemble: 'constructs', inputs: { topic: 'z' } },
    // Loads the interpreter of conditions.
    { tasks: [{ name: 'draft', description: 'Draft it', when: 'true' }] },
  ]
  for (const body of bodies) {
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', path: '/api/runs', headers, body: JSON.stringify(body) }
    const { status, body: said } = await exchange(url, request)
    if (status !== 202) throw new Error(`Cannot submit run "${body.runId}": ${status} ${said}`)
  }
  for (const path of LOADED_LATE) {
    await exchange(url, { method: 'GET', path })
  }
  await setTimeout(SETTLE_MS)
}

/** Time in which the server ends the work of its preparation, such as its three runs, in milliseconds. */
const SETTLE_MS = 500

/** Paths that load a library at their first request. */
const LOADED_LATE = ['/mcp', '/docs/reference.js', '/openapi.json', '/asyncapi.json']

/** Options of an attack on one target. */
export interface Attack {
  readonly seconds: number
  readonly seed: number
  /** Receives every attempt, for the attribution of stalls. */
  readonly made: Made[]
  readonly count: () => void
}

/** The server that is attacked. */
export interface Attacked {
  readonly url: string
  /** Whether its process has ended. */
  readonly hasEnded: boolean
}

/** Attacks one target; returns the violations. */
export async function attack(
  server: Attacked,
  target: Target,
  { seconds, seed, made, count }: Attack,
): Promise<readonly string[]> {
  const property = fc.asyncProperty(target.attempts, async (attempt) => {
    if (server.hasEnded) return
    count()
    const faults = await recorded(server, attempt, made)
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: seconds * 1_000,
    markInterruptAsFailure: false,
  })
  if (!failed) return []
  const [attempt] = counterexample ?? []
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  return [`${target.name}: ${reason}\n  sent: ${shortened(attempt?.label ?? '')}`]
}

async function recorded(
  server: Attacked,
  { label, make }: Attempt,
  made: Made[],
): Promise<readonly string[]> {
  const entry = { label: shortened(label), from: Date.now(), to: Infinity }
  made.push(entry)
  while (made.length > 0 && (made[0]?.to ?? Infinity) < Date.now() - 60_000) made.shift()
  try {
    return await make(server.url)
  } catch (error) {
    return server.hasEnded ? [] : [error instanceof Error ? error.message : String(error)]
  } finally {
    entry.to = Date.now()
  }
}

function madeBefore(made: readonly Made[], at: number): readonly string[] {
  return made.filter(({ from, to }) => from <= at && to >= at - RECENT_MS).map(({ label }) => label)
}

function stallText(stalledMs: number, labels: readonly string[]): string {
  const during = labels.map((label) => `\n  during: ${label}`)
  return `The event loop stalled for ${Math.round(stalledMs)} ms${during.join('')}`
}

function shortened(text: string): string {
  if (text.length <= MAX_LABEL) return text
  return `${text.slice(0, MAX_LABEL)}… (${text.length} characters)`
}
