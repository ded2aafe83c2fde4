/**
 * Limits the number of files that an engineer writes for a new command, and for a new event type. A copy of the sources
 * gets both: the copy must compile, and they must work.
 *
 * - The command `pause` must work over REST, WebSocket, the client and the command line, with its audit entries,
 *   documents, event and state. All of that is derived from the table of commands. Then the copy gets the run status PAUSED.
 * - The event type `agent_hummed` must reach the readers of a run. No protocol translates it, so none is changed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { CopiedWorkspace, type Changes } from '../test/copied-workspace.ts'

/** Maximum number of source files for a command with an event, a step and a field of the state. */
const MAX_FILES = 8

const CHANGES: Changes = {
  'packages/protocol/src/schemas/rest/run-control.ts': [
    [
      '/** Body of `POST /api/runs/{runId}/model`. */',
      `export const PauseBody = Type.Object({ reason: Type.Optional(NonBlank), seconds: Type.Optional(Count) }, CLOSED)
export const PauseAccepted = Type.Object({ runId: Type.String(), status: Type.Literal('PAUSED') })
`,
    ],
  ],
  'packages/protocol/src/commands.ts': [
    ['  CancelBody,\n', '  PauseAccepted,\n  PauseBody,\n'],
    [
      '  decide: {\n',
      `  pause: {
    command: Type.Object({
      kind: Type.Literal('pause'),
      ...PauseBody.properties,
      actor: optionalText,
    }),
    reply: Type.Object({ status: Type.Literal('PAUSED') }),
    target: 'runId',
    routeName: 'pauseRun',
    route: {
      ...COMMAND_ROUTE,
      path: '/api/runs/{runId}/pause',
      body: PauseBody,
      bodyOptional: true,
      response: PauseAccepted,
      scope: 'runs:control',
      errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED'],
      summary: 'Pause a run',
    },
    event: 'run_paused',
    cli: { verb: 'pause', description: 'pause a run' },
    label: 'Pause…',
  },
`,
    ],
  ],
  'packages/protocol/src/schemas/events/steering-events.ts': [
    [
      '/** A review was decided. */',
      `export const RunPaused = Type.Object({
  type: Type.Literal('run_paused'),
  pausedAt: Instant,
  reason: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String()),
})
`,
    ],
    ['  ModelSwitchedEvent,\n] as const', '  RunPaused,\n'],
  ],
  'packages/protocol/src/run-state/run-state.ts': [
    ['  readonly workflow?: Workflow\n', '  readonly paused?: string\n'],
  ],
  'packages/protocol/src/run-state/apply-run-event.ts': [
    [
      '    default:\n      return state\n',
      "    case 'run_paused':\n      return { ...state, paused: event.reason ?? '' }\n",
    ],
  ],
  'packages/ensemble/src/ports/run-step.ts': [
    [
      '/** Records a cancel of the run. */',
      `export interface PauseAsked extends StepBase {
  readonly kind: 'pause_asked'
  readonly reason?: string
}
`,
    ],
    ['  | CancelAsked\n', '  | PauseAsked\n'],
  ],
  'packages/ensemble/src/steering/steering.ts': [
    [
      '  async decide(steering,',
      `  pause(steering, { kind: _, ...pause }) {
    steering.pause(pause)
    return { status: 'PAUSED' }
  },
`,
    ],
    [
      '  /** Switches models by all rules',
      `  pause(pause: { readonly reason?: string; readonly actor?: string }): void {
    this.#assertRunning()
    const { clock, journal, stopwatch } = this.#options
    journal.emit(
      { type: 'run_paused', pausedAt: isoNow(clock), ...pause },
      { kind: 'pause_asked', ...pause, runMs: stopwatch.elapsed() },
    )
    this.#isPaused = true
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

`,
    ],
    ['  #over = false\n', '  #isPaused = false\n'],
    [
      "      if (step.kind === 'model_switched')",
      "      if (step.kind === 'pause_asked') this.#isPaused = true\n",
    ],
  ],
}

/** Maximum number of source files for a command with a new run status, in addition to the above. */
const MAX_FILES_WITH_STATUS = 14

/** Further changes that give a paused run the status PAUSED. */
const STATUS_CHANGES: Changes = {
  'packages/protocol/src/schemas/run-status.ts': [
    ["  'WAITING',\n  'WAITING_FOR_BUILD',\n", "  'PAUSED',\n"],
  ],
  'packages/protocol/src/run-state/run-status.ts': [
    ['  const open = state.reviews', "  if (state.paused !== undefined) return 'PAUSED'\n"],
  ],
  'packages/runs/src/log/changes.ts': [
    [
      "    case 'review_requested':\n",
      "    case 'run_paused':\n      return [{ kind: 'run', set: { status: 'PAUSED' } }]\n",
    ],
  ],
  'packages/compat-jamjet/src/server/events.ts': [
    ["  WAITING_FOR_BUILD: 'working',\n", "  PAUSED: 'working',\n"],
  ],
  'apps/dashboard/src/ui/labels.ts': [
    ['  WAITING_FOR_BUILD: {', "  PAUSED: { mark: 'held', word: 'Paused' },\n"],
  ],
  'apps/server/src/cli/live/run-lines.ts': [
    ["  WAITING_FOR_BUILD: 'yellow',\n", "  PAUSED: 'yellow',\n"],
  ],
}

