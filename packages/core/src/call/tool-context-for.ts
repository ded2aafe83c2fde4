/** Context without a run, for direct calls of a tool body in tests and scripts. */
import { CallContext } from './call-context.ts'
import { RunningCall } from './running-call.ts'
import { runCall } from './run-tool.ts'
import { defineTextTool } from '../definition/define-tool.ts'

import type { RunToolOptions } from './options.ts'
import type { ToolContext } from '../tool/tool.ts'

const standIn = defineTextTool({
  name: 'unknown',
  description: 'Stands for the tool whose body is called directly',
  execute: (input) => input,
})

/**
 * Creates a context, such as `forecast.execute({ city: 'Bonn' }, toolContext())`. Members that the options do not
 * provide are absent: no reviewer, no metrics, a signal that never aborts.
 */
export function toolContext<Input = unknown>(options: RunToolOptions = {}): ToolContext<Input> {
  const call = { id: 'call', name: standIn.name, arguments: '{}' }
  const { idempotencyKey = call.id } = options
  const running = new RunningCall({ tool: standIn, call, input: {}, options, idempotencyKey })
  // NOTE: an edit of a reviewer is not validated here; the caller chooses its type.
  return new CallContext(running, runCall) as ToolContext<Input>
}
