/**
 * Describes the code of an ensemble as plain data, so that two versions of it can be compared task by task. The source
 * of functions cannot be described; a `version` of a task or a tool stands for it.
 *
 * ENS-V1 Two ensembles have the same digest exactly if their manifests are equal.
 * ENS-V2 A manifest covers what a run of the ensemble does and what its models are asked, and not how fast it runs or
 *    what it logs.
 * ENS-V3 A manifest has digests of the texts that only a prompt contains, because stores keep manifests also of runs
 *    whose prompts they must not keep.
 */
import type { AgentTool } from '@tutti/core'
import { computeDigest, computeJsonDigest } from '@tutti/core/internal'

import {
  createHandoffTool,
  toHandoff,
  toHandoffRole,
  toHandoffToolName,
  type Handoff,
} from './handoff.ts'
import { modelOfTask } from './model-of-task.ts'
import { listAllTasks } from './manager.ts'
import { findEnsembleTool, findSubEnsemble, inheritModel } from './sub-ensemble.ts'

import type { ChatModel } from '../model/chat-model.ts'
import type { ResolvedEnsemble } from './ensemble-definition.ts'
import { listHandoffTasks, type ForEachPlan, type LoopPlan, type Task } from './task.ts'

/** Value of a field of a manifest: JSON. */
export type ManifestValue =
  | string
  | number
  | boolean
  | null
  | readonly ManifestValue[]
  | { readonly [key: string]: ManifestValue }

/** Fields of a task or of an ensemble, without those that are not set. */
export type ManifestFields = Readonly<Record<string, ManifestValue>>

/** Description of the code of an ensemble. */
export interface EnsembleManifest {
  readonly name: string
  /** Fields of the ensemble itself, such as its workflow. */
  readonly settings: ManifestFields
  /** Fields of each task, by name. */
  readonly tasks: Readonly<Record<string, ManifestFields>>
}

/** The manifest of an ensemble and its digest. */
export interface EnsembleCode {
  readonly manifest: EnsembleManifest
  readonly digest: string
}

/** Describes the code of an ensemble. Not for hot paths: it digests every text and schema. */
export function describeCode(ensemble: ResolvedEnsemble): EnsembleCode {
  const manifest: EnsembleManifest = {
    name: ensemble.name,
    settings: describeSettings(ensemble),
    tasks: Object.fromEntries(
      listAllTasks(ensemble).map((task) => [task.name, describeTask(task, ensemble)]),
    ),
  }
  return { manifest, digest: computeJsonDigest(manifest) }
}

/** A difference between two manifests, in one field; a missing side has no such field. */
export interface ManifestDifference {
  /** Task of the field; absent for a field of the ensemble. */
  readonly task?: string
  /** Name of the field; `task` if the whole task exists on one side only. */
  readonly field: string
  readonly from?: ManifestValue
  readonly to?: ManifestValue
}

/** Fields of a task that are only texts for its model. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'description',
  'expectedOutput',
  'instructions',
  'additionalContext',
  'agentGoal',
  'agentBackground',
  'agentResponseFormat',
])

/** Whether a difference is only in a text for a model. */
export function isTextDifference({ task, field }: ManifestDifference): boolean {
  return task !== undefined && TEXT_FIELDS.has(field)
}

/** Returns the differences between two versions of an ensemble, those of the ensemble itself first. */
export function diffManifests(
  from: EnsembleManifest,
  to: EnsembleManifest,
): readonly ManifestDifference[] {
  const names = new Set([...Object.keys(from.tasks), ...Object.keys(to.tasks)])
  return [
    ...diffFields(from.settings, to.settings),
    ...[...names].flatMap((task) => {
      const [before, after] = [from.tasks[task], to.tasks[task]]
      if (before !== undefined && after !== undefined) {
        return diffFields(before, after).map((difference) => ({ task, ...difference }))
      }
      const sides = { ...sideOf('from', before), ...sideOf('to', after) }
      return [{ task, field: 'task', ...sides }]
    }),
  ]
}

function diffFields(from: ManifestFields, to: ManifestFields): readonly ManifestDifference[] {
  const fields = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...fields]
    .filter((field) => computeJsonDigest(from[field]) !== computeJsonDigest(to[field]))
    .map((field) => ({ field, ...sideOf('from', from[field]), ...sideOf('to', to[field]) }))
}

function sideOf(
  side: 'from' | 'to',
  value: ManifestValue | undefined,
): Pick<ManifestDifference, 'from' | 'to'> {
  return value === undefined ? {} : { [side]: value }
}

function describeSettings(ensemble: ResolvedEnsemble): ManifestFields {
  const { plan, errorStrategy, delegation, modelRules, reviewPolicy, review, onUnfinished } =
    ensemble
  const { budget, maxToolOutputLength, managerMaxIterations } = ensemble
  return toFields({
    workflow: plan.workflow,
    // The order in which tasks start; the last one has the output of the run.
    tasks: plan.order,
    errorStrategy,
    delegation,
    modelRules,
    reviewPolicy,
    review,
    onUnfinished,
    budget,
    maxToolOutputLength,
    ...(plan.workflow === 'HIERARCHICAL' ? { managerMaxIterations } : {}),
  })
}

