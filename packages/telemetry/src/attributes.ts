/**
 * Names of attributes. Those of `gen_ai.` are the GenAI semantic conventions as
 * `@opentelemetry/semantic-conventions` 1.45.0 has them (`/incubating`). They may still change, which is why they are
 * written out here and not imported, as that package asks for; a test holds them against it.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
 */

/** The name under which spans say where they come from. */
export const INSTRUMENTATION = '@tutti/telemetry'

/** Attributes of the GenAI conventions. */
export const GEN_AI = {
  agentName: 'gen_ai.agent.name',
  conversationId: 'gen_ai.conversation.id',
  inputMessages: 'gen_ai.input.messages',
  operationName: 'gen_ai.operation.name',
  outputMessages: 'gen_ai.output.messages',
  providerName: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  systemInstructions: 'gen_ai.system_instructions',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolCallId: 'gen_ai.tool.call.id',
  toolResult: 'gen_ai.tool.call.result',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  workflowName: 'gen_ai.workflow.name',
} as const

/** What an operation of the GenAI conventions is called. */
export const OPERATION = {
  chat: 'chat',
  executeTool: 'execute_tool',
  invokeAgent: 'invoke_agent',
  invokeWorkflow: 'invoke_workflow',
} as const

/** Attributes of ours, for what the conventions have no name. */
export const TUTTI = {
  runId: 'tutti.run.id',
  runStatus: 'tutti.run.status',
  exitReason: 'tutti.run.exit_reason',
  workflow: 'tutti.run.workflow',
  taskCount: 'tutti.run.tasks',
  queueMs: 'tutti.run.queue_ms',
  taskName: 'tutti.task.name',
  taskIndex: 'tutti.task.index',
  attempt: 'tutti.task.attempt',
  iteration: 'tutti.iteration',
  /** How the run's events name the model: an alias of the catalog, or `provider:name`. */
  model: 'tutti.model',
  /** Which call of this turn it is, from 1. */
  modelTry: 'tutti.model.try',
  /** Why the work ended, where it did not end well: one of the failure codes. */
  code: 'tutti.code',
  willRetry: 'tutti.will_retry',
  retryInMs: 'tutti.retry_in_ms',
  nextModel: 'tutti.next_model',
  toolCalls: 'tutti.tool_calls',
  iterationLimitReached: 'tutti.iteration_limit_reached',
  /** In US dollars; absent when no price is known. */
  costUsd: 'tutti.cost_usd',
  /** Numbers of the first and the last event of the run's log that the span is made of. */
  seqFirst: 'tutti.seq.first',
  seqLast: 'tutti.seq.last',
  agentUri: 'tutti.agent.uri',
  agentMode: 'tutti.agent.mode',
  agentProtocol: 'tutti.agent.protocol',
  agentTry: 'tutti.agent.try',
  delegationId: 'tutti.delegation.id',
  delegationDepth: 'tutti.delegation.depth',
  reviewId: 'tutti.review.id',
  reviewTiming: 'tutti.review.timing',
  reviewDecision: 'tutti.review.decision',
  reviewTimedOut: 'tutti.review.timed_out',
  reviewDueMs: 'tutti.review.due_ms',
  reviewDecidedBy: 'tutti.review.decided_by',
} as const
