/** Tests of ensembles as agents and tools of other ensembles, up to three levels. */
import { defineTool, runTool, Type, type AgentTool, type RunToolOptions } from '@tutti/core'
import { AgentError, defineAgentTool, localConnector } from '@tutti/agent-call/internal'
import { runStateAfter, type RunEvent, type RunEventOf } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { ensemble, priceList, task, type Ensemble, type RunOptions } from '../src/index.ts'
import { scriptedModel, scriptedReviewer, type ScriptEntry } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

const USAGE = { inputTokens: 1, outputTokens: 1 }

/** Prices an input token at 1 US dollar. */
const prices = priceList({
  'scripted:model': { inputPerMillion: 1_000_000, outputPerMillion: 0 },
})

/** Returns an ensemble of one task with a scripted model. */
function solo(
  name: string,
  script: readonly ScriptEntry[],
  more: Partial<Parameters<typeof task>[0]> = {},
): Ensemble {
  const only = task({ name: `${name}-task`, description: `Do {what}`, ...more })
  return ensemble({
    name,
    description: `Does ${name}`,
    tasks: [only],
    model: scriptedModel(script),
  })
}

/** Returns a script that calls a tool once and then answers. */
function asking(tool: string, input: object = { what: 'it' }): readonly ScriptEntry[] {
  return [
    { text: '', toolCalls: [{ name: tool, arguments: input }], usage: USAGE },
    { text: 'Done', usage: USAGE },
  ]
}

/** Returns an ensemble whose only task calls `tool`. */
function above(
  name: string,
  tool: AgentTool,
  more: Partial<Parameters<typeof task>[0]> = {},
): Ensemble {
  return solo(name, asking(tool.name), { tools: [tool], ...more })
}

type AgentRunOptions = NonNullable<Parameters<Ensemble['asAgent']>[0]>

/** Returns a tool that calls an ensemble as an agent, each time in a separate run. */
function toAgentTool(
  inner: Ensemble,
  { name, ...options }: { readonly name: string } & AgentRunOptions,
): AgentTool {
  return defineAgentTool({
    name,
    description: `Asks ${name}`,
    mode: 'streaming',
    timeoutMs: Infinity,
    idleTimeoutMs: Infinity,
    input: Type.Object({ what: Type.String() }),
    connector: localConnector(inner.asAgent(options), `tutti://${inner.name}`),
  })
}

/** Runs `team` to its end and returns its events. */
async function events(team: Ensemble, options: RunOptions = {}): Promise<readonly RunEvent[]> {
  const run = watchRun(team, { inputs: { what: 'all' }, prices, ...options })
  await run.ended
  return run.events
}

function ask(
  tool: AgentTool,
  input: object,
  options: RunToolOptions = {},
): ReturnType<typeof runTool> {
  return runTool(tool, { id: 'c', name: tool.name, arguments: JSON.stringify(input) }, options)
}

/** Returns the events of agents, which arrive as chunks. */
function readChunks(all: readonly RunEvent[]): readonly RunEvent[] {
  // NOTE: an ensemble sends events as chunks.
  return eventsOf(all, 'agent_tool_progress').map(({ chunk }) => chunk as RunEvent)
}

const answered = { text: 'Well done', usage: USAGE }

