/**
 * Attacks the MCP client of tools with generated servers: lists, cursors, answers and errors that are nearly right.
 *
 * Every answer arrives at once, so that no import and no call may take as long as its time limit. A list with valid
 * entries keeps them, and no failure is anything other than one with a reason.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import * as fc from 'fast-check'

import { listenLocally, type Listening } from '../../net/listen.ts'
import { onBody } from '../../test-kit/on-body.ts'
import { hostileKey, hostileValue } from '../lib/hostile.ts'

import type { Target } from './target.ts'

const CLIENT = fileURLToPath(new URL('../lib/mcp-client.mjs', import.meta.url))
const WATCH = new URL('../lib/watch-loop.mjs', import.meta.url).href

/** Time limit of the client for the import and for each call, in milliseconds. */
const LIMIT_MS = 20_000

/** Maximum stall of the client's event loop, in milliseconds of its processor time. */
const MAX_STALL_MS = 250

interface GeneratedServer {
  /** Answer to `initialize`; undefined for a valid one. */
  readonly initialize: string | undefined
  /** Pages of the list, as JSON texts with `$ID` in place of the id. */
  readonly pages: readonly string[]
  /** Whether the first page is a valid list that contains the tool `good`. */
  readonly hasGood: boolean
  readonly call: string
  readonly isStream: boolean
}

/** Creates the target. */
export function mcpServersTarget(): Target {
  return {
    name: 'mcp-servers',
    attempts: servers().map((server) => ({
      label: JSON.stringify(server),
      make: () => attack(server),
    })),
  }
}

const GOOD = { name: 'good', inputSchema: { type: 'object' } }

function servers(): fc.Arbitrary<GeneratedServer> {
  const hasGood = { weight: 3, arbitrary: goodPages().map((pages) => ({ pages, hasGood: true })) }
  const other = answers().map((page) => ({ pages: [page], hasGood: false }))
  return fc
    .record({
      initialize: fc.option(answers(), { nil: undefined, freq: 6 }),
      list: fc.oneof(hasGood, { weight: 1, arbitrary: other }),
      call: fc.oneof(
        answers(),
        results().map((result) => whole({ result })),
      ),
      isStream: fc.boolean(),
    })
    .map(({ list, ...server }) => ({ ...server, ...list }))
}

/** Pages whose first one contains the tool `good` between arbitrary entries. */
function goodPages(): fc.Arbitrary<readonly string[]> {
  const entries = fc.array(entry(), { maxLength: 6 })
  const cursor = fc.oneof(fc.constantFrom<unknown>(undefined, null, '', 'next'), hostileValue())
  const first = fc
    .tuple(entries, entries, cursor)
    .map(([before, after, nextCursor]) =>
      whole({ result: { tools: [...before, GOOD, ...after], nextCursor } }),
    )
  return fc.tuple(first, fc.array(answers(), { maxLength: 2 })).map(([one, more]) => [one, ...more])
}

/** An entry of a list: any value, or a tool with some wrong fields. */
function entry(): fc.Arbitrary<unknown> {
  const schema = fc.oneof(
    fc.record({ type: fc.constant('object'), properties: fc.dictionary(hostileKey(), property()) }),
    hostileValue(),
  )
  const tool = fc.record(
    {
      name: fc.oneof(fc.string({ minLength: 1, maxLength: 80 }), hostileValue()),
      description: fc.oneof(fc.string(), hostileValue()),
      inputSchema: schema,
      outputSchema: schema,
      annotations: hostileValue(),
      execution: hostileValue(),
    },
    { requiredKeys: ['name', 'inputSchema'] },
  )
  return fc.oneof({ weight: 5, arbitrary: tool.filter(isNotGood) }, hostileValue())
}

/** The first of several tools with one name is used, so no other entry may have the name of the good one. */
function isNotGood({ name }: { readonly name?: unknown }): boolean {
  return name !== GOOD.name
}

function property(): fc.Arbitrary<unknown> {
  const keyword = fc.constantFrom(
    'type',
    'enum',
    'pattern',
    'default',
    'minimum',
    'maxLength',
    'required',
    'items',
    'properties',
    'anyOf',
    'format',
    '$ref',
    'patternProperties',
    'additionalProperties',
    'const',
  )
  return fc.dictionary(
    keyword,
    fc.oneof(
      fc.constantFrom<unknown>('string', 'integer', 'object', '^a\\_$', '(?i)x'),
      hostileValue(),
    ),
    { maxKeys: 4 },
  )
}

/** Results of a call: content and fields of any form. */
function results(): fc.Arbitrary<unknown> {
  const part = fc.oneof(
    fc.record({
      type: fc.constantFrom('text', 'image', 'resource', 'video'),
      text: hostileValue(),
    }),
    hostileValue(),
  )
  return fc.record(
    {
      content: fc.oneof(fc.array(part, { maxLength: 4 }), hostileValue()),
      structuredContent: hostileValue(),
      isError: fc.oneof(fc.boolean(), hostileValue()),
      _meta: hostileValue(),
    },
    { requiredKeys: [] },
  )
}

