/**
 * Checks a message against AgentEnsemble's wire: it has the fields that the dashboard reads, with their types, null or
 * absent as in AgentEnsemble, and in its order, with `type` first.
 */
import type { ServerMessage } from '@tutti/protocol'

type Kind = (value: unknown) => boolean

/** Maximum length of an invalid value in a problem, in characters. */
const MAX_SHOWN_LENGTH = 200

const text: Kind = (value) => typeof value === 'string'
const named: Kind = (value) => typeof value === 'string' && value !== ''
const count: Kind = (value) => Number.isInteger(value) && Number(value) >= 0
const number: Kind = (value) => Number.isInteger(value)
const instant: Kind = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && !isNaN(Date.parse(value))
const anything: Kind = (value) => value !== undefined
const orNull =
  (kind: Kind): Kind =>
  (value) =>
    value === null || kind(value)
const oneOf =
  (...words: readonly string[]): Kind =>
  (value) =>
    words.some((word) => word === value)
const list =
  (kind: Kind): Kind =>
  (value) =>
    Array.isArray(value) && value.every(kind)
/** May be absent, but must not be null. */
const maybe =
  (kind: Kind): Kind =>
  (value) =>
    value === undefined || kind(value)
const object =
  (fields: Fields): Kind =>
  (value) =>
    typeof value === 'object' && value !== null && problemsOf(value, fields).length === 0

type Fields = Readonly<Record<string, Kind>>

const toolRequest = object({ name: named, arguments: text })

const llmMessage = object({
  role: oneOf('system', 'user', 'assistant', 'tool'),
  content: orNull(text),
  toolCalls: orNull(list(toolRequest)),
  toolName: orNull(text),
})

const turn: Fields = { agentRole: named, taskDescription: named, iterationIndex: count }

const turnStarted: Fields = { ...turn, messages: list(llmMessage), totalMessageCount: count }

const turnCompleted: Fields = {
  ...turn,
  responseType: oneOf('TOOL_CALLS', 'FINAL_ANSWER'),
  inputTokens: count,
  outputTokens: count,
  latencyMs: count,
  // AgentEnsemble writes these two before the tokens.
  responseText: maybe(text),
  toolRequests: maybe(list(toolRequest)),
}

const delegation: Fields = { delegationId: named, delegatingAgentRole: named, workerRole: named }

const task: Fields = { taskDescription: named, agentRole: named }

/** Fields of each message in order, without `type`. */
const FIELDS: Partial<Record<ServerMessage['type'], Fields>> = {
  hello: {
    ensembleId: maybe(named),
    startedAt: maybe(instant),
    snapshotTrace: maybe(list(isInTrace)),
    recentIterations: maybe(
      list(object({ started: object(turnStarted), completed: maybe(object(turnCompleted)) })),
    ),
  },
  ensemble_started: {
    ensembleId: named,
    startedAt: instant,
    totalTasks: count,
    workflow: oneOf('SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'),
  },
  task_started: { taskIndex: count, totalTasks: count, ...task, startedAt: instant },
  task_input: {
    taskIndex: count,
    taskDescription: named,
    expectedOutput: text,
    agentRole: named,
    agentGoal: text,
    agentBackground: orNull(text),
    toolNames: list(named),
    assembledContext: text,
    sentAt: instant,
  },
  llm_iteration_started: turnStarted,
  llm_iteration_completed: turnCompleted,
  token: { token: text, agentRole: named, taskDescription: named, sentAt: instant },
  tool_called: {
    agentRole: named,
    taskIndex: count,
    toolName: named,
    durationMs: count,
    outcome: oneOf('SUCCESS', 'FAILURE'),
    toolArguments: orNull(text),
    toolResult: orNull(text),
    structuredResult: anything,
  },
  delegation_started: { ...delegation, taskDescription: named },
  delegation_completed: { ...delegation, durationMs: count },
  delegation_failed: { ...delegation, reason: named },
  task_completed: {
    taskIndex: count,
    totalTasks: count,
    ...task,
    completedAt: instant,
    durationMs: count,
    tokenCount: number,
    toolCallCount: count,
  },
  task_failed: { taskIndex: count, ...task, failedAt: instant, reason: named },
  review_requested: {
    reviewId: named,
    taskDescription: named,
    taskOutput: text,
    timing: oneOf('BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION'),
    // The dashboard renders an absent prompt as an empty line.
    prompt: orNull(named),
    timeoutMs: count,
    onTimeout: oneOf('CONTINUE', 'EXIT_EARLY', 'FAIL'),
    requiredRole: maybe(named),
  },
  review_timed_out: { reviewId: named, action: oneOf('CONTINUE', 'EXIT_EARLY', 'FAIL') },
  file_changed: {
    agentRole: named,
    filePath: named,
    changeType: oneOf('CREATED', 'MODIFIED', 'DELETED'),
    linesAdded: count,
    linesRemoved: count,
    timestamp: instant,
  },
  metrics_snapshot: {
    agentRole: named,
    taskIndex: count,
    inputTokens: number,
    outputTokens: number,
    llmLatencyMs: count,
    toolExecutionTimeMs: count,
    iterationCount: count,
    costEstimate: maybe(text),
  },
  ensemble_completed: {
    ensembleId: named,
    completedAt: instant,
    durationMs: count,
    exitReason: oneOf('COMPLETED', 'USER_EXIT_EARLY', 'TIMEOUT', 'ERROR', 'CANCELLED'),
    totalTokens: number,
    totalToolCalls: count,
  },
}

/** Event types allowed in a `snapshotTrace`; nothing would close a panel that it opened. */
const IN_TRACE: readonly string[] = [
  'ensemble_started',
  'task_started',
  'task_input',
  'task_completed',
  'task_failed',
  'tool_called',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'file_changed',
  'ensemble_completed',
  // Fields of Tutti. The dashboard reads only the metrics, which AgentEnsemble never sends.
  'metrics_snapshot',
  'task_attempt_failed',
  'task_skipped',
  'run_result',
]

function isInTrace(value: unknown): boolean {
  // NOTE: a value that is not a message has no type and is not in the list.
  const { type } = value as ServerMessage
  return IN_TRACE.includes(type) && fieldProblems(value as ServerMessage).length === 0
}

/** Returns missing and misplaced fields of a message; empty for messages that AgentEnsemble does not have. */
export function fieldProblems(message: ServerMessage): readonly string[] {
  const fields = FIELDS[message.type]
  if (fields === undefined) return []
  const first = Object.keys(message)[0] === 'type' ? [] : [`${message.type}: type is not first`]
  return [...first, ...problemsOf(message, fields).map((problem) => `${message.type}: ${problem}`)]
}

function problemsOf(value: object, fields: Fields): readonly string[] {
  const found = new Map<string, unknown>(Object.entries(value))
  const wrong = Object.entries(fields)
    .filter(([name, fits]) => !fits(found.get(name)))
    .map(([name]) => `${name} is ${JSON.stringify(found.get(name))?.slice(0, MAX_SHOWN_LENGTH)}`)
  const theirs = Object.keys(fields).filter((name) => found.has(name))
  const order = [...found.keys()].filter((name) => name in fields)
  return order.join() === theirs.join() ? wrong : [...wrong, `order is ${order.join()}`]
}
