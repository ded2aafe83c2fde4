/**
 * Limits the number of source files that a new command touches. A copy of the sources gets the command `pause`: the copy
 * must compile, and the command must work over REST, WebSocket, the client and the command line, with its audit entries,
 * documents, event and state. All of that is derived from the table of commands. Then the copy gets the run status PAUSED.
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Maximum number of source files for a command with an event, a step and a field of the state. */
const MAX_FILES = 8

/** File → texts to insert, each before an anchor that occurs once. */
type Changes = Readonly<Record<string, readonly (readonly [anchor: string, inserted: string])[]>>

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
  'packages/protocol/src/schemas/enums.ts': [
    ["  'WAITING_REVIEW',\n  'WAITING_FOR_BUILD',\n", "  'PAUSED',\n"],
  ],
  'packages/protocol/src/run-state/run-status.ts': [
    ['  return waitsForReview(state)', "  if (state.paused !== undefined) return 'PAUSED'\n"],
  ],
  'packages/runs/src/log/changes.ts': [
    [
      "    case 'review_requested':\n",
      "    case 'run_paused':\n      return [{ kind: 'run', set: { status: 'PAUSED' } }]\n",
    ],
  ],
  'packages/gateway/src/tasks/events.ts': [
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

const run = promisify(execFile)

let copy: string
/** Errors of the compiler. */
let errors: string
/** Outputs of the probe. */
let output: string
let outputWithStatus: string

beforeAll(async () => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-command-')))
  copyWorkspace()
  writeFileSync(join(copy, 'apps/server/src/usage.ts'), USAGE)
  cpSync(join(import.meta.dirname, 'fixtures/pause-probe.mjs'), join(copy, 'apps/server/probe.mjs'))
  changeAll(CHANGES)
  output = await probe()
  changeAll(STATUS_CHANGES)
  // The copy is compiled once, with all changes, because that takes most of the time.
  const compiling = compile()
  outputWithStatus = await probe()
  errors = await compiling
}, 300_000)

afterAll(() => {
  rmSync(copy, { recursive: true })
})

it(`A command touches at most ${MAX_FILES} source files, or ${MAX_FILES_WITH_STATUS} with a run status`, () => {
  const files = Object.keys(CHANGES)
  expect(files.length).toBeLessThanOrEqual(MAX_FILES)
  const all = new Set([...files, ...Object.keys(STATUS_CHANGES)])
  expect(all.size).toBeLessThanOrEqual(MAX_FILES_WITH_STATUS)
})

it('A command of the table needs no change of other sources to compile', () => {
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

/** Compiles the copy and returns the errors. */
async function compile(): Promise<string> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  // A compiler that finds errors exits with another status.
  const end = run(tsc, ['-p', copy], { cwd: copy }).catch((error: { stdout: string }) => error)
  return (await end).stdout
}

async function probe(): Promise<string> {
  const file = join(copy, 'apps/server/probe.mjs')
  const words = ['--conditions=@tutti/source', '--disable-warning=ExperimentalWarning', file]
  return (await run(process.execPath, words)).stdout
}

/** Copies the sources of all packages and apps, with links to their dependencies. */
function copyWorkspace(): void {
  for (const folder of ['packages', 'apps']) {
    for (const name of readdirSync(join(ROOT, folder))) {
      const from = join(ROOT, folder, name)
      if (existsSync(join(from, 'src'))) copyPackage(from, join(copy, folder, name))
    }
  }
  cpSync(join(ROOT, 'tooling/tsconfig'), join(copy, 'tooling/tsconfig'), { recursive: true })
  linkModules(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const tsconfig = {
    extends: './tooling/tsconfig/base.json',
    compilerOptions: {
      module: 'ESNext',
      moduleResolution: 'Bundler',
      jsx: 'react-jsx',
      types: ['node', 'vite/client'],
      typeRoots: [join(ROOT, 'node_modules/@types'), join(ROOT, 'apps/dashboard/node_modules')],
    },
    include: ['apps/server/src', 'apps/dashboard/src', 'packages/react/src'],
  }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(tsconfig))
}

function copyPackage(from: string, to: string): void {
  const isSource = (path: string): boolean => !/\.(test|test-d|examples)\.tsx?$/.test(path)
  cpSync(join(from, 'src'), join(to, 'src'), { recursive: true, filter: isSource })
  cpSync(join(from, 'package.json'), join(to, 'package.json'))
  linkModules(join(from, 'node_modules'), join(to, 'node_modules'))
}

/** Links each dependency, and each package of the workspace to its copy. */
function linkModules(from: string, to: string): void {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const target = join(from, name)
    if (name.startsWith('@')) linkModules(target, join(to, name))
    else symlinkSync(findCopy(realpathSync(target)), join(to, name))
  }
}

/** Returns the copy of a package of the workspace; the path itself for every other one. */
function findCopy(path: string): string {
  const inside = relative(ROOT, path)
  return /^(packages|apps)\//.test(inside) ? join(copy, inside) : path
}

function changeAll(changes: Changes): void {
  for (const [file, inserted] of Object.entries(changes)) change(join(copy, file), inserted)
}

function change(file: string, changes: readonly (readonly [string, string])[]): void {
  let text = readFileSync(file, 'utf8')
  for (const [anchor, inserted] of changes) {
    if (text.split(anchor).length !== 2) {
      throw new Error(`Expected "${anchor}" once in ${relative(copy, file)}`)
    }
    text = text.replace(anchor, () => `${inserted}${anchor}`)
  }
  writeFileSync(file, text)
}
