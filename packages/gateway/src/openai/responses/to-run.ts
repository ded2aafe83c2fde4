/** Pure: the run that answers a request of the Responses API. */
import { badRequest } from '../../http/api-error.ts'
import { toModelRun, type FoundModel } from '../../service/find-model.ts'
import { readThread } from './conversation.ts'
import { readInput, toItems, type EarlierItems } from './input.ts'
import { readTextSchema, toClientTools, toResponseRequest } from './parameters.ts'

import type { RepeatableRun } from '../../service/continued-run.ts'
import type { CreateResponseBody } from './wire.ts'

/** Returns the run that answers a request, and the message that it answers. */
export function toResponseRun(
  found: FoundModel,
  body: CreateResponseBody,
  earlier: EarlierItems,
): { readonly run: RepeatableRun; readonly question: string } {
  const asked = toResponseRequest(body)
  const input = readInput(toItems(body.input), earlier)
  const { text, history, instructions } = input
  const threadId = readThread(asked, input, found)
  const outputSchema = readTextSchema(asked)
  const { max_output_tokens: maxOutputTokens, instructions: own } = asked
  if (found.kind === 'ensemble')
    assertForEnsemble(found.ensemble.name, { outputSchema, maxOutputTokens })
  const system = [...(own === null ? [] : [own]), ...instructions]
  const run = toModelRun(found, {
    text,
    history,
    instructions: system.length === 0 ? undefined : system.join('\n\n'),
    clientTools: toClientTools(asked),
    outputSchema,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  })
  return { run: { ...run, threadId }, question: text }
}

/** Refuses parameters that only apply to a model. */
function assertForEnsemble(
  name: string,
  asked: { readonly outputSchema: object | undefined; readonly maxOutputTokens: number | null },
): void {
  const message = `is only for models, and "${name}" is an ensemble: its tasks define their output`
  const problems = [
    ...(asked.outputSchema === undefined ? [] : [{ path: '/text/format', message }]),
    ...(asked.maxOutputTokens === null ? [] : [{ path: '/max_output_tokens', message }]),
  ]
  if (problems.length > 0) throw badRequest('request body', problems)
}