/** A program of a user, which compiles only if the types of the client are derived. */
const USAGE = `import { createClient } from '@tutti/client'
const client = createClient({ baseUrl: 'http://127.0.0.1' })
const send = () => client.send({ kind: 'pause', target: 'run-1', body: { reason: 'lunch' } })
export const status: Promise<'PAUSED'> = send().then((response) => response.status)
// @ts-expect-error the command has no such field
export const wrong = () => client.send({ kind: 'pause', target: 'run-1', body: { raeson: 'x' } })
`

/** Maximum number of files for an event type: its schema, its golden file and its emitter. */
const MAX_FILES_OF_EVENT = 3

const EVENT_CHANGES: Changes = {
  'packages/protocol/src/schemas/events/agent-events.ts': [
    [
      '/** The event types of this file, in the order of the union. */',
      `/** An agent hummed before a model call. */
export const AgentHummed = Type.Object({
  type: Type.Literal('agent_hummed'),
  agentRole: Type.String(),
  melody: Type.String(),
  hummedAt: Instant,
})
`,
    ],
    ['  FileChanged,\n] as const', '  AgentHummed,\n'],
  ],
  'packages/protocol/fixtures/valid/RunEvent.agent-hummed.json': `{
  "type": "agent_hummed",
  "agentRole": "Singer",
  "melody": "La",
  "hummedAt": "2026-01-01T00:00:00.000Z"
}
`,
  'packages/ensemble/src/agent/turn-events.ts': [
    [
      '  scope.emit(event)\n',
      "  scope.emit({ type: 'agent_hummed', agentRole, melody: 'La', hummedAt: isoNow(scope.run.clock) })\n",
    ],
  ],
}

/** Tests that every event type passes: it has a golden file, which is read without a change. */
const EVENT_TESTS = [
  'packages/protocol/src/schemas/run-event.test.ts',
  'packages/protocol/test/fixtures.test.ts',
]

let copy: CopiedWorkspace
/** Errors of the compiler. */
let errors: string
/** Failed tests of event types. */
let failures: string
/** Outputs of the probes. */
let output: string
let outputWithStatus: string
let eventOutput: string

beforeAll(async () => {
  copy = new CopiedWorkspace()
  copy.write('apps/server/src/usage.ts', USAGE)
  copy.copy('tooling/checks/fixtures/pause-probe.mjs', 'apps/server/pause-probe.mjs')
  copy.copy('tooling/checks/fixtures/event-probe.mjs', 'apps/server/event-probe.mjs')
  for (const path of ['packages/protocol/fixtures', 'packages/protocol/test', ...EVENT_TESTS]) {
    copy.copy(path)
  }
  copy.change(EVENT_CHANGES)
  failures = await copy.test(EVENT_TESTS, 'RunEvent')
  eventOutput = await copy.execute('apps/server/event-probe.mjs')
  copy.change(CHANGES)
  output = await copy.execute('apps/server/pause-probe.mjs')
  copy.change(STATUS_CHANGES)
  // The copy is compiled once, with all changes, because that takes most of the time.
  const compiling = copy.compile()
  outputWithStatus = await copy.execute('apps/server/pause-probe.mjs')
  errors = await compiling
}, 300_000)

afterAll(() => {
  copy[Symbol.dispose]()
})

it(`A command touches at most ${MAX_FILES} source files, or ${MAX_FILES_WITH_STATUS} with a run status`, () => {
  const files = Object.keys(CHANGES)
  expect(files.length).toBeLessThanOrEqual(MAX_FILES)
  const all = new Set([...files, ...Object.keys(STATUS_CHANGES)])
  expect(all.size).toBeLessThanOrEqual(MAX_FILES_WITH_STATUS)
})

it('A command of the table and an event type need no change of other sources to compile', () => {
  expect(errors).toBe('')
})

it('A command of the table works over REST, WebSocket, the client and the command line', () => {
  const { responses, help, description, ...result } = JSON.parse(output)
  expect(new Set(responses.map((one: object) => JSON.stringify(one))).size).toBe(1)
  expect(responses[0]).toMatchObject({ runId: expect.any(String), status: 'PAUSED' })
  expect(result).toEqual({
    refused: 'RUN_NOT_FOUND',
    paused: [
      ['http', 'ops'],
      ['socket', 'ops'],
      ['cli', 'ops'],
    ],
    state: 'cli',
    status: ['RUNNING', 'RUNNING'],
    isListed: true,
    audit: ['http', 'websocket', 'http'],
    tags: ['Steering'],
    isInAsyncApi: true,
  })
  expect(description).toContain('`run_paused`')
  expect(help).toContain('--reason <reason>')
})

it('A command with a run status shows it to all readers', () => {
  expect(JSON.parse(outputWithStatus)).toMatchObject({
    status: ['PAUSED', 'PAUSED'],
    isListed: true,
  })
})

it(`An event type that no protocol translates touches at most ${MAX_FILES_OF_EVENT} files`, () => {
  expect(Object.keys(EVENT_CHANGES).length).toBeLessThanOrEqual(MAX_FILES_OF_EVENT)
})

it('An event type passes the tests of all event types', () => {
  expect(failures).toBe('')
})

it('An event type without a translation reaches the log of a run, and no reader changes', () => {
  const { hummed, withHum, withoutHum } = JSON.parse(eventOutput)
  expect(hummed).toEqual([{ type: 'agent_hummed', agentRole: 'Singer', melody: 'La' }])
  expect(withHum).toEqual(withoutHum)
  expect(withHum).toMatchObject({
    output: 'La la',
    chunks: expect.any(Array),
    usage: expect.any(Object),
  })
})
