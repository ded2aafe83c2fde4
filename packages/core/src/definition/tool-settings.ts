/** Settings of tools, with their defaults and checks. */
import { APPROVAL_TIMEOUT_ACTIONS, type ApprovalOptions } from '../tool/approval.ts'
import {
  definitionError,
  findChoiceProblems,
  findOptionProblems,
  type OptionNames,
} from '../known-options.ts'
import { createLimiter, type Limiter } from '../limiter.ts'

import type { AgentTool } from '../tool/tool.ts'

/** Default time limit of a tool call in milliseconds: long enough for a web request, short enough to notice a hang. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000

/** Settings that every kind of tool has. */
export interface ToolSettings<Input> {
  /** Name by which the model calls the tool: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** Description of the tool, for the model. */
  readonly description: string
  /** Version of its code. Another version makes other code of every ensemble that uses the tool. */
  readonly version?: string
  /** Time limit of one call in milliseconds, above 0; Infinity means no limit. @default 30000 */
  readonly timeoutMs?: number
  /**
   * Time that a cancelled call may take to stop, in milliseconds, above 0, when it needs longer than the default.
   * Infinity for a tool whose work has its own limits. @default 5000
   */
  readonly graceMs?: number
  /** Whether a call whose outcome is unknown may be repeated. @default true */
  readonly idempotent?: boolean
  /**
   * Whether a person must approve each call before the body runs. Without a reviewer the tool is misconfigured: its
   * calls fail the task and the body never runs. @default false
   */
  readonly requireApproval?: boolean | ApprovalSettings<Input>
  /** Maximum number of concurrent calls. @default no limit */
  readonly maxConcurrentCalls?: number
  /** Limiter that this tool shares with others; cannot be combined with `maxConcurrentCalls`. */
  readonly limiter?: Limiter
}

export interface ApprovalSettings<Input> extends ApprovalOptions {
  /** Returns the text for the reviewer. @default the name of the tool and the start of its input */
  describe?(input: Input): string
}

/** Names of the settings of every tool. */
export const TOOL_SETTING_NAMES = {
  name: true,
  description: true,
  version: true,
  timeoutMs: true,
  graceMs: true,
  idempotent: true,
  requireApproval: true,
  maxConcurrentCalls: true,
  limiter: true,
} as const satisfies OptionNames<ToolSettings<never>>

const APPROVAL_SETTING_NAMES = {
  timeoutMs: true,
  onTimeout: true,
  requiredRole: true,
  describe: true,
} as const satisfies OptionNames<ApprovalSettings<never>>

/** Part of a tool that follows from its settings alone. */
export type SettledTool = Pick<
  AgentTool,
  | 'name'
  | 'description'
  | 'version'
  | 'timeoutMs'
  | 'graceMs'
  | 'idempotent'
  | 'requireApproval'
  | 'limiter'
>

/** Applies the defaults. */
export function settleTool<Input>(settings: ToolSettings<Input>): SettledTool {
  const { name, description, version, graceMs, maxConcurrentCalls } = settings
  const limiter =
    maxConcurrentCalls === undefined
      ? settings.limiter
      : createLimiter({ maxConcurrent: maxConcurrentCalls })
  return {
    name,
    description,
    timeoutMs: settings.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
    idempotent: settings.idempotent ?? true,
    requireApproval: settings.requireApproval !== undefined && settings.requireApproval !== false,
    ...(version === undefined ? {} : { version }),
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(limiter === undefined ? {} : { limiter }),
  }
}

/**
 * Checks the settings of a tool; `known` are the options of its kind.
 *
 * @throws {TypeError} with the code CONFIG_INVALID, listing every problem.
 */
export function assertToolSettings(
  settings: ToolSettings<never>,
  known: Readonly<Record<string, true>>,
): void {
  const {
    name,
    description,
    timeoutMs = 1,
    graceMs = 1,
    maxConcurrentCalls = 1,
    limiter,
  } = settings
  const problems = [...findOptionProblems(settings, known)]
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    problems.push('name must be 1 to 64 letters, digits, "_" or "-"')
  }
  if (typeof description !== 'string' || description.trim() === '') {
    problems.push('description must not be blank')
  }
  if (!(timeoutMs > 0)) problems.push(`timeoutMs must be > 0, got ${timeoutMs}`)
  if (!(graceMs > 0)) problems.push(`graceMs must be > 0, got ${graceMs}`)
  if (!Number.isInteger(maxConcurrentCalls) || maxConcurrentCalls < 1) {
    problems.push(`maxConcurrentCalls must be an integer >= 1, got ${maxConcurrentCalls}`)
  }
  if (settings.maxConcurrentCalls !== undefined && limiter !== undefined) {
    problems.push('maxConcurrentCalls and limiter cannot be used together')
  }
  problems.push(...findApprovalProblems(settings.requireApproval))
  if (problems.length === 0) return
  throw definitionError(`Cannot define tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
}

function findApprovalProblems(approval: ToolSettings<never>['requireApproval']): readonly string[] {
  if (approval === undefined || typeof approval === 'boolean') return []
  if (typeof approval !== 'object' || approval === null) {
    return [`requireApproval must be true, false or an object, got ${String(approval)}`]
  }
  const { timeoutMs = 1, onTimeout } = approval
  return [
    ...findOptionProblems(approval, APPROVAL_SETTING_NAMES, 'requireApproval'),
    ...findChoiceProblems('requireApproval.onTimeout', onTimeout, APPROVAL_TIMEOUT_ACTIONS),
    ...(timeoutMs > 0 ? [] : [`requireApproval.timeoutMs must be > 0, got ${timeoutMs}`]),
  ]
}
