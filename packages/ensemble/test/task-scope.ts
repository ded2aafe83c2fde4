/** Creates the scope of one attempt at a task without a run. */
import { ensemble, task, type TaskDefinition } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'
import { NO_NOTES } from '../src/agent/notes.ts'
import { ModelChain } from '../src/agent/model-chain.ts'
import { createRunParts } from '../src/run/run-parts.ts'
import { replayMismatchError } from '../src/scope/replay.ts'
import { Stopwatch } from '../src/work/stopwatch.ts'
import { TaskSlot } from '../src/work/task-slots.ts'
import { TaskScope } from '../src/scope/task-scope.ts'

import type { AgentLoopInput } from '../src/agent/loop.ts'
import type { EnsembleDefinition, RunOptions } from '../src/index.ts'
import type { RunEvent } from '@tutti/protocol'

export interface TestScopeOptions {
  readonly task: TaskDefinition
  readonly ensemble?: Partial<EnsembleDefinition>
  readonly run?: RunOptions
  readonly signal?: AbortSignal
}

/** A scope, with its recorded events and steps. */
export interface TestScope {
  readonly scope: TaskScope
  readonly events: RunEvent[]
  readonly steps: RunStep[]
  /** Input of an agent loop whose first prompt has only the texts of the task. */
  readonly loop: AgentLoopInput
}

/** Creates the scope of the second attempt at a task. */
export function createTestScope({
  task: definition,
  signal,
  ...options
}: TestScopeOptions): TestScope {
  const events: RunEvent[] = []
  const steps: RunStep[] = []
  const work = task(definition)
  const team = ensemble({ name: 'team', ...options.ensemble, tasks: [work] })
  const { scope: run, services } = createRunParts({
    ensemble: team,
    inputs: {},
    options: {
      runId: 'run-1',
      journal: {
        emit(event, step) {
          events.push(event)
          if (step !== undefined) steps.push(step)
        },
        async commit(step, event) {
          steps.push(step)
          if (event !== undefined) events.push(event)
        },
      },
      ...options.run,
    },
    host: {
      indexOf: () => 2,
      stopMismatched: (difference) => replayMismatchError(difference),
      isTaken: () => false,
      taskNames: [],
      hasTask: () => false,
      isCompleted: () => false,
      hasReached: () => false,
      endEarly: () => undefined,
      runWorker: () => Promise.reject(new Error('No worker in this test')),
    },
  })
  const scope = new TaskScope({
    run,
    task: work,
    identity: {
      taskIndex: 1,
      taskName: work.name,
      taskDescription: work.description,
      agentRole: work.agent.role,
      attempt: 2,
    },
    signal: signal ?? run.signal,
    stopwatch: new Stopwatch(run.clock),
    meter: run.meter,
    depth: 0,
    slot: new TaskSlot({
      pools: [],
      parent: undefined,
      waiting: run.waitingTasks,
      signal: run.signal,
    }),
  })
  const prompt = {
    agent: work.agent,
    text: { description: work.description, expectedOutput: work.expectedOutput },
    history: [],
    context: [],
    notes: NO_NOTES,
    attempt: 2,
    revision: undefined,
    outputFormat: undefined,
  }
  const loop = {
    scope,
    models: new ModelChain(scope, services.models),
    tools: work.tools,
    tooling: services.tooling,
    directives: services.directives,
    endsWithAnswer: false,
    assertMayAnswer: () => undefined,
    prompt,
  }
  return { scope, events, steps, loop }
}