/** Describes the code of a task of an ensemble. */
export function describeTask(task: Task, ensemble: ResolvedEnsemble): ManifestFields {
  const { handler, forEach, loop, waitFor } = task
  return toFields({
    description: task.description,
    expectedOutput: digestText(task.expectedOutput),
    context: task.context,
    version: task.version,
    output: task.outputReader?.schema,
    handler: describeHandler(task, ensemble),
    ...(forEach === undefined ? {} : { forEach: describeForEach(forEach, ensemble) }),
    ...(loop === undefined ? {} : { loop: describeLoop(loop, ensemble) }),
    ...(waitFor === undefined
      ? {}
      : { waitFor: { ...waitFor, schema: task.outputReader?.schema } }),
    ensemble: describeSubEnsemble(task, ensemble),
    when: task.when,
    switch: task.switch,
    beforeReview: task.beforeReview,
    review: task.review,
    guardrails: task.guardrails,
    budget: task.budget,
    timeoutMs: task.timeoutMs,
    retries: task.retries,
    ...(handler === undefined
      ? {
          ...describeAgent(task, ensemble),
          additionalContext: digestText(task.additionalContext),
          fallbackModels: (task.fallbackModels ?? ensemble.fallbackModels)?.map(labelModel),
          maxOutputTokens: task.maxOutputTokens,
          outputRetries: task.outputRetries,
          allowEmptyOutput: task.allowEmptyOutput,
          memory: task.memory.map(({ name, limit }) => ({ name, limit })),
          reflection: task.reflection,
          maxHandoffs: task.maxHandoffs,
          agents: describeOtherAgents(task, ensemble),
        }
      : {}),
  })
}

/** Describes the agent of a task. */
function describeAgent(task: Task, ensemble: ResolvedEnsemble): ManifestFields {
  const { agent } = task
  const { role, goal, background, responseFormat, allowDelegation, handoffs } = agent
  return toFields({
    instructions: digestText(task.instructions ?? agent.instructions),
    agentRole: role,
    agentGoal: digestText(goal),
    agentBackground: digestText(background),
    agentResponseFormat: digestText(responseFormat),
    allowDelegation,
    handoffs: handoffs?.map((target) => describeHandoff(toHandoff(target))),
    model: labelModel(modelOfTask(task, ensemble)),
    tools: Object.fromEntries(task.tools.map((tool) => [tool.name, describeTool(tool, ensemble)])),
    maxIterations: task.maxIterations,
    onUnfinished: task.onUnfinished ?? agent.onUnfinished,
  })
}

function describeHandoff(target: Handoff): ManifestFields {
  const { description, inputSchema } = createHandoffTool(target, () => undefined)
  const { filter = 'all' } = target
  return toFields({
    role: toHandoffRole(target),
    name: toHandoffToolName(target),
    description,
    inputSchema,
    filter,
  })
}

/** Describes the agents to which a task can be handed off. Agents that are named by their roles belong to other tasks. */
function describeOtherAgents(task: Task, ensemble: ResolvedEnsemble): ManifestFields | undefined {
  const others = listHandoffTasks(task).slice(1)
  if (others.length === 0) return undefined
  return Object.fromEntries(
    others.map((other) => [other.agent.role, describeAgent(other, ensemble)]),
  )
}

function describeForEach(
  { over, isInput, key, settings, template, children, reduce }: ForEachPlan,
  ensemble: ResolvedEnsemble,
): ManifestFields {
  return toFields({
    over,
    isInput,
    key,
    settings,
    task: describeTask(template, ensemble),
    ...(children === undefined
      ? {}
      : { children: [...children].map(([of, task]) => [of, describeTask(task, ensemble)]) }),
    ...(reduce === undefined
      ? {}
      : { reduce: { ...reduce, task: describeTask(reduce.task, ensemble) } }),
  })
}

function describeLoop(
  { template, settings, until, judge }: LoopPlan,
  ensemble: ResolvedEnsemble,
): ManifestFields {
  return toFields({
    settings,
    until,
    task: describeTask(template, ensemble),
    ...(judge === undefined ? {} : { judge: describeTask(judge, ensemble) }),
  })
}

/** Describes the ensemble that a task runs, with all its tasks and the models that they inherit. */
function describeSubEnsemble(task: Task, ensemble: ResolvedEnsemble): object | undefined {
  const subEnsemble = findSubEnsemble(task)
  if (subEnsemble === undefined) return undefined
  const { inputs } = subEnsemble
  const definition = inheritModel(subEnsemble.definition, ensemble)
  return { ...describeCode(definition).manifest, inputs, outputTasks: definition.plan.lastTasks }
}

/** Returns the digest and the length of a text. */
function digestText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${computeDigest(text)}, ${text.length} characters`
}

function describeHandler({ handler }: Task, ensemble: ResolvedEnsemble): unknown {
  if (handler === undefined) return undefined
  return typeof handler === 'function'
    ? 'function'
    : { name: handler.name, ...describeTool(handler, ensemble) }
}

function describeTool(tool: AgentTool, ensemble: ResolvedEnsemble): ManifestFields {
  const { description, inputSchema, outputSchema, idempotent, requireApproval, version } = tool
  const added = findEnsembleTool(tool)?.task
  return toFields({
    description,
    inputSchema,
    outputSchema,
    idempotent,
    requireApproval,
    version,
    ensemble: added && describeSubEnsemble(added, ensemble),
  })
}

function labelModel(model: ChatModel | undefined): string | null {
  return model === undefined ? null : `${model.provider}:${model.name}`
}

/** Returns the fields as JSON, without those that are not set. A function counts as its presence. */
function toFields(fields: Readonly<Record<string, unknown>>): ManifestFields {
  const text = JSON.stringify(fields, (_, value: unknown) =>
    typeof value === 'function' ? 'function' : value,
  )
  return JSON.parse(text)
}