/** Texts of answers: with wrong fields, in a batch, cut off, or no JSON. */
function answers(): fc.Arbitrary<string> {
  const answer = fc.record(
    {
      jsonrpc: fc.oneof({ weight: 4, arbitrary: fc.constant<unknown>('2.0') }, hostileValue()),
      id: fc.oneof({ weight: 4, arbitrary: fc.constant<unknown>('$ID') }, hostileValue()),
      result: fc.oneof(results(), hostileValue()),
      error: fc.oneof(
        fc.record({
          code: fc.oneof(fc.integer(), hostileValue()),
          message: fc.oneof(fc.string(), hostileValue()),
          data: hostileValue(),
        }),
        hostileValue(),
      ),
      method: fc.constantFrom('tools/call', 'x'),
    },
    { requiredKeys: [] },
  )
  const json = answer.map(toText)
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 1, arbitrary: fc.array(answer, { maxLength: 3 }).map(toText) },
    {
      weight: 1,
      arbitrary: fc.tuple(json, fc.nat(200)).map(([one, length]) => one.slice(0, length)),
    },
    { weight: 1, arbitrary: hostileValue().map(toText) },
    { weight: 1, arbitrary: fc.string({ maxLength: 100, unit: 'binary' }) },
  )
}

function whole(rest: object): string {
  return toText({ jsonrpc: '2.0', id: '$ID', ...rest })
}

function toText(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll('"$ID"', '$ID')
}

interface Outcome {
  readonly tools: readonly string[]
  readonly calls: readonly { readonly end: string; readonly text: string }[]
  readonly importFailure?: string
  readonly importMs: number
}

async function attack(server: GeneratedServer): Promise<readonly string[]> {
  client ??= startClient()
  const { ask, stalls } = await client
  await using listening = await listen(server)
  stalls.length = 0
  const { tools, calls, importFailure = '', importMs } = await ask(listening.url)
  const faults = calls.flatMap(({ end, text: said }) =>
    end === 'timed_out' || end === 'threw' ? [`A call ended with ${end}: ${said}`] : [],
  )
  if (importMs > LIMIT_MS * 0.9)
    faults.push(`The import took ${Math.round(importMs)} ms: ${importFailure}`)
  if (importFailure !== '' && !importFailure.startsWith('McpError: ')) faults.push(importFailure)
  const isListed = server.initialize === undefined && server.hasGood
  if (isListed && !tools.includes(GOOD.name))
    faults.push(`The good tool is missing: ${importFailure}`)
  const said = [importFailure, ...calls.map((call) => call.text)].join('\n')
  if (said.includes(process.execPath)) faults.push(`A message has a path of this machine: ${said}`)
  const longest = Math.max(0, ...stalls)
  if (longest > MAX_STALL_MS) faults.push(`The client stalled for ${Math.round(longest)} ms`)
  return faults
}

interface Client {
  ask(url: string): Promise<Outcome>
  /** Stalls of its event loop, in milliseconds. */
  readonly stalls: number[]
}

let client: Promise<Client> | undefined

/** Starts the client; it ends with this process. */
async function startClient(): Promise<Client> {
  const child: ChildProcess = fork(CLIENT, { execArgv: ['--import', WATCH] })
  const stalls: number[] = []
  const waiting = new Map<number, (outcome: Outcome) => void>()
  const ready = Promise.withResolvers<void>()
  child.on('message', (message: { id?: number; outcome?: Outcome; stalledMs?: number }) => {
    const { id, outcome, stalledMs } = message
    if (stalledMs !== undefined) stalls.push(stalledMs)
    else if (id === 0) ready.resolve()
    else if (id !== undefined && outcome !== undefined) waiting.get(id)?.(outcome)
  })
  child.on('exit', (code) => {
    ready.reject(new Error(`The client ended with code ${code}`))
    const importFailure = `The client ended with code ${code}`
    for (const settle of waiting.values())
      settle({ tools: [], calls: [], importFailure, importMs: 0 })
  })
  await ready.promise
  child.unref()
  child.channel?.unref()
  let asked = 0
  return {
    stalls,
    ask(url) {
      asked += 1
      const id = asked
      return new Promise((resolve) => {
        waiting.set(id, (outcome) => {
          waiting.delete(id)
          resolve(outcome)
        })
        child.send({ id, url, limitMs: LIMIT_MS })
      })
    },
  }
}

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

async function listen(given: GeneratedServer): Promise<Listening> {
  let listed = 0
  const answerTo = ({ id, method, params }: Message): string => {
    const fill = (raw: string): string => raw.replaceAll('$ID', () => JSON.stringify(id))
    if (method === 'initialize')
      return fill(given.initialize ?? initialized(params?.protocolVersion))
    if (method === 'tools/call') return fill(given.call)
    if (method !== 'tools/list')
      return fill(whole({ error: { code: -32_601, message: 'Unknown' } }))
    listed += 1
    return fill(given.pages[Math.min(listed, given.pages.length) - 1] ?? '')
  }
  const server = await listenLocally((request, response) => {
    onBody(request, (body) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      // NOTE: the client under test sends messages of this form.
      const message = JSON.parse(body) as Message
      if (message.id === undefined) return response.writeHead(202).end()
      const type = given.isStream ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      const raw = answerTo(message)
      return response.end(given.isStream ? `data: ${raw.replaceAll('\n', '\ndata: ')}\n\n` : raw)
    })
  })
  return { ...server, url: `${server.url}/mcp` }
}

function initialized(protocolVersion = '2025-06-18'): string {
  const serverInfo = { name: 'generated', version: '1' }
  return whole({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
}
