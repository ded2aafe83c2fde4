/** Compares two runs. */
import { addTokens, MAX_COMPARED_TASKS, totalTokens } from '@tutti/protocol/internal'

import { alignCalls, type AlignedCalls } from './align-calls.ts'
import { TextBudget } from './cut-text.ts'
import { readComparedRun, type ReadCall, type ReadRun, type ReadTask } from './read-compared-run.ts'
import { sumCosts, truncateError } from './to-wire.ts'

import type { Caller } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'
import type { RunComparison } from '@tutti/protocol'
import type {
  CompareRunsQuery,
  ComparedCallPair,
  ComparedInput,
  ComparedRun,
  ComparedTask,
  ComparedTaskSide,
  RunDifference,
} from '@tutti/protocol/internal'
import type { RunRecord } from '@tutti/runs/adapter'

/** Maximum number of listed inputs. */
const MAX_INPUTS = 100

/** Limits for the inputs of each run, in bytes. */
const INPUT_TEXTS = { maxBytes: 256_000, maxTextBytes: 16_384 }

/**
 * Compares two runs as they are now.
 *
 * @throws {TuttiError} RUN_NOT_FOUND when one of them does not exist; FORBIDDEN when the caller may not read one.
 */
export async function compareRuns(
  options: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>,
  { a, b }: CompareRunsQuery,
  caller: Caller,
): Promise<RunComparison> {
  const one = await readComparedRun(options, a, caller)
  return buildComparison(one, await readComparedRun(options, b, caller))
}

function buildComparison(one: ReadRun, other: ReadRun): RunComparison {
  const [a, b] = [toComparedRun(one), toComparedRun(other)]
  const relation = findRelation(one.run, other.run)
  const names = new Set([...one.tasks.keys(), ...other.tasks.keys()])
  const tasks = [...names].map((name) =>
    toComparedTask(name, one.tasks.get(name), other.tasks.get(name)),
  )
  return {
    a,
    b,
    ...(relation === undefined ? {} : { relation }),
    difference: subtract(a, b),
    inputs: listDifferentInputs(one.run.inputs, other.run.inputs),
    ...selectTasks(tasks),
  }
}

/** Selects the tasks that are listed, in order: those that differ before the others. */
function selectTasks(all: readonly ComparedTask[]): Pick<RunComparison, 'tasks' | 'omitted'> {
  if (all.length <= MAX_COMPARED_TASKS) return { tasks: [...all] }
  const different = all.filter(isDifferent)
  const equal = all.filter((task) => !isDifferent(task))
  const listed = new Set([...different, ...equal].slice(0, MAX_COMPARED_TASKS))
  return {
    tasks: all.filter((task) => listed.has(task)),
    omitted: {
      tasks: all.length - listed.size,
      different: Math.max(0, different.length - listed.size),
    },
  }
}

/** Whether the work of a task differs: its texts, its status or its calls, or only one run has it. */
function isDifferent({ a, b, sameOutput, sameDescription, calls }: ComparedTask): boolean {
  return (
    a?.status !== b?.status ||
    sameOutput === false ||
    sameDescription === false ||
    calls.some(({ sameInput }) => sameInput !== true)
  )
}

function toComparedRun({ run, tasks, isPartial }: ReadRun): ComparedRun {
  const all = [...tasks.values()]
  const records = all.map(({ record }) => record)
  const costUsd = sumCosts(records)
  return {
    runId: run.runId,
    status: run.status,
    ensemble: run.ensemble,
    workflow: run.workflow,
    startedAt: new Date(run.startedAt ?? run.createdAt).toISOString(),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    ...(run.parent === undefined ? {} : { parent: { ...run.parent } }),
    ...(run.build === undefined ? {} : { build: run.build }),
    ...(run.code === undefined ? {} : { code: run.code }),
    ...(run.error === undefined ? {} : { error: truncateError(run.error) }),
    tokens: totalTokens(addTokens(records)),
    ...(costUsd === undefined ? {} : { costUsd }),
    modelCalls: all.reduce((sum, { modelCalls }) => sum + modelCalls, 0),
    toolCalls: all.reduce((sum, { toolCalls }) => sum + toolCalls, 0),
    ...(isPartial ? { partial: true } : {}),
  }
}

