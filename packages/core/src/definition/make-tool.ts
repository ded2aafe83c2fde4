/**
 * Assembly of tools from a reader of the input, a body and settings.
 *
 *   input ─read─▶ typed value ─approve─▶ begin ─▶ body ─▶ text, value or result ─check output─▶ ToolResult
 */
import { reportBegin, markReportsBegin } from '../tool/begin.ts'
import { formatInputFailure } from '../input-failure.ts'
import { isPromise } from '../is-promise.ts'
import { startOfInput } from '../limit-text.ts'
import { toToolResult } from './tool-output.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { settleTool, type ApprovalSettings, type ToolSettings } from './tool-settings.ts'

import type { ValueReader } from '../input/input-reader.ts'
import type { OutputRules } from './tool-output.ts'
import type { ToolContext, TypedTool } from '../tool/tool.ts'
import type { StandardToolSchema } from '../tool/tool-schema.ts'

/** Value that a tool body can return. */
export type ToolReturn<Output = string> = string | ToolResult | Output

/** Parts of a tool in addition to its settings. */
export interface ToolParts<Input, Output, Source = Input> {
  readonly kind: TypedTool<Input>['kind']
  /** Validates the input and returns the value that the body gets. */
  readonly reader: ValueReader<Input>
  readonly output?: OutputRules
  /** The input as a Standard Schema. */
  readonly standard: StandardToolSchema<Source, Input>['~standard']
  execute(
    input: Input,
    context: ToolContext<Input>,
  ): ToolReturn<Output> | Promise<ToolReturn<Output>>
}

/** Creates a tool from its parts; its settings are already checked. */
export function makeTool<Input, Output, Source = Input>(
  settings: ToolSettings<Input>,
  { kind, reader, output, standard, execute }: ToolParts<Input, Output, Source>,
): TypedTool<Input, Output, Source> {
  const settled = settleTool(settings)
  const { name } = settled
  const approval = resolveApproval(settings)
  return {
    ...settled,
    kind,
    inputSchema: reader.jsonSchema,
    ...(output === undefined ? {} : { outputSchema: output.reader.jsonSchema }),
    readInput: (input) => reader.read(input),
    '~standard': standard,
    async execute(input, context) {
      return execute(input, context)
    },
    call: markReportsBegin(async (input, context) => {
      const reading = reader.read(input)
      const decoded = isPromise(reading) ? await reading : reading
      if (!decoded.ok) return ToolResult.failure(formatInputFailure(name, decoded.problems))
      // NOTE: the context reads edits of a reviewer with this tool's reader, which returns this type.
      const typed = context as ToolContext<Input>
      const value =
        approval === undefined
          ? decoded.value
          : await requestApprovedInput(approval, { name, input: decoded.value, context: typed })
      const beginning = reportBegin(context)
      if (beginning !== undefined) await beginning
      const returning = execute(value, typed)
      const returned = isPromise(returning) ? await returning : returning
      return toToolResult(returned, { name, context, output })
    }),
  }
}

function resolveApproval<Input>(
  settings: ToolSettings<Input>,
): ApprovalSettings<Input> | undefined {
  const { requireApproval = false } = settings
  if (typeof requireApproval === 'object') return requireApproval
  return requireApproval ? {} : undefined
}

interface ToApprove<Input> {
  readonly name: string
  readonly input: Input
  readonly context: ToolContext<Input>
}

/** Returns the input that a reviewer approved: the model's, or an edited one. */
async function requestApprovedInput<Input>(
  settings: ApprovalSettings<Input>,
  { name, input, context }: ToApprove<Input>,
): Promise<Input> {
  const description = settings.describe?.(input) ?? describeCall(name, input)
  const decision = await context.requestApproval(description, settings)
  return decision.action === 'EDIT' ? decision.input : input
}

function describeCall(name: string, input: unknown): string {
  return `Call tool: ${name}\nInput: ${startOfInput(input)}`
}