describe('an ensemble as a tool', () => {
  it('An ensemble as a tool takes its template variables and returns its output', async () => {
    const tool = solo('inner', [answered]).asTool()
    expect(tool).toMatchObject({ name: 'inner', description: 'Does inner', idempotent: false })
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['what'] })
    expect((await ask(tool, { what: 'a' })).result).toMatchObject({
      success: true,
      output: 'Well done',
    })
    expect((await ask(tool, {})).result.errorMessage).toContain('what')
  })

  it('An ensemble as a tool returns the structured output of its last task', async () => {
    const output = Type.Object({ ok: Type.Boolean() })
    const tool = solo('inner', ['{"ok":true}'], { output }).asTool()
    expect((await ask(tool, { what: 'a' })).result.structured).toEqual({ ok: true })
  })

  it('An ensemble as a tool has a default description and a valid name', () => {
    const plain = ensemble({
      name: 'a trip, planned',
      tasks: [task({ name: 'plan', description: 'Plan' })],
      model: scriptedModel([]),
    })
    expect(plain.asTool()).toMatchObject({
      name: 'a_trip_planned',
      description: 'Runs "a trip, planned": plan',
    })
    expect(plain.asTool({ name: 'trip', description: 'x' })).toMatchObject({ name: 'trip' })
  })

  it('An ensemble as a tool has an optional argument for each input that only the ensemble lists', async () => {
    const read = task({
      name: 'read',
      description: 'Read {what}',
      handler: ({ inputs }) => `${inputs['what']} in ${inputs['locale'] ?? 'any'}`,
    })
    const tool = ensemble({ name: 'inner', tasks: [read], inputs: ['locale'] }).asTool()
    expect((await ask(tool, { what: 'a', locale: 'de' })).result.output).toBe('a in de')
    expect((await ask(tool, { what: 'a' })).result.output).toBe('a in any')
  })

  it('An ensemble as a tool returns the completed outputs and the reason when it fails', async () => {
    const first = task({ name: 'first', description: 'First {what}' })
    const second = task({ name: 'second', description: 'Second', context: [first] })
    const tool = ensemble({
      name: 'inner',
      tasks: [first, second],
      model: scriptedModel(['One']),
      modelRetries: 0,
    }).asTool()
    const { result } = await ask(tool, { what: 'a' })
    expect(result.errorMessage).toContain('Ensemble "inner" failed')
    expect(result.structured).toMatchObject({
      failure: 'agent_failed',
      partial: [{ task: 'first', output: 'One' }],
    })
  })

  it('An ensemble as a tool rejects a run that needs a review if there is no reviewer', async () => {
    const { result } = await ask(solo('inner', [answered], { review: true }).asTool(), {
      what: 'a',
    })
    expect(result.structured).toMatchObject({ failure: 'configuration', retryable: false })
    expect(result.errorMessage).toContain('needs a review')
  })
})

describe('an ensemble as an agent', () => {
  const tool = (settings: Partial<Parameters<typeof defineAgentTool>[0]> = {}): AgentTool =>
    defineAgentTool({
      name: 'inner',
      description: 'x',
      connector: localConnector(solo('inner', [answered]).asAgent(), 'tutti://inner'),
      ...settings,
    })

  it('An ensemble as an agent takes a text if it has a single variable', async () => {
    expect((await ask(tool(), { input: 'a walk' })).result.output).toBe('Well done')
  })

  it('An ensemble as an agent rejects an invalid input with every problem', async () => {
    const wrong = tool({ request: () => ({ where: 1 }) })
    const { result } = await ask(wrong, { input: 'x' })
    expect(result.errorMessage).toContain('"what" is required')
    expect(result.errorMessage).toContain('"where" must be a string, got 1')
  })
})