function findRelation(a: RunRecord, b: RunRecord): RunComparison['relation'] {
  if (a.runId === b.runId) return 'SAME'
  if (b.parent?.runId === a.runId) return 'PARENT'
  if (a.parent?.runId === b.runId) return 'CHILD'
  return a.parent !== undefined && a.parent.runId === b.parent?.runId ? 'SIBLINGS' : undefined
}

function subtract(a: ComparedRun, b: ComparedRun): RunDifference {
  return {
    ...(a.durationMs === undefined || b.durationMs === undefined
      ? {}
      : { durationMs: b.durationMs - a.durationMs }),
    ...(a.tokens === -1 || b.tokens === -1 ? {} : { tokens: b.tokens - a.tokens }),
    ...(a.costUsd === undefined || b.costUsd === undefined
      ? {}
      : { costUsd: b.costUsd - a.costUsd }),
    modelCalls: b.modelCalls - a.modelCalls,
    toolCalls: b.toolCalls - a.toolCalls,
  }
}

function listDifferentInputs(a: RunRecord['inputs'], b: RunRecord['inputs']): ComparedInput[] {
  const budgets = { a: new TextBudget(INPUT_TEXTS), b: new TextBudget(INPUT_TEXTS) }
  const values = { a: new Map(Object.entries(a)), b: new Map(Object.entries(b)) }
  return [...new Set([...values.a.keys(), ...values.b.keys()])]
    .filter((name) => values.a.get(name) !== values.b.get(name))
    .toSorted()
    .slice(0, MAX_INPUTS)
    .map((name) => {
      const [one, other] = [values.a.get(name), values.b.get(name)]
      return {
        name,
        ...(one === undefined ? {} : { a: budgets.a.cut(one).shown }),
        ...(other === undefined ? {} : { b: budgets.b.cut(other).shown }),
      }
    })
}

function toComparedTask(
  name: string,
  a: ReadTask | undefined,
  b: ReadTask | undefined,
): ComparedTask {
  const outputs = [a?.output, b?.output] as const
  return {
    name,
    ...(a === undefined ? {} : { a: toTaskSide(a) }),
    ...(b === undefined ? {} : { b: toTaskSide(b) }),
    ...(outputs[0] === undefined || outputs[1] === undefined
      ? {}
      : { sameOutput: outputs[0].digest === outputs[1].digest }),
    ...(a === undefined || b === undefined
      ? {}
      : { sameDescription: a.description.digest === b.description.digest }),
    calls: alignCalls(a?.calls ?? [], b?.calls ?? []).map(toCallPair),
  }
}

function toTaskSide(task: ReadTask): ComparedTaskSide {
  const { record, description, output, delegatedBy, isReused, modelCalls, toolCalls } = task
  const { taskIndex, status, agentRole, attempt, error, finishReason, durationMs, costUsd } = record
  const tokens = totalTokens(record)
  return {
    index: taskIndex,
    status,
    agentRole,
    description: description.shown,
    attempt,
    ...(delegatedBy === undefined ? {} : { delegatedBy }),
    ...(isReused ? { reused: true } : {}),
    ...(output === undefined ? {} : { output: output.shown }),
    ...(error === undefined ? {} : { error: truncateError(error) }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(durationMs === undefined ? {} : { durationMs }),
    tokens,
    ...(costUsd === undefined ? (tokens === 0 ? { costUsd: 0 } : {}) : { costUsd }),
    modelCalls,
    toolCalls,
  }
}

function toCallPair(pair: AlignedCalls<ReadCall>): ComparedCallPair {
  const a = 'a' in pair ? pair.a : undefined
  const b = 'b' in pair ? pair.b : undefined
  return {
    ...(a === undefined ? {} : { a: a.wire }),
    ...(b === undefined ? {} : { b: b.wire }),
    ...(a === undefined || b === undefined ? {} : { sameInput: a.inputDigest === b.inputDigest }),
  }
}
