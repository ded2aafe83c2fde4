/** Options of `mcpTools`, with their checks. */
import type { Limiter } from '@tutti/core'
import {
  definitionError,
  findChoiceProblems,
  findOptionProblems,
  type OptionNames,
  type OutputCheck,
} from '@tutti/core/internal'

/** Name and hints of a tool of a server, for decisions about approval. */
export interface McpToolFacts {
  readonly name: string
  /** Claims of the server; a server that is not trusted may claim anything. */
  readonly annotations: {
    readonly readOnlyHint?: boolean | undefined
    readonly destructiveHint?: boolean | undefined
    readonly idempotentHint?: boolean | undefined
    readonly openWorldHint?: boolean | undefined
  }
}

/** Options of `mcpTools`. */
export interface McpToolsOptions {
  /** Prefix of each name, such as `github_`. @default none */
  readonly prefix?: string
  /** Tools to import, by the server's names. @default all */
  readonly include?: readonly string[]
  /** Tools to leave out, by the server's names. @default none */
  readonly exclude?: readonly string[]
  /**
   * Tools that need approval: all, those that do not claim to be harmless, or those for which a function returns
   * true. @default none
   */
  readonly approve?: 'all' | 'destructive' | 'none' | ((tool: McpToolFacts) => boolean)
  /** Time limit of one call, in milliseconds. @default 30000 */
  readonly timeoutMs?: number
  /** Limits the concurrent calls of all tools of the server together. */
  readonly limiter?: Limiter
  /** Whether a value that does not match the output schema is logged as a warning or fails the call. @default warn */
  readonly outputCheck?: OutputCheck
  /** Maximum time until the server is ready, and again until it has listed its tools, in milliseconds. @default 30000 */
  readonly connectTimeoutMs?: number
  /** Maximum size of one message of the server, in bytes; a longer one fails its call. @default 10485760 */
  readonly maxMessageBytes?: number
  /** Called when the server reports that its tools have changed; `refresh` lists them again. */
  readonly onChange?: () => void
}

const TOOLS_OPTION_NAMES = {
  prefix: true,
  include: true,
  exclude: true,
  approve: true,
  timeoutMs: true,
  limiter: true,
  outputCheck: true,
  connectTimeoutMs: true,
  maxMessageBytes: true,
  onChange: true,
} as const satisfies OptionNames<McpToolsOptions>

/**
 * Checks the options of an import.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function assertToolsOptions(options: McpToolsOptions): void {
  const { approve, maxMessageBytes = 1 } = options
  const problems = [
    ...findOptionProblems(options, TOOLS_OPTION_NAMES),
    ...(typeof approve === 'function'
      ? []
      : findChoiceProblems('approve', approve, ['all', 'destructive', 'none'])),
    ...(maxMessageBytes > 0 ? [] : [`maxMessageBytes must be > 0, got ${maxMessageBytes}`]),
  ]
  if (problems.length === 0) return
  throw definitionError(`Cannot import MCP tools: ${problems.join('; ')}`)
}