describe('[ENS-N1] the run of an agent', () => {
  /** Returns a tool that waits for its signal and records when it has stopped. */
  function waiting(stops: string[], onBegin: () => void): AgentTool {
    return defineTool({
      name: 'wait',
      description: 'Waits',
      input: Type.Object({ what: Type.String() }),
      execute: (_, { signal }) =>
        new Promise<string>((resolve) => {
          onBegin()
          signal.addEventListener('abort', () => {
            setTimeout(() => {
              stops.push('stopped')
              resolve('late')
            }, 20)
          })
        }),
    })
  }

  it('The run of an agent is cancelled through two levels, and each level ends only when the work has stopped', async () => {
    const stops: string[] = []
    const begun = Promise.withResolvers<void>()
    const lowest = above('lowest', waiting(stops, begun.resolve))
    const middle = above('middle', toAgentTool(lowest, { name: 'lowest' }))
    const highest = above('highest', toAgentTool(middle, { name: 'middle' }))
    const run = watchRun(highest, { inputs: { what: 'all' } })
    await begun.promise
    run.handle.cancel()
    const { status } = await run.ended
    expect([status, stops]).toEqual(['CANCELLED', ['stopped']])
    expect(eventsOf(run.events, 'agent_tool_terminated')).toMatchObject([{ reason: 'cancelled' }])
    expect(eventsOf(run.events, 'agent_tool_error')).toEqual([])
  })

  it('The run of an agent has at most the remaining budget, through two levels', async () => {
    const seen: unknown[] = []
    const spy = defineTool({
      name: 'spy',
      description: 'Looks',
      input: Type.Object({ what: Type.String() }),
      execute: (_, { remaining }) => {
        seen.push(remaining())
        return 'seen'
      },
    })
    const settings: AgentRunOptions = { prices }
    const middle = above(
      'middle',
      toAgentTool(above('lowest', spy), { ...settings, name: 'lowest' }),
    )
    const highest = above('highest', toAgentTool(middle, { ...settings, name: 'middle' }))
    await events(highest, { budget: { maxCostUsd: 10, maxTokens: 100 } })
    // Three models have used one input and one output token each. The tool itself has a limit of 30 s.
    expect(seen).toEqual([{ timeMs: 30_000, costUsd: 7, tokens: 94 }])
  })

  it('The run of an agent is stopped by the budget on the lowest level, and every level reports it', async () => {
    const lowest = solo('lowest', asking('nothing').concat(answered, answered), {})
    const middle = above('middle', toAgentTool(lowest, { name: 'lowest', prices }))
    const highest = above('highest', toAgentTool(middle, { name: 'middle', prices }))
    const all = await events(highest, { budget: { maxCostUsd: 3 } })
    expect(all.at(-1)).toMatchObject({
      type: 'run_result',
      status: 'FAILED',
      code: 'BUDGET_EXCEEDED',
    })
    const { totals } = runStateAfter(all)
    expect(totals.costUsd).toBe(3)
    expect(eventsOf(all, 'agent_tool_terminated')).toMatchObject([{ reason: 'budget_exceeded' }])
  })

  it('The run of an agent belongs to the trace', async () => {
    const seen: (string | undefined)[] = []
    const spy = defineTool({
      name: 'spy',
      description: 'Looks',
      input: Type.Object({ what: Type.String() }),
      execute: (_, { traceparent }) => {
        seen.push(traceparent)
        return 'seen'
      },
    })
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const highest = above('highest', toAgentTool(above('lowest', spy), { name: 'lowest' }))
    await events(highest, { traceparent: `00-${trace}-b7ad6b7169203331-01` })
    expect(seen[0]).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
    expect(seen[0]).not.toContain('b7ad6b7169203331')
  })
})

describe('[ENS-N2] the run of an agent', () => {
  it('The run of an agent reports its events as chunks, and its end', async () => {
    const inner = solo('inner', [answered])
    const all = await events(above('outer', toAgentTool(inner, { name: 'inner' })))
    const types = all.flatMap((event): readonly string[] =>
      event.type.startsWith('agent_tool_')
        ? [event.type === 'agent_tool_progress' ? (event.chunk as RunEvent).type : event.type]
        : [],
    )
    expect(types).toEqual([
      'agent_tool_invoked',
      'task_started',
      'task_completed',
      'agent_tool_completed',
    ])
    const invoked: Partial<RunEventOf<'agent_tool_invoked'>> = {
      agent_uri: 'tutti://inner',
      mode: 'streaming',
      protocol: 'local',
      toolName: 'inner',
      taskName: 'outer-task',
    }
    expect(eventsOf(all, 'agent_tool_invoked')).toMatchObject([invoked])
  })

  it('[ENS-B6] The run of an agent reports its usage, which counts for the caller at once', async () => {
    const inner = solo('inner', [answered])
    const all = await events(above('outer', toAgentTool(inner, { name: 'inner', prices })))
    expect(runStateAfter(all).totals).toEqual({ totalTokens: 6, totalToolCalls: 1, costUsd: 3 })
    expect(eventsOf(all, 'task_completed')).toMatchObject([{ inputTokens: 3, costUsd: 3 }])
    expect(eventsOf(all, 'agent_tool_completed')).toMatchObject([{ total_cost: 1 }])
  })

  it('The run of an agent reports a failure, after which the caller continues', async () => {
    const failing = defineAgentTool({
      name: 'inner',
      description: 'x',
      input: Type.Object({ what: Type.String() }),
      connector: localConnector(
        {
          answer() {
            throw new AgentError('No', { failureType: 'agent_failed', retryable: false })
          },
        },
        'tutti://inner',
      ),
    })
    const all = await events(above('outer', failing))
    expect(all.at(-1)).toMatchObject({ status: 'COMPLETED' })
    expect(eventsOf(all, 'agent_tool_error')).toHaveLength(1)
  })
})

describe('[ENS-N3] a review in the run of an agent', () => {
  const reviewed = (): Ensemble => solo('inner', [answered], { review: true })

  it('A review in the run of an agent is a question to the reviewer of the caller, through two levels, whose decision counts', async () => {
    const middle = above('middle', toAgentTool(reviewed(), { name: 'inner' }))
    const highest = above('highest', toAgentTool(middle, { name: 'middle' }))
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'Better' }])
    const all = await events(highest, { reviewer })
    const [asked] = eventsOf(all, 'review_requested')
    expect(asked?.taskDescription).toContain('Well done')
    expect(asked).toMatchObject({ taskName: 'highest-task', timing: 'DURING_EXECUTION' })
    expect(JSON.stringify(readChunks(all))).toContain('"output":"Better"')
  })

  it('A review in the run of an agent continues it when the reviewer accepts', async () => {
    const reviewer = scriptedReviewer([{ action: 'CONTINUE' }])
    const all = await events(above('outer', toAgentTool(reviewed(), { name: 'inner' })), {
      reviewer,
    })
    expect(eventsOf(all, 'agent_tool_completed')).toMatchObject([{ output: 'Well done' }])
  })

  it('A review in the run of an agent repeats the task with the feedback when the reviewer rejects', async () => {
    const inner = solo('inner', [answered, { text: 'Again', usage: USAGE }], { review: true })
    const reviewer = scriptedReviewer([
      { action: 'REJECT', feedback: 'More' },
      { action: 'CONTINUE' },
    ])
    const all = await events(above('outer', toAgentTool(inner, { name: 'inner' })), { reviewer })
    expect(eventsOf(all, 'agent_tool_completed')).toMatchObject([{ output: 'Again' }])
  })

  it('A review in the run of an agent ends both runs early when the reviewer requests it', async () => {
    const reviewer = scriptedReviewer([{ action: 'EXIT_EARLY' }])
    const run = watchRun(above('outer', toAgentTool(reviewed(), { name: 'inner' })), {
      inputs: { what: 'all' },
      reviewer,
    })
    expect((await run.ended).status).toBe('COMPLETED')
    expect(eventsOf(run.events, 'ensemble_completed')).toMatchObject([
      { exitReason: 'USER_EXIT_EARLY' },
    ])
    expect(eventsOf(run.events, 'agent_tool_terminated')).toHaveLength(1)
  })

  it('A review in the run of an agent takes an input of the tool when a tool is under review', async () => {
    const spoken: string[] = []
    const careful = defineTool({
      name: 'say',
      description: 'Says it',
      input: Type.Object({ what: Type.String() }),
      requireApproval: true,
      execute: ({ what }) => {
        spoken.push(what)
        return what
      },
    })
    const inner = above('inner', careful)
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: { what: 'softly' } }])
    await events(above('outer', toAgentTool(inner, { name: 'inner' })), { reviewer })
    expect(spoken).toEqual(['softly'])
  })
})
